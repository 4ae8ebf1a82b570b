"""Holds what the product did against what an item expects. Reads golds, events and stored artifacts; never the parser's insides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb

from bench.asking import Row, Told
from bench.compare import same_rows
from bench.pkdd.items import Item, rows
from bench.verdict import Verdict, no_answer, says

Findings = Callable[[Told], str | None]
"""Proposes what a run found; the verdict of the finding's check, or None when there was nothing to propose."""


class Judge:
    """Judges items against the demo bank's golds."""

    def __init__(self, con: duckdb.DuckDBPyConnection, findings: Findings) -> None:
        self._con, self._findings = con, findings
        self._known: dict[str, list[Row]] = {}

    def __call__(self, item: Item, told: tuple[Told, ...]) -> Verdict:
        """The verdict on the last turn."""
        last = told[-1]
        if item.calls:
            return _tool(item, last)
        silent = no_answer(last)
        if silent is not None and silent.outcome == "failed":
            return silent
        judge = {
            "answer": self._answer, "finding": self._finding, "ask": self._ask, "abstain": self._abstain,
            "predict": self._predict, "explain": self._explain,
        }[item.expect]  # fmt: skip
        return judge(item, told, silent)

    def _rows(self, sql: str) -> list[Row]:
        if sql not in self._known:
            self._known[sql] = rows(self._con, sql)
        return self._known[sql]

    def _ids(self, sql: str) -> set[str]:
        return {str(r[0]) for r in self._rows(sql)}

    def _matches(self, item: Item, told: Told) -> bool:
        ours = told.rows
        golds = ([item.gold] if item.gold else []) + list(item.readings)
        return ours is not None and any(same_rows(ours, self._rows(g), ordered=item.ordered) for g in golds)

    def _answer(self, item: Item, told: tuple[Told, ...], silent: Verdict | None) -> Verdict:
        last = told[-1]
        if silent is not None:
            return silent
        if last.last("predict") is not None or not self._matches(item, last):
            gold = self._rows(item.gold)[:3] if item.gold else []
            return Verdict("wrong", "wrong_result", f"{last.done.get('reading')}: {(last.rows or [])[:3]} not {gold}")
        return Verdict("right") if says(item.says, last) else Verdict("wrong", "wrong_text", f"{last.text} lacks {item.says}")

    def _finding(self, item: Item, told: tuple[Told, ...], silent: Verdict | None) -> Verdict:
        answered = self._answer(item, told, silent)
        if answered.outcome != "right":
            return answered
        verdict = self._findings(told[-1])
        if verdict is None:
            return Verdict("abstained", "abstained", "no finding was drafted of the run")
        return Verdict("right") if verdict == "holds" else Verdict("wrong", "wrong_result", f"the check of the finding: {verdict}")

    def _ask(self, item: Item, told: tuple[Told, ...], silent: Verdict | None) -> Verdict:
        if silent is not None:
            return Verdict("right") if silent.outcome == "asked" else silent
        if item.readings and self._matches(item, told[-1]) and told[-1].done.get("reading"):
            return Verdict("right")
        return Verdict("wrong", "wrong_result", f"one reading, and none of the good ones: {told[-1].text}")

    def _abstain(self, item: Item, told: tuple[Told, ...], silent: Verdict | None) -> Verdict:
        last = told[-1]
        if silent is not None:
            if silent.outcome == "abstained":
                return Verdict("right") if says(item.says, last) else Verdict("abstained", "wrong_text", last.text)
            return silent
        if item.readings and self._matches(item, last) and says(item.says, last):
            return Verdict("right")
        return Verdict("wrong", "should_have_abstained", last.text)

    def _predict(self, item: Item, told: tuple[Told, ...], silent: Verdict | None) -> Verdict:
        if silent is not None:
            return silent
        wrong = self._task_fault(item, told[-1]) or _list_fault(item, told[-1])
        return Verdict("wrong", "wrong_task", wrong) if wrong else Verdict("right")

    def _task_fault(self, item: Item, told: Told) -> str:
        """What is wrong with the task, from the stored reading and the two stored frames; empty when nothing is."""
        reading, known = told.last("text_to_sql"), told.last("run_sql", label="context_df")
        if reading is None or known is None or reading.content().get("kind") != "predictive":
            return f"no prediction task was stated: {told.text}"
        task, frame, wanted = reading.content()["task"], known.content(), item.task
        if task["entity_table"] != wanted.entity:
            return f"entity {task['entity_table']}, not {wanted.entity}"
        entity, target = task["entity_column"], task["target_column"]
        if {str(v) for v in frame[entity]} != self._ids(wanted.known):
            return f"{len(frame)} known rows, not the {len(self._ids(wanted.known))} of the gold"
        positive = {str(v) for v, y in zip(frame[entity], frame[target], strict=True) if y == 1}
        if positive != self._ids(wanted.positive):
            return f"{len(positive)} positive rows, not the {len(self._ids(wanted.positive))} of the gold"
        if wanted.target in {f["name"] for f in task["features"]}:
            return f"the target column {wanted.target} is a feature"
        made = told.last("predict")
        scored = {str(v) for v in made.content()[entity]} if made else set()
        missing, extra = self._ids(wanted.unknown) - scored, scored - self._ids(wanted.unknown)
        return f"scored rows: {len(missing)} missing, {len(extra)} too many" if missing or extra else ""

    def _explain(self, item: Item, told: tuple[Told, ...], silent: Verdict | None) -> Verdict:
        last = told[-1]
        if silent is not None:
            return silent
        made, wanted = last.last("explain_prediction"), list(item.task.cases)
        if made is None:
            return Verdict("wrong", "wrong_result", f"nothing was explained: {last.text}")
        if item.task.ranks is not None:
            wanted = _ranked_ids(told[-2], item.task.ranks)
        cases: list[dict[str, Any]] = made.content()["cases"]
        if [str(c["case_id"]) for c in cases] != wanted:
            return Verdict("wrong", "wrong_result", f"explained {[c['case_id'] for c in cases]}, not {wanted}")
        if not all(c["drivers"] for c in cases):
            return Verdict("wrong", "wrong_result", "a case without drivers")
        return Verdict("right") if says(item.says, last) else Verdict("wrong", "wrong_text", f"{last.text} lacks {item.says}")


