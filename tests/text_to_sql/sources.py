"""Sources that questions are asked of: the real bank, real CSV files, and a mini bank small enough to count by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lexsi_ds.knowledge.load import semantic_model
from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.values import ValueIndex, build_values
from lexsi_ds.text_to_sql.interpret import interpret
from lexsi_ds.text_to_sql.reading import Analytic, Predictive, Reading
from tests.knowledge.sources import Source, make_source


@dataclass
class Asked:
    """A source with everything that reading a question needs."""

    source: Source
    model: SemanticModel
    values: ValueIndex
    readings: dict[str, Reading] = field(default_factory=dict)

    def read(self, question: str, **more: object) -> Reading:
        return interpret(question, self.source.handle, self.model, self.values, self.source.query, **more)  # type: ignore[arg-type]

    def analytic(self, question: str, **more: object) -> Analytic:
        reading = self.read(question, **more)
        assert isinstance(reading, Analytic), f"{question!r}: {reading}"
        return reading

    def answer(self, question: str, **more: object) -> list[tuple]:
        """Rows of the query that a question was read as."""
        return self.source.rows(self.analytic(question, **more).sql)

    def number(self, question: str) -> object:
        """The one number that a question was read as."""
        rows = self.answer(question)
        assert len(rows) == 1, f"{question!r} gave {len(rows)} rows"
        return rows[0][-1]

    def predictive(self, question: str) -> Predictive:
        reading = self.read(question)
        assert isinstance(reading, Predictive), f"{question!r}: {reading}"
        return reading


def asked(folder: Path, tables: dict[str, str], kind: str = "files") -> Asked:
    """A source made from SELECTs, ready for questions."""
    source = make_source(folder, tables, kind=kind)
    model = semantic_model(source.handle, source.query)
    return Asked(source, model, build_values(source.handle, model, source.query))


def mini_bank() -> dict[str, str]:
    """The bank's eight tables with 24 loans. Loan 1 has transactions before, on and after its day, and cards likewise.

    Loans 1 to 12 are finished (2, 4, 6 ... unpaid), 13 to 24 running; loan n belongs to account n of district n % 3.
    """
    days = "DATE '1996-01-10' + CAST(n AS INTEGER)"
    return {
        "account": "SELECT n AS account_id, n % 3 + 1 AS district_id, "
        " CASE WHEN n % 5 = 0 THEN 'POPLATEK TYDNE' ELSE 'POPLATEK MESICNE' END AS frequency,"
        " DATE '1995-01-01' + CAST(n AS INTEGER) AS date FROM range(1, 31) AS t(n)",
        "client": "SELECT n AS client_id, CASE WHEN n % 2 = 0 THEN 'F' ELSE 'M' END AS gender,"
        " DATE '1950-01-01' + CAST(n * 100 AS INTEGER) AS birth_date, CAST(500101 + n AS VARCHAR) AS birth_number,"
        " n % 3 + 1 AS district_id FROM range(1, 36) AS t(n)",
        "disp": "SELECT n AS disp_id, n AS client_id, CASE WHEN n > 30 THEN n - 30 ELSE n END AS account_id,"
        " CASE WHEN n > 30 THEN 'DISPONENT' ELSE 'OWNER' END AS type FROM range(1, 36) AS t(n)",
        "district": "SELECT n AS district_id, 'Town ' || n AS A2, 'Region ' || (n % 2) AS A3, 1000 * n AS A4,"
        " 8000 + n AS A11, 1.5 * n AS A12, 1.6 * n AS A13 FROM range(1, 4) AS t(n)",
        "loan": f"SELECT n AS loan_id, n AS account_id, {days} AS date, 1000 * n AS amount, 12 AS duration,"
        " 1000.0 * n / 12 AS payments,"
        " CASE WHEN n > 12 THEN CASE WHEN n % 4 = 0 THEN 'D' ELSE 'C' END WHEN n % 2 = 0 THEN 'B' ELSE 'A' END AS status"
        " FROM range(1, 25) AS t(n)",
        "card": "SELECT * FROM (VALUES (1, 1, 'classic', DATE '1996-01-01'), (2, 1, 'gold', DATE '1996-01-11'),"
        " (3, 31, 'junior', DATE '1995-06-01'), (4, 2, 'classic', DATE '1997-01-01')) AS t(card_id, disp_id, type, issued)",
        "order": "SELECT n AS order_id, n AS account_id, 'AB' AS bank_to, CAST(n AS VARCHAR) AS account_to, 100.0 * n AS amount,"
        " 'UVER' AS k_symbol FROM range(1, 25) AS t(n)",
        "trans": "SELECT * FROM (VALUES"
        " (1, 1, DATE '1995-02-01', 'PRIJEM', 'VKLAD', 500.0, 500.0, NULL),"
        " (2, 1, DATE '1996-01-05', 'VYDAJ', 'VYBER', 200.0, 300.0, NULL),"
        " (3, 1, DATE '1996-01-10', 'VYBER', 'VYBER', 100.0, 200.0, 'SANKC. UROK'),"
        " (4, 1, DATE '1996-01-11', 'PRIJEM', 'VKLAD', 9000.0, 9200.0, NULL),"
        " (5, 1, DATE '1996-02-01', 'VYDAJ', 'VYBER', 9100.0, 100.0, 'SANKC. UROK'),"
        " (6, 2, DATE '1995-12-01', 'PRIJEM', 'VKLAD', 70.0, 70.0, NULL))"
        " AS t(trans_id, account_id, date, type, operation, amount, balance, k_symbol)",
    }
