"""Masked columns stay here: what a task and its frame are without them.

A masked column may come under its own name, inside a feature's expression, or made into something else by the query; the
first two are left out with the reason, the third is refused, because no one can tell which column it became.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.task import FeatureDef, LeftOut, TaskSpec

_WHY = "It is masked: its values never leave this machine."
_WORD = re.compile(r'"((?:[^"]|"")+)"|([^\W\d]\w*)')
_TEXT = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.S)


def masked_names(handle: DatasetHandle | None) -> frozenset[str]:
    """Names of the masked columns of a source, case folded."""
    tables = handle.tables if handle is not None else ()
    return frozenset(c.name.casefold() for table in tables for c in table.columns if c.masked)


def without_masked(task: TaskSpec, frame: pd.DataFrame, masked: frozenset[str]) -> tuple[TaskSpec, pd.DataFrame]:
    """The task and the frame without what is masked. ModelRefused when the outcome is, or when a query hides where it went."""
    if not masked:
        return task, frame
    if task.target_column.casefold() in masked:
        raise ModelRefused(
            "The outcome is a masked column; its values may not leave this machine.", where=task.target_column,
            to_do="Choose another outcome, or set LEXSI_DS_ENGINE=local.",
        )  # fmt: skip
    gone = [feature for feature in task.features if _touches(feature, masked)]
    named = {str(c).casefold() for c in frame.columns} | {task.entity_column.casefold()}
    mentioned = _mentions(task.context_sql, masked)
    hidden = sorted(
        n for n in mentioned if n not in named and not any(n in _mentions(f.expression, masked) for f in gone)
    )
    if hidden:
        raise ModelRefused(
            f"The query makes something of the masked column {', '.join(hidden)}, and what it became cannot be told apart.",
            where="context_sql", to_do="Leave it out of the query, or set LEXSI_DS_ENGINE=local.",
        )  # fmt: skip
    left = tuple(
        LeftOut(name=f.name, table=f.tables[0] if f.tables else task.entity_table, reason="masked", detail=_WHY)
        for f in gone
    )
    names = {f.name for f in gone} | {str(c) for c in frame.columns if str(c).casefold() in masked} - {
        task.entity_column
    }
    kept = tuple(f for f in task.features if f not in gone)
    display = tuple(c for c in task.display_columns if c not in names)
    said = tuple(out for out in left if out.name not in {o.name for o in task.left_out})
    task = task.model_copy(update={"features": kept, "left_out": (*task.left_out, *said), "display_columns": display})
    return task, frame.drop(columns=[c for c in frame.columns if str(c) in names])


def refuse_masked(features: Iterable[str], masked: frozenset[str]) -> None:
    """Refuse to score or explain with a feature that was masked after the model was trained."""
    found = sorted(name for name in features if name.casefold() in masked)
    if found:
        raise BadInput(
            f"The model uses {', '.join(found)}, which has been masked since: its values may not leave this machine.",
            where="masked column", to_do="Train the model again; it will do without.",
        )  # fmt: skip


def _touches(feature: FeatureDef, masked: frozenset[str]) -> bool:
    return feature.name.casefold() in masked or bool(_mentions(feature.expression, masked))


def _mentions(sql: str, masked: frozenset[str]) -> set[str]:
    """Masked names that stand in a piece of SQL, outside of texts and comments."""
    words = {(quoted.replace('""', '"') or plain).casefold() for quoted, plain in _WORD.findall(_TEXT.sub(" ", sql))}
    return words & masked
