"""What Lexsi DS adds to a semantic model file, as JSON under ``lexsi_ds`` in a custom extension of vendor COMMON.

A part that has this extension is complete: what it leaves out is empty. A part without it takes what was derived. Values only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from lexsi_ds.knowledge.model import (
    ColumnRole,
    Concept,
    Condition,
    Disambiguation,
    Flow,
    Outcome,
    RolePath,
    Segment,
    ValueMeaning,
    VerifiedQuestion,
)
from lexsi_ds.knowledge.osi import Described, Extension

VENDOR, KEY = "COMMON", "lexsi_ds"
_SHORT = 110


class Meaning(BaseModel):
    """Base of the extensions."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldMeaning(Meaning):
    """Of a column."""

    role: ColumnRole | None = None
    unit: str | None = None
    additive: bool = False
    identifier: bool = False
    verbs: tuple[str, ...] = ()
    values: tuple[ValueMeaning, ...] = ()
    counted: tuple[str, ...] = ()
    bigger: tuple[str, ...] = ()
    smaller: tuple[str, ...] = ()
    described: bool = True


class DatasetMeaning(Meaning):
    """Of a table."""

    label: str
    plural: str
    time: str | None = None
    """The default date."""
    names: tuple[str, ...] = ()
    size: str | None = None
    bridge: bool = False
    flows: tuple[Flow, ...] = ()


class RelationshipMeaning(Meaning):
    """Of a link."""

    role: str = ""
    nouns: tuple[str, ...] = ()
    one_to_one: bool = False


class MetricMeaning(Meaning):
    """Of a metric: its grain, which rows count, and how it is read. ``conditions`` of a rate are its hits, else its filters."""

    label: str
    table: str
    kind: Literal["rate", "sum", "average", "formula"] = "formula"
    conditions: tuple[Condition, ...] = ()
    hits: str = ""
    unsettled: tuple[Condition, ...] = ()
    unsettled_label: str = ""
    unit: str | None = None
    higher_is: Literal["better", "worse"] | None = None


class ModelMeaning(Meaning):
    """Of the whole."""

    paths: tuple[RolePath, ...] = ()
    segments: tuple[Segment, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    disambiguations: tuple[Disambiguation, ...] = ()
    concepts: tuple[Concept, ...] = ()
    house: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    verified: tuple[VerifiedQuestion, ...] = ()


M = TypeVar("M", bound=Meaning)


def place_of(part: Described) -> int | None:
    """Which of a part's extensions is ours; None when none is."""
    for i, extension in enumerate(part.custom_extensions):
        if extension.vendor_name == VENDOR and _body(extension.data) is not None:
            return i
    return None


def meaning_of(part: Described, kind: type[M]) -> M | None:
    """Our extension of a part; None when it has none. Raises pydantic's ValidationError for a wrong one."""
    place = place_of(part)
    return None if place is None else kind.model_validate(_body(part.custom_extensions[place].data))


def _body(data: str) -> Any:
    try:
        body = json.loads(data)
    except ValueError:
        return None
    return body.get(KEY) if isinstance(body, dict) else None


def extension(meaning: Meaning) -> Extension:
    """Our extension as a part of a file: short on one line, else with a line for each part."""
    body = {KEY: meaning.model_dump(mode="json", exclude_defaults=True)}
    short = json.dumps(body, ensure_ascii=False)
    return Extension(vendor_name=VENDOR, data=short if len(short) <= _SHORT else f"{_spread(body)}\n")


def _spread(value: Any, depth: int = 0) -> str:
    """JSON in which what fits on a line stays on it."""
    short = json.dumps(value, ensure_ascii=False)
    if (depth and len(short) + 2 * depth <= _SHORT) or not value or not isinstance(value, dict | list):
        return short
    pad, end = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        inner = [f"{pad}{json.dumps(k, ensure_ascii=False)}: {_spread(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(inner) + f"\n{end}}}"
    return "[\n" + ",\n".join(f"{pad}{_spread(v, depth + 1)}" for v in value) + f"\n{end}]"


def with_meaning(extensions: Iterable[Extension], meaning: Meaning) -> tuple[Extension, ...]:
    """The extensions with ours replaced or added; those of other vendors stay."""
    others = [e for e in extensions if not (e.vendor_name == VENDOR and _body(e.data) is not None)]
    return (*others, extension(meaning))
