"""What if: values of one case are moved inside of what training held, and the prediction moves with them.

Only features that the person moved are asked for; doubts stand where the prediction stands. Must never: let a value leave
the training bounds without saying so, or suggest that a change would bring the outcome about.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import explain_work, figures, session
from components.explain_asked import Asking
from components.plotly_template import direction
from components.problems import careful
from components.safe import flat, plain
from lexsi_ds.explain.results import Cell
from lexsi_ds.explain.results_local import FeatureRange, FeatureRanges, WhatIf
from lexsi_ds.models.engine import CaseExplanation

SHOWN = 5
_MISSING = "missing"
HEIGHT = 420


def card(asking: Asking, case: CaseExplanation) -> None:
    """The sliders of the strongest drivers, and what the model would say."""
    mine, ranges = asking.mine, asking.ranges()
    with st.container(border=True, gap="small"):
        changes = mine.changes.get(case.case_id, {})
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown("**What if** :gray[all other features stay]")
            with st.container(horizontal=True, width="content", gap="small", vertical_alignment="center"):
                _more(asking, case, ranges)
                st.button(
                "Reset", icon=":material/undo:", type="tertiary", disabled=not changes, on_click=_reset,
                key="explorer-what-if-reset", args=(asking, case.case_id),
            )  # fmt: skip
        if ranges is None:
            _waiting(asking)
            return
        known = {r.feature: r for r in ranges.features}
        values = {d.feature: d.value for d in case.drivers}
        _prediction(asking, case, changes)
        names = [d.feature for d in case.drivers if d.feature in known]
        chosen = list(dict.fromkeys([*(mine.moved or names[:SHOWN]), *changes]))
        for pair in [chosen[i : i + 2] for i in range(0, len(chosen), 2)]:
            for column, name in zip(st.columns(2, gap="medium"), pair, strict=False):
                with column:
                    _field(asking, case.case_id, known[name], values[name], changes.get(name, values[name]))


def _more(asking: Asking, case: CaseExplanation, ranges: FeatureRanges | None) -> None:
    """Which features have a slider; the strongest drivers of the case until the person chooses."""
    chip = st.popover("Values", icon=":material/tune:", type="tertiary", on_change="rerun", key="explorer-what-if-more")
    if ranges is None or not chip.open:
        return
    known = {r.feature: r for r in ranges.features}
    names = [d.feature for d in case.drivers if d.feature in known]
    with chip:
        key = session.wkey("explorer-what-if-features", asking.card.id)
        session.put(key, list(asking.mine.moved or names[:SHOWN]))
        st.multiselect(
            "Values to move", names, key=key, format_func=lambda n: flat(known[n].label, 60), width=420,
            on_change=_choose, args=(asking, key),
        )  # fmt: skip


@careful
def _choose(asking: Asking, key: str) -> None:
    asking.mine.moved = tuple(session.read(key) or ())


def _waiting(asking: Asking) -> None:
    def work(*, cancel: Any, tell: Any) -> Any:
        return asking.app.explanations.views(asking.actor, asking.card.id).ranges(cancel=cancel, tell=tell)

    explain_work.view(
        asking.app, asking.actor, (asking.card.id, "ranges"), "Bounds of training", work, height=HEIGHT
    )


def _field(asking: Asking, case_id: str, known: FeatureRange, before: Cell, now: Cell) -> None:
    """One feature: a slider inside of the training bounds, or its words."""
    key = session.wkey("explorer-move", asking.card.id, case_id, known.feature)
    label = flat(known.label, 48) + (f", {flat(known.unit, 12)}" if known.unit else "")
    keep = {"on_change": _moved, "args": (asking, case_id, known, before, key)}
    label = plain(label)
    if known.kind != "numeric":
        words: list[str] = list(known.words) if known.kind == "categorical" else ["no", "yes"]
        at = _word(now)
        options = words + ([_MISSING] if known.missing or before is None else [])
        options = options if at in options else [at, *options]
        session.put(key, at)
        st.selectbox(
            label,
            options,
            key=key,
            format_func=lambda w: flat(w, 60),
            help=f"It is {plain(_word(before), 60)}.",
            **keep,
        )
        return
    low, high = known.low, known.high
    if low is None or high is None or low >= high or not isinstance(before, int | float | None):
        st.caption(f"{label}: {plain(figures.value(before))}, the same in all training rows.")
        return
    inside = before is None or low <= before <= high
    value = float(low if now is None else now)
    bottom, top = min(low, value), max(high, value)
    whole = known.whole and float(value).is_integer()
    said = "missing" if before is None else figures.value(before)
    bounds = f"It is {said}. Training: {figures.value(low)} to {figures.value(high)}."
    cast = int if whole else float
    session.put(key, cast(value))
    step = 1 if whole else _step(top - bottom)
    name = label if inside else f"{label} :gray[outside of training]"
    st.slider(name + (" :gray[missing]" if now is None else ""), cast(bottom), cast(top), step=step, key=key, help=bounds,
              format="localized" if whole or top - bottom > 50 else None, **keep)  # fmt: skip


def _step(span: float) -> float:
    """A hundredth of the span or so, at a round figure."""
    step = 10.0 ** len(str(int(span))) / 1000 if span >= 1 else span / 100
    return step or 0.01


def _word(value: Cell) -> str:
    return _MISSING if value is None else figures.value(value) if isinstance(value, bool) else str(value)


@careful
def _moved(asking: Asking, case_id: str, known: FeatureRange, before: Cell, key: str) -> None:
    value = session.read(key)
    if known.kind != "numeric":
        value = None if value == _MISSING else value == "yes" if known.kind == "boolean" else value
    changes = dict(asking.mine.changes.get(case_id, {}))
    same = value == before or (
        isinstance(value, float) and isinstance(before, int | float) and abs(value - before) < 1e-12
    )
    if same:
        changes.pop(known.feature, None)
    else:
        changes[known.feature] = value
    asking.mine.changes[case_id] = changes


@careful
def _reset(asking: Asking, case_id: str) -> None:
    asking.mine.changes.pop(case_id, None)


def _prediction(asking: Asking, case: CaseExplanation, changes: dict[str, Cell]) -> None:
    """The prediction as it is, or as it would be with its change; then what speaks against it."""
    digits = 0 if case.scale == "value" and abs(case.prediction) >= 100 else 2
    slot = st.container(height=130, border=False, gap="xsmall")
    with slot:
        if not changes:
            st.metric(_what(asking, case), _said(case, case.prediction, digits))
            st.caption("Move a value to see the prediction move.")
            return

        def work(*, cancel: Any, tell: Any) -> WhatIf:
            views = asking.app.explanations.views(asking.actor, asking.card.id)
            return views.what_if(
                case.case_id, changes, scale=asking.scale, output=case.output, cancel=cancel, tell=tell
            )

        key = (*asking.mark, "what_if", case.case_id, repr(sorted(changes.items())))
        made: WhatIf | None = explain_work.view(
            asking.app, asking.actor, key, "What if", work, height=110, patience=1.0
        )
        if made is None:
            return
        after, change = made.after.prediction, made.after.prediction - made.before.prediction
        amount = figures.number(abs(change), digits)
        st.metric(
            _what(asking, case), _said(case, after, digits), delta=f"{direction(change)} {amount}",
            delta_description=f"from {_said(case, made.before.prediction, digits)}", delta_color="gray", delta_arrow="off",
        )  # fmt: skip
    for doubt in made.doubts:
        st.warning(plain(doubt.sentence, 400), icon=":material/warning:")
    with st.expander("In words"):
        st.markdown(plain(made.sentence, 900))


def _said(case: CaseExplanation, value: float, digits: int) -> str:
    return figures.probability(value) if case.scale == "probability" else figures.number(value, digits)


def _what(asking: Asking, case: CaseExplanation) -> str:
    task = asking.card.task
    if case.scale == "value":
        return plain(task.target_label.capitalize(), 40)
    of = plain(case.output or task.target_label, 40)
    return f"Probability of {of}" if case.scale == "probability" else f"Log-odds of {of}"
