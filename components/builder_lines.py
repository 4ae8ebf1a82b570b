"""The lines of the query builder: table, figures, groups, filters, order. Each takes a part of the form and gives it back.

A line that the form cannot edit is drawn as fixed text with a way to take it out; none is dropped unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any, cast

import streamlit as st

from components import session
from components.safe import flat, plain
from components.session import BuilderState
from lexsi_ds.agent.building import Building
from lexsi_ds.text_to_sql.builder import FilterLine, Form, GroupLine, MeasureLine, offered
from lexsi_ds.text_to_sql.builder_columns import Choices, ColumnChoice
from lexsi_ds.text_to_sql.logical import Fn, Order, Test

FUNCTIONS = {
    "count": "Count of rows",
    "sum": "Total of",
    "average": "Average of",
    "median": "Median of",
    "minimum": "Lowest",
    "maximum": "Highest",
    "count_distinct": "Count of different",
}
TESTS = {
    "in": "is", "not in": "is not", "=": "equals", "<>": "is other than", ">": "is above", ">=": "is at least",
    "<": "is below", "<=": "is at most", "between": "is between", "days": "is from, to", "is null": "is missing",
    "is not null": "is known",
}  # fmt: skip
GRAINS = {None: "as it is", "year": "by year", "quarter": "by quarter", "month": "by month", "week": "by week", "day": "by day",
          "weekday": "by weekday"}  # fmt: skip
_KINDS = {"figures": "Figures", "list": "List of rows"}
_FIRST_DAY, _LAST_DAY = date(1000, 1, 1), date(2999, 12, 31)


@contextmanager
def titled(title: str) -> Iterator[None]:
    """A row of the form: its name at the left."""
    left, right = st.columns([1, 6], gap="small")
    with left:
        st.caption(title)
    with right, st.container(gap="xxsmall"):
        yield


def base(building: Building, state: BuilderState) -> None:
    """What is counted or listed."""
    form: Form = state.form
    choices = building.choices(form.table)
    names = {t.id: t.label for t in choices.tables}
    names.setdefault(form.table, form.table)
    ids = list(names)
    with titled("Rows of"), st.container(horizontal=True, vertical_alignment="center", gap="small"):
        key = session.wkey("builder", state.place, "table")
        st.selectbox("Rows of", ids, index=ids.index(form.table), key=key, format_func=lambda t: flat(names[t], 60),
                     on_change=_change_table, args=(building, state, key), width=240, label_visibility="collapsed")  # fmt: skip
        kind = st.segmented_control(
            "As", list(_KINDS), default="list" if form.lists else "figures", format_func=lambda k: _KINDS[k],
            key=session.wkey("builder", state.place, "lists", form.table), required=True, label_visibility="collapsed",
        )  # fmt: skip
    _set(state, lists=kind == "list")
    if state.form.lists and not state.form.columns:
        own = [c for c in choices.columns if c.table == form.table and c.lists][:5]
        for column in own:
            _append(state, "columns", GroupLine(column=column.id))


def _change_table(building: Building, state: BuilderState, key: str) -> None:
    chosen = session.read(key)
    if chosen and chosen != state.form.table:
        state.form, state.ids = building.start(chosen), {}
        for _ in state.form.measures:
            _number(state, "measures")


def _set(state: BuilderState, **update: Any) -> None:
    state.form = state.form.model_copy(update=update)


def _number(state: BuilderState, part: str) -> None:
    state.last_id += 1
    state.ids.setdefault(part, []).append(state.last_id)


def _append(state: BuilderState, part: str, line: Any) -> None:
    _set(state, **{part: (*getattr(state.form, part), line)})
    _number(state, part)


def _remove(state: BuilderState, part: str, number: int) -> None:
    at = state.ids[part].index(number)
    state.ids[part].pop(at)
    lines = list(getattr(state.form, part))
    lines.pop(at)
    _set(state, **{part: tuple(lines)})


class Lines:
    """The lines of one draw, with what can be chosen."""

    def __init__(self, state: BuilderState, choices: Choices) -> None:
        self.state, self.choices = state, choices
        self.labels = {c.id: flat(c.label, 90) for c in choices.columns}

    def figures(self) -> None:
        """What is worked out."""
        self._part("measures", "Figures", "Add a figure", MeasureLine(), self._figure)

    def groups(self) -> None:
        """By what it is grouped."""
        usable = [c for c in self.choices.columns if c.groups]
        self._part("groups", "Grouped by", "Add a group", GroupLine(), lambda k, x: self._column(k, x, usable, grains=True))

    def shown(self) -> None:
        """What a list shows."""
        usable = [c for c in self.choices.columns if c.lists]
        self._part("columns", "Shows", "Add a column", GroupLine(), lambda k, x: self._column(k, x, usable, grains=False))

    def filters(self) -> None:
        """Which rows count."""
        self._part("filters", "Only", "Add a filter", FilterLine(), self._filter)

    def _part(self, part: str, title: str, add: str, blank: Any, draw: Callable[[str, Any], Any]) -> None:
        lines = getattr(self.state.form, part)
        made = []
        with titled(title):
            self._rows(part, lines, made, draw)
            st.button(add, icon=":material/add:", type="tertiary", key=session.wkey("builder", self.state.place, part, "add"),
                      on_click=_append, args=(self.state, part, blank))  # fmt: skip
        _set(self.state, **{part: tuple(made)})

    def _rows(self, part: str, lines: tuple[Any, ...], made: list[Any], draw: Callable[[str, Any], Any]) -> None:
        for number, line in zip(list(self.state.ids.get(part, [])), lines, strict=True):
            key = session.wkey("builder", self.state.place, part, number)
            with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}-row"):
                if offered(self.state.form, line, self.choices.columns):
                    made.append(draw(key, line))
                else:
                    st.markdown(f":material/lock: {plain(_told(line), 300)}")
                    made.append(line)
                st.button("", icon=":material/close:", type="tertiary", help="Take out", key=f"{key}-out", on_click=_remove,
                          args=(self.state, part, number))  # fmt: skip

    def _pick(self, key: str, label: str, ids: Sequence[str], chosen: str) -> str:
        index = list(ids).index(chosen) if chosen in ids else None
        return st.selectbox(label, list(ids), index=index, key=key, format_func=lambda c: self.labels[c],
                            placeholder="Choose a column", label_visibility="collapsed") or ""  # fmt: skip

    def _figure(self, key: str, line: MeasureLine) -> MeasureLine:
        fns = ["count", *(f for f in FUNCTIONS if f != "count" and any(f in c.fns for c in self.choices.columns))]
        metrics = {f"metric:{m.id}": m.label for m in self.choices.metrics}
        now = f"metric:{line.metric}" if line.metric else line.fn
        options = [*metrics, *fns]
        fn = st.selectbox("Figure", options, index=options.index(now) if now in options else None, key=f"{key}-fn",
                          format_func=lambda f: flat(metrics[f], 60).capitalize() if f in metrics else FUNCTIONS[f],
                          label_visibility="collapsed", width=210)  # fmt: skip
        if fn is None or fn == "count":
            return MeasureLine(fn="count")
        if fn in metrics:
            return MeasureLine(fn="rate", metric=fn.removeprefix("metric:")) if fn != now else line
        ids = [c.id for c in self.choices.columns if fn in c.fns]
        return MeasureLine(fn=cast(Fn, fn), column=self._pick(f"{key}-column-{fn}", "Column", ids, line.column))

    def _column(self, key: str, line: GroupLine, usable: list[ColumnChoice], *, grains: bool) -> GroupLine:
        chosen = self._pick(f"{key}-column", "Column", [c.id for c in usable], line.column)
        column = self.choices.column(chosen)
        if not grains or column is None or column.kind != "date":
            return GroupLine(column=chosen)
        options = list(GRAINS)
        index = options.index(line.grain if chosen == line.column else "year")
        grain = st.selectbox("Grain", options, index=index, key=f"{key}-grain-{chosen}", format_func=lambda g: GRAINS[g],
                             label_visibility="collapsed", width=150)  # fmt: skip
        return GroupLine(column=chosen, grain=grain)  # type: ignore[arg-type]

    def _filter(self, key: str, line: FilterLine) -> FilterLine:
        chosen = self._pick(f"{key}-column", "Column", [c.id for c in self.choices.columns], line.column)
        column = self.choices.column(chosen)
        if column is None:
            return FilterLine(column=chosen)
        same = chosen == line.column
        tests = list(column.tests)
        index = tests.index(line.test) if same and line.test in tests else 0
        test = st.selectbox("Test", tests, index=index, key=f"{key}-test-{chosen}", format_func=lambda t: TESTS[t],
                            label_visibility="collapsed", width=112)  # fmt: skip
        was = line.values if same and test == line.test else ()
        values = _values(f"{key}-value-{chosen}-{test}", column, test, was)
        return FilterLine(column=chosen, test=cast(Test, test), values=values)


def _told(line: Any) -> str:
    kept = line.kept
    if kept is None:
        return line.column
    return str(getattr(kept, "text", "") or getattr(kept, "label", "") or "a part that has no fields here")


def _values(key: str, column: ColumnChoice, test: str, was: tuple[str, ...]) -> tuple[str, ...]:
    if test in ("is null", "is not null"):
        return ()
    if test == "days":
        first, last = (*was, "", "")[:2]
        return (_day(f"{key}-first", "From", first), _day(f"{key}-last", "To", last))
    if column.kind == "category" and column.values:
        labels = {v.value: v.label for v in column.values} | {v: v for v in was if all(v != c.value for c in column.values)}
        return tuple(
            st.multiselect("Values", list(labels), default=[v for v in was if v in labels], key=key, placeholder="Choose values",
                           format_func=lambda v: flat(labels[v], 80), label_visibility="collapsed")
        )  # fmt: skip
    if test == "between":
        low, high = (*was, "", "")[:2]
        return (_typed(f"{key}-low", "From", low), _typed(f"{key}-high", "To", high))
    return (_typed(key, "Value", was[0] if was else ""),)


def _typed(key: str, label: str, value: str) -> str:
    return st.text_input(label, value=value, key=key, placeholder=label, label_visibility="collapsed", width=150)


def _day(key: str, label: str, value: str) -> str:
    chosen = st.date_input(
        label, value=date.fromisoformat(value) if value else None, min_value=_FIRST_DAY, max_value=_LAST_DAY,
        format="YYYY-MM-DD", key=key, width=150,
    )  # fmt: skip
    return chosen.isoformat() if isinstance(chosen, date) else ""


def order(building: Building, state: BuilderState) -> None:
    """In which order, and how many."""
    form: Form = state.form
    outputs = dict(building.outputs(form))
    if (not form.lists and not form.groups) or not outputs:
        return  # a line is not whole yet: the order stays as it is
    now = form.order[0] if form.order and form.order[0].name in outputs else None
    options = ["", *outputs]
    key = session.wkey("builder", state.place, "order")
    with titled("Order"), st.container(horizontal=True, vertical_alignment="center", gap="small"):
        name = st.selectbox(
            "By", options, index=options.index(now.name) if now else 0, key=f"{key}-by-{'-'.join(outputs)}", width=240,
            format_func=lambda n: flat(outputs[n], 60) if n else "as it comes", label_visibility="collapsed",
        )  # fmt: skip
        down = st.selectbox("Direction", [True, False], index=0 if now is None or now.descending else 1, key=f"{key}-down",
                            format_func=lambda d: "highest first" if d else "lowest first", width=150,
                            label_visibility="collapsed", disabled=not name)  # fmt: skip
        limit = st.number_input("Only the first", min_value=1, max_value=100_000, value=form.limit, key=f"{key}-limit",
                                placeholder="all rows", width=150, label_visibility="collapsed")  # fmt: skip
        ties = st.checkbox("Only the first, ties kept", value=form.ties, key=f"{key}-ties", disabled=not name)
    chosen = (Order(name=name, descending=down),) if name else ()
    rest = form.order[1:] if now and chosen and now == chosen[0] else ()
    _set(state, order=(*chosen, *rest), limit=None if ties else limit, ties=bool(ties and name))


def fixed(state: BuilderState) -> None:
    """Parts that have no fields: shown, and taken out one by one."""
    for i, part in enumerate(state.form.kept):
        with titled("Also"), st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":material/lock: {plain(part.text, 300)}")
            st.button("", icon=":material/close:", type="tertiary", help="Take out", on_click=_release, args=(state, i),
                      key=session.wkey("builder", state.place, "kept", part.field, i))  # fmt: skip


def _release(state: BuilderState, at: int) -> None:
    _set(state, kept=tuple(k for i, k in enumerate(state.form.kept) if i != at))
