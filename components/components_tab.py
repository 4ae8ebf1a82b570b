"""Computed components of a table: computed in the background, listed with status and size, drawn as curves, surfaces and points.

Must never: show what rests on a masked column (the service gives none), or a stale curve without saying so.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from components import figures, session, tables
from components.cards import draw_chart
from components.component_charts import curve, importance, points, surface
from components.problems import careful, sentence
from components.safe import flat, plain
from components.table_task import table_at_rest
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.errors import LexsiError
from lexsi_ds.services.access import Actor

PARTS = ("Overview", "Additive model", "Map of rows", "Columns", "Manifest")
_MOST_POINTS = 4_000
Json = dict[str, Any]


def draw(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """One table at a time."""
    tasks = session.held().component_tasks
    table = table_at_rest(app, actor, handle, tasks, about="components", failed="The components could not be computed.")
    if table is None:
        return
    layer = app.components.manifest(actor, table.dataset_id)
    _head(app, actor, table, layer["manifest"])
    part = st.segmented_control("Part", PARTS, default=PARTS[0], key=session.wkey("components", table.dataset_id, "part"),
                                label_visibility="collapsed")
    drawn = {"Additive model": _model, "Map of rows": _map, "Columns": _columns}
    if part in drawn:
        _part(app, actor, table, layer, drawn[part])
    elif part == "Manifest":
        st.json(layer, expanded=2)
    else:
        _overview(table, layer["manifest"])


def _head(app: Application, actor: Actor, table: Table, manifest: Json) -> None:
    done = "runId" in manifest
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        about = f"about {plain(manifest['targetColumn'], 40)}" if done and manifest["targetColumn"] else "without a target"
        st.markdown(
            f"**Version {manifest['datasetVersion']}** :gray[computed {plain(manifest['createdAt'][:10])}, {about}]" if done else
            "**What shapes the target, and which rows are alike?** :gray[An additive model of the column to predict, a map of "
            "rows, and a text with odd values for each column. Set the target on the tab Tables first.]"
        )
        st.button(
            "Compute again" if done else "Compute the components", icon=":material/calculate:", on_click=_start,
            type="secondary" if done else "primary", args=(app, actor, table),
            key=session.wkey("components-start", table.dataset_id),
        )
    if any(c["status"] == "stale" and "runId" in manifest for c in manifest["components"]):
        st.warning("The target was changed since. Compute the components again.", icon=":material/update:")


def _overview(table: Table, manifest: Json) -> None:
    rows = [
        {"Component": c["name"], "Status": c["status"].replace("_", " "), "Required": "yes" if c["required"] else "no",
         "Size, KB": None if "sizeBytes" not in c else round(c["sizeBytes"] / 1024, 1), "Seconds": c.get("seconds"),
         "Type": c["contentType"], "Why": c.get("reason", "")}
        for c in manifest["components"]
    ]
    tables.show(pd.DataFrame(rows), key=session.wkey("components-list", table.dataset_id),
                alt=f"Components of {flat(table.name)}")


def _part(app: Application, actor: Actor, table: Table, layer: Json, body: Any) -> None:
    try:
        body(app, actor, table, layer)
    except LexsiError as error:
        why = next((c["reason"] for c in layer["manifest"]["components"] if "reason" in c and c["name"] in _NEEDS[body]), "")
        st.info(plain(why or sentence(error), 400), icon=":material/info:")


def _model(app: Application, actor: Actor, table: Table, layer: Json) -> None:
    model = app.semantic_data.get(actor, table.dataset_id, "ebm_model")
    mode = st.context.theme.type
    score = model["holdout"]
    name = "Area under the ROC curve" if score["metric"] == "auc" else "R²"
    what = f" = {plain(model['positive'], 40)}" if "positive" in model else ""
    st.markdown(
        f"**{plain(model['target'], 40)}{what}** :gray[{name} {figures.number(score['value'])} on {score['n']:,} rows that it did "
        f"not see; {model['rows']:,} of {model['totalRows']:,} rows looked at. It goes together; that is no cause.]"
    )
    left, right = st.columns([1, 1.4], gap="medium")
    with left:
        draw_chart(importance(model, mode), session.wkey("components-importance", table.dataset_id))
    with right:
        names = [f["name"] for f in model["features"]]
        key = session.wkey("components-term", table.dataset_id)
        picked = st.selectbox("Curve of", names, key=key, format_func=lambda n: flat(n, 60))
        term = next(f for f in model["features"] if f["name"] == (picked or names[0]))
        graphs = app.semantic_data.get(actor, table.dataset_id, "ebm_graphs", columns=term["columns"])
        graph = next(g for g in graphs["graphs"] if g["index"] == term["index"])
        chart = surface(graph, graphs["scale"], mode) if graph["type"] == "interaction" else curve(graph, graphs["scale"], mode)
        draw_chart(chart, session.wkey("components-curve", table.dataset_id))


def _map(app: Application, actor: Actor, table: Table, layer: Json) -> None:
    got = app.semantic_data.get(actor, table.dataset_id, "umap_embedding", limit=_MOST_POINTS)
    method = "UMAP" if got["method"] == "umap" else "the first two principal components"
    st.markdown(f"**{got['count']:,} rows, those alike near each other** :gray[by {method}, of {len(got['features'])} columns]")
    if got["note"]:
        st.caption(plain(got["note"], 200))
    draw_chart(points(got, st.context.theme.type), session.wkey("components-map", table.dataset_id))


def _columns(app: Application, actor: Actor, table: Table, layer: Json) -> None:
    got = app.semantic_data.get(actor, table.dataset_id, "feature_metadata")
    rows = [
        {"Column": c["name"], "What it is": c["description"], "Written by": {"user": "a person"}.get(
            c["descriptionSource"] or "", c["descriptionSource"] or ""),
         "Odd values": ", ".join(f"{a['value']:g} ({a['count']:,} times, {a['kind'].replace('_', ' ')})" for a in c["artifacts"])}
        for c in got["columns"]
    ]
    tables.show(pd.DataFrame(rows), key=session.wkey("components-columns", table.dataset_id), alt=f"Columns of {flat(table.name)}")


_NEEDS: dict[Any, tuple[str, ...]] = {_model: ("ebm_model",), _map: ("umap_embedding",), _columns: ()}


@careful
def _start(app: Application, actor: Actor, table: Table) -> None:
    session.held().component_tasks[table.dataset_id] = app.components.start(actor, table.dataset_id).id
