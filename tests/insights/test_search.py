"""Surprises on tables of known truth: what is planted is found with its size, and noise is left alone."""

from __future__ import annotations

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import pytest

from lexsi_ds.data.handle import Column
from lexsi_ds.insights.additive import _PRIOR, residuals
from lexsi_ds.insights.coding import PairTable
from lexsi_ds.insights.multiple import confidence, null_share, q_values
from lexsi_ds.insights.search import search
from lexsi_ds.insights.surprise import Measure, Search


def searched(frame: pd.DataFrame, measure: Measure, **marks: dict[str, bool]) -> Search:
    con = duckdb.connect()
    con.register("given", frame)
    con.execute("CREATE TABLE data AS SELECT * FROM given")
    types = dict(con.execute("SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'data'").fetchall())
    columns = [
        Column(name=n, type=types[n], distinct=frame[n].nunique(), nulls=int(frame[n].isna().sum()), **marks.get(n, {}))
        for n in frame.columns
    ]
    return search(con, "data", columns, [measure], len(frame))


def table(rows: int = 40_000, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "region": rng.choice(["North", "South", "East", "it's \x22West\x22"], rows),
        "plan": rng.choice(["basic", "plus", "pro"], rows),
        "age": rng.integers(18, 90, rows),
        "team": rng.choice(["a", "b", "c", "d", "e"], rows),
    })
    frame["spend"] = rng.normal(100, 10, rows) + 5 * (frame.region == "North") + 8 * (frame.plan == "pro")
    return frame


SPEND = Measure(column="spend", sql='"spend"')


def share_of(column: str) -> Measure:
    return Measure(column=column, sql=f"(\"{column}\" = 'yes')::INTEGER::DOUBLE", binary=True, value="yes")


def test_noise_and_effects_of_single_columns_are_no_surprise() -> None:
    found = searched(table(), SPEND)
    assert found.surprises == ()
    assert found.tests > 50


def test_a_planted_pair_is_found_with_its_size_and_nothing_beside_it() -> None:
    frame = table(seed=1)
    hit = (frame.region == 'it\'s "West"') & (frame.plan == "plus")
    frame.loc[hit, "spend"] += 4
    found = searched(frame, SPEND)
    (only,) = found.surprises
    assert {(s.column, s.level) for s in only.sides} == {("region", 'it\'s "West"'), ("plan", "plus")}
    assert only.n == int(hit.sum())
    assert only.low < 4 < only.high
    assert only.effect == pytest.approx(4, abs=0.8)
    assert only.observed == pytest.approx(frame[hit].spend.mean())
    assert only.q <= 0.05 < 0.99 < only.confidence < 1


def test_the_queries_of_a_surprise_give_its_figures_again() -> None:
    frame = table()
    hit = (frame.age >= 79) & (frame.team == "c")
    frame.loc[hit, "spend"] += 6
    found = searched(frame, SPEND)
    (first, *_) = found.surprises
    con = duckdb.connect()
    con.register("dataset", frame)
    rows = con.execute(first.rows_sql).df()
    assert len(rows) == first.n
    assert rows.spend.mean() == pytest.approx(first.observed)
    again = con.execute(first.sql).df()
    assert ((again.n == first.n) & np.isclose(again.observed, first.observed)).sum() == 1


def test_a_share_is_measured_in_points() -> None:
    frame = table(60_000)
    rng = np.random.default_rng(5)
    rate = 0.2 + 0.05 * (frame.plan == "pro") + 0.12 * ((frame.region == "East") & (frame.team == "b"))
    frame["left"] = np.where(rng.random(len(frame)) < rate, "yes", "no")
    found = searched(frame.drop(columns="spend"), share_of("left"))
    (only,) = found.surprises
    assert only.effect == pytest.approx(0.12, abs=0.03)
    assert "percentage points higher" in only.sentence and "the share of left = yes" in only.sentence


