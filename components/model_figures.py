"""The figures of a model on screen: headlines first, then each figure with its interval beside the baseline's, and why this
candidate was chosen. For a yes/no outcome, several classes, an amount, and cards of older models that say less.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components import figures, session, tables
from components.safe import plain
from lexsi_ds.models.card import AnyMetrics, Candidate, Comparison, Interval, ModelCard

Shown = tuple[str, str, str]
BINARY: tuple[Shown, ...] = (
    ("roc_auc", "ROC AUC", "Chance that a row with the outcome scores above a row without it. 0.5 is a coin."),
    ("gini", "Gini", "2 AUC − 1. 0 is a coin, 1 is perfect."),
    ("ks", "KS", "Largest gap between the score distributions of the two outcomes."),
    ("average_precision", "Average precision", "Mean precision over all thresholds; compare it with the share of the outcome."),
    ("brier", "Brier score", "Mean squared error of the probabilities. Lower is better."),
    ("log_loss", "Log loss", "Mean surprise of the probabilities. Lower is better."),
)
CLASSES: tuple[Shown, ...] = (
    ("roc_auc", "ROC AUC", "Mean over the classes of one against the rest. 0.5 is a coin."),
    ("accuracy", "Accuracy", "Share of rows whose first choice is right. Compare it with the share of the largest class."),
    ("balanced_accuracy", "Balanced accuracy", "Mean over the classes of the share that is found."),
    ("macro_f1", "Macro F1", "Mean over the classes of F1, which weighs small classes as large ones."),
    ("log_loss", "Log loss", "Mean surprise of the probabilities. Lower is better."),
    ("brier", "Brier score", "Squared error of the probabilities, summed over the classes. Lower is better."),
)
AMOUNTS: tuple[Shown, ...] = (
    ("r2", "R2", "Share of the variance that is explained on rows held out. 0 is no better than the mean."),
    ("rmse", "RMSE", "Root of the mean squared error, in units of the target; large errors weigh most."),
    ("mae", "Mean error", "Mean absolute error, in units of the target."),
    ("median_error", "Median error", "Half of the rows are closer than this."),
)
_KINDS = {"binary": BINARY, "multiclass": CLASSES, "regression": AMOUNTS}


def headlines(card: ModelCard) -> None:
    """What must be known before a figure is read: other rows, later rows, leaks, small data."""
    leaks = [out for out in card.left_out if out.reason == "leak"]
    said = [plain(sentence, 600) for sentence in card.headlines]
    if leaks:
        names = ", ".join(plain(out.name, 40) for out in leaks[:5]) + (" and more" if len(leaks) > 5 else "")
        said.insert(0, f"**Left out because {'it gives' if len(leaks) == 1 else 'they give'} the outcome away:** {names}.")
    said += [plain(warning, 400) for warning in card.warnings]
    if said:
        st.warning("  \n".join(said), icon=":material/warning:")


def beside(card: ModelCard) -> Candidate | None:
    """The candidate that the figures stand beside: the baseline, or the best of the others where it is the chosen one."""
    if not card.baseline.chosen:
        return card.baseline
    others = [c for c in card.candidates if not c.chosen]
    return max(others, key=lambda c: c.main.value, default=None)


def metric_row(card: ModelCard) -> None:
    """Each figure with its interval and its distance to the other candidate; one caption says on which rows."""
    other = beside(card)
    shown = [figure for figure in _KINDS[card.task.kind] if hasattr(card.chosen.metrics, figure[0])]
    if len(shown) <= 4:
        with st.grid(len(shown), min_column_width=160):
            _metrics(shown, card, other)
    else:
        halves = st.grid(2, min_column_width=440)
        for part in (shown[:3], shown[3:]):
            with halves.cell(), st.grid(3, min_column_width=120):
                _metrics(part, card, other)
    st.caption(_basis(card, other))
    st.caption(plain(card.why_chosen, 500))


def _basis(card: ModelCard, other: Candidate | None) -> str:
    of = f"{figures.count(card.rows)} rows"
    if card.task.kind == "binary":
        of += f", {figures.share(card.positives, card.rows)} {plain(card.task.target_label)}"
    elif card.class_counts:
        most = max(card.class_counts, key=lambda c: c.rows)
        of += f", {len(card.class_counts)} classes, the largest {plain(most.name, 40)} with {figures.share(most.rows, card.rows)}"
    gray = f" Gray: difference to {plain(other.model_type)} on the same folds." if other else ""
    repeats = card.chosen.repeats or card.repeats
    grouped = f", {figures.count(card.groups)} groups kept whole" if card.groups else ""
    return f"Out of fold, {card.folds} folds, {figures.counted(repeats, 'repeat')}{grouped}. Interval: 95%, over {of}.{gray}"


def _metrics(shown: list[Shown], card: ModelCard, other: Candidate | None) -> None:
    for name, label, meaning in shown:
        _metric(name, label, meaning, card.chosen.metrics, other.metrics if other else None)


def _metric(name: str, label: str, meaning: str, chosen: AnyMetrics, other: AnyMetrics | None) -> None:
    figure: Interval = getattr(chosen, name)
    digits = digits_of(name, figure.value)
    against: Interval | None = getattr(other, name, None)
    delta = amount_change(figure.value - against.value, digits) if against else None
    st.metric(
        label,
        figures.number(figure.value, digits),
        delta=delta,
        delta_description=figures.interval(figure, digits),
        delta_color="gray",
        delta_arrow="off",
        border=True,
        help=meaning,
        height="stretch",
    )


def digits_of(name: str, value: float) -> int:
    """Decimals that a figure deserves: shares two, Brier three, amounts as their size says."""
    if name in ("rmse", "mae", "median_error"):
        return 0 if abs(value) >= 100 else 2
    return 3 if name == "brier" else 2


def amount_change(value: float, digits: int) -> str:
    """A signed difference with thousands marks."""
    if abs(value) < 1000:
        fine = value != 0 and abs(value) < 0.5 * 10**-digits
        return figures.signed(value, digits + 1 if fine else digits)
    return ("+" if value > 0 else figures.MINUS) + figures.count(abs(value))


def candidates(card: ModelCard) -> None:
    """All that were tried on the same folds, how far apart and whether that is more than noise; then what was not tried."""
    if len(card.candidates) < 2 and not card.not_tried:
        return
    name = card.chosen.main_name
    against = {c.other: c for c in card.comparisons}
    rows = []
    for each in sorted(card.candidates, key=lambda c: -c.main.value):
        gap = against.get(each.model_type)
        rows.append({
            "Model type": each.model_type,
            name: f"{figures.number(each.main.value, 3)} ({figures.interval(each.main, 3)})",
            f"Chosen minus it, {name}": "chosen" if each.chosen else _gap(gap.difference) if gap else "not compared",
            "More than noise": "" if each.chosen or gap is None else _noise(gap),
            "Repeats": str(each.repeats or card.repeats),
        })
    with st.container(border=True, gap="small"):
        tables.card_head("Candidates", "same folds, paired differences")
        tables.show(pd.DataFrame(rows), key=session.wkey("candidates", card.id), alt="Candidates and their figures")
        for each in card.not_tried:
            st.caption(f":material/block: {plain(each.model_type)} was not tried: {plain(each.reason, 300)}")


def _noise(gap: Comparison) -> str:
    """Whether chance alone may be the difference; one that it is not may still be too small to matter."""
    if gap.difference.low <= 0 <= gap.difference.high:
        return "no"
    return "yes" if gap.beyond_noise else "yes, too small to matter"


def _gap(difference: Interval) -> str:
    low, high = figures.signed(difference.low, 3), figures.signed(difference.high, 3)
    return f"{figures.signed(difference.value, 3)} ({low} to {high})"
