"""A stand-in for the application in states that are hard to reach with the real one: a run at work, an old server's run, a
broken finding, a store that fails. It serves the payloads of ``fixtures`` and remembers what was asked of it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from lexsi_ds.data.connectors.kinds import REGISTRY
from lexsi_ds.data.sql import SqlResult
from lexsi_ds.errors import BadInput, Busy, Conflict, NotFound
from lexsi_ds.jobs.background import Background, Task
from lexsi_ds.services.access import LOCAL
from tests.app import fixtures as fx
from tests.app.scripts import FakeArtifact, FakeTurn, Script

CONVERSATION = "conv_0199aaaa-0000-7000-8000-000000000001"


class FakeChats:
    """Conversations in memory."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self.scripts = list(scripts)
        self.asked: list[str] = []
        self.stopped: list[str] = []
        self.refuse: Exception | None = None

    def new(self, actor: Any, source_id: str | None = None) -> str:
        return CONVERSATION

    def get(self, actor: Any, conversation_id: str) -> Any:
        if conversation_id != CONVERSATION:
            raise NotFound("There is no such conversation.")
        return self.list(actor)[0]

    def list(self, actor: Any) -> list[Any]:
        if not self.scripts:
            return []
        at = datetime.now(UTC)
        names = [
            (CONVERSATION, "Running loans at risk", at),
            (CONVERSATION[:-1] + "2", "Defaults by district", at - timedelta(days=2)),
        ]
        return [SimpleNamespace(id=i, title=t, updated_at=u, created_at=u, source_id=fx.SOURCE) for i, t, u in names]

    def search(self, actor: Any, text: str) -> list[Any]:
        return [c for c in self.list(actor) if text.casefold() in c.title.casefold()]

    def live(self, actor: Any) -> list[Any]:
        found = [s for s in self.scripts if s.turn().state == "running"]
        return [SimpleNamespace(run_id=s.run_id, conversation_id=CONVERSATION, title="Running loans at risk") for s in found]

    def turns(self, actor: Any, conversation_id: str) -> list[FakeTurn]:
        return [s.turn() for s in self.scripts] if conversation_id == CONVERSATION else []

    def artifact(self, actor: Any, artifact_id: str) -> FakeArtifact:
        for script in self.scripts:
            if artifact_id in script.artifacts:
                return script.artifacts[artifact_id]
        raise NotFound("There is no such result.")

    def ask(
        self, actor: Any, conversation_id: str, question: str, source_id: str, *, given: dict[str, Any] | None = None
    ) -> str:
        if any(s.turn().state == "running" for s in self.scripts):
            raise Busy("This conversation is still at work on a question.", to_do="Wait for it, or stop it.")
        if len(question) > 4000:
            raise BadInput(f"The question has {len(question)} characters; at most 4,000 are read.")
        if self.refuse:
            raise self.refuse
        self.asked.append(question)
        script = Script(90 + len(self.asked), question).done("answered", f"Heard: {question}")
        self.scripts.append(script)
        return script.run_id

    def events(self, actor: Any, run_id: str, after: int = 0, wait: float = 0.0) -> list[dict[str, Any]]:
        script = next(s for s in self.scripts if s.run_id == run_id)
        found = [e for e in script.events if e["seq"] > after]
        if not found:
            time.sleep(min(wait, 0.25))
        return found

    def stop(self, actor: Any, run_id: str) -> None:
        self.stopped.append(run_id)
        next(s for s in self.scripts if s.run_id == run_id).done("stopped")

    def rename(self, actor: Any, conversation_id: str, title: str) -> None: ...

    def delete(self, actor: Any, conversation_id: str) -> None:
        self.scripts.clear()


