"""The published shape of a semantic model file: Open Semantic Interchange (OSI), core specification 1.0, and nothing of our own.

What Lexsi DS adds is JSON in ``custom_extensions`` (see `meanings`). Two optional keys of later drafts (``version``, ``datatype``)
are taken as well, so that newer files can be read. Values only.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

DIALECTS = ("ANSI_SQL", "DUCKDB", "SNOWFLAKE", "MDX", "DAX", "TABLEAU", "DATABRICKS", "MAQL", "BIGQUERY")
OURS = ("ANSI_SQL", "DUCKDB")
"""Dialects whose expressions are read; others are kept and not used."""


class Part(BaseModel):
    """Base of the parts of a file: unknown keys are refused by name."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class AiContext(Part):
    """What a person says to whoever reads the entity: instructions, other words, example questions."""

    model_config = ConfigDict(frozen=True, extra="allow")

    instructions: str | None = None
    synonyms: tuple[str, ...] | None = None
    examples: tuple[str, ...] | None = None


class Extension(Part):
    """Attributes of one vendor, as a JSON text."""

    vendor_name: str
    data: str


class DialectExpression(Part):
    """An expression in one dialect."""

    dialect: str
    expression: str


class Expression(Part):
    """One expression in one dialect or several."""

    dialects: tuple[DialectExpression, ...] = Field(min_length=1)

    @property
    def sql(self) -> str | None:
        """The expression in a dialect that is read here; None when there is none."""
        return next((d.expression for d in self.dialects if d.dialect in OURS), None)


class Described(Part):
    """What every entity may carry."""

    description: str | None = None
    ai_context: str | AiContext | None = None
    custom_extensions: tuple[Extension, ...] = ()

    @property
    def synonyms(self) -> tuple[str, ...] | None:
        """Other words; None when nothing is said of them. A plain text is a list of words, unless it is sentences."""
        if self.ai_context is None:
            return None
        if isinstance(self.ai_context, str):
            parts = [p.strip() for p in self.ai_context.split(",") if p.strip()]
            return tuple(parts) if all(len(p.split()) <= 5 for p in parts) and "." not in self.ai_context else ()
        return self.ai_context.synonyms or ()

    @property
    def instructions(self) -> str:
        """What is to be known beside the words."""
        if isinstance(self.ai_context, str):
            return "" if self.synonyms else self.ai_context
        return (self.ai_context.instructions or "") if self.ai_context else ""


class _WithExpression(Described):
    expression: Expression

    @field_validator("expression", mode="before")
    @classmethod
    def _both_forms(cls, value: Any) -> Any:
        """The specification writes the dialects of a metric both below ``dialects`` and directly."""
        return {"dialects": value} if isinstance(value, list | tuple) else value


class Dimension(Part):
    """Marks a field that rows are grouped or filtered by."""

    is_time: bool | None = None


class OsiField(_WithExpression):
    """An attribute of a row."""

    name: str
    dimension: Dimension | None = None
    label: str | None = None
    datatype: str | None = None


class OsiDataset(Described):
    """A table."""

    name: str
    source: str
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    fields: tuple[OsiField, ...] = ()


class OsiRelationship(Described):
    """Rows of ``from`` point to rows of ``to``."""

    name: str
    from_: str = Field(alias="from")
    to: str
    from_columns: tuple[str, ...] = Field(min_length=1)
    to_columns: tuple[str, ...] = Field(min_length=1)


class OsiMetric(_WithExpression):
    """A figure over rows."""

    name: str
    datatype: str | None = None


class OsiModel(Described):
    """A semantic model."""

    name: str
    datasets: tuple[OsiDataset, ...] = Field(min_length=1)
    relationships: tuple[OsiRelationship, ...] | None = None
    metrics: tuple[OsiMetric, ...] | None = None


class Document(Part):
    """A file: one semantic model."""

    version: str | None = None
    semantic_model: tuple[OsiModel, ...] = Field(min_length=1, max_length=1)

    @property
    def model(self) -> OsiModel:
        """The one model."""
        return self.semantic_model[0]


def tidy(value: Any) -> Any:
    """A part as plain data, empty and missing parts left out, in the order of the specification."""
    if isinstance(value, BaseModel):
        body = {(f.alias or n): tidy(getattr(value, n)) for n, f in type(value).model_fields.items()}
        body |= {n: tidy(v) for n, v in (value.model_extra or {}).items()}
        order = ["name", "from", "to", "source", "label", "description", "dialect", "expression", "dimension", "ai_context"]
        keys = sorted(body, key=lambda k: order.index(k) if k in order else len(order) + (k == "custom_extensions"))
        return {k: body[k] for k in keys if body[k] not in (None, [], {})}
    if isinstance(value, tuple | list):
        return [tidy(v) for v in value]
    return value
