"""How often surprises that a search is so sure of were true, on data of known truth: what a confidence on screen says.

The table is written by ``python -m bench.surprises --pool FILE --write``. Must never: be one minus a q-value, or say more than was
measured.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import yaml

from lexsi_ds.data.handle import Value


class Measured(Value):
    """Surprises whose bound on being true was at least ``least``, up to the next one's."""

    least: float
    listed: int
    true: int

    @property
    def share(self) -> float:
        """The share that was true, by the rule of succession: never 0 or 1."""
        return (self.true + 1) / (self.listed + 2)


class Reliability(Value):
    """Measured steps, from low to high. Without any, a bound stands for itself."""

    steps: tuple[Measured, ...] = ()

    def of(self, sure: float) -> float:
        """What was measured of surprises with this bound; below all that was measured, the lower of both."""
        fitting = [step for step in self.steps if step.least <= sure]
        if fitting:
            return max(step.share for step in fitting)
        return min([sure, *(step.share for step in self.steps)])


@cache
def measured() -> Reliability:
    """The table that is shipped."""
    text = resources.files("lexsi_ds.insights").joinpath("reliability.yaml").read_text(encoding="utf-8")
    return Reliability.model_validate({"steps": yaml.safe_load(text)["steps"]})
