"""How an answer was made: its parts and what each was made from, drawn small, each with its content and its exports.

Reads nothing before it is opened. The picture holds words of our own and numbers only; must never put a text of the data into it.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components import figures, payloads, problems, session
from components.registry import page
from components.safe import plain, safe_md
from components.sql_text import show_sql
from components.turn import TurnView
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor
from lexsi_ds.services.result_graph import ResultGraph, ResultNode

_WORDS = {
    "question": "Question", "sql": "SQL", "frame": "Rows", "model": "Model", "predictions": "Predictions",
    "explanation": "Explanation", "narrative": "Answer", "finding": "Finding",
}  # fmt: skip
_ARCHIVE = "The script, the tables it reads as they were, and the stored numbers that it compares with"
_ANSWERS = ("answered", "limit_reached")


@st.fragment
def how(app: Application, actor: Actor, view: TurnView) -> None:
    """Folded under a turn that has an answer."""
    if view.state not in _ANSWERS:
        return
    outer = st.expander(
        "How this was made", type="compact", icon=":material/account_tree:", on_change="rerun",
        key=session.wkey("made", view.run_id),
    )  # fmt: skip
    if not outer.open:
        return
    with outer, problems.guarded("How this was made"):
        graph = app.lineage.of_run(actor, view.run_id)
        names = {n.id: _name(n, graph) for n in graph.nodes}
        st.graphviz_chart(_picture(graph, names, st.context.theme.type == "dark"), width="content")
        chosen = st.pills(
            "Part", list(names), default=graph.nodes[-1].id, key=session.wkey("made", view.run_id, "part"), required=True,
            format_func=lambda i: f":gray[{names[i]}]", label_visibility="collapsed", wrap=True,
        )  # fmt: skip
        _part(app, actor, view, graph, graph.node(chosen or graph.nodes[-1].id), names)


def _name(node: ResultNode, graph: ResultGraph) -> str:
    """What a part is called: its kind, and its number where there are several."""
    several = sum(n.kind == node.kind for n in graph.nodes) > 1
    return _WORDS[node.kind] + (f" {node.id.rpartition('-')[2]}" if several else "")


def _picture(graph: ResultGraph, names: dict[str, str], dark: bool) -> str:
    """The graph in DOT, from left to right."""
    ink, line = ("#c9d1d9", "#6e7681") if dark else ("#24292f", "#8c959f")
    lines = [
        "digraph {", 'rankdir=LR; bgcolor="transparent"; nodesep=0.15; ranksep=0.3; margin=0;',
        f'node [shape=box, style=rounded, fontname="sans-serif", fontsize=10, height=0.3, margin="0.12,0.04", color="{line}", '
        f'fontcolor="{ink}"];', f'edge [color="{line}", arrowsize=0.5];',
    ]
    for node in graph.nodes:
        rows = f" ({figures.count(node.rows)})" if node.rows is not None else ""
        lines.append(f'"{node.id}" [label="{names[node.id]}{rows}"];')
        lines += [f'"{made}" -> "{node.id}";' for made in node.made_from]
    return "\n".join([*lines, "}"])


def _part(
    app: Application, actor: Actor, view: TurnView, graph: ResultGraph, node: ResultNode, names: dict[str, str]
) -> None:
    """One part: what it was made from, its content, where else it is shown, and its exports."""
    said = [f"Made from {', '.join(names[i] for i in node.made_from)}" if node.made_from else "What the rest began from"]
    step = view.step(node.call_id) if node.call_id else None
    if step is not None:
        said.append(f"by {plain(step.name)}")
    version = f"data version {graph.snapshot_number}" if graph.snapshot_number else ""
    mark = f"SHA-256 {node.hash[:12]}…" if node.hash else ""
    st.caption(", ".join(filter(None, (" ".join(said), version, mark))), help=node.hash)
    if node.kind == "sql":
        show_sql(node.text or "")
    elif node.artifact_id and step is not None and node.kind != "narrative":
        key = session.wkey("made", view.run_id, node.id)
        payloads.draw(step.name, app.chats.artifact(actor, node.artifact_id), key)
    elif node.text:
        st.markdown(safe_md(node.text))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        _link(node)
        _exports(app, actor, view.run_id, node)


def _link(node: ResultNode) -> None:
    """The page where a part lives on."""
    if node.about_id and node.kind == "model":
        st.page_link(page("models").path, label="Open the model", icon=page("models").icon, query_params={"model": node.about_id})
    if node.about_id and node.kind == "finding":
        link = page("findings")
        st.page_link(link.path, label="Open the finding", icon=link.icon, query_params={"finding": node.about_id})


def _exports(app: Application, actor: Actor, run_id: str, node: ResultNode) -> None:
    """The script and the report; why there is no script, where there is none."""
    key, refusal = session.wkey("made", run_id, node.id), app.node_exports.refusal(actor, run_id, node.id)
    st.download_button(
        "Export as Python script", _script(app, actor, run_id, node.id), file_name=f"recreate_{node.id}.zip",
        mime="application/zip", key=session.wkey(key, "script"), icon=":material/code:", type="tertiary", on_click="ignore",
        disabled=bool(refusal), help=plain(refusal, 400) or _ARCHIVE,
    )  # fmt: skip
    st.download_button(
        "as HTML report", lambda: app.node_exports.report(actor, run_id, node.id), file_name=f"{node.id}.html", mime="text/html",
        key=session.wkey(key, "report"), icon=":material/description:", type="tertiary", on_click="ignore",
        help="One page that opens without a network",
    )  # fmt: skip


def _script(app: Application, actor: Actor, run_id: str, node_id: str) -> Callable[[], bytes]:
    def made() -> bytes:
        export = app.node_exports.script(actor, run_id, node_id)
        try:
            return export.path.read_bytes()
        finally:
            export.path.unlink(missing_ok=True)

    return made
