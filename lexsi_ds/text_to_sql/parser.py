"""From items to a draft: one pass over the question, each rule taking the stretch that it understands.

A word that no rule takes stays in ``draft.left``: the question is then not answered. Nothing is skipped because it is odd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lexsi_ds.text_to_sql import (
    belongings,
    bosses,
    clauses,
    day_clauses,
    differences,
    elapsed,
    ends,
    figures,
    groups,
    naming,
    nested,
    rivals,
    shared_days,
    value_clauses,
    windows,
)
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk
from lexsi_ds.text_to_sql.rules import AGGREGATES, SUPERLATIVES
from lexsi_ds.text_to_sql.tagger import Item


def parse(items: tuple[Item, ...]) -> Draft:
    """The draft of a tagged question."""
    kept = []
    for n, item in enumerate(items):
        if item.kind == "stop" or (item.kind == "mark" and not _says(items, n)):
            continue
        article = n > 0 and items[n - 1].kind == "stop" and items[n - 1].words[0] in ("a", "an", "some")
        article = article or (n > 0 and items[n - 1].text.casefold() == "any")
        theirs = n > 0 and items[n - 1].kind == "stop" and items[n - 1].words[0] in ("its", "their", "his", "her")
        kept.append(replace(item, article=article, theirs=theirs) if article or theirs else item)
    return Parser(_settle(tuple(kept))).run()


def _says(items: tuple[Item, ...], n: int) -> bool:
    """Whether a mark says something: a pause, a percentage, or a range between figures."""
    if items[n].text in (",", ";", "%"):
        return True
    ranged = items[n].text in ("-", "–", "+") and n > 0 and items[n - 1].kind in ("number", "date")
    return ranged and (items[n].text == "+" or (n + 1 < len(items) and items[n + 1].kind in ("number", "date")))


def _settle(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """A name that is also a function word is the function word when a name follows: "total revenue" against "total by year"."""
    out = []
    for i, item in enumerate(items):
        following = items[i + 1] if i + 1 < len(items) else None
        as_cue = (
            item.cue in AGGREGATES
            and following is not None
            and (following.kind == "sense" or following.kind == "count")
        ) or (_only_happens_to_be_a_value(item) and following is not None and following.kind in ("sense", *AGGREGATES))
        period = item.cue == "grain" and bool(item.senses) and all(s.kind == "value" for s in item.senses)
        as_cue = as_cue or (period and following is not None and following.kind in AGGREGATES)  # "monthly number of claims"
        if period and not as_cue and _of_others(item, following):
            item = replace(item, kind="unknown", cue=None)  # "monthly claims": by month, or of policies that are paid monthly
        if item.kind == "own" and not item.theirs:
            item = replace(item, kind="with")  # "who own a card", and not "their own"
        if item.words == ("since",) and following is not None and following.kind == "date" and not _owns(out, item):
            item = Item("since", item.text, item.words, start=item.start, end=item.end)
        out.append(Item(item.cue or "", item.text, item.words, start=item.start, end=item.end) if as_cue else item)
    return tuple(out)


def _only_happens_to_be_a_value(item: Item) -> bool:
    """A superlative that some row is called too: "the most loans", where a town is called Most."""
    return item.cue in SUPERLATIVES and item.text.islower() and all(s.kind == "value" for s in item.senses)


def _of_others(item: Item, following: Item | None) -> bool:
    """Whether rows stand behind a value that is none of their own."""
    tables = {s.table for s in following.of("entity")} if following is not None else set()
    return bool(tables) and not tables & {s.table for s in item.senses}


def _owns(before: list[Item], item: Item) -> bool:
    """Whether a column's own rows are named just before it: "customers since 2020", of a column called since."""
    return bool(before) and bool({s.table for s in before[-1].of("entity")} & {s.table for s in item.of("column")})


