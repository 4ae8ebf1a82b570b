"""A file's columns beside those that a model was trained on: which is which, what is missing, new, or of another kind.

Names are matched exactly first, then without case, accents and punctuation. Must never: guess between two columns that
would fit, or change a value.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

import pandas as pd
from pydantic import Field

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.encode import read_column
from lexsi_ds.models.frames import column, is_textual, plain

ROW_ID = "row {}"
_EXAMPLES = 3


class Fitted(Value):
    """What was found of the columns; every list holds the model's names, ``new`` the file's."""

    renamed: dict[str, str] = Field(default_factory=dict)
    """The model's name -> how the file spells it, where that differs."""
    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    retyped: tuple[str, ...] = ()
    """Sentences about columns whose values are of another kind than in training."""
    unreadable: dict[str, int] = Field(default_factory=dict)
    """Values that are not of the kind the model expects."""
    numbered: bool = False
    """The file has no id column, so that its rows were numbered."""
    together: bool = False
    """The file lacks the column that says which rows stand apart."""


def fit(frame: pd.DataFrame, card: ModelCard, *, fill_missing: bool = False) -> tuple[pd.DataFrame, Fitted]:
    """The rows with the model's own column names, and what was found. ``fill_missing`` leaves absent columns and unreadable
    values empty instead of refusing them. Raises BadInput, which names every column that is in the way."""
    task = card.task
    features = [stats.feature for stats in card.features]
    shown = [c for c in task.display_columns if c not in {f.name for f in features}]
    wanted = [task.entity_column, *(f.name for f in features), *shown, *([task.apart.column] if task.apart else [])]
    names = _matched(list(map(str, frame.columns)), dict.fromkeys(wanted))
    missing = tuple(f.name for f in features if f.name not in names)
    if missing and (not fill_missing or len(missing) == len(features)):
        raise BadInput(_lacks(missing, len(features)), where=card.name, to_do=_TO_DO)
    rows = pd.DataFrame({name: frame[names[name]].to_numpy() if name in names else None for name in dict.fromkeys(wanted)},
                        index=range(len(frame)))
    for name, its in names.items():  # keeps the file's own type, which to_numpy may not
        rows[name] = frame[its].reset_index(drop=True)
    numbered = task.entity_column not in names
    if numbered:
        rows[task.entity_column] = [ROW_ID.format(i + 1) for i in range(len(frame))]
    unreadable, retyped = {}, []
    for feature in features:
        if feature.name in missing:
            continue
        said, count = _kind(rows, feature.name, feature.kind)
        retyped += [said] if said else []
        if count:
            unreadable[feature.name] = count
            if fill_missing:
                rows[feature.name] = _readable(rows, feature.name, feature.kind)
    if unreadable and not fill_missing:
        parts = "; ".join(retyped)
        raise BadInput(f"Some values cannot be read as the model expects: {parts}.", where=card.name, to_do=_TO_DO)
    new = tuple(n for n in map(str, frame.columns) if n not in set(names.values()) and n not in _told(card))
    found = Fitted(
        renamed={name: its for name, its in names.items() if name != its}, missing=missing, new=new, retyped=tuple(retyped),
        unreadable=unreadable, numbered=numbered, together=task.apart is not None and task.apart.column not in names,
    )
    needed = {task.apart.column} if task.apart else set()
    return rows.drop(columns=[c for c in shown if c not in names and c not in needed]), found


def has_features(columns: Sequence[str], card: ModelCard) -> bool:
    """Whether there is a column for each feature."""
    keys = {_key(name) for name in columns}
    return all(_key(stats.feature.name) in keys for stats in card.features)


def sentences(found: Fitted, card: ModelCard) -> tuple[str, ...]:
    """What a person must know of the columns before they read a score."""
    said: list[str] = []
    if found.missing:
        said.append(f"{_count(len(found.missing), 'column')} that the model learned from {_is(found.missing)} not in the file and "
                    f"counted as missing in every row: {_list(found.missing)}. The scores are worth less.")
    said += [f"{text}." for text in found.retyped]
    if found.unreadable:
        said.append(f"{sum(found.unreadable.values()):,} values that could not be read counted as missing.")
    if found.renamed:
        said.append("Columns found under another spelling: "
                    + ", ".join(f"{its} for {name}" for name, its in list(found.renamed.items())[:8]) + ".")
    if found.new:
        many = _count(len(found.new), "column")
        said.append(f"{many} that the model does not know {_is(found.new)} not used: {_list(found.new)}.")
    if found.numbered:
        said.append(f"The file has no column {card.task.entity_column}, so its rows were numbered.")
    if found.together and card.task.apart:
        said.append(f"Without {card.task.apart.column} no row is listed apart.")
    return tuple(said)


_TO_DO = "Correct the file, or choose to count what is missing or unreadable as missing values."


def _matched(have: Sequence[str], wanted: Mapping[str, None]) -> dict[str, str]:
    """The model's name -> the file's. Raises BadInput where two columns of the file would fit one name."""
    found = {name: name for name in wanted if name in have}
    rest = [name for name in have if name not in found]
    by_key: dict[str, list[str]] = {}
    for name in rest:
        by_key.setdefault(_key(name), []).append(name)
    for name in wanted:
        fits = by_key.get(_key(name), []) if name not in found else []
        if len(fits) > 1:
            raise BadInput(f"Two columns of the file could be {name}: {_list(fits)}.", to_do="Give one of them another name.")
        if fits:
            found[name] = fits[0]
    return found


def _kind(rows: pd.DataFrame, name: str, kind: str) -> tuple[str, int]:
    """A sentence where a column is of another kind than the model expects, and how many values cannot be read as it."""
    values = column(rows, name)
    _, unreadable = read_column(values, kind)  # pyright: ignore[reportArgumentType]
    if unreadable:
        what = "a number" if kind == "numeric" else "true or false"
        return f"{unreadable:,} of {len(values):,} values of {name} are not {what} ({_examples(values, kind)})", unreadable
    if kind == "numeric" and is_textual(values) and values.notna().any():
        return f"{name} is text in the file and was read as numbers", 0
    if kind == "categorical" and not is_textual(values) and pd.api.types.is_float_dtype(values.dtype):
        return f"{name} holds numbers in the file and was read as words", 0
    return "", 0


def _readable(rows: pd.DataFrame, name: str, kind: str) -> pd.Series:
    return pd.Series(read_column(column(rows, name), kind)[0], index=rows.index)  # pyright: ignore[reportArgumentType]


def _examples(values: pd.Series, kind: str) -> str:
    """A few values that cannot be read, as they stand in the file."""
    bad: list[str] = []
    for value in values.dropna().unique()[:2_000]:
        if read_column(pd.Series([value], dtype=object), kind)[1]:  # pyright: ignore[reportArgumentType]
            bad.append(repr(plain(value))[:30])
        if len(bad) == _EXAMPLES:
            break
    return ", ".join(bad)


def _told(card: ModelCard) -> set[str]:
    """Columns that the file may well hold and that are no news: the outcome, and what was left out on purpose."""
    task = card.task
    left = {out.name for out in (*card.left_out, *task.left_out)}
    own = {task.target_column, task.cutoff_column, task.group_column, task.time_column, task.score_column}
    return left | {name for name in own if name}


def _key(name: str) -> str:
    plain_letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9]+", "", plain_letters) or name


def _lacks(missing: Sequence[str], of: int) -> str:
    return f"The file lacks {_count(len(missing), 'column')} of the {of:,} that the model learned from: {_list(missing)}."


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12:,} more" if len(names) > 12 else "")
