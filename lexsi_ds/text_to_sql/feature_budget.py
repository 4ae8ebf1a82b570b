"""How many features of events a task gets, and which: declared rules, so that the same source always gets the same ones.

Few rows cannot bear many columns. What does not fit is counted and said, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexsi_ds.text_to_sql.event_features import Aggregate

LEAST, MOST = 20, 120
"""Fewest and most features of events of a task."""
CLASS_ROWS, FIGURE_ROWS = 2, 10
"""Rows for one feature of events, between the two: of the rarer class, or of all that train where a figure is predicted."""


def budget(rows: int, *, figure: bool) -> int:
    """How many features of events suit what there is to learn from: rows of the rarer class, or all where a figure is
    predicted."""
    return max(LEAST, min(MOST, rows // (FIGURE_ROWS if figure else CLASS_ROWS)))


def chosen(made: Sequence[Sequence[Aggregate]], most: int) -> list[list[Aggregate]]:
    """Of each table's features those that fit: by rank, and within a rank each table in turn."""
    order = [
        (aggregate.rank, sum(a.rank == aggregate.rank for a in table[:n]), t, n)
        for t, table in enumerate(made)
        for n, aggregate in enumerate(table)
    ]
    kept = {(t, n) for _, _, t, n in sorted(order)[:most]}
    return [[a for n, a in enumerate(table) if (t, n) in kept] for t, table in enumerate(made)]


def told(made: int, most: int) -> str | None:
    """What is said when not every feature fits."""
    if made <= most:
        return None
    return (
        f"Of {made:,} features that can be made of the dated rows of other tables, {most:,} are: one for {CLASS_ROWS} rows of the"
        f" rarer class (for a figure, one for {FIGURE_ROWS} rows), but at least {LEAST} and at most {MOST}. Counts, totals and last"
        " values come first, then the last 90 days, trends and ratios, then other windows, shares and extremes."
    )
