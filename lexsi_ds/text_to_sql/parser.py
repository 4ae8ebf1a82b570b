"""From items to a draft: one pass over the question, each rule taking the stretch that it understands.

A word that no rule takes stays in ``draft.left``: the question is then not answered. Nothing is skipped because it is odd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lexsi_ds.text_to_sql import belongings, bosses, clauses, counts_per, ends, groups, nested, value_clauses, windows
from lexsi_ds.text_to_sql.cues import GRAINS
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk, GroupAsk, MeasureAsk, OrderAsk
from lexsi_ds.text_to_sql.logical import Fn
from lexsi_ds.text_to_sql.rules import AGGREGATES, belongs_to
from lexsi_ds.text_to_sql.tagger import Item

_GLUE = frozenset({"be", "of", "in", "with", "all", "list", "and", "rank", "only", "polite"})
"""Words that change nothing once their neighbours are understood."""


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
        )
        out.append(Item(item.cue or "", item.text, item.words, start=item.start, end=item.end) if as_cue else item)
    return tuple(out)


class Parser:
    """One pass over the items of a question; the rules read ahead through ``kind``, ``skip`` and ``is_named``."""

    def __init__(self, items: tuple[Item, ...]) -> None:
        self.items = items
        self.draft = Draft()

    def run(self) -> Draft:
        rules: tuple[Callable[[int], int], ...] = (
            self.take_window,
            self.take_bands,
            self.take_boss,
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
        return windows.window(self, i)

    def take_bands(self, i: int) -> int:
        return windows.bands(self, i)

    def take_boss(self, i: int) -> int:
        return bosses.clause(self, i)

    def take_owning(self, i: int) -> int:
        return belongings.owning(self, i)

    def take_happened(self, i: int) -> int:
        return belongings.happened(self, i)

    def take_versus(self, i: int) -> int:
        return nested.versus(self, i)

    def take_comparison(self, i: int) -> int:
        return clauses.comparison(self, i)

    def take_part(self, i: int) -> int:
        return max(clauses.part(self, i), clauses.called(self, i))

    def take_date(self, i: int) -> int:
        return clauses.days(self, i)

    def take_limit(self, i: int) -> int:
        return ends.limit(self, i)

    def take_superlative(self, i: int) -> int:
        return ends.superlative(self, i)

    def take_group(self, i: int) -> int:
        return groups.group(self, i)

    def take_relation(self, i: int) -> int:
        return groups.relation(self, i)

    def take_value(self, i: int) -> int:
        return value_clauses.values(self, i)

    def take_share(self, i: int) -> int:
        """ "percentage of loans that are running": the noun gives the whole, what follows the part."""
        if self.kind(i) != "share" or self.draft.share:
            return i
        self.draft.share = True
        self.draft.share_each = self.kind(self.skip(i + 1, "of", "all")) == "each"
        return self.skip(i + 1, "of", "all")

    def take_aggregate(self, i: int) -> int:
        kind = self.kind(i)
        if kind == "when":
            self.draft.when = True
            return i + 1
        per = counts_per.clause(self, i)
        if per > i:
            return per
        if kind == "zeros" and self.draft.count_per is not None:
            self.draft.zeros = True
            return i + 1
        if kind == "number" and self.kind(i + 1) == "percentile" and 0 < (self.items[i].value or 0) < 100:
            stop = self.skip(i + 2, "of")
            if self.is_named(stop, "column"):
                self.draft.measures.append(MeasureAsk("quantile", self.items[stop], cue=str(self.items[i].value)))
                return stop + 1
        if kind == "too":
            self.draft.adds = True
            return i + 1
        if kind == "about":
            self.draft.about = True
            return i + 1
        if kind == "not" and self.is_named(self.skip(i + 1, "be"), "deal"):
            return i + 1
        if kind not in AGGREGATES:
            return i
        added = clauses.added_up(self, i)
        if added > i:
            return added
        if kind in ("count", "sum") and i + 1 == len(self._said()) and self.draft.order and self.kind(i - 1) == "and":
            return i + 1  # "..., and how much?"
        named = self.draft.entities
        if kind == "count" and len(named) == 1 and self.kind(i + 1) in ("with", "without", "be", "not"):
            self.draft.measures.append(MeasureAsk("count", named.pop(), cue=self.items[i].text))
            return i + 1  # "among the accounts, how many have a loan": the accounts are counted
        several = ends.several(self, i)
        if several > i:
            return several
        fns: list[Fn] = [AGGREGATES[kind]]
        stop = i + 1
        while self.kind(stop) in ("and", "mark") and self.kind(stop + 1) in AGGREGATES:
            fns.append(AGGREGATES[self.kind(stop + 1)])
            stop += 2
        stop = self.skip(stop, "of", "all", "with", "be")
        distinct = self.kind(stop) == "distinct"
        stop = self.skip(stop, "distinct", "of", "all")
        if kind == "sum" and self.kind(stop) == "count":
            return stop
        if self._counts_named_value(kind, stop):
            self.draft.pending += fns
            self.draft.counted = self.items[stop]
            return i + 1
        targets, stop = self.list_of(stop, "column", "entity", "metric", "role", compounds=kind != "count")
        if not targets:
            asked = self.items[i].text.casefold() == "how much"
            self.draft.pending.append("how much" if asked else fns[0])
            return i + 1
        for target, of in targets:
            self.draft.measures += [MeasureAsk(fn, target, of, distinct, cue=self.items[i].text) for fn in fns]
        return stop

    def _counts_named_value(self, kind: str, i: int) -> bool:
        """ "number of women": the value is a filter, and what is counted comes later or is its table."""
        return kind == "count" and self.is_named(i, "value", "segment") and not self.is_named(i, "entity", "role")

    def list_of(self, i: int, *kinds: str, compounds: bool = False) -> tuple[list[tuple[Item, Item | None]], int]:
        """Names joined by commas and "and", each with what it belongs to. Stops before a name of another kind."""
        found: list[tuple[Item, Item | None]] = []
        stop = i
        while self.is_named(stop, *kinds):
            item, after = self.items[stop], stop + 1
            of, after = belongs_to(self, stop, after)
            if (of is None and item.text.endswith("'s") and self.is_named(after, "column", "entity")) or (
                compounds and of is None and self._is_compound(item, after)
            ):
                of, item, after = item, self.items[after], after + 1
            found.append((item, of))
            stop = after
            following = self.skip(stop, "mark", "and")
            if following == stop or not self.continues(following, kinds):
                break
            stop = following
        return found, stop

    def _is_compound(self, item: Item, after: int) -> bool:
        """ "track price": a figure with its noun before it."""
        if (
            not item.of("entity")
            or item.of("column")
            or not self.is_named(after, "column")
            or self.is_named(after, "entity")
        ):
            return False
        tables = {s.table for s in item.of("entity")}
        return any(s.table in tables and s.role == "measure" for s in self.items[after].of("column"))

    def continues(self, i: int, kinds: tuple[str, ...]) -> bool:
        return (
            self.is_named(i, *kinds)
            and not self.items[i].cue
            and not (self.is_named(i, "verb") or self.items[i].theirs)
        )

    def take_which(self, i: int) -> int:
        if self.kind(i) != "which":
            return i
        self.draft.share_noun = self.draft.share
        stop = self.skip(i + 1, "of", "all", "be")
        if self.kind(stop) == "distinct" and self.is_named(stop + 1, "column"):
            self.draft.lists = True
            return stop + 1
        if self.kind(stop) == "grain" and stop == self.skip(i + 1, "of", "all"):
            grain = GRAINS.get(self.items[stop].words[0])
            self.draft.groups.append(GroupAsk(None, grain, text=self.items[stop].text))  # type: ignore[arg-type]
            return stop + 1
        chooses = bool({"which", "what"} & set(self.items[i].words))
        self.draft.rows = self.draft.rows or self.items[i].words[0] == "who"
        if (
            chooses
            and self.draft.which is None
            and stop == self.skip(i + 1, "of", "all")
            and self.is_named(stop, "entity", "column")
        ):
            self.draft.which = self.items[stop]
            return stop + 1
        return stop

    def take_named(self, i: int) -> int:
        """A metric, a segment, an entity, a role, a verb or a bare column."""
        if self.kind(i) != "sense":
            return i
        item, draft = self.items[i], self.draft
        if item.of("house"):
            return i + 1 if self.kind(i - 1) in ("", "in", "of", "with", "be", "count", "sense") else i
        if item.of("metric"):
            following = self.items[i + 1] if i + 1 < len(self.items) else None
            nouns = {s.table for s in following.of("entity")} if following is not None else set()
            if nouns and not nouns & {s.table for s in item.of("metric")}:
                return i  # "share of cancelled flights", where bookings are cancelled too
            draft.measures.append(MeasureAsk("rate", item, cue=item.text))
        elif item.of("entity"):
            draft.entities.append(item)
            draft.share_noun = draft.share
        elif item.of("pay"):
            wanted = {(s.table, s.column) for s in item.of("pay")}
            others = {(s.table, s.column) for x in self.items if x is not item for s in x.of("column")}
            if not wanted & others:
                return i
        elif item.of("deal"):
            draft.deals.append(item)
            draft.never_dealt = draft.never_dealt or self._is_never(i)
        elif item.of("verb"):
            draft.verbs.append(item)
        elif item.of("role"):
            draft.roles.append(item)
        elif item.of("column"):
            draft.columns.append(item)
        else:
            return i
        return i + 1

    def _is_never(self, i: int) -> bool:
        before = i - 1
        while self.kind(before) == "be":
            before -= 1
        return self.kind(before) == "not"

    def _said(self) -> tuple[Item, ...]:
        """The items without the marks at the end."""
        items = self.items
        while items and items[-1].kind == "mark":
            items = items[:-1]
        return items

    def _of_the_column(self, i: int) -> bool:
        """ "earn a month", "monthly income per month": the period is in the column's own name."""
        before = self.items[i - 1] if i else None
        if before is not None and before.kind == "by":
            before = self.items[i - 2] if i > 1 else None
        grain = GRAINS.get(self.items[i].words[0]) if len(self.items[i].words) == 1 else None
        labels = [s.label.split() for s in before.of("column")] if before is not None else []
        return grain is not None and bool(labels) and all(grain in w or f"{grain}ly" in w for w in labels)

    def _has_period(self, i: int) -> bool:
        """Whether a date or a period comes later."""
        return any(x.kind in ("date", "grain") for x in self.items[i:]) or any(g.grain for g in self.draft.groups)

    def take_glue(self, i: int) -> int:
        kind, draft = self.kind(i), self.draft
        if kind == "grain" and self._of_the_column(i):
            return i + 1
        if kind == "echo" and draft.order:
            return i + 1
        if kind == "new" and (any(f.kind == "days" for f in draft.filters) or draft.window or self._has_period(i)):
            return i + 1
        if kind == "trend":
            draft.trend = self.items[i].text
            return i + 1
        rates = any(m.fn == "rate" for m in draft.measures) or any(
            o.target and o.target.of("metric") for o in draft.order
        )
        if kind == "percent" and (draft.share or rates or draft.window in ("growth", "share")):
            return i + 1
        if kind == "percent" and draft.window == "change":
            draft.window = "growth"
            return i + 1
        if kind == "percent" and draft.window is None:
            draft.window, draft.window_text = "share", self.items[i].text
            return self.skip(i + 1, "of", "all")
        if kind == "list":
            draft.lists = True
        if kind == "with" and self.items[i].words[0] == "who":
            draft.rows = True
        if kind == "id":
            draft.ids.append(self.items[i].text)
            return i + 1
        if kind == "rank" and self.items[i].words[0].startswith(("rank", "sort", "order")):
            draft.order.append(OrderAsk(self.items[i].words[0].startswith("rank")))
        return i + 1 if kind in _GLUE else i
