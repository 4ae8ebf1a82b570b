"""Some drivers of a case, with all others as one: the headline stays the case's own, whichever are shown.

Must never leave a contribution out of the sum: what is not shown is "all other features".
"""

from __future__ import annotations

from collections.abc import Collection

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.results_local import Subset
from lexsi_ds.explain.wording import number
from lexsi_ds.models.engine import CaseExplanation
from lexsi_ds.models.task import TaskSpec


def subset(
    case: CaseExplanation, task: TaskSpec, features: Collection[str] | None = None, *, top: int | None = None
) -> Subset:
    """The named drivers, or the ``top`` strongest; raises BadInput for a feature that the model does not use."""
    unknown = sorted(set(features or ()) - {d.feature for d in case.drivers})
    if unknown:
        raise BadInput(f"This model does not use {', '.join(unknown)}.", to_do="Choose among the case's drivers.")
    if features is None:
        shown = case.drivers[: max(0, top if top is not None else 5)]
    else:
        shown = tuple(d for d in case.drivers if d.feature in features)
    total = sum(d.contribution for d in shown)
    rest = case.prediction - case.base_value - total
    count = len(case.drivers) - len(shown)
    base, prediction = _printed(case.base_value, case.scale), _printed(case.prediction, case.scale)
    of_shown, of_rest = _printed(total, case.scale), _printed(rest, case.scale)
    what = task.target_label if case.output is None else case.output
    named = "value of" if case.scale == "value" else "probability of" if case.scale == "probability" else "log-odds of"
    sentence = (
        f"The {named} {what} stays {prediction[0]}: base {base[0]}, {_signed(of_shown)} from "
        f"{len(shown)} shown {'feature' if len(shown) == 1 else 'features'}, {_signed(of_rest)} from the {count} others together."
    )
    facts: dict[str, float | int | str] = {
        "prediction": prediction[1], "base": base[1], "shown": of_shown[1], "rest": of_rest[1],
        "shown_count": len(shown), "rest_count": count, "what": what,
    }  # fmt: skip
    return Subset(
        case_id=case.case_id, scale=case.scale, base_value=case.base_value, prediction=case.prediction, shown=shown,
        shown_total=total, rest_total=rest, rest_count=count, sentence=sentence, facts=facts,
    )  # fmt: skip


def _printed(value: float, scale: str) -> tuple[str, float]:
    if scale == "value":
        return number(value)
    return f"{value:.3f}", round(value, 3)


def _signed(printed: tuple[str, float]) -> str:
    return printed[0] if printed[0].startswith("-") else f"+{printed[0]}"