class FakeModels:
    """One model with its predictions."""

    def __init__(self, *, empty: bool) -> None:
        self.cards = [] if empty else [fx.card(), fx.card("XGBoost_v2", fx.MODEL[:-1] + "2")]
        self.rows = fx.predictions_frame()

    def list(self, actor: Any, source_id: str | None = None) -> tuple[Any, ...]:
        return tuple(self.cards)

    def latest(self, actor: Any, source_id: str) -> Any:
        return self.cards[0] if self.cards else None

    def get(self, actor: Any, model_id: str) -> Any:
        found = next((c for c in self.cards if c.id == model_id), None)
        if found is None:
            raise NotFound("There is no such model.")
        return found

    def ref(self, actor: Any, model_id: str) -> Any:
        raise NotFound("Its files are not here.")

    def all_predictions(self, actor: Any, model_id: str) -> tuple[Any, ...]:
        return (self.latest_predictions(actor, model_id),)

    def latest_predictions(self, actor: Any, model_id: str) -> Any:
        return SimpleNamespace(
            id=fx.PREDICTIONS,
            rows=448,
            ranked=403,
            entity_column="loan_id",
            columns=tuple(self.rows.columns),
            top_overlap=0.7,
        )

    def page(
        self,
        actor: Any,
        predictions_id: str,
        *,
        search: str = "",
        sort: str = "rank",
        descending: bool = False,
        offset: int = 0,
        limit: int = 50,
        filters: Any = None,
    ) -> Any:
        rows = self.rows
        for name, value in (filters or {}).items():
            rows = rows[rows[name] == value]
        if search:
            rows = rows[rows["loan_id"].astype(str).str.contains(search, regex=False)]
        if sort != "rank":
            rows = rows.sort_values(sort, ascending=not descending)
        return rows.iloc[offset : offset + limit].reset_index(drop=True), len(rows)

    def predictions(self, actor: Any, predictions_id: str) -> Any:
        return self.latest_predictions(actor, fx.MODEL)

    def predictions_csv(self, actor: Any, predictions_id: str) -> bytes:
        return self.rows.to_csv(index=False).encode()

    def case(self, actor: Any, predictions_id: str, case_id: str) -> dict[str, Any]:
        found = self.rows[self.rows["loan_id"].astype(str) == case_id]
        if not len(found):
            raise NotFound("This case is not among the predictions.")
        return found.iloc[0].to_dict()


class FakeFindings:
    """Findings of every state."""

    def __init__(self, *, empty: bool) -> None:
        self.rows = (
            []
            if empty
            else [
                fx.finding(1),
                fx.finding(
                    2,
                    verdict="violated",
                    title="No loan is above 500,000 CZK",
                    last_check=fx.broken_finding(2).last_check,
                ),
                fx.broken_finding(3),
                fx.finding(4, review="accepted", reviewed_by_name="You"),
                fx.finding(5, review="rejected"),
                fx.finding(6, status="retired"),
                fx.finding(7, title="=cmd|' /C calc'!A0 ![x](http://evil.example/a.png) :red[hot]"),
            ]
        )
        self.decided: list[tuple[str, int, str]] = []
        self.conflict = False
        self.edited: list[tuple[str, int, dict[str, Any]]] = []

    def page(self, actor: Any, *, offset: int = 0, limit: int = 25, segment: Any = None, source_id: Any = None,
             search: Any = None, **_more: Any) -> tuple[tuple[Any, ...], int]:
        found = self.list(actor, segment=segment, search=search)
        return found[offset : offset + limit], len(found)

    def place(self, actor: Any, finding: Any, source_id: Any = None) -> int:
        return 0

    def titles(self, actor: Any, ids: Any) -> dict[str, str]:
        return {f.id: f.title for f in self.rows if f.id in set(ids)}

    def depending(self, actor: Any, finding_id: str) -> tuple[Any, ...]:
        return ()

    def of_dataset(self, actor: Any, dataset_id: str, **_more: Any) -> tuple[Any, ...]:
        return tuple(self.rows)

    def counts(self, actor: Any, source_id: str | None = None, **_more: Any) -> dict[str, int]:
        return {
            s: sum(f.segment == s for f in self.rows)
            for s in ("to_review", "flagged", "accepted", "rejected", "retired")
        }

    def list(
        self, actor: Any, *, segment: str | None = None, source_id: str | None = None, search: str | None = None
    ) -> tuple[Any, ...]:
        return tuple(
            f for f in self.rows if segment in (None, f.segment) and (search or "").casefold() in f.title.casefold()
        )

    def get(self, actor: Any, finding_id: str) -> Any:
        found = next((f for f in self.rows if f.id == finding_id), None)
        if found is None:
            raise NotFound("There is no such finding.")
        return found

    def history(self, actor: Any, finding_id: str) -> tuple[Any, ...]:
        step = SimpleNamespace(at=datetime.now(UTC), person_name="You", action="proposed", via="agent", note="", before={},
                               after={})
        return (step,)

    def failing_rows(self, actor: Any, finding_id: str, n: int = 20) -> pd.DataFrame:
        return fx.predictions_frame().head(12)[["loan_id", "amount", "status"]]

    def decide(
        self, actor: Any, finding_id: str, version: int, decision: str, *, note: str = "", via: str = "ui"
    ) -> Any:
        if self.conflict:
            raise Conflict(
                "Ana accepted it at 2026-11-30 12:00 UTC; nothing was changed now.",
                to_do="Look at it as it is now, then decide.",
            )
        self.decided.append((finding_id, version, decision))
        return self._set(finding_id, review=decision, row_version=version + 1, flag=None)

    def undo(self, actor: Any, finding_id: str, version: int, *, via: str = "ui") -> Any:
        return self._set(finding_id, review="pending", row_version=version + 1)

    def retire(self, actor: Any, finding_id: str, version: int, *, via: str = "ui") -> Any:
        return self._set(finding_id, status="retired", row_version=version + 1)

    def restore(self, actor: Any, finding_id: str, version: int, *, via: str = "ui") -> Any:
        return self._set(finding_id, status="active", row_version=version + 1)

    def edit(self, actor: Any, finding_id: str, version: int, *, via: str = "ui", **values: Any) -> Any:
        if self.conflict:
            raise Conflict("Ana edited it.", to_do="Look at it as it is now.")
        self.edited.append((finding_id, version, values))
        return self._set(finding_id, row_version=version + 1, review="pending", **values)

    def run_check(self, actor: Any, finding_id: str, *, via: str = "ui") -> Any:
        return self.get(actor, finding_id)

    def _set(self, finding_id: str, **values: Any) -> Any:
        i = next(i for i, f in enumerate(self.rows) if f.id == finding_id)
        self.rows[i] = self.rows[i].model_copy(update=values)
        return self.rows[i]


