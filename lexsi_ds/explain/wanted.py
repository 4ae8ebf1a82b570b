"""What a counterfactual is to be judged as: another side of a threshold, a class, or an amount inside of bounds."""

from __future__ import annotations

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.models.bundle import Prepared, SavedModel
from lexsi_ds.models.task import TaskSpec


class Wanted(Value):
    """The answer wanted. Left empty: the other side of the threshold (binary), or the second likeliest class."""

    low: float | None = None
    """At least this: a probability, or an amount."""
    high: float | None = None
    """Below this."""
    output: str | None = None
    """The class to be reached, of several."""

    def settled(self, model: SavedModel, rows: Prepared) -> Wanted:
        """What is wanted of this row, with all that was left out filled in."""
        kind, margin = model.card.task.kind, model.margin(rows)
        if kind == "regression":
            if self.low is None and self.high is None:
                raise BadInput("An amount needs a bound to reach.", to_do="Give a lowest or highest amount.")
            return self
        if kind == "binary":
            if self.low is not None or self.high is not None:
                return self
            at = model.card.threshold.value
            flagged = float(model.link(margin)[0]) >= at
            return Wanted(high=at) if flagged else Wanted(low=at)
        shares, classes = model.link(margin)[0], model.card.task.classes
        output = self.output or classes[int((-shares).argsort()[1])]
        if output not in classes:
            raise BadInput(f'This model knows no class "{output}".', to_do=f"Use one of: {', '.join(classes[:20])}.")
        return Wanted(low=0.5 if self.low is None else self.low, high=self.high, output=output)

    def met(self, value: float) -> bool:
        """Whether an answer is as wanted."""
        return (self.low is None or value >= self.low) and (self.high is None or value < self.high)

    def facts(self) -> dict[str, float | int | str]:
        """The bounds, for the numbers of ``words``."""
        bounds = {"low": self.low, "high": self.high}
        return {name: value for name, value in bounds.items() if value is not None}

    def words(self, task: TaskSpec) -> str:
        """In words: "probability of default below 0.5"."""
        what = task.target_label if task.kind == "regression" else f"a probability of {self.output or task.target_label}"
        bounds = [f"of at least {self.low:,g}"] if self.low is not None else []
        bounds += [f"below {self.high:,g}"] if self.high is not None else []
        return f"{what} {' and '.join(bounds)}"
