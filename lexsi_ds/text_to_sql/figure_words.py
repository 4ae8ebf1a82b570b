"""Words around figures that say no more than the figure does: "average number of pages", and "total price" of a column so called.

Works on tagged items; it never drops a word that counts rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.items import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.lexicon import Lexicon

_OF_FIGURES = frozenset({"average", "median", "maximum", "minimum", "deviation"})
_ASKED = frozenset({"give me", "tell me"})


def told_of_figures(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items, with those words settled."""
    return _totalled(_counted(_numbered(_columns_of(items), lexicon), lexicon), lexicon)


def _columns_of(items: list[Item]) -> list[Item]:
    """ "by station city": behind the rows that have it a column's name is that column, though another has such a value."""
    out: list[Item] = []
    for n, item in enumerate(items):
        rows = {s.table for s in items[n - 1].of("entity", "role")} if n and items[n - 1].kind == "sense" else set()
        grouped = n > 1 and items[n - 2].kind in ("by", "each")
        own = tuple(s for s in item.of("column") if s.table in rows)
        out.append(replace(item, senses=own) if grouped and own and item.of("value") else item)
    return out


def _counted(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """ "how many awards" of a column that counts them for each row: they are added up."""
    if len(items) < 2 or items[0].kind != "count" or items[1].kind != "sense":
        return items
    senses = items[1].senses
    if not senses or any(s.kind != "column" or not lexicon.counts_things(s) for s in senses):
        return items
    return [replace(items[0], kind="sum"), *items[1:]]


def _numbered(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """ "average number of pages": where a figure is what is numbered, "number of" says no more than the figure does."""
    out: list[Item] = []
    for n, item in enumerate(items):
        after = items[n + 1] if n + 1 < len(items) else None
        before = next((x.kind for x in reversed(out) if x.kind != "stop"), "")
        idle = item.kind == "count" and before in _OF_FIGURES and after is not None and lexicon.is_figure(after.senses)
        out.append(replace(item, kind="stop") if idle else item)
    return out


def _totalled(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """ "total price" of a column that is called so and nothing else: all of it added up."""
    lead = next((n for n, x in enumerate(items) if x.kind not in ("stop", "which", "be", "list", "polite")), None)
    if lead is None or any(x.kind == "list" and x.text.casefold() not in _ASKED for x in items[:lead]):
        return items
    item = items[lead]
    if item.kind != "sense" or item.cue or item.words[0] != "total" or len(item.words) < 2 or not lexicon.is_figure(item.senses):
        return items
    if not all(s.kind == "column" and lexicon.is_additive(s) for s in item.senses):
        return items
    said, _, rest = item.text.partition(" ")
    split = [
        Item("sum", said, item.words[:1], start=item.start, end=item.start + len(said)),
        replace(item, text=rest, words=item.words[1:], start=item.end - len(rest)),
    ]
    return [*items[:lead], *split, *items[lead + 1 :]]