@dataclass
class FakeCatalog:
    """One source."""

    handles: list[Any] = field(default_factory=list)

    def sources(self, actor: Any) -> list[Any]:
        return [
            SimpleNamespace(
                id=h.source_id,
                name=h.name,
                kind=h.kind,
                synthetic=h.synthetic,
                tables=len(h.tables),
                table_names=tuple(t.name for t in h.tables),
                bytes=4_200_000,
                updated_at=datetime.now(UTC) - timedelta(days=3),
                rows=h.rows,
                snapshot_number=h.snapshot_number,
                today=h.today,
                created_at=datetime.now(UTC),
            )
            for h in self.handles
        ]

    def preview(self, actor: Any, source_id: str, table: str, n: int = 50) -> pd.DataFrame:
        return pd.DataFrame(
            {
                f"{table}_id": range(1, n + 1),
                "date": pd.date_range("1993-01-01", periods=n),
                "amount": [1234.5 + i for i in range(n)],
                "sex": "F",
                "birth_number": "•••",
            }
        )

    def handle(self, actor: Any, source_id: str, snapshot_id: str | None = None) -> Any:
        found = next((h for h in self.handles if h.source_id == source_id), None)
        if found is None:
            raise NotFound("There is no such source.")
        return found

    def table(self, dataset_id: str) -> Any:
        tables = [t for h in self.handles for t in h.tables]
        return next((t for t in tables if t.dataset_id == dataset_id), tables[0])

    def derived(self, actor: Any, source_id: str) -> list[Any]:
        return []

    def rejected(self, actor: Any, source_id: str, table: str) -> tuple[int, Path | None]:
        return 0, None

    def delete(self, actor: Any, source_id: str) -> None:
        self.handles = [h for h in self.handles if h.source_id != source_id]

    def notes(self, actor: Any, source_id: str) -> list[str]:
        return ["trans: 240 values of k_symbol were blank and became missing"]

    def mark_column(self, *args: Any, **kwargs: Any) -> None: ...


class FakeSql:
    """No worker: a query says so."""

    def run_on_table(self, *_: Any, **__: Any) -> SqlResult:
        raise BadInput("There is no worker here.")


class FakeDatasets:
    """Texts of datasets."""

    def resolve(self, actor: Any, dataset: str) -> Any:
        return SimpleNamespace(id=dataset, target_column=None), None

    def list_data_connectors(self, actor: Any, **_: Any) -> dict[str, Any]:
        return {"connectors": []}


class FakeVersions:
    """One version, and what is stale."""

    def disk_used(self, actor: Any, source_id: str) -> int:
        return 12_400_000

    def uploaded(self, actor: Any, source_id: str) -> int:
        return 0

    def __init__(self) -> None:
        self.old: tuple[Any, ...] = ()

    def stale(self, actor: Any, source_id: str) -> tuple[Any, ...]:
        return self.old

    def stale_models(self, actor: Any, source_id: str) -> tuple[Any, ...]:
        return tuple(s for s in self.old if s.kind == "model")


class FakeConnectors:
    """No connector yet."""

    def list(self, actor: Any) -> list[Any]:
        return []

    def kinds(self) -> list[Any]:
        return list(REGISTRY.values())


@dataclass
class FakeExplanations:
    """Views of one model; none is computed."""

    app: Any

    def views(self, actor: Any, model_id: str) -> Any:
        return FakeViews(self.app)

    def case(self, actor: Any, model_id: str, case_id: str, scale: str = "probability", *, output: str | None = None) -> Any:
        return SimpleNamespace(case=self.app.case_explanation(actor, model_id, case_id, scale))


