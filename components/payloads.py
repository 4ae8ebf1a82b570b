"""What one step made, drawn small inside its step: SQL, rows, hits, task, model figures. One function a tool.

Takes plain JSON objects and heads of frames; never a whole frame. Data is drawn with st.dataframe, st.code or st.text only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import streamlit as st

from components import figures, session, tables
from components.safe import plain, safe_md
from components.sql_text import show_sql
from components.tasks import task_lines
from lexsi_ds.data.frames import to_frame
from lexsi_ds.models.card import Candidate, ModelCard
from lexsi_ds.models.task import TaskSpec

HEAD = 20
PASSAGE = 700
"""Most characters of a passage that are drawn."""


class ArtifactLike(Protocol):
    """An artifact as ``services.chats`` gives it."""

    @property
    def kind(self) -> str: ...
    @property
    def meta(self) -> dict[str, Any]: ...
    def arrow(self) -> pa.Table: ...
    def json(self) -> dict[str, Any]: ...


def head(artifact: ArtifactLike, n: int) -> pd.DataFrame:
    """The first rows of a frame; the file is memory-mapped, so a million more cost nothing."""
    return to_frame(artifact.arrow().slice(0, n))


def draw(name: str, artifact: ArtifactLike, key: str) -> None:
    """Draw the payload of a tool; a tool that is not known here shows its JSON or rows as they are."""
    drawer = _DRAWERS.get(name, _any)
    drawer(artifact, key)


def _inspect(artifact: ArtifactLike, key: str) -> None:
    rows = [
        {
            "Table": t["name"],
            "Rows": t.get("rows"),
            "Columns": ", ".join(f"{c['name']} {c['type']}" for c in t["columns"]),
        }
        for t in artifact.json()["tables"]
    ]
    tables.show(pd.DataFrame(rows), key=key, alt="Tables and columns that were read")


def _kg(artifact: ArtifactLike, key: str) -> None:
    body = artifact.json()
    if not body["hits"]:
        st.text(str(body.get("text") or "Nothing matched."))
        return
    frame = pd.DataFrame(
        [
            {"Section": h["section"], "Entry": h["label"], "Text": h["text"], "Score": h.get("score")}
            for h in body["hits"]
        ]
    )
    score = st.column_config.NumberColumn("Score", format="%.2f", width=70)
    tables.show(frame, key=key, alt="Entries of the knowledge graph that matched", settings={"Score": score})


def _text_to_sql(artifact: ArtifactLike, key: str) -> None:
    reading = artifact.json()
    if reading.get("kind") == "analytic":
        show_sql(reading["sql"])
    elif reading.get("kind") == "predictive":
        for line in task_lines(TaskSpec.model_validate(reading["task"])):
            st.markdown(line)
    written = reading.get("written")
    if written:
        st.caption(
            f"{'Compared with' if reading.get('logical') else 'Written by'} {plain(written['by'], 60)}: {written['agreed']} of "
            f"{written['asked']} drafts agree, {written['repairs']} repairs, {written['tokens']:,} tokens, "
            f"{figures.seconds(written['seconds'])}"
        )
    evidence = reading.get("evidence") or []
    if evidence:
        frame = pd.DataFrame([{"Words": e["words"], "Became": e["became"]} for e in evidence])
        tables.show(frame, key=key, alt="Which words of the question became what")


def _run_sql(artifact: ArtifactLike, key: str) -> None:
    meta = artifact.meta
    show_sql(meta["sql"], height=260 if meta["sql"].count("\n") > 10 or len(meta["sql"]) > 700 else None)
    frame = head(artifact, HEAD)
    total = int(meta.get("row_count") or len(frame))
    st.caption(
        f"{tables.count_line(len(frame), total)}, {figures.counted(len(frame.columns), 'column')}, "
        f"{figures.seconds(meta.get('seconds') or 0)}"
    )
    tables.show(frame, key=key, alt="First rows of the query's result")


def _sample(artifact: ArtifactLike, key: str) -> None:
    body = artifact.json()
    frame = pd.DataFrame([{"Value": v["value"], "Rows": v["count"]} for v in body["values"]])
    st.caption(
        f"{plain(body['table'])}.{plain(body['column'])}: {tables.count_line(len(frame), body['distinct'], 'distinct value')}"
    )
    tables.show(frame, key=key, alt="Most common values of the column")


def _more_figures(candidate: Candidate) -> dict[str, str]:
    shown = {
        "average_precision": "Average precision",
        "brier": "Brier",
        "accuracy": "Accuracy",
        "mae": "Mean absolute error",
    }
    found = {label: getattr(candidate.metrics, name, None) for name, label in shown.items()}
    return {label: figures.number(value.value, 3) for label, value in found.items() if value is not None}


def _train(artifact: ArtifactLike, key: str) -> None:
    card = ModelCard.model_validate(artifact.json()["card"])
    frame = pd.DataFrame(
        [
            {
                "Model": c.model_type + (", chosen" if c.chosen else ""),
                c.main_name: figures.number(c.main.value),
                "95% interval": figures.interval(c.main),
                **_more_figures(c),
            }
            for c in card.candidates
        ]
    )
    tables.show(frame, key=key, alt="Models tried on the same folds")
    st.caption(plain(card.why_chosen, 400))


def _predict(artifact: ArtifactLike, key: str) -> None:
    shown, meta = head(artifact, HEAD), artifact.meta
    st.caption(f"{tables.count_line(len(shown), int(meta['rows']))}, in the order of the frame")
    tables.show(
        shown,
        key=key,
        alt="First predictions",
        identifiers=[str(meta.get("entity_column"))],
        settings={"probability": tables.probability_column(width=140)},
    )


def _explain(artifact: ArtifactLike, key: str) -> None:
    rows = [
        {"Case": c["case_id"], "Prediction": c["prediction"], "Drivers": drivers_text(c["drivers"], 3)}
        for c in artifact.json()["cases"]
    ]
    settings = {"Prediction": tables.probability_column("Prediction", 140)}
    tables.show(
        pd.DataFrame(rows), key=key, alt="Explained cases with their three strongest drivers", settings=settings
    )


def drivers_text(drivers: list[dict[str, Any]], n: int) -> str:
    """The strongest drivers of a case in one cell: "▲ lowest balance −3,120  ▼ salary 11,042"."""
    return "   ".join(
        f"{'▲' if d['contribution'] > 0 else '▼'} {d['label']} {figures.value(d['value'])}" for d in drivers[:n]
    )


def _summary(artifact: ArtifactLike, key: str) -> None:
    body = artifact.json()
    facts = body.get("facts") or {}
    st.markdown(safe_md(str(body.get("narrative") or "")))
    if facts:
        frame = pd.DataFrame({"Fact": list(facts), "Value": [figures.value(v) for v in facts.values()]})
        st.caption(f"{figures.counted(len(frame), 'number')} that the text may cite")
        tables.show(frame, key=key, alt="Facts of this run")


def _documents(artifact: ArtifactLike, key: str) -> None:
    rows = [
        {"Source": d["source"], "Path": d["path"], "Title": d["title"], "Kind": d["kind"], "Characters": d["chars"]}
        for d in artifact.json()["documents"]
    ]
    tables.show(pd.DataFrame(rows), key=key, alt="Documents of the library")


def _document(artifact: ArtifactLike, key: str) -> None:
    body = artifact.json()
    st.caption(f"{plain(body['source'])}/{plain(body['path'])}, {figures.count(body['chars'])} characters, read whole")
    passages(body)


def passages(body: dict[str, Any]) -> None:
    """The passages of a document that share words with the question, letter by letter."""
    found = [str(p).strip() for p in body.get("passages") or ()]
    for passage in found[:2]:
        st.text(passage if len(passage) <= PASSAGE else passage[: PASSAGE - 1].rstrip() + "…")
    if not found:
        st.caption("No passage of it shares words with the question; the answer may still go by it.")


def _any(artifact: ArtifactLike, key: str) -> None:
    if artifact.kind == "frame":
        tables.show(head(artifact, HEAD), key=key, alt="First rows")
    else:
        st.json(artifact.json(), expanded=1)


_DRAWERS: dict[str, Callable[[ArtifactLike, str], None]] = {
    "inspect_data": _inspect,
    "query_kg": _kg,
    "list_documents": _documents,
    "read_document": _document,
    "text_to_sql": _text_to_sql,
    "run_sql": _run_sql,
    "sample_values": _sample,
    "train_tabular_model": _train,
    "predict": _predict,
    "explain_prediction": _explain,
    "summarize_result": _summary,
}


def payload_key(run_id: str, call_id: str, artifact_id: str) -> str:
    """Stable key of a payload's table."""
    return session.wkey("payload", run_id, call_id, artifact_id)
