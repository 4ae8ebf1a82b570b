"""Tables of rows: how columns are typed, what is said of their count, and how all rows are downloaded.

Data cells are never Markdown, so hostile text in them stays text. Must never: send more than a page of rows to the browser,
or cut without saying how many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import streamlit as st

from components import figures
from components.safe import plain

SHOWN_ROWS = 50
ROW = 33
"""Height of a row at the theme's font size, in pixels."""
TALL = 11 * ROW + 4
"""Height of a table of ten rows; a longer one scrolls."""


def is_identifier(name: str) -> bool:
    """Whether a column reads as an id: drawn as text at the left, never with thousands marks."""
    folded = name.casefold()
    return folded in ("id", "key") or folded.endswith(("_id", " id", "_key", "_no", "_nr"))


def is_year(name: str) -> bool:
    """Whether a number column holds years, which take no thousands marks."""
    return name.casefold().replace("_", " ").split()[-1:] == ["year"]


def presentable(frame: pd.DataFrame, identifiers: Iterable[str] = ()) -> pd.DataFrame:
    """A copy in which ids are text and mixed cells are text, so that any frame draws."""
    shown = frame.copy()
    ids = set(identifiers)
    for name in shown.columns:
        column = shown[name]
        whole = pd.api.types.is_integer_dtype(column)
        if whole and (str(name) in ids or is_identifier(str(name))):
            shown[name] = column.map(as_id)
        elif column.dtype == object:
            shown[name] = column.map(lambda v: None if v is None else str(v))
    shown.columns = [str(c) for c in shown.columns]
    return shown


def as_id(value: Any) -> str | None:
    """An id as text: 5314, never 5,314.0; None when it is missing."""
    if value is None or pd.isna(value):
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def columns(
    frame: pd.DataFrame, labels: dict[str, str] | None = None, units: dict[str, str] | None = None
) -> dict[str, Any]:
    """Column settings by type: thousands marks, ISO dates; the unit goes into the header."""
    settings: dict[str, Any] = {}
    for name in frame.columns:
        label = (labels or {}).get(name, str(name))
        if unit := (units or {}).get(name):
            label = f"{label}, {unit}"
        if pd.api.types.is_bool_dtype(frame[name]):
            settings[name] = st.column_config.CheckboxColumn(label)
        elif pd.api.types.is_numeric_dtype(frame[name]):
            settings[name] = st.column_config.NumberColumn(label, format=_number_format(str(name), unit))
        elif pd.api.types.is_datetime64_any_dtype(frame[name]):
            settings[name] = st.column_config.DatetimeColumn(label, format=_date_format(pd.Series(frame[name])))
        else:
            settings[name] = st.column_config.TextColumn(label)
    return settings


def _number_format(name: str, unit: str | None) -> str:
    """Years plain, rates with one decimal, all else with thousands marks."""
    return "%d" if is_year(name) else "%.1f" if unit == "%" else "localized"


def _date_format(column: pd.Series) -> str:
    whole_days = bool((column.dropna() == column.dropna().dt.normalize()).all())
    return "YYYY-MM-DD" if whole_days else "YYYY-MM-DD HH:mm:ss"


def height(rows: int) -> int:
    """A short table is as tall as its rows, a long one scrolls. In pixels, so that nothing moves while it loads."""
    return min(TALL, ROW * (max(rows, 1) + 1) + 4)


def show(
    frame: pd.DataFrame,
    *,
    key: str,
    alt: str,
    labels: dict[str, str] | None = None,
    units: dict[str, str] | None = None,
    identifiers: Iterable[str] = (),
    settings: dict[str, Any] | None = None,
) -> None:
    """Draw rows that were already cut to a page."""
    shown = presentable(frame, identifiers)
    config = columns(shown, labels, units) | (settings or {})
    st.dataframe(shown, hide_index=True, key=key, alt=alt, column_config=config, height=height(len(shown)))


def count_line(shown: int, total: int, noun: str = "row") -> str:
    """What a table's head says: "7 rows", or "showing 50 of 4,500 rows"."""
    return (
        figures.counted(total, noun)
        if shown >= total
        else f"showing {figures.count(shown)} of {figures.counted(total, noun)}"
    )


def card_head(title: str, note: str = "") -> None:
    """Head of a card: bold title and a gray note; both may hold data."""
    st.markdown(f"**{plain(title)}**" + (f" :gray[{plain(note)}]" if note else ""))


def csv_button(label: str, file_name: str, data: Callable[[], bytes], key: str, *, type_: Any = "tertiary") -> None:
    """A download whose bytes are made when it is clicked; the page does not run again for it."""
    st.download_button(
        label,
        data,
        file_name=file_name,
        mime="text/csv",
        key=key,
        icon=":material/download:",
        on_click="ignore",
        type=type_,
    )


def probability_column(label: str = "Probability", width: int | None = None) -> Any:
    """The bar of a probability: one hue, three decimals, so that a small one is not none."""
    return st.column_config.ProgressColumn(label, min_value=0, max_value=1, format="%.3f", color="orange", width=width)
