"""A confidence says what was measured, never what a bound claims."""

from __future__ import annotations

from bench.surprises import Judged, reliability
from lexsi_ds.insights.reliability import Measured, Reliability, measured


def test_a_confidence_is_the_measured_share_of_its_step_and_never_falls() -> None:
    table = Reliability(steps=(Measured(least=0.9, listed=98, true=49), Measured(least=0.99, listed=998, true=949)))
    assert table.of(0.95) == 0.5 and table.of(0.999) == 0.95
    assert table.of(0.3) == 0.3, "below all that was measured it says no more than the bound"
    assert Reliability().of(0.7) == 0.7
    shipped = measured()
    shares = [step.share for step in shipped.steps]
    assert shares == sorted(shares) and all(step.listed >= 30 for step in shipped.steps) and 0.9 < shares[-1] < 1
    assert shipped.of(0.985) < 0.9, "what the bound calls 98% sure is true less often"


def test_steps_are_made_of_what_was_listed_and_leave_out_what_is_out_of_reach() -> None:
    pool = [Judged("planted", 0.2, 0.85, i % 2 == 0) for i in range(40)]
    pool += [Judged("planted", 0.2, 0.97, i % 10 > 0) for i in range(40)]
    pool += [Judged("planted", 0.2, 0.9999, i % 4 > 0) for i in range(40)] + [Judged("clustered", 0.0, 0.9999, False)] * 99
    steps = reliability(pool)
    assert sum(s["listed"] for s in steps) == 120 and sum(s["true"] for s in steps) == 20 + 36 + 30
    shares = [s["true"] / s["listed"] for s in steps]
    assert shares == sorted(shares) and all(s["listed"] >= 30 for s in steps)
