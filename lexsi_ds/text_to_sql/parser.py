"""From items to a draft: one pass over the question, each rule taking the stretch that it understands.

A word that no rule takes stays in ``draft.left``: the question is then not answered. Nothing is skipped because it is odd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lexsi_ds.text_to_sql import clauses
from lexsi_ds.text_to_sql.cues import GRAINS
from lexsi_ds.text_to_sql.draft import Draft, GroupAsk, MeasureAsk, OrderAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Fn
from lexsi_ds.text_to_sql.tagger import Item

_GLUE = frozenset({"be", "of", "in", "with", "all", "list", "and", "rank", "only", "polite"})
"""Words that change nothing once their neighbours are understood."""
_AGGREGATES: dict[str, Fn] = {
    "count": "count",
    "sum": "sum",
    "average": "average",
    "median": "median",
    "minimum": "minimum",
    "maximum": "maximum",
}
_SUPERLATIVES = {
    "large": True,
    "most": True,
    "long": True,
    "late": True,
    "small": False,
    "least": False,
    "short": False,
    "early": False,
}


def parse(items: tuple[Item, ...]) -> Draft:
    """The draft of a tagged question."""
    kept = tuple(i for i in items if i.kind != "stop" and not (i.kind == "mark" and i.text not in (",", ";", "%")))
    return _Parser(_settle(kept)).run()


def _settle(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """A name that is also a function word is the function word when a name follows: "total revenue" against "total by year"."""
    out = []
    for i, item in enumerate(items):
        following = items[i + 1] if i + 1 < len(items) else None
        as_cue = (
            item.cue in _AGGREGATES
            and following is not None
            and (following.kind == "sense" or following.kind == "count")
        )
        out.append(Item(item.cue or "", item.text, item.words, start=item.start, end=item.end) if as_cue else item)
    return tuple(out)


class _Parser:
    def __init__(self, items: tuple[Item, ...]) -> None:
        self.items = items
        self.draft = Draft()

    def run(self) -> Draft:
        rules: tuple[Callable[[int], int], ...] = (
            self.take_comparison,
            self.take_date,
            self.take_limit,
            self.take_superlative,
            self.take_share,
            self.take_aggregate,
            self.take_group,
            self.take_which,
            self.take_value,
            self.take_named,
            self.take_glue,
        )
        i = 0
        while i < len(self.items):
            for rule in rules:
                stop = rule(i)
                if stop > i:
                    i = stop
                    break
            else:
                if self.items[i].kind != "mark":
                    self.draft.left.append(self.items[i].text)
                i += 1
        return self.draft

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

    def take_comparison(self, i: int) -> int:
        return clauses.comparison(self, i)

    def take_date(self, i: int) -> int:
        return clauses.days(self, i)

    def take_value(self, i: int) -> int:
        return clauses.values(self, i)

    def take_limit(self, i: int) -> int:
        """ "top 10", "bottom 5", or a number before a superlative."""
        draft = self.draft
        if self.kind(i) in ("top", "bottom"):
            stop = i + 1
            numbered = self.kind(stop) == "number"
            if not numbered and self.items[i].words[0] == "first":
                return self._superlative(i, descending=False)
            draft.limit = _whole(self.items[stop].value) if numbered else 10
            draft.default_limit = not numbered
            draft.order.append(OrderAsk(self.kind(i) == "top"))
            return stop + numbered
        ranked = self.kind(i + 1) in (*_SUPERLATIVES, "worst", "best") or self.is_named(i + 1, "extreme")
        if self.kind(i) == "number" and ranked:
            draft.limit = _whole(self.items[i].value)
            return i + 1
        return i

    def take_superlative(self, i: int) -> int:
        kind = self.kind(i)
        if kind in ("desc", "asc"):
            self.draft.order.append(OrderAsk(kind == "desc"))
            return i + 1
        if kind in ("worst", "best"):
            stop = self.skip(i + 1, "of")
            if self.is_named(stop, "metric"):
                self.draft.order.append(OrderAsk(None, self.items[stop], judged=kind))  # type: ignore[arg-type]
                return stop + 1
            return i
        if self.is_named(i, "extreme"):
            return self._extreme(i)
        if kind in _SUPERLATIVES:
            return self._superlative(i, descending=_SUPERLATIVES[kind])
        return i

    def _extreme(self, i: int) -> int:
        """ "oldest", "least populated": a word that names both a column and an end of it."""
        item = self.items[i]
        senses = item.of("extreme")
        ends = {s.value for s in senses}
        if len(ends) != 1:
            return i
        target = replace(item, senses=tuple(Sense("column", s.table, s.column, label=s.label) for s in senses))
        self.draft.order.append(OrderAsk(ends == {"highest"}, target))
        following = self.skip(i + 1, "and")
        stop = i + 1
        self.draft.rows = self.draft.rows or self.is_named(stop, "entity")
        if self.is_named(stop, "column") and _same_columns(self.items[stop], target):
            stop += 1
        return stop if following == i + 1 else i + 1

    def _superlative(self, i: int, *, descending: bool) -> int:
        stop = self.skip(i + 1, "of", "all")
        if self.kind(stop) == "and" and self.kind(stop + 1) in _SUPERLATIVES:
            return self._both_ends(i, stop)
        fn: Fn | None = None
        if self.kind(i) in ("most", "least"):
            stop = max(stop, clauses.values(self, stop))
        if self.kind(stop) in _AGGREGATES:
            fn, stop = _AGGREGATES[self.kind(stop)], self.skip(stop + 1, "of")
        if not self.is_named(stop, "column", "entity", "metric"):
            return self._superlative_behind(i, descending=descending)
        counted = self.kind(i) in ("most", "least")
        self.draft.order.append(
            OrderAsk(descending, self.items[stop], fn or ("count" if counted else None), word=self.items[i].words[-1])
        )
        return stop + 1

    def _superlative_behind(self, i: int, *, descending: bool) -> int:
        """ "who earns the most": the figure comes before its superlative."""
        columns = self.draft.columns
        if self.kind(i) in ("most", "least") and columns and columns[-1] is self.items[i - 1]:
            self.draft.order.append(OrderAsk(descending, columns.pop()))
            return i + 1
        return i

    def _both_ends(self, i: int, middle: int) -> int:
        """ "smallest and biggest monthly payment"."""
        stop = self.skip(middle + 2, "of", "all")
        if not self.is_named(stop, "column"):
            return i
        for kind in (self.kind(i), self.kind(middle + 1)):
            self.draft.measures.append(
                MeasureAsk("maximum" if _SUPERLATIVES[kind] else "minimum", self.items[stop], cue=kind)
            )
        return stop + 1

    def take_share(self, i: int) -> int:
        """ "percentage of loans that are running": the noun gives the whole, what follows the part."""
        if self.kind(i) != "share" or self.draft.share:
            return i
        self.draft.share = True
        return self.skip(i + 1, "of", "all")

    def take_aggregate(self, i: int) -> int:
        kind = self.kind(i)
        if kind not in _AGGREGATES:
            return i
        fns: list[Fn] = [_AGGREGATES[kind]]
        stop = i + 1
        while self.kind(stop) in ("and", "mark") and self.kind(stop + 1) in _AGGREGATES:
            fns.append(_AGGREGATES[self.kind(stop + 1)])
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
        targets, stop = self._list_of(stop, "column", "entity", "metric", "role")
        if not targets:
            self.draft.pending.append(fns[0])
            return i + 1
        for target, of in targets:
            self.draft.measures += [MeasureAsk(fn, target, of, distinct, cue=self.items[i].text) for fn in fns]
        return stop

    def _counts_named_value(self, kind: str, i: int) -> bool:
        """ "number of women": the value is a filter, and what is counted comes later or is its table."""
        return kind == "count" and self.is_named(i, "value", "segment") and not self.is_named(i, "entity", "role")

    def _list_of(self, i: int, *kinds: str) -> tuple[list[tuple[Item, Item | None]], int]:
        """Names joined by commas and "and", each with what it belongs to. Stops before a name of another kind."""
        found: list[tuple[Item, Item | None]] = []
        stop = i
        while self.is_named(stop, *kinds):
            item, after = self.items[stop], stop + 1
            of, after = clauses.belongs_to(self, stop, after)
            if of is None and item.text.endswith("'s") and self.is_named(after, "column", "entity"):
                of, item, after = item, self.items[after], after + 1
            found.append((item, of))
            stop = after
            following = self.skip(stop, "mark", "and")
            if following == stop or not self._continues(following, kinds):
                break
            stop = following
        return found, stop

    def _continues(self, i: int, kinds: tuple[str, ...]) -> bool:
        return self.is_named(i, *kinds) and not self.items[i].cue and not self.is_named(i, "verb")

    def take_group(self, i: int) -> int:
        if self.kind(i) not in ("by", "each"):
            item = self.items[i]
            alone = len(item.words) == 1 and item.words[0] in ("year", "month", "quarter", "week", "day")
            plural = len(item.words) == 1 and item.words[0].endswith("s")
            if item.kind == "grain" and not alone and not plural and GRAINS.get(item.words[0]):
                self.draft.groups.append(GroupAsk(None, GRAINS.get(self.items[i].words[0]), text=self.items[i].text))  # type: ignore[arg-type]
                return i + 1
            return i
        stop = self.skip(i + 1, "distinct", "of", "all")
        counted = self.skip(stop + 1, "of", "all")
        figure = (
            self.kind(stop) == "count" and self.is_named(counted, "column") and not self.is_named(counted, "entity")
        )
        if figure and not self.draft.order:
            stop = counted
        elif self.kind(i) == "by" and (self.kind(stop) in (*_AGGREGATES, "share") or self.is_named(stop, "metric")):
            return stop
        before = len(self.draft.groups)
        while True:
            group, after = self._one_group(stop)
            if group is None:
                break
            self.draft.groups.append(group)
            stop = after
            following = self.skip(stop, "mark", "and")
            if following == stop or not (
                self.kind(following) == "grain" or self._continues(following, ("column", "entity"))
            ):
                break
            stop = following
        return stop if len(self.draft.groups) > before else i

    def _one_group(self, i: int) -> tuple[GroupAsk | None, int]:
        if self.kind(i) == "grain":
            grain, stop = GRAINS.get(self.items[i].words[0]), self.skip(i + 1, "of", "in")
            if self.is_named(stop, "verb") or (self.is_named(stop, "column") and _is_time(self.items[stop])):
                return GroupAsk(self.items[stop], grain, text=self.items[i].text), stop + 1  # type: ignore[arg-type]
            return GroupAsk(None, grain, text=self.items[i].text), i + 1  # type: ignore[arg-type]
        if self.is_named(i, "value") and not self.is_named(i, "column", "entity"):
            return self._opposites(i)
        if not self.is_named(i, "column", "entity", "role"):
            return None, i
        item, stop = self.items[i], i + 1
        of, stop = clauses.belongs_to(self, i, stop)
        if of is None and item.text.endswith("'s") and self.is_named(stop, "column", "entity"):
            of, item, stop = item, self.items[stop], stop + 1
        if self.kind(stop) == "grain" and _is_time(item):
            return GroupAsk(item, GRAINS.get(self.items[stop].words[0]), of, text=item.text), stop + 1  # type: ignore[arg-type]
        return GroupAsk(item, None, of, text=item.text), stop

    def _opposites(self, i: int) -> tuple[GroupAsk | None, int]:
        """ "split by men and women": the values of one column name the column."""
        stop = self.skip(i + 1, "and", "or", "versus")
        if stop == i + 1 or not self.is_named(stop, "value"):
            return None, i
        first, second = clauses.column_of_value(self.items[i]), clauses.column_of_value(self.items[stop])
        if not _same_columns(first, second):
            return None, i
        return GroupAsk(first, text=first.text), stop + 1

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
            draft.measures.append(MeasureAsk("rate", item, cue=item.text))
        elif item.of("entity"):
            draft.entities.append(item)
            draft.share_noun = draft.share
        elif item.of("verb"):
            draft.verbs.append(item)
        elif item.of("role"):
            draft.roles.append(item)
        elif item.of("column"):
            draft.columns.append(item)
        else:
            return i
        return i + 1

    def take_glue(self, i: int) -> int:
        kind, draft = self.kind(i), self.draft
        if kind == "trend":
            draft.trend = self.items[i].text
            return i + 1
        rates = any(m.fn == "rate" for m in draft.measures) or any(
            o.target and o.target.of("metric") for o in draft.order
        )
        if kind == "percent" and (draft.share or rates):
            return i + 1
        if kind == "list":
            draft.lists = True
        if kind == "id":
            draft.ids.append(self.items[i].text)
            return i + 1
        if kind == "rank" and self.items[i].words[0].startswith(("rank", "sort", "order")):
            draft.order.append(OrderAsk(self.items[i].words[0].startswith("rank")))
        return i + 1 if kind in _GLUE else i


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None and value == int(value) and 0 < value <= 10_000 else None


def _same_columns(a: Item, b: Item) -> bool:
    return bool({(s.table, s.column) for s in a.of("column")} & {(s.table, s.column) for s in b.of("column")})


def _is_time(item: Item) -> bool:
    return any(s.kind == "verb" for s in item.senses) or any("date" in s.label for s in item.of("column"))
