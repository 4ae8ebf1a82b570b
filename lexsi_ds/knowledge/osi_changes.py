"""What differs between two models of a source, in words a person can check: "loan.amount: unit CZK, was none"."""

from __future__ import annotations

from typing import Any

from lexsi_ds.knowledge.model import SemanticModel

_WATCHED = {
    "table": ("label", "plural", "synonyms", "key", "time", "names", "size", "bridge", "comment"),
    "column": (
        "label", "role", "synonyms", "unit", "additive", "values", "verbs", "identifier", "comment", "bigger", "smaller", "counted",
    ),
}  # fmt: skip
_NAMED = {
    "time": "default date", "comment": "description", "additive": "can be summed", "values": "meanings", "bigger": "superlatives",
    "smaller": "superlatives of the least", "size": "measure of size", "names": "names of rows",
}  # fmt: skip
_LISTS = (
    "relationships", "hierarchies", "metrics", "formulas", "paths", "segments", "outcomes", "disambiguations", "concepts",
    "verified", "house", "ambiguous",
)  # fmt: skip


def changes(before: SemanticModel, after: SemanticModel) -> tuple[str, ...]:
    """Every difference, one a line: tables, columns, then the lists of the model."""
    said: list[str] = []
    then = {t.name: t for t in before.tables}
    for table in after.tables:
        said += _of(table.name, "table", then.get(table.name), table)
    old = {(c.table, c.name): c for c in before.columns}
    for column in after.columns:
        said += _of(f"{column.table}.{column.name}", "column", old.get((column.table, column.name)), column)
    for name in _LISTS:
        said += _of_list(name, getattr(before, name), getattr(after, name))
    if before.instructions != after.instructions:
        said.append("instructions changed")
    return tuple(said)


def _of(place: str, kind: str, before: Any, after: Any) -> list[str]:
    if before is None:
        return [f"{place}: new"]
    said = []
    for name in _WATCHED[kind]:
        then, now = getattr(before, name), getattr(after, name)
        if then == now:
            continue
        title = _NAMED.get(name, name)
        if isinstance(now, tuple):
            gained, lost = [_text(v) for v in now if v not in then], [_text(v) for v in then if v not in now]
            parts = [f"+ {', '.join(gained)}"] * bool(gained) + [f"- {', '.join(lost)}"] * bool(lost)
            said.append(f"{place}: {title} {' '.join(parts) or 'in another order'}")
        else:
            said.append(f"{place}: {title} {_text(now)}, was {_text(then)}")
    return said


def _of_list(name: str, before: tuple[Any, ...], after: tuple[Any, ...]) -> list[str]:
    then, now = {_key(v): v for v in before}, {_key(v): v for v in after}
    title = {"hierarchies": "relationships", "formulas": "metrics", "verified": "verified questions"}.get(name, name)
    said = [f"{title}: + {k}" for k in now if k not in then] + [f"{title}: - {k}" for k in then if k not in now]
    return said + [f"{title}: {k} changed" for k in now if k in then and then[k] != now[k]]


def _key(value: Any) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "child"):
        return f"{value.child}.{value.child_column} to {value.parent}"
    return next(str(getattr(value, n)) for n in ("id", "name", "noun", "label", "question") if hasattr(value, n))


def _text(value: Any) -> str:
    if hasattr(value, "value"):
        return f"{value.value} = {value.label}"
    if hasattr(value, "model_dump"):
        return _key(value)
    return {None: "none", True: "yes", False: "no", "": "none"}.get(value, str(value))
