"""Single figures that were asked for together, as one row: a query beside a query, with no join that could multiply either."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lexsi_ds.text_to_sql.reading import Analytic, Reading


def side_by_side(readings: Sequence[Reading]) -> Analytic | None:
    """One row with the figures of all; None unless each is a query that gives exactly one row whatever the data holds."""
    asked = [reading for reading in readings if isinstance(reading, Analytic)]
    trees = [tree for tree in map(_one_row, asked) if tree is not None]
    if len(trees) < len(readings):
        return None
    taken: set[str] = set()
    columns: list[exp.Expr] = []
    for number, tree in enumerate(trees, 1):
        for name in tree.named_selects:
            columns.append(exp.column(name, table=f"figure_{number}", quoted=True).as_(_free(name, taken), quoted=True))
    query = exp.select(*columns).from_(trees[0].subquery("figure_1"))
    for number, tree in enumerate(trees[1:], 2):
        query = query.join(tree.subquery(f"figure_{number}"), join_type="cross")
    return Analytic(
        sql=query.sql(dialect="duckdb", pretty=True),
        reading="; ".join([asked[0].reading, *(r.reading[:1].lower() + r.reading[1:] for r in asked[1:])]),
        evidence=tuple(dict.fromkeys(e for r in asked for e in r.evidence)),
        string_filters=tuple(dict.fromkeys(f for r in asked for f in r.string_filters)),
        caveats=tuple(dict.fromkeys(c for r in asked for c in r.caveats)),
        tables=tuple(dict.fromkeys(t for r in asked for t in r.tables)),
    )


def _one_row(reading: Analytic) -> exp.Select | None:
    """The query's tree where it only aggregates, without groups or conditions on them."""
    try:
        tree = sqlglot.parse_one(reading.sql, dialect="duckdb")
    except SqlglotError:
        return None
    many = ("group", "having", "qualify", "limit", "offset", "with_", "with")
    if not isinstance(tree, exp.Select) or any(tree.args.get(part) for part in many):
        return None
    alone = all(item.find(exp.AggFunc) is not None and item.find(exp.Window) is None for item in tree.selects)
    return tree if alone else None


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number where another figure has it."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free
