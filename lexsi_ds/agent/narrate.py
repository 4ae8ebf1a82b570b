"""The narrative without a language model: sentences made from the facts of a run. Says association, never cause.

Every number printed here comes from a value that is also in the run's facts; the loop checks that again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

import pandas as pd

from lexsi_ds.explain.wording import NOT_CAUSES
from lexsi_ds.models.card import Interval, ModelCard
from lexsi_ds.models.engine import CaseExplanation
from lexsi_ds.models.task import TaskKind, TaskSpec
from lexsi_ds.text_to_sql.reading import Analytic

_SHOWN_GROUPS = 6
_NAMES_THINGS = re.compile(r"(^|_)(id|code|key|no|nr|number|zip|postcode|year)$", re.IGNORECASE)


def number(value: Any) -> str:
    """A value as people print it: thousands marks, at most four significant decimals, ISO dates."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or value is pd.NaT:
        return "missing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int,)) or (isinstance(value, float) and value.is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    if isinstance(value, float):
        decimals = 0 if abs(value) >= 10_000 else 1 if abs(value) >= 1000 else 2 if abs(value) >= 1 else 4
        return f"{value:,.{decimals}f}"
    return str(value)[:10] if hasattr(value, "isoformat") else str(value)


def plural(noun: str, count: int) -> str:
    """``noun`` for this count, by the regular English rules."""
    if count == 1:
        return noun
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"


def analytic(frame: pd.DataFrame, reading: Analytic | None) -> str:
    """What a query's rows say: one value, or the groups in the order of the result."""
    if not len(frame):
        return "No row matches."
    rows = [{str(k): _plain(v) for k, v in row.items()} for row in frame.head(_SHOWN_GROUPS).to_dict("records")]
    value = reading.value_column if reading else None
    label = _sentence((reading.value_label if reading else None) or (value or str(frame.columns[-1])).replace("_", " "))
    if len(frame) == 1 and (not reading or not reading.group_columns):
        return _one_row(rows[0], reading, label)
    groups = reading.group_columns if reading else ()
    if not groups or value is None or value not in frame.columns:
        return f"The result has {len(frame):,} {plural('row', len(frame))}; the table shows them."
    parts = [f"{_group(row, groups)}: {_with_unit(row[value], reading)}{_count(row, reading)}" for row in rows]
    rest = f" The table shows all {len(frame):,}." if len(frame) > _SHOWN_GROUPS else ""
    return f"{label} by {' and '.join(g.replace('_', ' ') for g in groups)}. " + "; ".join(parts) + "." + rest


def _group(row: dict[str, Any], groups: tuple[str, ...]) -> str:
    """The group's name; a year or a code is a name, so it takes no thousands marks."""
    return ", ".join(str(row[g]) if isinstance(row[g], int) else number(row[g]) for g in groups if g in row)


def _one_row(row: dict[str, Any], reading: Analytic | None, label: str) -> str:
    value = reading.value_column if reading else None
    if value is not None and value in row:
        return f"{label}: {_with_unit(row[value], reading)}{_count(row, reading)}."
    return "; ".join(f"{name.replace('_', ' ')}: {_named(name, item)}" for name, item in row.items()) + "."


def _named(column: str, value: Any) -> str:
    """A value beside the name of its column; an id, a code or a year is a name and takes no thousands marks."""
    return str(value) if isinstance(value, int) and _NAMES_THINGS.search(column) else number(value)


def _with_unit(value: Any, reading: Analytic | None) -> str:
    unit = reading.unit if reading else None
    if unit == "%" and isinstance(value, (int, float)) and not (isinstance(value, float) and math.isnan(value)):
        return f"{value:.1f}%"
    return number(value) + (f" {unit}" if unit and value is not None else "")


def _count(row: dict[str, Any], reading: Analytic | None) -> str:
    """The number of rows behind a value, where the query counted them."""
    name = reading.count_column if reading else None
    n = row.get(name) if name else None
    return f" (n = {int(n):,})" if isinstance(n, (int, float)) and not math.isnan(n) else ""


def predictive(frame: pd.DataFrame, shown: dict[str, Any], card: ModelCard, cases: list[CaseExplanation]) -> str:
    """The ranked list, who stands apart, how sure it is, which model said so, and what drives it."""
    task, entity, noun = card.task, shown["entity_column"], shown["entity_label"]
    ranked = _segment(frame, "ranked")
    top = ranked.head(shown["top_k"])
    listing = ", ".join(f"{row[entity]} ({_told(row, task)})" for row in top.to_dict("records"))
    by = task.target_label if task.kind == "regression" else f"probability of {task.target_label}"
    list_ = f"The {len(top)} of {len(ranked):,} ranked {plural(noun, 2)} with the highest {by} are: {listing}."
    whom = [*shown.get("headlines", ()), f"Scored are the {task.unknown_meaning}." + _statuses(top, task)]
    if "out_of_fold" in set(frame["scored"]):
        whom.append("Every score is out of fold: it comes from models that did not see that row.")
    whom += _apart(frame, ranked, task, noun)
    sure = [*_stability(shown, ranked, top), _model(card)]
    paragraphs = [[list_], _drivers(cases, task.kind), whom, sure, _left_out(card)]
    return "\n\n".join(" ".join(sentences) for sentences in paragraphs if sentences)


