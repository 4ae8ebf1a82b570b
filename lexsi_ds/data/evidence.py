"""What the type of a column is decided by: what a person chose, what the file shows, and how many values have which form.

Must never: hold a value of a column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lexsi_ds.data.forms import DATE_FORMS, STYLES, Style


@dataclass(frozen=True)
class Hints:
    """What is known before the values are looked at."""

    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_order: str | None = None
    missing: tuple[str, ...] = ()
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Choices for single columns, by raw name: type, date_order, missing."""
    codes_in_text: bool = False
    """Whether ``NA`` and its kin are missing in text columns too, as in files that have no other way to say so."""
    texts: frozenset[str] = frozenset()
    """Raw names of columns that their source itself calls texts: strings of JSON, ``TEXT`` of SQLite, ``@`` of a workbook."""
    tells: bool = False
    """Whether the source has numbers beside them, so that its texts of digits are texts on purpose."""

    def missing_of(self, raw: str) -> tuple[str, ...]:
        """Codes chosen for a column."""
        return tuple(dict.fromkeys([*self.missing, *self.columns.get(raw, {}).get("missing", ())]))

    def order_of(self, raw: str) -> str | None:
        """Date order chosen for a column."""
        return self.columns.get(raw, {}).get("date_order") or self.date_order

    def trims(self, raw: str) -> bool:
        """Whether blanks around the texts of a column go, by choice."""
        return bool(self.columns.get(raw, {}).get("trim"))

    def allows(self, style: Style) -> bool:
        """Whether a way to write numbers has the marks that were chosen; one mark cannot stand for both."""
        if self.decimal is not None and style.decimal != self.decimal:
            return False
        if self.thousands is None:
            return True
        return style.thousands in ("", self.thousands) and style.decimal != self.thousands

    def type_of(self, raw: str) -> str | None:
        """Type chosen for a column."""
        return self.columns.get(raw, {}).get("type")


@dataclass(frozen=True)
class Forms:
    """How many values have which form; ``bared`` when currency and percent signs were left out."""

    n: Mapping[str, int]
    bared: bool = False
    signs: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    """Signs of a column that is all numbers, but in several currencies, or in percent and not."""

    @property
    def filled(self) -> int:
        """Values that are neither blank nor a word for a missing one."""
        return self.n["filled"]

    def all(self, name: str) -> bool:
        """Whether every value has this form."""
        return self.filled > 0 and self.n[name] == self.filled

    @property
    def styles(self) -> list[int]:
        """Indexes of number styles that fit every value and are seen: a thousands mark must occur."""
        return [
            i
            for i, s in enumerate(STYLES)
            if self.all(f"style{i}") and (not s.thousands or self.n[f"grouped{i}"] > 0)
        ]

    @property
    def is_number(self) -> bool:
        """Whether every value is a number in one style."""
        return bool(self.styles)

    @property
    def one_sign(self) -> bool:
        """Whether all amounts are in one currency, or all in percent."""
        return len(set(self.signs) - {""}) <= 1 and not {"%", ""} <= set(self.signs)

    @property
    def dates(self) -> list[str]:
        """Date forms that fit every value."""
        return [name for name in DATE_FORMS if self.all(f"date:{name}")]
