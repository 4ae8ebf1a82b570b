"""An outcome that is asked of the rows of another table: "which customers will churn", where their subscriptions hold churn.

Each with one is taken; where a row has several, it is asked which counts.
"""

from __future__ import annotations

from lexsi_ds.knowledge.model import Outcome
from lexsi_ds.text_to_sql.cues import PREDICT_CUES
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.reading import Clarify
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import tag
from lexsi_ds.text_to_sql.task_draft import RowsOf
from lexsi_ds.text_to_sql.task_rows import link_to


def reworded(question: str, lexicon: Lexicon, names: Names) -> tuple[str, RowsOf] | Clarify | None:
    """The question asked of the table that holds its outcome, and of which rows it is meant; None where that is the same."""
    tagged = tag(question, lexicon, names.handle.today, PREDICT_CUES)
    named = {s.value for i in tagged.items for s in i.of("outcome")}
    outcomes = [o for o in names.model.outcomes if o.id in named]
    items = [i for i in tagged.items if i.of("entity")]
    tables = {s.table for i in items for s in i.of("entity")}
    if len(outcomes) != 1 or len(items) != 1 or len(tables) != 1 or items[0].of("rows", "outcome"):
        return None
    outcome, owner = outcomes[0], tables.pop()
    if owner == outcome.table:
        return None
    found = owned(outcome, owner, names)
    if not isinstance(found, RowsOf):
        return found
    item = items[0]
    return f"{question[: item.start]}{names.model.table(outcome.table).plural}{question[item.end :]}", found


def owned(outcome: Outcome, owner: str, names: Names) -> RowsOf | Clarify | None:
    """How the rows of a table have an outcome of another one: each has one; or a question which of several counts."""
    return of_table(outcome.table, outcome.label, owner, names)


def of_table(table: str, label: str, owner: str, names: Names) -> RowsOf | Clarify | None:
    """How the rows of a table have what another table holds."""
    link, model = link_to(names.model, table, owner), names.model
    if link is None:
        return None
    if link.one_to_one:
        return RowsOf(table=owner)
    rows, of = model.table(table), model.table(owner)
    options = [f"Predict {label} for each {rows.label}"]
    if rows.key and rows.time:
        options.append(f"Predict {label} of the last {rows.label} for each {of.label}")
    return Clarify(question=f"One {of.label} can have several {rows.plural}. Which counts?", options=tuple(options))