def _told(row: dict[Any, Any], task: TaskSpec) -> str:
    if task.kind == "regression":
        return number(row["prediction"])
    return (
        f"{row['prediction']}, {row['probability']:.2f}" if task.kind == "multiclass" else f"{row['probability']:.2f}"
    )


def _segment(frame: pd.DataFrame, name: str) -> Any:
    """The rows of one segment in rank order."""
    rows: Any = frame[frame["segment"] == name]
    return rows.sort_values("rank")


def _apart(frame: pd.DataFrame, ranked: Any, task: TaskSpec, noun: str) -> list[str]:
    apart = _segment(frame, "apart")
    if not len(apart) or task.apart is None:
        return []
    first = (
        f"The {len(apart):,} {plural(noun, len(apart))} with {task.apart.column} {task.apart.value} ({task.apart.label}) are "
        "listed apart."
    )
    if not len(ranked):
        return [first]
    if task.kind == "regression":
        return [first]
    return [
        first,
        f"As a check of the model, their median probability is {apart['probability'].median():.2f} against "
        f"{ranked['probability'].median():.2f} for the ranked ones.",
    ]


def _statuses(top: Any, task: TaskSpec) -> str:
    """The first display column of the listed rows, where it says the same of all or falls into few values."""
    name = next((c for c in task.display_columns if c in top.columns), None)
    if name is None or not len(top) or top[name].nunique(dropna=False) > 3 or not isinstance(top[name].iloc[0], str):
        return ""
    counts = Counter(map(str, top[name]))
    if len(counts) == 1:
        return f" All of those listed have {name} {next(iter(counts))}."
    return f" Their {name}: " + ", ".join(f"{value} ({count})" for value, count in counts.most_common()) + "."


def _stability(shown: dict[str, Any], ranked: Any, top: Any) -> list[str]:
    size = min(10, len(ranked))
    if not len(top) or size == 0 or bool(top["rank_low"].isna().any()):  # an engine without refits has no bands
        return []
    first = top.iloc[0]
    kept = shown["top_overlap"] * size
    return [
        f"The order is {'fairly stable' if shown['top_overlap'] >= 0.7 else 'not very stable'}: a model refitted on resampled data "
        f"keeps {kept:.1f} of the first {size} on average, and the first one's rank ranges from {int(first['rank_low'])} to "
        f"{int(first['rank_high'])} (80% band)."
    ]


def _interval(value: Interval) -> str:
    return f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})"


def _model(card: ModelCard) -> str:
    auc = card.chosen.main
    seen = "out of fold" if card.engine == "local" else "on rows that it did not see"
    warning = f" {card.warnings[0]}" if card.warnings else ""
    return (
        f"The model is {_name(card.model_type)}, trained on {card.rows:,} rows{_events(card)}; {seen} its "
        f"{card.chosen.main_name} is {_interval(auc)}. {card.why_chosen}{warning}"
    )


def _events(card: ModelCard) -> str:
    return f" of which {card.positives:,} with {card.task.target_label}" if card.task.kind == "binary" else ""


def _name(model_type: str) -> str:
    return {"Logistic": "a logistic model", "Linear": "a linear model"}.get(model_type, model_type)


def _drivers(cases: list[CaseExplanation], kind: TaskKind) -> list[str]:
    if not cases:
        return []
    raising = Counter(d.label for c in cases for d in c.drivers[:3] if d.contribution > 0)
    if not raising:
        return []
    common = [f"{label} (in {count} of {len(cases)})" for label, count in raising.most_common(3)]
    what = "their risk" if kind == "binary" else "it"
    first = f"What goes with {what} most often: {', '.join(common)}."
    return [first, *([cases[0].summary] if cases[0].summary else [])]


def _left_out(card: ModelCard) -> list[str]:
    protected = [left.name for left in card.left_out if left.reason == "protected"]
    return [f"Not used, because protected: {', '.join(protected)}."] if protected else []


def explanation(cases: list[CaseExplanation], card: ModelCard, failures: list[dict[str, str]]) -> str:
    """The plain readings of the cases, each with what is known of its row; a training row says so in its reading."""
    parts = []
    for case in cases[:10]:
        known = ", ".join(f"{k} {_plain_text(v)}" for k, v in list(case.display.items())[:3] if v is not None)
        told = case.summary.removesuffix(NOT_CAUSES) if case.summary else None
        head = told or f"{card.task.entity_label.capitalize()} {case.case_id} is at {case.prediction:.2f}."
        parts.append(head + (f" Its row: {known}." if known else ""))
    if len(cases) > 10:
        parts.append(f"The table shows all {len(cases)}.")
    parts += [NOT_CAUSES.strip()] if any(case.summary for case in cases) else []
    parts += [f"Not explained: {failure['error']}." for failure in failures[:5]]
    return "\n\n".join(parts)


def _plain_text(value: Any) -> str:
    if isinstance(value, str):
        return value.removesuffix("T00:00:00").removesuffix(" 00:00:00")
    return str(value)[:10] if hasattr(value, "isoformat") else number(value)


def _plain(value: Any) -> Any:
    if isinstance(value, list) or getattr(value, "ndim", 0):
        return ", ".join(number(_plain(item)) for item in value[:_SHOWN_GROUPS]) + (" …" if len(value) > _SHOWN_GROUPS else "")
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        return value.item()
    return value


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
