"""What the SQL editor offers: tables and columns of a source as SQL takes them, and SQL's own words. Pure; draws nothing."""

from __future__ import annotations

import re
from typing import Any

from lexsi_ds.data.handle import DatasetHandle

_BARE = re.compile(r"^[a-z_][a-z0-9_]*$")
KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "OFFSET", "JOIN", "LEFT JOIN", "FULL JOIN", "CROSS JOIN",
    "ON", "USING", "AS", "AND", "OR", "NOT", "IN", "IS NULL", "IS NOT NULL", "BETWEEN", "LIKE", "ILIKE", "EXISTS", "DISTINCT",
    "CASE", "WHEN", "THEN", "ELSE", "END", "UNION ALL", "UNION", "EXCEPT", "INTERSECT", "WITH", "ASC", "DESC", "NULLS LAST",
    "OVER", "PARTITION BY", "QUALIFY", "FILTER", "INTERVAL", "CAST", "TRY_CAST", "COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN",
    "QUANTILE_CONT", "STDDEV", "ROUND", "ABS", "COALESCE", "NULLIF", "LOWER", "UPPER", "TRIM", "LENGTH", "SUBSTRING", "REPLACE",
    "DATE_TRUNC", "DATE_DIFF", "EXTRACT", "STRFTIME", "YEAR", "MONTH", "ROW_NUMBER", "RANK", "LAG", "LEAD", "PIVOT",
)  # fmt: skip
_RESERVED = frozenset(
    ("order", "group", "select", "from", "where", "table", "join", "case", "when", "end", "limit", "by", "as", "on", "all",
     "union", "column", "default", "check", "primary", "user", "desc", "asc", "and", "or", "not", "in", "is", "null", "using",
     "having", "then", "else", "distinct", "with", "offset", "window", "qualify", "pivot", "left", "right", "full", "cross")
)  # fmt: skip
MOST_COLUMNS = 20_000
"""More names than this are not sent to the browser; those of the first tables are."""


def quoted(name: str) -> str:
    """A name as SQL takes it: bare when it can be."""
    return name if _BARE.match(name) and name not in _RESERVED else '"' + name.replace('"', '""') + '"'


def words(handle: DatasetHandle) -> dict[str, Any]:
    """Names of a source and words of SQL, as the editor's script reads them."""
    tables, left = [], MOST_COLUMNS
    for table in handle.tables:
        columns = table.columns[: max(0, left)]
        left -= len(columns)
        tables.append(
            {
                "name": table.name,
                "sql": quoted(table.name),
                "columns": [
                    {"name": c.name, "sql": quoted(c.name), "type": c.type.lower()[:30], "masked": c.masked} for c in columns
                ],
            }
        )
    return {"tables": tables, "keywords": list(KEYWORDS)}
