"""Questions that this source can answer, for whoever was told no. Each is read before it is offered.

They come from the semantic model alone, so the same source always gets the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd

from lexsi_ds.knowledge.words import plural
from lexsi_ds.text_to_sql.analytic import analytic
from lexsi_ds.text_to_sql.asks import prediction
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.sqltext import Names

_HOW_MANY = 3


def suggestions(
    names: Names, lexicon: Lexicon, query: Callable[[str], pd.DataFrame], how_many: int = _HOW_MANY
) -> tuple[str, ...]:
    """Three questions that will be understood (fewer when the source is very small)."""
    kept: list[str] = []
    for text in _candidates(names):
        if len(kept) == how_many:
            break
        if text not in kept and _understood(text, names, lexicon, query):
            kept.append(text)
    return tuple(kept)


def _understood(text: str, names: Names, lexicon: Lexicon, query: Callable[[str], pd.DataFrame]) -> bool:
    try:
        if text.startswith("Which") and prediction(text, lexicon, names, forced=False) is not None:
            return True
        analytic(text, names, lexicon, query, None)
    except (NotUnderstood, Ambiguous):
        return False
    return True


def _candidates(names: Names) -> Iterator[str]:
    model = names.model
    main = max(
        model.tables,
        key=lambda t: (len([o for o in model.outcomes if o.table == t.name]) > 0, not t.bridge, t.size is not None),
    )
    columns = [c for c in model.of_table(main.name) if not (c.masked or c.identifier)]
    yield f"How many {main.plural} are there?"
    groups = [c for c in columns if c.role in ("category", "flag") and 1 < c.distinct <= 20]
    measures = [c for c in columns if c.role == "measure"]
    best = next((c for c in measures if c.name == main.size), measures[0] if measures else None)
    for group in groups[:3]:
        if best is not None:
            yield f"Average {best.label} by {group.label}"
        yield f"{main.plural.capitalize()} by {group.label}"
    for outcome in model.outcomes:
        if outcome.entity_words or any(
            w in outcome.label for w in ("churn", "attrition", "default", "surviv", "fraud")
        ):
            yield f"Which {model.table(outcome.table).plural} are likely to {outcome.label}?"
    for table in model.tables:
        yield f"How many {table.plural} are there?"
    for table in model.tables:
        for column in model.of_table(table.name):
            if column.role == "measure" and not column.masked:
                yield f"Average {column.label}"
        yield f"How many {plural(table.label)} are there?"
