"""Turns as events: scripts of runs in every state, with the artifacts that they name."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from tests.app import fixtures as fx


@dataclass
class FakeArtifact:
    """An artifact in memory."""

    id: str
    kind: str
    meta: dict[str, Any]
    content: Any

    def frame(self) -> pd.DataFrame:
        return self.content

    def arrow(self) -> pa.Table:
        return pa.Table.from_pandas(self.content, preserve_index=False)

    def json(self) -> Any:
        return self.content


@dataclass
class FakeTurn:
    """A turn of a conversation."""

    given = None
    view = None

    run_id: str
    question: str
    state: str
    events: list[dict[str, Any]]
    source_id: str = fx.SOURCE


class Script:
    """Builds the events of a run, and the artifacts that they name."""

    def __init__(self, n: int, question: str) -> None:
        self.run_id, self.question = f"run_0199aaaa-0000-7000-8000-{n:012d}", question
        self.events: list[dict[str, Any]] = []
        self.artifacts: dict[str, FakeArtifact] = {}
        self._clock = time.time() - 600

    def put(self, kind: str, **body: Any) -> Script:
        self._clock += 0.3
        self.events.append(
            {"run_id": self.run_id, "seq": len(self.events) + 1, "ts": self._clock, "type": kind, **body}
        )
        return self

    def tool(
        self,
        name: str,
        argument: str,
        summary: str,
        kind: str = "json",
        content: Any = None,
        *,
        ok: bool = True,
        **meta: Any,
    ) -> Script:
        call = f"c{len(self.events)}"
        self.put(
            "tool", call_id=call, name=name, argument=argument, args={"label": meta["label"]} if "label" in meta else {}
        )
        ids = []
        if content is not None:
            artifact_id = f"art_{self.run_id[4:-6]}{len(self.artifacts):06d}"
            self.artifacts[artifact_id] = FakeArtifact(artifact_id, kind, {"tool": name, **meta}, content)
            ids = [artifact_id]
        return self.put(
            "tool_result", call_id=call, name=name, ok=ok, summary=summary, artifact_ids=ids, meta={"seconds": 0.21}
        )

    def done(self, state: str, answer: str | None = None, **body: Any) -> Script:
        return self.put("done", state=state, answer=answer, **body)

    def turn(self) -> FakeTurn:
        over = self.events and self.events[-1]["type"] == "done"
        return FakeTurn(self.run_id, self.question, self.events[-1]["state"] if over else "running", self.events)


def north_star(n: int = 1) -> Script:
    """The predictive question, all steps."""
    task = fx.task()
    frame = fx.predictions_frame()
    top = [str(i) for i in frame["loan_id"].head(10)]
    cases = [fx.case(i).model_dump(mode="json") for i in top]
    hit = {
        "id": "disambig:default",
        "label": "default",
        "section": "disambigs",
        "text": "default means status B or D",
        "score": 0.91,
    }
    shape = [
        {
            "name": t.name,
            "rows": t.rows,
            "columns": [c.model_dump(include={"name", "type", "comment"}) for c in t.columns],
        }
        for t in fx.handle().tables
    ]
    reading = {
        "kind": "predictive",
        "task": task.model_dump(mode="json"),
        "reading": "Loan default",
        "evidence": [{"words": "default", "became": "status B or D"}],
    }
    script = Script(n, fx.QUESTION).put("thinking", text="Looking at the tables")
    script.tool("inspect_data", "8 tables", "8 tables", content={"tables": shape})
    script.tool("query_kg", "the question", "1 hit", content={"mode": "search", "hits": [hit]})
    script.tool("text_to_sql", "predictive", "A task", content=reading)
    script.tool(
        "run_sql",
        "context_df",
        "234 rows",
        "frame",
        frame.head(234),
        sql=task.context_sql,
        label="context_df",
        row_count=234,
        seconds=0.08,
    )
    script.tool(
        "run_sql",
        "predict_df",
        "448 rows",
        "frame",
        frame,
        sql=task.predict_sql,
        label="predict_df",
        row_count=448,
        seconds=0.09,
    )
    script.tool(
        "train_tabular_model",
        "context_df",
        "AUC 0.81",
        content={"model_id": fx.MODEL, "card": fx.card().model_dump(mode="json")},
    )
    script.tool(
        "predict",
        "predict_df",
        "448 rows scored",
        "frame",
        frame,
        **{k: v for k, v in fx.predictions_meta().items() if k != "tool"},
    )
    script.tool(
        "explain_prediction",
        "top 10",
        "10 cases",
        content={"model_id": fx.MODEL, "cases": cases, "scale": "probability"},
    )
    script.tool(
        "summarize_result",
        "",
        "A narrative",
        content={"narrative": "403 running loans were ranked.", "facts": {"ranked": 403, "auc": 0.81}},
    )
    return script.done(
        "answered",
        f"Of 403 loans ranked, the 10 with the highest probability of default are: **{', '.join(top)}**.\n\n"
        "45 loans with status D are in debt already and are listed apart.",
        reading="Default is status B or D. Running is status C. Dates end on 1998-12-31.",
        caveats=["Only 31 of 234 known loans defaulted: the order is unsure."],
        suggestions=["And the next ten?", f"Explain loan {top[0]}", "How many loans are running?"],
        tool_calls=9,
        removed=["The bank will lose 4,000,000 CZK."],
    )


def count(n: int = 2) -> Script:
    """A count."""
    script = Script(n, "How many accounts?")
    script.tool(
        "text_to_sql",
        "How many accounts?",
        "SQL",
        content={
            "kind": "analytic",
            "sql": "SELECT count(*) AS accounts FROM account",
            "evidence": [{"words": "accounts", "became": "count(*) of account"}],
        },
    )
    script.tool(
        "run_sql",
        "SELECT count(*)",
        "1 row",
        "frame",
        pd.DataFrame({"accounts": [4500]}),
        sql="SELECT count(*) AS accounts FROM account",
        row_count=1,
        seconds=0.004,
    )
    script.tool(
        "summarize_result",
        "",
        "4,500",
        content={"narrative": "Number of accounts: 4,500.", "facts": {"accounts": 4500}},
    )
    return script.done(
        "answered", "Number of accounts: 4,500.", reading="Number of accounts", suggestions=["Accounts by district"]
    )


def grouped(n: int = 3) -> Script:
    """A group-by with a chart."""
    frame = pd.DataFrame(
        {
            "year": [1993, 1994, 1995, 1996, 1997, 1998],
            "default_rate": [20.0, 13.9, 13.3, 13.7, 13.3, 2.5],
            "n": [20, 101, 90, 117, 196, 158],
        }
    )
    sql = (
        "SELECT year(date) AS year, 100 * avg(CASE WHEN status IN ('B', 'D') THEN 1 ELSE 0 END) AS default_rate, "
        "count(*) AS n FROM loan GROUP BY 1 ORDER BY 1"
    )
    script = Script(n, "Is our default rate falling, by year granted?")
    script.tool(
        "run_sql",
        "by year",
        "6 rows",
        "frame",
        frame,
        sql=sql,
        row_count=6,
        seconds=0.012,
        reading="Default rate by year granted",
        value_column="default_rate",
        group_columns=["year"],
        chart="bar",
        unit="%",
    )
    return script.done(
        "answered",
        "Default rate by year: 20.0% in 1993, 2.5% in 1998.",
        reading="Default rate by year granted",
        caveats=["1998 is not mature: 154 of 158 loans are still running."],
    )


def other_states() -> list[Script]:
    """One turn of each state that is no plain answer."""
    return [
        Script(10, "And the bad ones in Prague?")
        .put("ask", question="Which reading of bad?", options=["Defaulted loans (B or D)", "Loans running in debt (D)"])
        .done("needs_clarification"),
        Script(11, "How happy are the clients?").done(
            "cannot_answer", "I did not understand: happy.", suggestions=["How many clients?", "How many accounts?"]
        ),
        Script(12, "What's the meaning of life?").done("refused", "That is not a question about this data."),
        Script(13, "Sum of everything")
        .tool("run_sql", "SELECT", "Out of memory", ok=False)
        .put("error", message="The query ran out of memory.", phase="worker")
        .done("failed"),
        Script(14, "Predict the default").done("stopped"),
        Script(15, "Very long one").done("limit_reached", "Twelve steps were not enough."),
        Script(16, "Who defaults?").tool("inspect_data", "8 tables", "8 tables").done("interrupted"),
    ]


def live(n: int = 20) -> Script:
    """A run that is at work."""
    script = Script(n, "Which loans are likely to default?")
    script.tool("inspect_data", "8 tables", "8 tables")
    return script.put("tool", call_id="cx", name="train_tabular_model", argument="context_df", args={}).put(
        "progress", call_id="cx", done=31, total=50, text="fold 3 of 5"
    )
