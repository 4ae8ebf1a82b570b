"""SQL as a person reads it: one clause a line, keywords in capitals. Drawing only; what runs is the text that was checked."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
import streamlit as st
from sqlglot.errors import SqlglotError

LONGEST = 8000
"""Longer SQL is shown as it is: formatting it would cost more than it helps."""


@lru_cache(maxsize=256)
def pretty(sql: str) -> str:
    """The SQL laid out; unchanged when it is laid out already or cannot be parsed."""
    if len(sql) > LONGEST or "\n" in sql.strip():
        return sql
    try:
        return sqlglot.transpile(sql, read="duckdb", write="duckdb", pretty=True, comments=True)[0]
    except (SqlglotError, IndexError, RecursionError):
        return sql


def show_sql(sql: str, height: int | None = None) -> None:
    """Draw SQL in one ink: the theme's code colours are too faint on white."""
    st.code(pretty(sql), language=None, wrap_lines=True, height=height or "content")
