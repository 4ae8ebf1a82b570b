"""What moves the model over many rows: beeswarm, both importances, dependence, interactions, effect; all about one cohort.

Only the open tab is asked for. Must never: draw a chart without its scale and the number of rows it rests on.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components import explain_rows as rows
from components import explanation_charts, explanation_charts_views, figures, session, tables
from components.cards import mode
from components.charts import TALL, Chart
from components.explain_asked import Asking
from components.explain_draw import Rows, built, chart, config, head, selectable
from components.problems import careful, guarded
from components.safe import flat, plain
from lexsi_ds.explain.results import Basis, Dependence, ImportanceView, Interactions, Profile
from lexsi_ds.models.engine import GlobalExplanation

TABS = ("Beeswarm", "Importance", "Dependence", "Interactions", "Effect")
PAIRS = 5
HEIGHT = TALL + 150
"""Of a tab: the feature or head, the figure, what is said below it."""


def card(asking: Asking) -> None:
    """The card with its tabs."""
    with st.container(border=True, gap="small"):
        opened = st.tabs(list(TABS), on_change="rerun", key=session.OVERALL_TAB)
        for name, tab, draw in zip(
            TABS, opened, (_beeswarm, _importance, _dependence, _interactions, _effect), strict=True
        ):
            if tab.open:
                with tab, guarded(name):
                    draw(asking)


def elsewhere(explanation: GlobalExplanation, asking: Asking) -> None:
    """An engine that gives no values per row: importance alone, and whose it is."""
    with st.container(border=True, gap="small"):
        tables.card_head("What moves the model", f"{figures.counted(explanation.of_rows, asking.noun)} trained it")
        target = asking.card.task.target_label
        drawn = explanation_charts.importance(explanation, target, mode())
        chart(drawn, session.wkey("importance", asking.card.id, explanation.scale), "importance")
        st.caption(plain(explanation.method))


def _beeswarm(asking: Asking) -> None:
    view: GlobalExplanation | None = asking.view("overall", label="What moves the model", height=HEIGHT)
    if view is None:
        return
    note = _rows_of(asking, view.rows, view.of_rows)
    _head(asking, "What moves the model", note, ("beeswarm",), lambda: rows.beeswarm_rows(view))
    target = asking.card.task.target_label
    drawn = _drawn(asking, "beeswarm", make=lambda: explanation_charts.beeswarm(view, target, mode()))
    selectable(drawn, _key(asking, "beeswarm"), "Beeswarm", asking.mine)
    shown = min(len(view.features), explanation_charts.SHOWN_FEATURES)
    more = f"The {shown} strongest of {len(view.features)} features. " if len(view.features) > shown else ""
    st.caption(f"{more}{_how_to(asking)}")
    _method(view.method)


def _importance(asking: Asking) -> None:
    view: ImportanceView | None = asking.view("importance", label="Importance, two ways", height=HEIGHT)
    if view is None:
        return
    _head(
        asking,
        "Importance, two ways",
        _basis(asking, view.basis),
        ("importance",),
        lambda: rows.importance_rows(view),
    )
    drawn = _drawn(asking, "importance", make=lambda: explanation_charts_views.importance_pair(view, mode()))
    chart(drawn, _key(asking, "importance"), _name(asking, "importance"))
    apart = [f for f in view.features if f.disagrees]
    if apart or view.warnings:
        mark = f"**The two measures disagree on {figures.counted(len(apart), 'feature')}, marked ≠.** " if apart else ""
        st.warning(mark + "  \n".join(plain(w, 400) for w in view.warnings), icon=":material/warning:")
    st.caption(
        f"Left: how far a feature moves the score. Right: how much {plain(view.figure)} ({figures.number(view.measured)}) "
        f"falls when its values are shuffled among {figures.counted(view.loss_rows, 'held-out row')}, {view.repeats} times. "
        "Lines: 95% intervals."
    )


def _dependence(asking: Asking) -> None:
    feature = _feature(asking)
    view: Dependence | None = asking.view("dependence", feature, label="Dependence", height=HEIGHT)
    if view is None:
        return
    note = _basis(asking, view.basis)
    _head(
        asking,
        view.label,
        note,
        (
            "dependence",
            feature,
        ),
        lambda: rows.dependence_rows(view),
    )
    target = asking.card.task.target_label
    drawn = _drawn(
        asking, "dependence", feature, make=lambda: explanation_charts_views.dependence(view, target, mode())
    )
    selectable(drawn, _key(asking, "dependence", feature), "Dependence", asking.mine)
    if view.partner_label:
        share = f", {view.partner_share:.0%} of its interactions" if view.partner_share else ""
        st.caption(f"Colour: {plain(view.partner_label)}, its strongest partner{share}. {_how_to(asking)}")
    else:
        st.caption(f"The model has no interaction of this feature, so one colour. {_how_to(asking)}")


def _interactions(asking: Asking) -> None:
    view: Interactions | None = asking.view("interactions", label="Interactions", height=HEIGHT + PAIRS * 40)
    if view is None:
        return
    note = _basis(asking, view.basis)
    _head(asking, "Pairs", note, ("interactions",), lambda: rows.pair_rows(view))
    if not view.pairs:
        st.info(
            "This model adds its features up: no two of them act together. " + plain(view.basis.method),
            icon=":material/info:",
        )
        return
    key = _key(asking, "interactions")
    drawn = _drawn(asking, "interactions", make=lambda: explanation_charts_views.interactions(view, mode()))
    st.plotly_chart(
        drawn.figure, theme=None, config=config("interactions"), key=key, height=drawn.height, alt=drawn.alt,
        on_select=lambda: _open_square(key), selection_mode="points",
    )  # fmt: skip
    unit = "in units of the outcome" if view.basis.scale == "value" else "in log-odds, whatever the scale above"
    st.caption(f"Mean size of what two features do together, {unit}. Open a pair, or click a square:")
    with st.container(gap="xxsmall"):
        for i, pair in enumerate(view.pairs[:PAIRS]):
            label = f"{plain(pair.first_label, 40)} with {plain(pair.second_label, 40)}, {_strength(pair.strength)}"
            st.button(
                label, key=_key(asking, "pair", str(i)), type="tertiary", icon=":material/scatter_plot:", wrap=True,
                on_click=_open, args=(pair.first,),
            )  # fmt: skip


def _strength(value: float) -> str:
    return figures.number(value, 0 if value >= 100 else 2 if value >= 0.1 else 4)


def _effect(asking: Asking) -> None:
    feature = _feature(asking)
    view: Profile | None = asking.view("profile", feature, label="Effect", height=HEIGHT)
    if view is None:
        return
    _head(
        asking,
        view.label,
        _basis(asking, view.basis),
        (
            "effect",
            feature,
        ),
        lambda: rows.effect_rows(view),
    )
    target = asking.card.task.target_label
    drawn = _drawn(asking, "effect", feature, make=lambda: explanation_charts_views.effect(view, target, mode()))
    selectable(drawn, _key(asking, "effect", feature), "Effect", asking.mine)
    st.caption(
        "What the model answers as only this feature is changed. "
        + plain(view.basis.method[:1].upper() + view.basis.method[1:])
        + "."
    )


def _feature(asking: Asking) -> str:
    """The feature that dependence and effect are about; strongest first where that is known."""
    overall: GlobalExplanation | None = asking.there("overall")
    labels = {f.feature.name: f.feature.label for f in asking.card.features}
    names = [f.feature for f in overall.features if f.feature in labels] if overall is not None else list(labels)
    if session.read(session.EXPLAINED_FEATURE) not in labels:
        session.put(session.EXPLAINED_FEATURE, names[0])
    return st.selectbox(
        "Feature", names, key=session.EXPLAINED_FEATURE, format_func=lambda n: flat(labels[n], 60),
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip


@careful
def _open(feature: str) -> None:
    session.put(session.EXPLAINED_FEATURE, feature)
    session.put(session.OVERALL_TAB, "Dependence")


@careful
def _open_square(key: str) -> None:
    points = ((session.read(key) or {}).get("selection") or {}).get("points") or ()
    if points and points[0].get("customdata"):
        _open(str(points[0]["customdata"][0]))


def _head(asking: Asking, title: str, note: str, parts: tuple[str, ...], made: Callable[[], Rows]) -> None:
    head(title, note, _name(asking, *parts), made, _key(asking, parts[0], "csv"))


def _drawn(asking: Asking, *parts: str, make: Callable[[], Chart]) -> Chart:
    return built((*asking.mark, asking.cohort_mark, mode(), *parts), make)


def _basis(asking: Asking, basis: Basis) -> str:
    return _rows_of(asking, basis.rows, basis.of_rows)


def _rows_of(asking: Asking, shown: int, of_rows: int) -> str:
    where = "" if asking.predictions_id else ", training rows"
    if of_rows > shown:
        return f"{figures.count(shown)} of {figures.counted(of_rows, asking.noun)}, a stratified sample{where}"
    return figures.counted(shown, asking.noun) + where


def _how_to(asking: Asking) -> str:
    return f"A point is one {plain(asking.noun)}; the switch above says what a click or a drag does."


def _method(text: str) -> None:
    if text:
        st.caption(plain(text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")))


def _name(asking: Asking, *parts: str) -> str:
    return "_".join((asking.card.name, *parts))


def _key(asking: Asking, *parts: str) -> str:
    return session.wkey("explorer", *parts, asking.card.id, asking.scale, asking.output or "", asking.cohort_mark)