def _list_fault(item: Item, told: Told) -> str:
    """What is wrong with the ranked table; empty when nothing is."""
    made = told.last("predict")
    if made is None:
        return "no predictions were stored"
    frame = made.content()
    ranked = frame[frame["segment"] == "ranked"].sort_values("rank")
    scores = ranked["probability"].tolist()
    if not scores or not all(0 <= s <= 1 for s in scores) or scores != sorted(scores, reverse=True):
        return "the list is not ranked by a probability"
    if made.meta.get("top_k") != item.task.top:
        return f"{made.meta.get('top_k')} rows shown, not {item.task.top}"
    return ""


def _ranked_ids(told: Told, ranks: tuple[int, int]) -> list[str]:
    made = told.last("predict")
    if made is None:
        return ["(the turn before ranked nothing)"]
    frame = made.content()
    ranked = frame[frame["segment"] == "ranked"].sort_values("rank")
    return [str(v) for v in ranked[made.meta["entity_column"]].tolist()[ranks[0] - 1 : ranks[1]]]


def _tool(item: Item, told: Told) -> Verdict:
    """A scripted call: whether it worked or was refused as expected, and said what it should."""
    last = told.calls[-1] if told.calls else None
    if last is None or last.tool != item.calls[-1].tool:
        return Verdict("failed", "crashed", told.text)
    if last.ok != (item.expect != "tool_error") or not all(c.ok for c in told.calls[:-1]):
        return Verdict("wrong", "wrong_result", f"{last.tool} {'worked' if last.ok else 'failed'}: {last.summary[:200]}")
    text = Told(told.question, "", [{"type": "done", "state": "answered", "answer": last.summary}], (), 0.0)
    return Verdict("right") if says(item.says, text) else Verdict("wrong", "wrong_text", f"{last.summary[:200]} lacks {item.says}")
