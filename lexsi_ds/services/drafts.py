"""What a run found, as a finding that a person may propose: one sentence, and a check that returns rows when it stops being true.

A draft is only text until somebody proposes it. Rules across tables are checked on a result that is saved as a dataset of
its own, since a check sees one dataset.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import NotFound
from lexsi_ds.models.card import ModelCard
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifact, Artifacts
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.finding import Finding
from lexsi_ds.services.findings import Findings

_BAND = 0.1
_LEAST = 10
"""Fewest rows on each side of a split that a draft speaks of."""


class FindingDraft(Value):
    """A finding before it is proposed. With ``derived_from`` (an artifact id) its rows become a dataset on proposing."""

    run_id: str
    source_id: str
    dataset_id: str | None
    dataset_name: str
    derived_from: str | None
    title: str
    statement: str
    columns: tuple[str, ...]
    check_sql: str


class Drafts:
    """Drafts of what runs found."""

    def __init__(self, catalog: Catalog, findings: Findings, artifacts: Artifacts) -> None:
        self._catalog, self._findings, self._artifacts = catalog, findings, artifacts

    def of_run(self, actor: Actor, run_id: str, source_id: str) -> FindingDraft | None:
        """The draft that a run's artifacts give; None when nothing in them makes a rule."""
        made = self._artifacts.of_run(actor, run_id)
        card = next((a.json()["card"] for a in made if a.meta.get("tool") == "train_tabular_model"), None)
        frames = [a for a in made if a.kind == "frame" and a.meta.get("tool") == "run_sql"]
        if card is not None:
            trained = next((a for a in frames if a.meta.get("label") == "context_df"), None)
            return self._of_model(run_id, source_id, ModelCard.model_validate(card), trained) if trained else None
        return self._of_result(actor, run_id, source_id, frames[-1]) if frames else None

    def propose(self, actor: Actor, draft: FindingDraft) -> Finding:
        """Propose it: saves the dataset it is about where needed; its check runs once."""
        dataset_id = draft.dataset_id
        if dataset_id is None:
            if draft.derived_from is None:
                raise NotFound("The draft names no data set.", to_do="Make it again from the answer.")
            dataset_id = self._derived(actor, draft, draft.derived_from)
        return self._findings.propose(
            actor,
            dataset_id=dataset_id,
            title=draft.title,
            statement=draft.statement,
            columns=draft.columns,
            check_sql=draft.check_sql or None,
            source="agent",
            run_id=draft.run_id,
            source_id=draft.source_id,
        )

    def _derived(self, actor: Actor, draft: FindingDraft, artifact_id: str) -> str:
        """The dataset that holds the draft's rows; proposing from the same result again uses the same one."""
        artifact = self._artifacts.get(actor, artifact_id)
        name = f"{draft.dataset_name} {artifact_id[-6:]}"
        saved = next((t for t in self._catalog.derived(actor, draft.source_id) if t.name == name), None)
        if saved is None:
            saved = self._catalog.save_derived(
                actor, draft.source_id, name, artifact.path, draft.run_id, artifact.meta.get("sql")
            )
        return saved.dataset_id

    def _of_model(self, run_id: str, source_id: str, card: ModelCard, trained: Artifact) -> FindingDraft | None:
        """The known rows split at the median of the feature that separates the outcomes most."""
        frame, task = trained.frame(), card.task
        best = max(
            (s for f in card.features if (s := _split(frame, f.feature.name, task.target_column))),
            key=lambda s: s["gap"],
            default=None,
        )
        if best is None:
            return None
        feature = next(f.feature for f in card.features if f.feature.name == best["name"])
        column, target = _quoted(best["name"]), _quoted(task.target_column)
        side, other = ("<=", ">") if best["low"] >= best["high"] else (">", "<=")
        bound = best["bound"]
        more, less = max(best["low"], best["high"]), min(best["low"], best["high"])
        n_more, n_less = (best["n_low"], best["n_high"]) if side == "<=" else (best["n_high"], best["n_low"])
        noun = f"{task.entity_label}s"
        statement = (
            f"{noun.capitalize()} with {feature.label} {'of at most' if side == '<=' else 'above'} {_printed(bound, feature.unit)} "
            f"end in {task.target_label} "
            f"more often than the others ({more:.1%} of {n_more} against {less:.1%} of {n_less})."
        )
        check = (
            f"SELECT *\nFROM (\n  SELECT avg({target}) FILTER (WHERE {column} {side} {bound!r}) AS with_it,\n"
            f"    avg({target}) FILTER (WHERE {column} {other} {bound!r}) AS the_others\n  FROM dataset\n) AS shares\n"
            "WHERE with_it <= the_others OR with_it IS NULL OR the_others IS NULL"
        )
        return FindingDraft(
            run_id=run_id,
            source_id=source_id,
            dataset_id=None,
            dataset_name=f"{task.title} known outcomes",
            derived_from=trained.id,
            title=f"{task.target_label.capitalize()} goes with {feature.label}"[:120],
            statement=statement[:500],
            columns=(best["name"], task.target_column),
            check_sql=check,
        )

    def _of_result(self, actor: Actor, run_id: str, source_id: str, result: Artifact) -> FindingDraft | None:
        """A value that stays near what it is, or the group that stays on top."""
        frame, meta = result.frame(), result.meta
        value, groups = meta.get("value_column"), list(meta.get("group_columns") or ())
        if (
            value is None
            or value not in frame.columns
            or not len(frame)
            or not pd.api.types.is_numeric_dtype(frame[value])
        ):
            return None
        label = str(meta.get("reading") or value)
        table = self._single_table(actor, source_id, str(meta["sql"]))
        inner = f"SELECT * FROM (\n{meta['sql']}\n) AS now" if table else "SELECT * FROM dataset AS now"
        if groups:
            return self._top_group(frame, value, groups[0], label, run_id, source_id, table, result, inner)
        now = float(frame[value].iloc[0])
        if len(frame) != 1 or not np.isfinite(now):
            return None
        low, high = sorted((now * (1 - _BAND), now * (1 + _BAND)))
        column = _quoted(value)
        return FindingDraft(
            run_id=run_id,
            source_id=source_id,
            dataset_id=table[0] if table else None,
            dataset_name=table[1] if table else label[:60],
            derived_from=None if table else result.id,
            title=f"{label}: about {_printed(now, meta.get('unit'))}"[:120],
            statement=f"{label} stays within {_BAND:.0%} of {_printed(now, meta.get('unit'))}."[:500],
            columns=(),
            check_sql=f"{inner}\nWHERE {column} IS NULL OR {column} NOT BETWEEN {low!r} AND {high!r}",
        )

    def _top_group(
        self,
        frame: pd.DataFrame,
        value: str,
        group: str,
        label: str,
        run_id: str,
        source_id: str,
        table: tuple[str, str] | None,
        result: Artifact,
        inner: str,
    ) -> FindingDraft | None:
        if bool(frame[value].isna().to_numpy().all()) or group not in frame.columns or len(frame) < 2:
            return None
        values = frame[value].to_numpy(dtype="float64", na_value=np.nan)
        place = int(np.nanargmax(values))
        first, top = _as_text(frame[group].iloc[place]), float(values[place])
        if int((values == top).sum()) > 1 or first is None:
            return None
        shown, column = first.replace("'", "''"), _quoted(value)
        return FindingDraft(
            run_id=run_id,
            source_id=source_id,
            dataset_id=table[0] if table else None,
            dataset_name=table[1] if table else label[:60],
            derived_from=None if table else result.id,
            title=f"{label}: {first} is highest"[:120],
            statement=f"{label}: {first} has the highest value ({_printed(top, result.meta.get('unit'))})."[:500],
            columns=(),
            check_sql=(
                f"{inner}\nQUALIFY row_number() OVER (ORDER BY {column} DESC NULLS LAST) = 1\n"
                f"  AND CAST({_quoted(group)} AS VARCHAR) IS DISTINCT FROM '{shown}'"
            ),
        )

    def _single_table(self, actor: Actor, source_id: str, sql: str) -> tuple[str, str] | None:
        """The one dataset that a query reads (id, name); None when it reads several."""
        tables = self._catalog.tables_of(actor, source_id, sql)
        return (tables[0].dataset_id, tables[0].name) if len(tables) == 1 else None


