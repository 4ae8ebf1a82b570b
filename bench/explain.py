"""How fast explanations are, against the shap package in the same run: `python -m bench.explain`. Prints ratios and seconds.

The shap package explains a sample of the rows and its time is scaled by rows, since its cost a row does not depend on how
many there are (and all of them would take half an hour); the report says so. One thread on both sides.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import shap
import xgboost as xgb

from bench.main import say, timed
from lexsi_ds.explain import shap_values, tree_shap
from lexsi_ds.models.estimators import Boosted

ROWS = int(os.environ.get("BENCH_EXPLAIN_ROWS", "100000"))
COLUMNS = int(os.environ.get("BENCH_EXPLAIN_COLUMNS", "50"))
TREES = int(os.environ.get("BENCH_EXPLAIN_TREES", "300"))
SAMPLE = int(os.environ.get("BENCH_EXPLAIN_SAMPLE", "2000"))


def boosted(columns: int, trees: int, depth: int, rows: int) -> tuple[Boosted, np.ndarray]:
    """A binary model with interactions and gaps, and its rows."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, columns))
    signal = x[:, 0] + x[:, 1] * x[:, 2] + np.sin(2 * x[:, 3]) + 0.5 * x[:, 4] * x[:, 5]
    y = (rng.random(rows) < 1 / (1 + np.exp(-signal))).astype(float)
    x[rng.random(x.shape) < 0.02] = np.nan
    settings = {"objective": "binary:logistic", "max_depth": depth, "eta": 0.1, "nthread": 1, "max_bin": 256}
    fitted = xgb.train(settings, xgb.DMatrix(x[:50_000], y[:50_000], nthread=1), trees)
    fitted.set_param({"nthread": 1})
    return Boosted(fitted), x


def bench_contributions() -> None:
    """Contributions of ROWS x COLUMNS rows: ours against shap.TreeExplainer on SAMPLE of them, scaled."""
    model, x = boosted(COLUMNS, TREES, 6, ROWS)
    found: list[np.ndarray] = []
    ours = timed(lambda: found.append(shap_values.estimator_values(model, x)[1]))
    explainer = shap.TreeExplainer(model.booster)
    expected: list[np.ndarray] = []
    sample = timed(lambda: expected.append(explainer.shap_values(x[:SAMPLE])))
    theirs = sample * len(x) / SAMPLE
    gap = float(np.abs(found[0][:SAMPLE] - expected[0]).max())
    say(f"SHAP of {len(x):,} x {COLUMNS}, {TREES} trees of depth 6", f"{ours:.1f} s", f"largest difference {gap:.1g}")
    say(f"  shap.TreeExplainer, {SAMPLE:,} rows scaled to {len(x):,}", f"{theirs:.1f} s", f"{theirs / ours:.1f} times, goal 10")


def bench_crossover() -> None:
    """From how many rows on woodelf is faster than the library itself, for some sizes of model."""
    for trees, depth in ((150, 3), (200, 5), (300, 6)):
        model, x = boosted(30, trees, depth, 20_000)
        base = tree_shap.base_of(model.booster, 30)
        few, many = x[:200], x[:10_000]
        own = timed(lambda: model.contributions(few)) / 200  # noqa: B023
        first = timed(lambda: tree_shap.woodelf_values(model.booster, few, model.margin(few), base))  # noqa: B023
        second = timed(lambda: tree_shap.woodelf_values(model.booster, many, model.margin(many), base))  # noqa: B023
        slope = max(0.0, (second - first) / 9_800)
        at = (first - 200 * slope) / max(1e-9, own - slope)
        say(f"crossover, {trees} trees of depth {depth}", f"{at:,.0f} rows", f"used from {tree_shap.CROSSOVER_ROWS:,} on")


def bench_interactions() -> None:
    """Interactions of 2,000 rows: ours against shap on 60 of them, scaled."""
    model, x = boosted(30, 100, 6, 20_000)
    groups, rows = np.arange(30), x[:2_000]
    found: list[np.ndarray] = []
    ours = timed(lambda: found.append(tree_shap.woodelf_pairs(model.booster, rows, groups)))
    explainer = shap.TreeExplainer(model.booster)
    expected: list[np.ndarray] = []
    theirs = timed(lambda: expected.append(np.asarray(explainer.shap_interaction_values(rows[:60])))) * 2_000 / 60
    gap = float(np.abs(found[0][:60] - expected[0]).max())
    say("interactions of 2,000 x 30, 100 trees of depth 6", f"{ours:.1f} s", f"largest difference {gap:.1g}")
    say("  shap.TreeExplainer, 60 rows scaled to 2,000", f"{theirs:.1f} s", f"{theirs / ours:.1f} times, goal 10")


def bench_case_switch(home: Path) -> None:
    """Server time from asking for another case to having it: not kept yet, and kept."""
    from lexsi_ds.application import Application
    from lexsi_ds.models.task import FeatureDef, TaskSpec
    from lexsi_ds.settings import Settings

    rng = np.random.default_rng(0)
    names = [f"x{i:02}" for i in range(20)]
    frame = pd.DataFrame(rng.normal(size=(10_000, 20)), columns=names).assign(id=range(10_000))
    frame["y"] = (rng.random(10_000) < 1 / (1 + np.exp(-frame["x00"] - frame["x01"]))).astype(int)
    task = TaskSpec(
        title="bench", question="", task_type="classification", target_column="y", target_label="y", positive_meaning="1",
        entity_column="id", entity_table="t", entity_label="row", known_meaning="", unknown_meaning="", context_sql="",
        predict_sql="", features=tuple(FeatureDef(name=n, label=n, kind="numeric") for n in names),
    )  # fmt: skip
    app = Application(Settings(home=home))
    try:
        ref, card = app.engine.train(frame, task, model_type="XGBoost")
        kept = app.models.register(app.person(), ref, card, None)
        new = frame.assign(id=frame["id"] + 100_000)
        app.explanations.keep_rows(app.person(), kept.id, new)
        app.explanations.case(app.person(), kept.id, "100000")
        cold, warm = [], []
        for case in range(100_001, 100_021):
            for times in (cold, warm):
                began = time.perf_counter()
                app.explanations.case(app.person(), kept.id, str(case))
                times.append(time.perf_counter() - began)
        say("another case of 10,000, not kept yet (median of 20)", f"{1000 * np.median(cold):.0f} ms", "at most 200 ms")
        say("  the same once kept", f"{1000 * np.median(warm):.1f} ms", "at most 200 ms")
        seconds = timed(lambda: app.explanations.overall(app.person(), kept.id))
        say("the explorer's first view of 10,000 rows, not kept yet", f"{seconds:.1f} s", "explainerdashboard starts in 104 s")
    finally:
        app.close()


def main() -> None:
    """All of it."""
    bench_contributions()
    bench_crossover()
    bench_interactions()
    with tempfile.TemporaryDirectory() as home:
        bench_case_switch(Path(home))


if __name__ == "__main__":
    main()
