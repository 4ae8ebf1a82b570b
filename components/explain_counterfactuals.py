"""What would have to be different: rows like the case that the model judges otherwise, over columns that somebody could act on.

The search is a job with progress and Cancel; it goes on when the page is left. Must never: search on its own, or offer a
change of a column that the person did not choose.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from components import explain_work, figures, session, tables
from components.explain_asked import Asking
from components.explain_draw import Rows, csv_of
from components.problems import careful
from components.safe import flat, plain
from lexsi_ds.explain.results_local import Counterfactuals
from lexsi_ds.explain.wanted import Wanted
from lexsi_ds.models.engine import CaseExplanation

HEIGHT = 220
OFFERED = 4
SECONDS = 20.0


def card(asking: Asking, case: CaseExplanation) -> None:
    """Which columns may change and what is to be reached; then the table of changes."""
    task, mine = asking.card.task, asking.mine
    with st.container(border=True, gap="small"):
        tables.card_head("What would have to be different", f"for {asking.noun} {case.case_id}")
        labels = {f.feature.name: f.feature.label for f in asking.card.features}
        columns = _default(case, labels) if mine.actionable is None else mine.actionable
        wanted = _wanted(asking, case)
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.button(
                "Search", icon=":material/search:", key="explorer-counterfactuals", disabled=not columns or wanted is None,
                on_click=_start, args=(asking, case.case_id, columns, wanted),
            )  # fmt: skip
            _columns(asking, labels, columns)
        st.caption("May change: " + (", ".join(plain(labels[c], 60) for c in columns) or "nothing yet") + ".")
        found_key = mine.searches.get(case.case_id)
        if found_key is None:
            goal = f"small changes that {_goal(task.kind)}"
            st.caption(f"Looks up to {SECONDS:.0f} seconds for {goal}. Each is checked with the model.")
            return
        asked = explain_work.board(asking.app).find(found_key)
        if asked is None:
            mine.searches.pop(case.case_id, None)
            return
        found: Counterfactuals | None = explain_work.view(
            asking.app, asking.actor, found_key, "Counterfactuals", _gone, height=HEIGHT, listed=True
        )
        if found is not None:
            _shown(asking, found)


def _columns(asking: Asking, labels: dict[str, str], columns: tuple[str, ...]) -> None:
    """The popover in which the columns that may change are chosen."""
    chip = st.popover(
        f"{figures.counted(len(columns), 'column')} may change", icon=":material/tune:", on_change="rerun",
        key="explorer-actionable",
    )
    if not chip.open:
        return
    with chip:
        key = session.wkey("explorer-actionable-columns", asking.card.id)
        session.put(key, list(columns))
        st.multiselect(
            "Columns that may change", list(labels), key=key, placeholder="Choose columns", width=420,
            format_func=lambda n: flat(labels[n], 60), on_change=_choose, args=(asking, key),
        )  # fmt: skip
        st.caption("Choose what somebody could act on. An age or a past payment cannot be changed.")


@careful
def _choose(asking: Asking, key: str) -> None:
    asking.mine.actionable = tuple(session.read(key) or ())


def _default(case: CaseExplanation, labels: dict[str, str]) -> tuple[str, ...]:
    """The strongest drivers that push the case to where it is."""
    known = [d for d in case.drivers if d.feature in labels]
    pushing = [d.feature for d in known if d.contribution * (case.prediction - case.base_value) > 0]
    return tuple((pushing or [d.feature for d in known])[:OFFERED])


def _goal(kind: str) -> str:
    return {"binary": "put it on the other side of the threshold", "multiclass": "give it another class"}.get(
        kind, "bring the amount inside of the bound"
    )


def _wanted(asking: Asking, case: CaseExplanation) -> Wanted | None:
    """What is to be reached; None while that is not said."""
    task = asking.card.task
    if task.kind == "binary":
        return Wanted()
    if task.kind == "multiclass":
        others = [c for c in task.classes if c != case.output]
        chosen = st.selectbox(
            "Class to reach", others, index=None, key=session.wkey("explorer-reach", asking.card.id),
            placeholder="The second likeliest", format_func=lambda c: flat(c, 60),
        )  # fmt: skip
        return Wanted(output=chosen) if chosen else Wanted()
    left, right = st.columns(2)
    with left:
        way = st.selectbox("Reach", ["below", "at least"], key=session.wkey("explorer-way", asking.card.id))
    with right:
        bound = st.number_input(
            plain(task.target_label.capitalize(), 40), value=None, key=session.wkey("explorer-bound", asking.card.id),
            placeholder=figures.number(case.prediction, 0),
        )  # fmt: skip
    if bound is None:
        return None
    return Wanted(high=float(bound)) if way == "below" else Wanted(low=float(bound))


@careful
def _start(asking: Asking, case_id: str, columns: tuple[str, ...], wanted: Wanted) -> None:
    key = (*asking.mark, "counterfactuals", case_id, columns, wanted.model_dump_json())

    def work(*, cancel: Any, tell: Any) -> Counterfactuals:
        views = asking.app.explanations.views(asking.actor, asking.card.id)
        return views.counterfactuals(case_id, columns, wanted=wanted, seconds=SECONDS, cancel=cancel, tell=tell)

    board = explain_work.board(asking.app)
    known = board.find(key)
    if known is not None and known.over.is_set() and (known.error is not None or known.value.stopped):
        board.again(key)
    label = f"Counterfactuals of {asking.noun} {case_id}"
    board.ask(key, label, work, asking.actor.id, listed=True)
    asking.mine.searches[case_id] = key


def _gone(*, cancel: Any, tell: Any) -> Counterfactuals:
    raise LookupError("the search is not there any more")


def _shown(asking: Asking, found: Counterfactuals) -> None:
    if not found.found:
        st.info(plain(found.sentence, 600), icon=":material/search_off:")
        return
    digits = 0 if asking.card.task.kind == "regression" else 2
    st.markdown(plain(found.sentence, 700))
    frame = pd.DataFrame(_lines(found, digits))
    key = session.wkey("counterfactuals", asking.card.id, found.case_id)
    widths = {"Way": 38, "Feature": 130, "Is": 62, "Would be": 72, "Prediction": 76}
    settings = {name: st.column_config.TextColumn(name, width=width) for name, width in widths.items()}
    tables.show(frame, key=key, alt="Changes that the model judges otherwise", settings=settings)
    for i, one in enumerate(found.found, 1):
        for doubt in one.doubts:
            st.caption(f":material/warning: Way {i}: {plain(doubt.sentence, 300)}")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        early = ", ended by the clock" if found.stopped else ""
        st.caption(
            f"{figures.count(found.tried)} rows judged in {figures.seconds(found.seconds)}{early}. The model's answer for "
            "another row, not what a change would bring about."
        )
        name = f"counterfactuals_{figures.slug(found.case_id)}.csv"
        tables.csv_button("CSV", name, lambda: csv_of(*_rows(found)), "explorer-counterfactuals-csv")


def _lines(found: Counterfactuals, digits: int) -> list[dict[str, str]]:
    lines = []
    for i, one in enumerate(found.found, 1):
        for change in one.changes:
            unit = f", {change.unit}" if change.unit else ""
            lines.append({
                "Way": str(i), "Feature": change.label + unit, "Is": figures.value(change.before),
                "Would be": figures.value(change.after), "Prediction": figures.number(one.prediction, digits),
            })  # fmt: skip
    return lines


def _rows(found: Counterfactuals) -> Rows:
    names = ["way", "feature", "before", "after", "prediction", "distance"]
    return names, [
        (i, c.feature, c.before, c.after, one.prediction, one.distance)
        for i, one in enumerate(found.found, 1) for c in one.changes
    ]  # fmt: skip
