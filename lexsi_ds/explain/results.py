"""What a global view of a model is, as values: importance, dependence, interactions, profiles of a feature, cohorts.

Values only, with a JSON round trip; nothing is computed here. Must never lack how many rows a view rests on.
"""

from __future__ import annotations

from typing import Literal

from lexsi_ds.data.handle import Value
from lexsi_ds.models.figures import Interval

Cell = float | int | str | bool | None
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "missing", "present"]


class Condition(Value):
    """One condition on a column of the rows; conditions of a cohort all hold."""

    column: str
    operator: Operator
    value: Cell | tuple[Cell, ...] = None


class Cohort(Value):
    """Part of the rows: those of a list of case ids (a lasso on a chart), those that meet conditions, or both."""

    case_ids: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether it leaves nothing out."""
        return not self.case_ids and not self.conditions


class Basis(Value):
    """What a view rests on; said beside every chart."""

    scale: str
    """``probability``, ``log-odds`` (``margin`` of one class among several) or ``value`` (units of the target)."""
    output: str | None = None
    """The class explained, where there are several."""
    rows: int
    of_rows: int
    """Rows of the cohort; when more than ``rows``, the view rests on a stratified sample of them."""
    method: str = ""
    """How the values were computed, in words."""


class FeatureImportance(Value):
    """Two measures of one feature: how far it moves the model, and how much worse the model is without it."""

    feature: str
    label: str
    mean_abs: float
    """Mean |SHAP value| on the scale."""
    mean_abs_interval: Interval
    loss: Interval
    """How much the figure falls when its values are shuffled among held-out rows (``Importance.figure``)."""
    rank: int
    loss_rank: int
    disagrees: bool = False


class ImportanceView(Value):
    """Features by mean |SHAP value|, largest first, with the permutation importance beside it."""

    basis: Basis
    figure: str
    """What is lost: ``ROC AUC``, ``R2`` or ``log loss``."""
    measured: float
    """The figure on the held-out rows, unshuffled."""
    loss_rows: int
    """Held-out rows that were shuffled."""
    repeats: int
    features: tuple[FeatureImportance, ...]
    warnings: tuple[str, ...] = ()


class Dependence(Value):
    """One feature's value against its contribution, a point a row, coloured by what it interacts with most."""

    basis: Basis
    feature: str
    label: str
    unit: str | None
    case_ids: tuple[str, ...]
    x: tuple[Cell, ...]
    y: tuple[float, ...]
    partner: str | None
    """The feature that colours; None where the model has no interaction of this feature."""
    partner_label: str | None
    colour: tuple[Cell, ...]
    partner_share: float = 0.0
    """Interaction with the partner, as a share of this feature's interactions with all others."""


class Pair(Value):
    """Two features and the mean |interaction value| of both together, on the margin."""

    first: str
    second: str
    first_label: str
    second_label: str
    strength: float


class Interactions(Value):
    """Mean |SHAP interaction value| on the margin: diagonal the features' own effects, beside it half a pair's effect."""

    basis: Basis
    features: tuple[str, ...]
    labels: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    pairs: tuple[Pair, ...]
    """The strongest first."""


class Profile(Value):
    """Partial dependence of one feature and the lines of single rows (ICE): the model's answer as only it is changed."""

    basis: Basis
    feature: str
    label: str
    unit: str | None
    kind: str
    grid: tuple[Cell, ...]
    """Values tried: quantiles of training for numbers, its words for categories; None is "missing"."""
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    """10% and 90% of the rows' lines at each value."""
    shares: tuple[float, ...]
    """Share of the training rows at each value (words), or between it and the one before (numbers)."""
    ice_ids: tuple[str, ...]
    ice: tuple[tuple[float, ...], ...]
