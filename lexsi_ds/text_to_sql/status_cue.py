""" "Which orders will be cancelled": a value of the rows' own status, said of what is to come.

No outcome is declared by it, so it is asked about: predicted, or counted as it stands. Never trained without that.
"""

from __future__ import annotations

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql.cues import STRONG, WEAK
from lexsi_ds.text_to_sql.reading import Clarify
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Tagged

_MOST_STATES = 12
"""Most values of a column that says what state a row is in."""
_PASSED = frozenset({"stop", "mark", "number", "why", "plain", STRONG, WEAK})


def asked(tagged: Tagged, names: Names) -> Clarify | None:
    """The question back; None where the words are not just rows, what is to come and one state."""
    said = [i for i in tagged.items if i.kind not in _PASSED]
    rows = [i for i in said if i.kind == "sense" and i.of("entity")]
    states = [i for i in said if i.kind == "sense" and i.of("value") and not i.of("entity")]
    coming = any(i.kind == STRONG or "will" in i.words for i in tagged.items)
    if not coming or len(rows) != 1 or len(states) != 1 or len(said) != 2:
        return None
    tables = {s.table for s in rows[0].of("entity")}
    own = [(names.column(s.table, s.column), s.value) for s in states[0].of("value") if s.table in tables]
    if len(tables) != 1 or len(own) != 1 or not _is_state(own[0][0]) or states[0].of("outcome"):
        return None
    column, value = own[0]
    table = names.model.table(column.table)
    said_of = "" if column.role == "flag" else f" = {value}"
    counted = f"number of {table.plural} by {column.label}"
    return Clarify(
        question=f"\u201c{states[0].text}\u201d is a value of {column.label}. Shall it be predicted, or counted as it stands?",
        options=(f"predict {column.label}{said_of} for each {table.label}", counted),
    )


def _is_state(column: ColumnModel) -> bool:
    return column.role in ("category", "flag") and column.distinct <= _MOST_STATES and not column.masked