@dataclass
class FakeViews:
    """Remembers the cohort that each view was asked for, on the application."""

    app: Any

    def _asked(self, name: str, options: dict[str, Any]) -> None:
        self.app.cohorts.append((name, options.get("cohort")))
        if self.app.views_fail is not None:
            raise self.app.views_fail

    def overall(self, *, scale: str = "probability", **options: Any) -> Any:
        self._asked("overall", options)
        return fx.overall(scale)

    def importance(self, *, scale: str = "probability", **options: Any) -> Any:
        self._asked("importance", options)
        return fx.importance(scale)

    def dependence(self, feature: str, *, scale: str = "probability", **options: Any) -> Any:
        self._asked("dependence", options)
        return fx.dependence(feature, scale)

    def interactions(self, **options: Any) -> Any:
        self._asked("interactions", options)
        return fx.interactions()

    def profile(self, feature: str, *, scale: str = "probability", **options: Any) -> Any:
        self._asked("profile", options)
        return fx.profile(feature, scale)

    def ranges(self, **options: Any) -> Any:
        return fx.ranges()

    def what_if(self, case_id: str, changes: Any, *, scale: str = "probability", **options: Any) -> Any:
        self.app.changed.append((case_id, dict(changes)))
        return fx.what_if(case_id, changes, scale)

    def counterfactuals(self, case_id: str, actionable: Any, **options: Any) -> Any:
        return fx.counterfactuals(case_id, tuple(actionable))

    def contributions_csv(self, **options: Any) -> bytes:
        self._asked("contributions", options)
        return b"loan_id,prediction\n1,0.5\n"


class FakeRegistry:
    """No model was entered."""

    def entry(self, actor: Any, model_id: str) -> Any:
        raise NotFound("There is no such model.")


class FakeApplication:
    """What the pages use of the application."""

    def __init__(self, scripts: Sequence[Script] = (), *, empty: bool = False, home: Path = Path("/tmp")) -> None:
        self.catalog = FakeCatalog([] if empty else [fx.handle()])
        self.chats, self.models, self.findings = (
            FakeChats(scripts),
            FakeModels(empty=empty or not scripts),
            FakeFindings(empty=empty or not scripts),
        )
        self.background, self.settings = Background(), SimpleNamespace(llm_configured=False, home=home)
        self.llm = SimpleNamespace(of=lambda actor: None, aggregates_only=lambda actor: False)
        self.ledgers = SimpleNamespace(of_run=lambda actor, run_id: (), recent=lambda actor: ())
        self.sql, self.registry = FakeSql(), FakeRegistry()
        self.overrides = SimpleNamespace(standing=lambda *_: {}, history=lambda *_: ())
        self.artifacts, self.home = self.chats, home
        self.feedback = SimpleNamespace(of_runs=lambda *_: {}, rate=lambda *_: None)
        self.board = SimpleNamespace(list=lambda *_: ())
        self.datasets, self.versions, self.connectors = FakeDatasets(), FakeVersions(), FakeConnectors()
        self.demo_task: Task | None = None
        self.cohorts: list[Any] = []
        self.changed: list[Any] = []
        self.views_fail: Exception | None = None

    def warm(self) -> None:
        """Nothing to start."""

    def person(self) -> Any:
        return LOCAL

    def review(self, actor: Any) -> str:
        return "doubtful"

    def set_review(self, actor: Any, *, always: bool) -> None: ...

    def planner_label(self) -> str:
        return "Offline"

    def active_source(self, actor: Any) -> str | None:
        return self.catalog.handles[0].source_id if self.catalog.handles else None

    def set_active_source(self, actor: Any, source_id: str) -> None: ...

    def active_handle(self, actor: Any) -> Any:
        return self.catalog.handles[0] if self.catalog.handles else None

    def prepare_demo(self, actor: Any) -> Task | None:
        return self.demo_task

    def suggestions(self, handle: Any) -> list[str]:
        return [
            "Which district has the worst default rate?",
            "Is our default rate falling, by year granted?",
            "Total loan amount by sex of the account owner",
            "Which running loans are likely to default, and why?",
            "How many accounts?",
            "Average salary by region",
        ]

    def overall_explanation(self, actor: Any, model_id: str, scale: str = "probability") -> Any:
        return fx.overall(scale)

    def case_explanation(self, actor: Any, model_id: str, case_id: str, scale: str = "probability") -> Any:
        if not case_id.isdigit():
            raise NotFound("This model neither trained on that case nor scored it.")
        return fx.case(case_id, scale)

    def similar_cases(self, actor: Any, model_id: str, case_id: str) -> list[dict[str, Any]]:
        return [
            {
                "entity": 4900 + i,
                "distance": 0.2 * i + 0.3,
                "outcome": i % 2,
                "probability": 0.6 - i / 20,
                "display": {"status": "AB"[i % 2]},
            }
            for i in range(5)
        ]

    @property
    def explanations(self) -> FakeExplanations:
        return FakeExplanations(self)

    def draft_finding(self, actor: Any, run_id: str, source_id: str) -> Any:
        return None
