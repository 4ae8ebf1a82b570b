"""A part of an answer to read and to hand on: one HTML page with the part and all that it was made from.

Must never: show a masked value, or put a text of the data, a person or a model onto the page unescaped.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from lexsi_ds.data.frames import to_frame
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import LexsiError
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.masking import masked_columns
from lexsi_ds.services.models import Models
from lexsi_ds.services.report_html import code, items, page, pairs, section, table, text, warning
from lexsi_ds.services.result_graph import ResultGraph, ResultNode

SHOWN_ROWS = 100
SHOWN_DRIVERS = 6
_SCORES = ("rank", "segment", "prediction", "probability", "probability_low", "probability_high")


class NodeReports:
    """Writes the pages."""

    def __init__(self, artifacts: Artifacts, models: Models, findings: Findings) -> None:
        self._artifacts, self._models, self._findings = artifacts, models, findings

    def html(self, actor: Actor, graph: ResultGraph, node: ResultNode, handle: DatasetHandle) -> tuple[bytes, int]:
        """The page, and how many rows of data stand on it."""
        behind, shown, parts = graph.behind(node.id), 0, []
        question = graph.node("question-1")
        parts.append(f"{_heading(node)}{text(question.text or '', 'quiet')}")
        today = handle.today.isoformat() if handle.today else ""
        parts.append(pairs([
            ("Data", handle.name), ("Data version", f"{graph.snapshot_number} ({graph.snapshot_id})"), ("Latest date in it", today),
            ("Run", graph.run_id), ("Synthetic", "yes, a demonstration" if handle.synthetic else ""),
        ]))
        for each in (node, *(n for n in reversed(behind) if n.id not in (node.id, "question-1"))):
            inside, rows = self._part(actor, each, graph, handle)
            parts.append(section(_name(each), inside))
            shown += rows
        made = [[_name(n), ", ".join(_name(graph.node(i)) for i in n.made_from), n.hash or ""] for n in behind]
        parts.append(section("How this was made", table(["Part", "Made from", "SHA-256 of its content"], made)))
        return page(f"{node.title}: {question.text}"[:200], parts).encode("utf-8", "replace"), shown

    def _part(self, actor: Actor, node: ResultNode, graph: ResultGraph, handle: DatasetHandle) -> tuple[str, int]:
        match node.kind:
            case "sql":
                return code(node.text or ""), 0
            case "frame":
                return self._rows(actor, node, graph, handle)
            case "predictions":
                return self._scores(actor, node)
            case "explanation":
                return self._cases(actor, node)
            case "model":
                return self._model(actor, node), 0
            case "finding":
                return self._finding(actor, node), 0
        return "".join(text(line) for line in (node.text or "").splitlines()), 0

    def _rows(self, actor: Actor, node: ResultNode, graph: ResultGraph, handle: DatasetHandle) -> tuple[str, int]:
        query = next((graph.node(i).text for i in node.made_from if graph.node(i).kind == "sql"), None)
        masked = masked_columns(query, handle) if query else []
        if masked:
            return warning([f"{node.rows or 0:,} rows, not shown: they may hold masked values ({', '.join(masked)})."]), 0
        found = self._artifacts.get(actor, str(node.artifact_id))
        if found.kind != "frame":
            return text(f"{node.rows or 0:,} rows, read with the columns of the model."), 0
        whole = found.arrow()
        return _table(to_frame(whole.slice(0, SHOWN_ROWS)), whole.num_rows)

    def _scores(self, actor: Actor, node: ResultNode) -> tuple[str, int]:
        found = self._artifacts.get(actor, str(node.artifact_id))
        frame = found.frame().sort_values(["segment", "rank"], ascending=[False, True], kind="stable")
        entity = str(found.meta.get("entity_column") or "")
        names = [n for n in (entity, *_SCORES) if n in frame.columns and bool(frame[n].notna().any())]
        inside, rows = _table(frame.loc[:, names].head(SHOWN_ROWS), len(frame))
        return items(list(found.meta.get("headlines") or ())) + inside, rows

    def _cases(self, actor: Actor, node: ResultNode) -> tuple[str, int]:
        body = self._artifacts.get(actor, str(node.artifact_id)).json()
        parts = []
        for case in body["cases"]:
            head = f"{case['case_id']}: {case['prediction']:.4g} ({body['scale']}; without any feature {case['base_value']:.4g})"
            drivers = [[str(d["label"]), _cell(d["value"]), f"{d['contribution']:+.4f}"] for d in case["drivers"][:SHOWN_DRIVERS]]
            more = len(case["drivers"]) - len(drivers)
            parts += [text(head), text(case.get("summary") or "", "quiet"),
                      table(["Feature", "Value", "Contribution"], drivers, numbers=(2,)),
                      text(f"{more} more features are not listed.", "quiet") if more > 0 else ""]
        return "".join(parts), len(body["cases"])

    def _model(self, actor: Actor, node: ResultNode) -> str:
        try:
            card: ModelCard = self._models.get(actor, str(node.about_id))
        except LexsiError:
            return warning(["This model was deleted."])
        figures = [
            [c.model_type, "yes" if c.chosen else "", c.main_name, f"{c.main.value:.3f}", f"{c.main.low:.3f} to {c.main.high:.3f}"]
            for c in card.candidates
        ]
        about = pairs([
            ("Model", f"{card.name} ({card.model_type})"), ("Outcome", card.task.positive_meaning or card.task.target_label),
            ("Trained on", f"{card.rows:,} rows: {card.task.known_meaning}"),
            ("Features", ", ".join(f.feature.label for f in card.features)),
        ])
        heads = ["Candidate", "Chosen", "Figure", "Out of fold", "95% interval"]
        return warning([*card.headlines, *card.warnings]) + about + table(heads, figures, numbers=(3,)) + items([card.why_chosen])

    def _finding(self, actor: Actor, node: ResultNode) -> str:
        try:
            found = self._findings.get(actor, str(node.about_id))
        except LexsiError:
            return text(node.text or "")
        return text(found.statement) + pairs([("State", str(found.headline)), ("Title", found.title)]) + code(found.check_sql or "")


def _heading(node: ResultNode) -> str:
    return text(_name(node), "state")


def _name(node: ResultNode) -> str:
    """Its title, with its number where there are several of its kind."""
    number = node.id.rpartition("-")[2]
    return node.title if number == "1" or node.title.startswith("Rows ") else f"{node.title} {number}"


def _table(frame: pd.DataFrame, whole: int) -> tuple[str, int]:
    """The first rows, and how many there are in all."""
    numbers = [i for i, kind in enumerate(frame.dtypes) if pd.api.types.is_numeric_dtype(kind)]
    rows = [[_cell(v) for v in row] for row in frame.itertuples(index=False, name=None)]
    shown = f"The first {len(rows):,} of {whole:,} rows." if len(rows) < whole else f"All {whole:,} rows."
    return text(shown, "quiet") + table([str(c) for c in frame.columns], rows, numbers=numbers), len(rows)


def _cell(value: Any) -> str:
    """A value as a person reads it."""
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:,.6g}"
    if isinstance(value, pd.Timestamp):
        return value.isoformat().removesuffix("T00:00:00")
    return str(value)[:500]
