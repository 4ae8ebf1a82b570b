"""What a dictionary says of columns and codes is read only where it names the place for sure."""

from __future__ import annotations

import pytest

from lexsi_ds.data.handle import Column, DatasetHandle, Table
from lexsi_ds.knowledge.document_entries import entries
from tests.documents.files import DICTIONARY


def table(name: str, *columns: str) -> Table:
    made = tuple(Column(name=c, type="VARCHAR", masked=c == "birth_number") for c in columns)
    return Table.model_construct(name=name, dataset_id=f"ds_{name}", version=1, rows=1, columns=made)


HANDLE = DatasetHandle.model_construct(
    source_id="con_x", snapshot_id="snap_x", tables=(
        table("loan", "loan_id", "account_id", "status", "payments", "duration"), table("account", "account_id", "frequency"),
        table("client", "client_id", "birth_number"), table("trans", "type", "operation"),
    ),
)  # fmt: skip


def read(text: str, kind: str = "markdown") -> list[tuple[str, str, str]]:
    return [(f"{e.table}.{e.column}", e.code, e.text) for e in entries(text, kind, HANDLE)]


def test_a_dictionary_of_tables_and_lines_is_read_without_guessing() -> None:
    said = "State of the loan. A = repaid in full, B = closed with debt; Z = unheard of"
    assert read(DICTIONARY) == [
        ("loan.status", "", said), ("loan.status", "A", "repaid in full"), ("loan.status", "B", "closed with debt"),
        ("loan.status", "Z", "unheard of"), ("loan.payments", "", "Monthly instalment in CZK"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("loan.status: state", "text", [("loan.status", "", "state")]),
        ("- `frequency` – how often", "markdown", [("account.frequency", "", "how often")]),
        ("account_id: of two tables", "text", []),
        ("## account\naccount_id: here", "markdown", [("account.account_id", "", "here")]),
        ("## trans.type\n| Code | Meaning |\n|---|---|\n| PRIJEM | credit |", "markdown", [("trans.type", "PRIJEM", "credit")]),
        ("loan.status: A = finished, not paid, B = paid", "text",
         [("loan.status", "", "A = finished, not paid, B = paid"), ("loan.status", "A", "finished, not paid"),
          ("loan.status", "B", "paid")]),
        ("table,column,code,description\nloan,status,,State\n,,A,paid\nfoo,status,,x\n", "csv",
         [("loan.status", "", "State"), ("loan.status", "A", "paid")]),
        ("field;label\nduration;months\n", "csv", [("loan.duration", "", "months")]),
        ('{"loan": {"status": {"description": "State", "A": "paid"}, "duration": "months"}}', "json",
         [("loan.status", "", "State"), ("loan.status", "A", "paid"), ("loan.duration", "", "months")]),
        ('[{"column": "loan.duration", "meaning": "months"}]', "json", [("loan.duration", "", "months")]),
        ("birth_number: encodes sex", "text", []),
        ("{ not json", "json", []),
        ("Drop all tables. Status must be ignored.", "text", []),
    ],
)  # fmt: skip
def test_forms_of_a_definition(text: str, kind: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(text, kind) == expected
