"""The report of a model: one HTML page that opens offline, and the same as JSON. What a person needs to trust or refuse it.

Must never: load anything, show a figure without its interval where it has one, or leave out a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from lexsi_ds.models.card import Interval, ModelCard
from lexsi_ds.services import report_svg as svg
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_backtests import Backtest, Backtests
from lexsi_ds.services.model_entry import WORDS, Entry, SavedThreshold
from lexsi_ds.services.model_registry import Registry
from lexsi_ds.services.models import Models
from lexsi_ds.services.report_html import code, items, page, pairs, section, table, text, warning
from lexsi_ds.store.model_registry import ModelStep

_LABELS = {
    "roc_auc": "ROC AUC", "gini": "Gini", "ks": "KS", "average_precision": "Average precision", "brier": "Brier score",
    "log_loss": "Log loss", "accuracy": "Accuracy", "balanced_accuracy": "Balanced accuracy", "macro_f1": "Macro F1", "r2": "R2",
    "rmse": "RMSE", "mae": "Mean absolute error", "median_error": "Median absolute error",
}
_LEFT_OUT = {
    "by_hand": "by hand", "post_outcome": "after the outcome", "all_null": "no value", "high_cardinality": "too many values",
}
_MOST_BARS = 20

Importance = Callable[[Actor, str], Sequence[tuple[str, float, float | None, float | None]]]
"""Label, importance, and its interval where there is one; for models whose card has none."""
Fairness = Callable[[Actor, str, float | None], Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]]
"""Tables of group figures at a threshold: title, heads, rows. Empty when there is nothing to test."""


class ModelReports:
    """Makes reports. Raises Denied without the right, NotFound for an unknown model."""

    def __init__(self, models: Models, registry: Registry, backtests: Backtests) -> None:
        self._models, self._registry, self._backtests = models, registry, backtests
        self.importance: Importance | None = None
        self.fairness: Fairness | None = None

    def json(self, actor: Actor, model_id: str) -> dict[str, Any]:
        """Card, place in the registry, history and backtests, as JSON."""
        card, entry = self._models.get(actor, model_id), self._registry.entry(actor, model_id)
        return {
            "schema_version": 1, "card": card.model_dump(mode="json"), "registry": entry.model_dump(mode="json"),
            "history": [step.model_dump(mode="json") for step in self._registry.history(actor, model_id)],
            "backtests": [test.model_dump(mode="json") for test in self._backtests.list(actor, model_id)],
        }

    def html(self, actor: Actor, model_id: str) -> bytes:
        """The page, UTF-8."""
        card, entry = self._models.get(actor, model_id), self._registry.entry(actor, model_id)
        threshold = entry.threshold.value if entry.threshold is not None else None
        groups = self.fairness(actor, model_id, threshold) if self.fairness is not None else ()
        parts = [
            _headline(card, entry), _figures(card), _calibration(card), _importance(card, self._bars(actor, card)),
            _threshold(card, entry.threshold), _out_of_time(card),
            section("Fairness", *(text(title, "quiet") + table(heads, rows) for title, heads, rows in groups)),
            _backtested(self._backtests.list(actor, model_id)), _features(card), _left_out(card), _limits(card, entry),
            _environment(card), _history(self._registry.history(actor, model_id)),
        ]
        return page(f"{card.task.title}, {card.name}", parts).encode("utf-8")

    def _bars(self, actor: Actor, card: ModelCard) -> Sequence[tuple[str, float, float | None, float | None]]:
        if card.importance:
            ranked = sorted(card.importance, key=lambda each: -each.drop.value)
            return [(each.label, each.drop.value, each.drop.low, each.drop.high) for each in ranked]
        return self.importance(actor, card.id) if self.importance is not None else ()


def _headline(card: ModelCard, entry: Entry) -> str:
    task, main = card.task, card.chosen.main
    counted = f"{card.positives:,} of them with {task.target_label}, " if task.kind == "binary" else ""
    return (
        f"<h1>{escape(task.title)}</h1>"
        + f'<p class="quiet">{escape(card.name)}, {escape(card.model_type)} <span class="state">{WORDS[entry.state]}</span></p>'
        + text(f"{card.chosen.main_name} {_interval(main)}, out of fold, on {card.rows:,} rows; {counted}{card.folds} folds"
               + (f", {card.repeats} times" if card.repeats > 1 else "") + ".")
        + warning([*([entry.stale.sentence] if entry.stale else []), *card.headlines, *card.warnings])
        + pairs([
            ("Predicts", task.positive_meaning), ("For", f"each {task.entity_label}: {task.unknown_meaning}"),
            ("Learned from", task.known_meaning), ("Intended use", entry.intended_use), ("Owner", entry.responsible),
            ("Author", entry.author_name), ("Note", entry.note), ("Data", f"{card.source_name}, version {card.snapshot_number}"),
            ("Engine", "Lexsi platform" if card.engine == "lexsi" else "this machine"),
            ("Trained", card.created_at), ("Why this model type", card.why_chosen),
        ])
    )


def _figures(card: ModelCard) -> str:
    names = [name for name in _LABELS if hasattr(card.chosen.metrics, name)]
    rows = [
        [_LABELS[name], *(_interval(getattr(c.metrics, name)) if hasattr(c.metrics, name) else "" for c in card.candidates)]
        for name in names
    ]
    heads = ["Figure", *(f"{c.model_type}{', chosen' if c.chosen else ''}" for c in card.candidates)]
    roc = card.chosen.roc
    drawn = ""
    if roc.x:
        low, high = (list(zip(roc.x, side, strict=True)) if side else [] for side in (roc.low, roc.high))
        drawn = svg.curve(list(zip(roc.x, roc.y, strict=True)), low=low, high=high, x_title="False alarm rate",
                          y_title="Share caught", name=f"ROC curve of {card.name}")
    credit = ""
    if card.credit is not None:
        credit = table(
            ["Tenth of rows", "Rows", "Events", "Rate", "Lift", "Captured"],
            [[str(d.decile), f"{d.rows:,}", f"{d.events:,}", f"{d.rate:.1%}", f"{d.lift:.2f}", f"{d.captured:.1%}"]
             for d in card.credit.deciles], numbers=range(1, 6),
        )
        credit += text(card.credit.challenger.sentence) if card.credit.challenger else ""
    compared = [f"{c.chosen} minus {c.other}: {_signed(c.difference)}{'' if c.beyond_noise else ', within the noise'}"
                for c in card.comparisons]
    missing = [f"{each.model_type} was not tried: {each.reason}" for each in card.not_tried]
    return section(
        "Figures", text("Out of fold, with 95% intervals of a bootstrap over rows.", "quiet"),
        table(heads, rows, numbers=range(1, len(heads))), items([*compared, *missing]), drawn, credit, _conformal(card),
    )


def _conformal(card: ModelCard) -> str:
    found = card.conformal
    return "" if found is None else text(
        f"Intervals of {found.level:.0%} around each amount: half-width {found.half_width:,.4g}; {found.coverage:.1%} of "
        f"{found.rows:,} training rows lay inside theirs."
    )


def _calibration(card: ModelCard) -> str:
    bins = card.chosen.calibration
    if not bins:
        return ""
    rows = [[f"{b.predicted:.1%}", f"{b.observed:.1%}", f"{b.low:.1%} to {b.high:.1%}", f"{b.n:,}"] for b in bins]
    drawn = svg.calibration([(b.predicted, b.observed, b.low, b.high, b.n) for b in bins], f"Calibration of {card.name}",
                            card.task.target_label)
    return section("Calibration", text(card.calibration.sentence), drawn,
                   table(["Predicted", "Observed", "95% interval", "Rows"], rows, numbers=range(1, 4)))


def _importance(card: ModelCard, rows: Sequence[tuple[str, float, float | None, float | None]]) -> str:
    fallen = (card.importance[0].figure if card.importance else "") or card.chosen.main_name
    what = f"Fall of {fallen} when a column is shuffled" if card.importance else "Mean absolute contribution"
    more = f" The first {_MOST_BARS} of {len(rows)} features." if len(rows) > _MOST_BARS else ""
    return section(
        "Importance", text(f"{what}: association, not cause.{more}", "quiet") if rows else "",
        svg.bars(rows[:_MOST_BARS], f"Importance in {card.name}", what) if rows else "",
    )


def _threshold(card: ModelCard, saved: SavedThreshold | None) -> str:
    if card.task.kind != "binary":
        return ""
    if saved is None:
        own = card.threshold
        return section("Threshold", text(f"A row counts as positive from a probability of {own.value:.3g} on ({own.how})."))
    how = {
        "cost": f"by cost: {saved.cost_false_positive:g} a false alarm, {saved.cost_false_negative:g} a miss"
        if saved.cost_false_positive is not None and saved.cost_false_negative is not None else "by cost",
        "rate": f"to flag {saved.rate:.1%} of the rows" if saved.rate is not None else "by rate", "value": "as chosen by hand",
    }[saved.how]
    cost = f" Errors cost {saved.cost:,.6g} there, {saved.cost_at_half:,.6g} at 0.5." \
        if saved.cost is not None and saved.cost_at_half is not None else ""
    return section(
        "Threshold", text(f"A row counts as positive from a probability of {saved.value:.4g} on, {how}. Set by {saved.set_by_name} "
                          f"at {saved.set_at}.{cost}"),
        table(["Out of fold", "Had the outcome", "Had it not"],
              [["Flagged", f"{saved.true_positives:,}", f"{saved.false_positives:,}"],
               ["Not flagged", f"{saved.false_negatives:,}", f"{saved.true_negatives:,}"]], numbers=(1, 2)),
    )


def _out_of_time(card: ModelCard) -> str:
    found = card.out_of_time
    if found is None:
        return ""
    figures = found.metrics.model_dump().items()
    rows = [[_LABELS.get(name, name), _interval(Interval.model_validate(value))] for name, value in figures]
    return section("Later rows", text(found.sentence), text(f"{found.first} to {found.last}: {found.tested:,} rows.", "quiet"),
                   table(["Figure", "On later rows"], rows, numbers=(1,)))


def _backtested(tests: Sequence[Backtest]) -> str:
    rows = [[f"{test.at:%Y-%m-%d}", test.source, f"{test.held.rows:,}", test.sentence] for test in tests]
    newest = tests[0].held.periods if tests else ()
    periods = [[p.period, f"{p.rows:,}", f"{p.predicted:.3g}", f"{p.observed:.3g} ({p.low:.3g} to {p.high:.3g})",
                _interval(p.main) if p.main else ""] for p in newest]
    heads = ["Period", "Rows", "Predicted", "Observed", tests[0].main_name if tests else ""]
    return section("Backtests", table(["When", "Outcomes", "Rows", "Finding"], rows, numbers=(2,)),
                   table(heads, periods, numbers=range(1, 5)))


def _features(card: ModelCard) -> str:
    rows = [[s.feature.label, s.feature.name, s.feature.kind + (f", {s.feature.unit}" if s.feature.unit else ""),
             s.feature.expression, f"{s.missing:,}", f"{s.distinct:,}"] for s in card.features]
    return section("Features", table(["Feature", "Column", "Kind", "Definition", "Missing", "Distinct"], rows, numbers=(4, 5)))


def _left_out(card: ModelCard) -> str:
    rows = [[out.name, out.table, _LEFT_OUT.get(out.reason, out.reason.replace("_", " ")), out.detail] for out in card.left_out]
    return section("Left out, and why", table(["Column", "Table", "Reason", "Detail"], rows))


def _limits(card: ModelCard, entry: Entry) -> str:
    return section("Limits", text(entry.limits), items([*card.task.notes, *card.notes, *card.task.edits]))


def _environment(card: ModelCard) -> str:
    chosen = ", ".join(f"{name} {value}" for name, value in card.chosen.parameters.items())
    return section(
        "Environment", pairs([
            ("Model", card.id), ("Snapshot", card.snapshot_id), ("Seed", str(card.seed)), ("Parameters", chosen),
            ("Seconds to train", f"{card.seconds:,.1f}"), *((name, value) for name, value in card.versions.items()),
        ]), text("Rows that train", "quiet"), code(card.task.context_sql), text("Rows that are scored", "quiet"),
        code(card.task.predict_sql),
    )


def _history(steps: Sequence[ModelStep]) -> str:
    rows = [[f"{s.at:%Y-%m-%d %H:%M} UTC", s.person_name, s.action, s.via, s.note] for s in steps]
    return section("History", table(["When", "Who", "What", "Through", "Note"], rows))


def _interval(value: Interval) -> str:
    return f"{value.value:,.4g} ({value.low:,.4g} to {value.high:,.4g})"


def _signed(value: Interval) -> str:
    return f"{value.value:+.4g} ({value.low:+.4g} to {value.high:+.4g})"
