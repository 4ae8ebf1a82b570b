"""The keys that a PostgreSQL database declares, as they are kept with a table (docs/catalog.md, "Keys and relationships").

Must never: keep a table from being read; where the catalog says nothing, there are none.
"""

from __future__ import annotations

import json
from typing import Any

from lexsi_ds.data.connectors.postgres_columns import Ask
from lexsi_ds.data.dialect import unique_names

_KEYS = """
SELECT c.contype::text AS k, n.nspname AS s, f.relname AS t, c.confrelid::bigint AS o,
  (SELECT json_agg(a.attname ORDER BY x.i)::text FROM unnest(c.conkey) WITH ORDINALITY x(num, i)
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = x.num) AS own,
  (SELECT json_agg(a.attname ORDER BY x.i)::text FROM unnest(c.confkey) WITH ORDINALITY x(num, i)
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = x.num) AS far
FROM pg_catalog.pg_constraint c LEFT JOIN pg_catalog.pg_class f ON f.oid = c.confrelid
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = f.relnamespace
WHERE c.conrelid = {oid} AND c.contype IN ('p', 'f') AND NOT (c.contype = 'f' AND c.conparentid <> 0)
ORDER BY c.contype DESC, c.conname
"""
_NAMES = """
SELECT a.attname AS c FROM pg_catalog.pg_attribute a WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""


def postgres_keys(ask: Ask, oid: int) -> dict[str, Any]:
    """``{"primary": [..], "foreign": [{"columns", "table", "to"}]}`` of a table, in the names that columns get here."""
    said: dict[str, Any] = {"primary": [], "foreign": []}
    own = _renamed(ask, oid)
    for kind, schema, table, parent, columns, to in ask(_KEYS.format(oid=int(oid))):
        names = [own[name] for name in json.loads(columns)]
        if kind == "p":
            said["primary"] = names
        else:
            there = _renamed(ask, int(parent))
            said["foreign"].append({
                "columns": names, "table": f"{schema}.{table}", "to": [there[name] for name in json.loads(to)],
            })
    return said


def _renamed(ask: Ask, oid: int) -> dict[str, str]:
    """The name here of each column there."""
    names = [row[0] for row in ask(_NAMES.format(oid=int(oid)))]
    return dict(zip(names, unique_names(names)[0], strict=True))