class Parser:
    """One pass over the items of a question; the rules read ahead through ``kind``, ``skip`` and ``is_named``."""

    def __init__(self, items: tuple[Item, ...]) -> None:
        self.items = items
        self.draft = Draft()

    def run(self) -> Draft:
        rules: tuple[Callable[[int], int], ...] = (
            self.take_window,
            self.take_difference,
            self.take_elapsed,
            self.take_bands,
            self.take_boss,
            self.take_rivals,
            self.take_shared_days,
            self.take_owning,
            self.take_happened,
            self.take_versus,
            self.take_comparison,
            self.take_part,
            self.take_date,
            self.take_limit,
            self.take_superlative,
            self.take_share,
            self.take_aggregate,
            self.take_group,
            self.take_relation,
            self.take_which,
            self.take_value,
            self.take_named,
            self.take_glue,
        )
        i, told = 0, ""
        while i < len(self.items):
            before = (len(self.draft.measures) + len(self.draft.pending), len(self.draft.filters))
            for rule in rules:
                stop = rule(i)
                if stop > i:
                    told = self._told(told, before, i, stop)
                    i = stop
                    break
            else:
                if self.items[i].kind != "mark":
                    self.draft.left.append(self.items[i].text)
                i += 1
        return self.draft

    def _told(self, told: str, before: tuple[int, int], i: int, stop: int) -> str:
        """The order of figures and restrictions so far; one after each of two figures is two questions, and not this one."""
        draft = self.draft
        if len(draft.measures) + len(draft.pending) > before[0]:
            told += "m" if not told.endswith("m") else ""
        if len(draft.filters) > before[1]:
            told += "f" if not told.endswith("f") else ""
            if told.lstrip("f").startswith("mfmf"):
                draft.left += [x.text for x in self.items[i:stop]]
        return told

    def kind(self, i: int) -> str:
        """Kind of the item at ``i``; empty past the end."""
        return self.items[i].kind if 0 <= i < len(self.items) else ""

    def skip(self, i: int, *kinds: str) -> int:
        """The first position from ``i`` whose kind is none of these."""
        while self.kind(i) in kinds:
            i += 1
        return i

    def is_named(self, i: int, *kinds: str) -> bool:
        """Whether a name of these kinds of sense stands at ``i``."""
        return self.kind(i) == "sense" and bool(self.items[i].of(*kinds))

    def said_of(self, i: int) -> tuple[tuple[FilterAsk, ...], int]:
        """What restricts the noun just before ``i``, right behind it: "a loan granted in 1996"."""
        ours, stop = self.draft, i
        kept: list[FilterAsk] = []
        rules = (self.take_versus, self.take_comparison, self.take_date, self.take_value)
        while stop < len(self.items):
            self.draft = Draft()
            for rule, start in (
                (r, s) for s in (stop, self.skip(stop, "in", "of", "be", "which", "with")) for r in rules
            ):
                after = rule(start)
                if after > start and self.draft.filters and replace(self.draft, filters=[]) == Draft():
                    break
                self.draft = Draft()
            else:
                break
            kept += self.draft.filters
            stop = after
        self.draft = ours
        return tuple(kept), stop

    def is_group(self, item: Item) -> bool:
        """Whether a name is something to group by rather than a figure."""
        return bool(item.of("entity")) or any(s.role in ("category", "flag", "text", "link") for s in item.of("column"))

    def take_window(self, i: int) -> int:
        return max(windows.window(self, i), windows.moving(self, i))

    def take_difference(self, i: int) -> int:
        return differences.clause(self, i)

    def take_elapsed(self, i: int) -> int:
        return elapsed.clause(self, i)

    def take_bands(self, i: int) -> int:
        return windows.bands(self, i)

    def take_boss(self, i: int) -> int:
        return bosses.clause(self, i)

    def take_rivals(self, i: int) -> int:
        return rivals.clause(self, i)

    def take_shared_days(self, i: int) -> int:
        return shared_days.of_two(self, i)

    def take_owning(self, i: int) -> int:
        return belongings.owning(self, i)

    def take_happened(self, i: int) -> int:
        return belongings.happened(self, i)

    def take_versus(self, i: int) -> int:
        return nested.versus(self, i)

    def take_comparison(self, i: int) -> int:
        return clauses.comparison(self, i)

    def take_part(self, i: int) -> int:
        return max(day_clauses.part(self, i), day_clauses.called(self, i))

    def take_date(self, i: int) -> int:
        return day_clauses.days(self, i)

    def take_limit(self, i: int) -> int:
        return ends.limit(self, i)

    def take_superlative(self, i: int) -> int:
        return ends.superlative(self, i)

    def take_share(self, i: int) -> int:
        return figures.share(self, i)

    def take_aggregate(self, i: int) -> int:
        return figures.aggregate(self, i)

    def take_which(self, i: int) -> int:
        return naming.which(self, i)

    def take_named(self, i: int) -> int:
        return naming.named(self, i)

    def take_glue(self, i: int) -> int:
        return naming.glue(self, i)

    def take_group(self, i: int) -> int:
        return groups.group(self, i)

    def take_relation(self, i: int) -> int:
        return groups.relation(self, i)

    def take_value(self, i: int) -> int:
        return value_clauses.values(self, i)


    def continues(self, i: int, kinds: tuple[str, ...]) -> bool:
        return (
            self.is_named(i, *kinds)
            and not self.items[i].cue
            and not (self.is_named(i, "verb") or self.items[i].theirs)
        )


    def said(self) -> tuple[Item, ...]:
        """The items without the marks at the end."""
        items = self.items
        while items and items[-1].kind == "mark":
            items = items[:-1]
        return items