def _split(frame: Any, name: str, target: str) -> dict[str, Any] | None:
    if (
        name not in frame.columns
        or not pd.api.types.is_numeric_dtype(frame[name])
        or pd.api.types.is_bool_dtype(frame[name])
    ):
        return None
    known = frame[[name, target]].dropna()
    if not len(known):
        return None
    bound = float(known[name].median())
    low, high = known[known[name] <= bound][target], known[known[name] > bound][target]
    if len(low) < _LEAST or len(high) < _LEAST:
        return None
    return {
        "name": name,
        "bound": bound,
        "low": float(low.mean()),
        "high": float(high.mean()),
        "n_low": len(low),
        "n_high": len(high),
        "gap": abs(float(low.mean()) - float(high.mean())),
    }


def _as_text(value: Any) -> str | None:
    """A group's value as DuckDB casts it to text; None where it is missing."""
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value).removesuffix(" 00:00:00")


def _printed(value: float, unit: str | None = None) -> str:
    """A figure as people print it, with its unit."""
    if unit == "%":
        return f"{value:.1f}%"
    size = abs(value)
    text = f"{value:,.0f}" if value.is_integer() or size >= 1000 else f"{value:,.2f}" if size >= 1 else f"{value:.4f}"
    return f"{text} {unit}" if unit else text


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
