"""Surprises of a table: a search in the background, then one card each, to word, pin, order, delete or make a finding.

Must never: call a difference a cause, or show what was deleted.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import figures, session, tables
from components.problems import careful, sentence
from components.registry import page
from components.safe import flat, plain
from components.sql_text import show_sql
from components.table_task import table_at_rest
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.errors import LexsiError
from lexsi_ds.insights.wording import difference, figure
from lexsi_ds.services.access import Actor

_KINDS = {
    "unexpected_effect": ":blue-badge[:material/join: Unexpected effect]",
    "trend_shift": ":violet-badge[:material/trending_up: Trend shift]",
    "concentrated_anomaly": ":orange-badge[:material/scatter_plot: Concentrated anomaly]",
    "simpson_reversal": ":red-badge[:material/swap_vert: Simpson reversal]",
}
_EXPECTED = {
    "unexpected_effect": "Expected", "trend_shift": "At the start", "concentrated_anomaly": "Expected",
    "simpson_reversal": "Among rows alike",
}
_ROWS = 200


def draw(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """One table at a time."""
    tasks = session.held().surprise_tasks
    table = table_at_rest(app, actor, handle, tasks, about="surprises", failed="The search failed.")
    if table is None:
        return
    found = app.surprises.get(actor, table.dataset_id)
    _head(app, actor, table, found)
    for place, surprise in enumerate(found["surprises"]):
        _card(app, actor, handle, table, found["surprises"], place, surprise)


def _head(app: Application, actor: Actor, table: Table, found: dict[str, Any]) -> None:
    searched = found["status"] == "ready"
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        if searched:
            target = f"about {plain(found['targetColumn'], 40)}" if found["targetColumn"] else "about " + ", ".join(
                plain(m, 60) for m in found["measures"])
            st.markdown(
                f"**{figures.counted(found['count'], 'surprise')}** :gray[{target}; {found['testsRun']:,} patterns tried on "
                f"{found['rows']:,} rows, version {found['datasetVersion']}]"
            )
        else:
            st.markdown(
                "**What do two columns do together that neither does alone?** :gray[Pairs of columns, drifts, piles of odd rows "
                "and differences that turn round are tested; at most one in twenty of what is listed should be chance.]"
            )
        st.button(
            "Look again" if searched else "Look for surprises", icon=":material/search:", on_click=_search,
            type="secondary" if searched else "primary", args=(app, actor, table),
            key=session.wkey("surprises-search", table.dataset_id),
        )
    if not searched:
        st.caption("The target column is measured where one is set (Tables tab), else the numbers and two-valued columns.")
        return
    if found["stale"]:
        st.warning("The data or the target changed since. Look again.", icon=":material/update:")
    if not found["surprises"]:
        st.info("Nothing that the columns by themselves do not explain stood out from chance.", icon=":material/check:")
    warnings = [n for n in found["notes"] if "belong together" in n]
    for note in warnings:
        st.warning(plain(note, 400), icon=":material/warning:")
    rest = [n for n in found["notes"] if n not in warnings]
    if rest:
        with st.expander(f"What was left out ({len(rest)})"):
            for note in rest:
                st.text(note)


def _card(
    app: Application, actor: Actor, handle: DatasetHandle, table: Table, all_: list[dict[str, Any]], place: int,
    surprise: dict[str, Any],
) -> None:
    key = session.wkey("surprise", surprise["id"])
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            pin = " :gray-badge[:material/keep: Pinned]" if surprise["pinned"] else ""
            sure = f"{100 * min(surprise['confidence'], 0.999):.1f}% sure"
            st.markdown(f"{_KINDS[surprise['kind']]}{pin} :gray[{sure} that it is no chance; q = {surprise['qValue']:.2g}]")
            _menu(app, actor, table, all_, place, surprise, key)
        st.markdown(plain(surprise["sentence"], 600))
        st.caption("It goes together in this data; that is no cause.")
        with st.container(horizontal=True, gap="small"):
            if surprise["findingId"]:
                st.page_link(page("findings").path, label="In findings", icon=":material/rule:")
            else:
                st.button("Make it a finding", icon=":material/rule:", key=f"{key}-accept", on_click=_accept, type="tertiary",
                          args=(app, actor, surprise["id"]))
        with st.expander("Figures, rows and SQL", on_change="rerun", key=f"{key}-more") as more:
            if more.open:
                _more(app, handle, table, surprise, key)


def _more(app: Application, handle: DatasetHandle, table: Table, surprise: dict[str, Any], key: str) -> None:
    share = surprise["isShare"] or surprise["kind"] == "concentrated_anomaly"
    low, high = surprise["interval"]
    with st.container(horizontal=True, gap="large"):
        st.metric("Seen" if surprise["kind"] != "simpson_reversal" else "Over all rows", figure(surprise["observed"], share=share))
        st.metric(_EXPECTED[surprise["kind"]], figure(surprise["expected"], share=share))
        st.metric("Difference", f"{'+' if surprise['effect'] > 0 else '−'}{difference(surprise['effect'], share=share)}")
        st.metric("Rows", figures.count(surprise["n"]))
    st.caption(f"95% interval of the difference {figure(low, share=share)} to {figure(high, share=share)}; "
               f"p = {surprise['pValue']:.2g}. The query gives the figures again:")
    show_sql(surprise["sql"])
    try:
        result = app.sql.run_on_table(table, f"SELECT * FROM ({surprise['rowsSql']}) LIMIT {_ROWS}")
    except LexsiError as error:
        st.error(sentence(error), icon=":material/error:")
        return
    try:
        rows = result.frame()
    finally:
        result.path.unlink(missing_ok=True)
    hidden = [c.name for c in table.columns if c.masked]
    shown = rows.drop(columns=[c for c in hidden if c in rows.columns])
    tables.show(shown, key=f"{key}-rows", alt=f"Rows of the surprise in {flat(table.name)}")
    st.caption(tables.count_line(len(rows), surprise["n"]) + ("; masked columns are hidden" if hidden else ""))


def _menu(
    app: Application, actor: Actor, table: Table, all_: list[dict[str, Any]], place: int, surprise: dict[str, Any], key: str
) -> None:
    ids = [s["id"] for s in all_]
    with st.popover("", icon=":material/more_horiz:", help="Word it anew, pin, move or delete", key=f"{key}-menu"):
        text = st.text_area("In your words", value=surprise["sentence"], key=f"{key}-text", max_chars=500)
        st.button("Save the words", key=f"{key}-save", on_click=_edit, args=(app, actor, surprise, f"{key}-text"),
                  disabled=text == surprise["sentence"])
        st.button("Unpin" if surprise["pinned"] else "Pin on top", icon=":material/keep:", key=f"{key}-pin", on_click=_pin,
                  args=(app, actor, surprise), type="tertiary")
        if place:
            moved = [*ids[: place - 1], ids[place], ids[place - 1], *ids[place + 1 :]]
            st.button("Move up", icon=":material/arrow_upward:", key=f"{key}-up", on_click=_order,
                      args=(app, actor, table, moved), type="tertiary")
        st.button("Delete for good", icon=":material/delete:", key=f"{key}-delete", on_click=_delete,
                  args=(app, actor, surprise["id"]), type="tertiary", help="Later searches do not show it again.")


@careful
def _search(app: Application, actor: Actor, table: Table) -> None:
    session.held().surprise_tasks[table.dataset_id] = app.surprises.start(actor, table.dataset_id).id


@careful
def _accept(app: Application, actor: Actor, surprise_id: str) -> None:
    finding = app.surprises.accept(actor, surprise_id)
    session.notify("success", f"Proposed: {plain(finding.title, 80)}. It waits for review.")


@careful
def _edit(app: Application, actor: Actor, surprise: dict[str, Any], text_key: str) -> None:
    app.surprises.edit(actor, surprise["id"], surprise["version"], str(session.read(text_key, "")))


@careful
def _pin(app: Application, actor: Actor, surprise: dict[str, Any]) -> None:
    app.surprises.pin(actor, surprise["id"], surprise["version"], pinned=not surprise["pinned"])


@careful
def _order(app: Application, actor: Actor, table: Table, ids: list[str]) -> None:
    app.surprises.order(actor, table.dataset_id, ids)


@careful
def _delete(app: Application, actor: Actor, surprise_id: str) -> None:
    app.surprises.delete(actor, surprise_id)
    session.notify("info", "Deleted; later searches leave it out.")