def test_a_group_that_drifts_is_a_trend_shift_and_the_others_fall_is_not_said_too() -> None:
    frame = table(60_000)
    rng = np.random.default_rng(8)
    month = rng.integers(0, 24, len(frame))
    frame["day"] = [dt.date(2022 + int(m) // 12, 1 + int(m) % 12, 10) for m in month]
    frame.loc[frame.team == "d", "spend"] += 6 * (month[frame.team == "d"] / 23 - 0.5)
    found = searched(frame, SPEND)
    (only,) = [s for s in found.surprises if s.kind == "trend_shift"]
    assert [s.level for s in only.sides] == ["d"]
    assert only.low < 6 < only.high and "rises against the other rows" in only.sentence
    assert "January 2022 to December 2023" in only.sentence
    assert not [s for s in found.surprises if s.kind == "unexpected_effect" and "day" in {x.column for x in s.sides}]


def test_a_shock_that_lasts_some_periods_is_not_a_trend_of_many_rows() -> None:
    """Rows of a month share its shock, so a random walk of monthly shocks must not look like a sure trend."""
    flagged = 0
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        frame = table(20_000, seed)
        month = rng.integers(0, 24, len(frame))
        frame["day"] = [dt.date(2022 + int(m) // 12, 1 + int(m) % 12, 10) for m in month]
        shocks = rng.normal(0, 1.5, 24)
        frame.loc[frame.team == "a", "spend"] += shocks[month[frame.team == "a"]]
        flagged += any(s.kind == "trend_shift" for s in searched(frame, SPEND).surprises)
    assert flagged <= 3


def test_rows_far_off_that_pile_up_in_one_group_are_said() -> None:
    frame = table()
    rng = np.random.default_rng(4)
    odd = (frame.team == "e") & (rng.random(len(frame)) < 0.05)
    frame.loc[odd, "spend"] += rng.choice([-60, 60], int(odd.sum()))
    found = searched(frame, SPEND)
    anomalies = [s for s in found.surprises if s.kind == "concentrated_anomaly"]
    assert [s.sides[0].level for s in anomalies] == ["e"]
    assert anomalies[0].observed > 3 * anomalies[0].expected


def test_a_difference_that_turns_round_within_levels_is_a_simpson_reversal() -> None:
    """The classic table of two treatments of kidney stones (Charig and others, 1986), thirty times as large."""
    counts = [("A", "small", 81, 6), ("A", "large", 192, 71), ("B", "small", 234, 36), ("B", "large", 55, 25)]
    rows = [(t, s, cured) for t, s, yes, no in counts for cured, times in (("yes", yes), ("no", no)) for _ in range(times * 30)]
    frame = pd.DataFrame(rows, columns=["treatment", "stone", "cured"])
    found = searched(frame, share_of("cured"))
    (only,) = [s for s in found.surprises if s.kind == "simpson_reversal"]
    assert only.observed == pytest.approx(273 / 350 - 289 / 350)  # A is worse over all rows
    assert only.effect == pytest.approx(0.058, abs=0.005)  # and better at equal stones
    assert "4.6 percentage points lower where treatment is A than where treatment is B" in only.sentence


def test_identifiers_masked_columns_and_twins_are_left_out_and_said() -> None:
    frame = table(5_000)
    frame["row"] = range(len(frame))
    frame["name"] = [f"n{i}" for i in range(len(frame))]
    frame["zone"] = frame.region.str.upper()
    frame["ssn"] = frame.team
    found = searched(frame, SPEND, ssn={"masked": True})
    assert set(found.dimensions) == {"region", "plan", "age", "team"}
    said = " ".join(found.notes)
    assert all(words in said for words in ("row is left out", "name is left out", "zone is left out: it says the same as region",
                                           "ssn is left out: it is masked"))


def test_missing_values_infinities_and_odd_names_are_no_obstacle() -> None:
    frame = table(8_000)
    frame["a{look}\x22b"] = frame.pop("team")
    frame.loc[::3, "region"] = None
    frame.loc[::50, "spend"] = np.nan
    frame.loc[::70, "spend"] = np.inf
    found = searched(frame, SPEND)
    assert 'a{look}"b' in found.dimensions and found.tests > 0


def test_residuals_and_errors_equal_weighted_least_squares_row_by_row() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 3_000), rng.integers(0, 4, 3_000)
    a[:1500] = np.minimum(b[:1500], 2)  # dependent columns
    y = rng.normal(0, 1 + a, 3_000)
    sums = [np.zeros((3, 4)) for _ in range(3)]
    for i, j, v in zip(a, b, y, strict=True):
        for total, its in zip(sums, (1, v, v * v), strict=True):
            total[i, j] += its
    found = residuals(PairTable(sums[0], sums[1], sums[2], sums[1], sums[2]), min_rows=1, binary=False)
    design = np.hstack([np.eye(3)[a], np.eye(4)[b]])
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    hat = design @ np.linalg.pinv(design)
    for i, j in ((0, 3), (2, 2), (1, 1)):
        cell = (a == i) & (b == j)
        assert found.left[i, j] == pytest.approx((y - fitted)[cell].mean(), abs=1e-9)
        weights = (cell / cell.sum()) @ (np.eye(len(y)) - hat)
        means = sums[1] / sums[0]
        within = sums[2] - sums[0] * means**2
        variance = (within + _PRIOR * within.sum() / (len(y) - 12)) / (sums[0] - 1 + _PRIOR)
        exact = np.sqrt((weights**2) @ variance[a, b])
        share = 1 - hat[cell][:, cell].sum() / cell.sum()
        assert found.error[i, j] == pytest.approx(exact / share, rel=1e-6)


def test_q_values_are_benjamini_and_hochbergs() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005, 0.5])
    assert q_values(p) == pytest.approx([0.025, 0.05, 0.05, 0.025, 0.5])


def test_confidence_is_a_bound_on_the_local_false_discovery_rate_and_not_one_minus_q() -> None:
    assert null_share(np.linspace(0.01, 0.99, 99)) == 0.95
    assert confidence(0.05, 0.5) == pytest.approx(1 - 0.4072 / 1.4072, abs=1e-3)  # Sellke and others: B(.05) is .407
    assert confidence(0.9, 0.8) == pytest.approx(0.2)
