"""Which model types are compared, and how often, within a time budget.

The plan rests on what a fit is known to cost by size, not on the clock: the same rows give the same plan on every
machine. Must never leave out the baseline or what was asked for, and never leave anything out without a reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexsi_ds.models.card import NotTried
from lexsi_ds.models.estimators import ModelType, Outcome, Recipe, baseline, missing_package, recipe
from lexsi_ds.models.folds import Folds

COMPARED: tuple[ModelType, ...] = ("XGBoost", "LightGBM", "EBM")
"""What is tried beside the baseline, in this order. Networks are tried only when they are asked for."""


@dataclass(frozen=True)
class Entry:
    """One model type to try, on the first so many repeats of the folds."""

    recipe: Recipe
    repeats: int

    @property
    def model_type(self) -> ModelType:
        """Its name."""
        return self.recipe.model_type


@dataclass(frozen=True)
class Plan:
    """What is tried, and what is not and why."""

    entries: tuple[Entry, ...]
    not_tried: tuple[NotTried, ...]

    def fits(self, folds: Folds) -> int:
        """How many fits that makes."""
        return sum(entry.repeats * folds.count for entry in self.entries)


def make_plan(
    asked: ModelType | None,
    outcome: Outcome,
    rows: int,
    columns: int,
    flagged: tuple[int, ...],
    folds: Folds,
    budget_s: float,
) -> Plan:
    """The baseline and XGBoost always, then LightGBM and additive curves as the budget (seconds of one processor)
    allows; or what was asked for beside the baseline."""
    simple = baseline(outcome.kind)
    names = COMPARED if asked is None else ("XGBoost",) if asked == simple else (asked,)
    entries = [Entry(recipe(simple, rows, flagged, outcome), folds.repeats)]
    left = budget_s - _whole(entries[0].recipe, rows, columns, folds, folds.repeats)
    not_tried: list[NotTried] = []
    for name in names:
        how = recipe(name, rows, flagged, outcome)
        once = _whole(how, rows, columns, folds, 1)
        needed = name == asked or (asked is None and name == "XGBoost")
        repeats = min(folds.repeats, max(int(left / once), 1 if needed else 0))
        absent = missing_package(name)
        if absent and name != asked:
            not_tried.append(NotTried(model_type=name, reason=absent))
        elif repeats == 0:
            spent = f"About {once:,.0f} s of the budget of {budget_s:g} s would be needed and {max(left, 0):,.0f} s are left."
            not_tried.append(NotTried(model_type=name, reason=spent))
        else:
            entries.append(Entry(how, folds.repeats if name == asked else repeats))
            left -= once * repeats
    return Plan(tuple(entries), tuple(not_tried))


def cost(how: Recipe, rows: int, columns: int) -> float:
    """About how many seconds one fit takes on one thread, from measurements on 200 to 1,000,000 rows."""
    classes = how.outcome.classes if how.outcome.kind == "multiclass" else 1
    cells = rows * columns * classes
    match how.model_type:
        case "XGBoost" | "LightGBM":
            return how.rounds * (2e-4 * classes + 3e-9 * cells)
        case "EBM":
            bags, surfaces = int(how.parameters["outer_bags"]), int(how.parameters["interactions"])
            return bags * (0.12 * classes + 3e-6 * cells) * (1 + 0.4 * surfaces)
        case "TabPFN" | "TabICL":
            return 1.0 + 2e-4 * cells
        case _:
            return 0.002 + 1e-7 * min(cells, int(how.parameters.get("rows", rows)) * columns * classes)


def _whole(how: Recipe, rows: int, columns: int, folds: Folds, repeats: int) -> float:
    share = (folds.count - 1) / folds.count
    return folds.count * repeats * cost(how, int(rows * share), columns)
