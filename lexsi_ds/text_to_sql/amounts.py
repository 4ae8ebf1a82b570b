"""The one figure that a table's rows have without its being named: what "total invoices", "above 20" and "largest" may speak of."""

from __future__ import annotations

from lexsi_ds.knowledge.model import ColumnModel, SemanticModel, TableModel
from lexsi_ds.knowledge.thesaurus import PEOPLE
from lexsi_ds.text_to_sql.logical import Measure


def added_up(model: SemanticModel, table: str) -> list[ColumnModel]:
    """The figures of a table whose sum means something."""
    return [c for c in model.of_table(table) if c.role == "measure" and c.additive]


def only_amount(model: SemanticModel, table: str) -> ColumnModel | None:
    """The only figure of a table that adds up."""
    found = added_up(model, table)
    return found[0] if len(found) == 1 else None


def is_person(table: TableModel) -> bool:
    """Whether a row is a person, so that "under 25" speaks of age and a total only counts."""
    return "person" in table.synonyms or table.label in PEOPLE


def own_size(model: SemanticModel, table: TableModel) -> str | None:
    """The figure that "total invoices" could mean instead of their number; people are only counted."""
    if table.size is not None or is_person(table):
        return table.size
    amount = only_amount(model, table.name)
    return amount.name if amount is not None else None


def main_measure(measures: list[Measure]) -> Measure:
    """The measure a person looks at: the last one that is not the count that only stands beside it."""
    return next((m for m in reversed(measures) if m.fn != "count"), measures[-1])
