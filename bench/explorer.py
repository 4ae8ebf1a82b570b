"""The explorer's first view of a 10,000-row model beside the start of explainerdashboard on the same booster and rows.

    python -m bench.explorer --theirs FOLDER_OF_ITS_ENVIRONMENT/bin/python

explainerdashboard needs numpy below 2.4, so it runs in an environment of its own (`python -m venv`, `pip install
explainerdashboard==0.5.8 xgboost-cpu "numpy<2.4"`). Ours: the page is opened and drawn until its beeswarm, its case and the
similar cases are there, nothing kept on disk before. Theirs: from the fitted model in memory to a dashboard that could be
served. Neither side counts its imports. One thread a fit or explanation on both sides. Goal: 20 times sooner.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from bench.main import say

ROWS, COLUMNS = 10_000, 23
GOAL = 20
_THEIRS = """
import sys, time
import numpy as np, pandas as pd
from explainerdashboard import ClassifierExplainer, ExplainerDashboard
from xgboost import XGBClassifier
kept = np.load(sys.argv[2])
x = pd.DataFrame(kept["x"], columns=[f"x{i:02}" for i in range(kept["x"].shape[1])])
model = XGBClassifier(n_jobs=1)
model.load_model(sys.argv[1])
began = time.perf_counter()
ExplainerDashboard(ClassifierExplainer(model, x, pd.Series(kept["y"])))
print("SECONDS", time.perf_counter() - began)
"""


def model_of(app: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """A model of ROWS x COLUMNS by the recipe of the product, with the rows that trained it."""
    from lexsi_ds.models.task import FeatureDef, TaskSpec

    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS))
    margin = x[:, 0] + 0.8 * x[:, 1] * x[:, 2] + np.sin(2 * x[:, 3]) - 1.0
    y = (rng.random(ROWS) < 1 / (1 + np.exp(-margin))).astype(int)
    names = [f"x{i:02}" for i in range(COLUMNS)]
    task = TaskSpec(
        title="bench", question="", task_type="classification", target_column="y", target_label="event", positive_meaning="1",
        entity_column="id", entity_table="t", entity_label="row", known_meaning="", unknown_meaning="", context_sql="",
        predict_sql="", features=tuple(FeatureDef(name=n, label=n, kind="numeric") for n in names),
    )  # fmt: skip
    frame = pd.DataFrame(x, columns=names).assign(id=np.arange(ROWS), y=y)
    ref, card = app.engine.train(frame, task, model_type="XGBoost")
    app.models.register(app.person(), ref, card, None)
    return ref, x, y


def ours(app: Any, model_id: str) -> tuple[float, float]:
    """Seconds until the page stands with its skeletons, and until all that it opens with is drawn."""
    from streamlit.testing.v1 import AppTest

    with patch("lexsi_ds.application.get_application", lambda: app):
        at = AppTest.from_file(str(Path(__file__).parents[1] / "app.py"), default_timeout=120)
        at.run()
        at.query_params["model"] = model_id
        at.switch_page("pages/4_XAI_explorer.py")
        began = time.perf_counter()
        at.run()
        painted = time.perf_counter() - began
        while len(at.get("plotly_chart")) < 2 or len(at.dataframe) < 2:
            if at.exception or at.error or time.perf_counter() - began > 300:
                raise SystemExit(f"the explorer was not drawn: {at.exception or at.error}")
            time.sleep(0.05)
            at.run()
        return painted, time.perf_counter() - began


def theirs(python: Path, booster: Path, folder: Path, x: np.ndarray, y: np.ndarray) -> float:
    """Seconds that explainerdashboard takes from the model to a dashboard."""
    rows = folder / "rows.npz"
    np.savez(rows, x=x, y=y)
    done = subprocess.run(
        [str(python), "-c", _THEIRS, str(booster), str(rows)], capture_output=True, text=True, timeout=1_800, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("SECONDS")]
    if done.returncode or not lines:
        raise SystemExit(f"explainerdashboard did not start: {done.stderr[-2000:]}")
    return float(lines[0].split()[1])


def main() -> None:
    """Both, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--theirs", type=Path, required=True, help="python of the environment that has explainerdashboard")
    args = parser.parse_args()
    from lexsi_ds.application import Application
    from lexsi_ds.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        app = Application(Settings(home=Path(folder) / "home"))
        try:
            ref, x, y = model_of(app)
            painted, whole = ours(app, ref.id)
        finally:
            app.close()
        other = theirs(args.theirs, ref.folder / "model.json", Path(folder), x, y)
    say(f"the explorer of {ROWS:,} x {COLUMNS}, page with skeletons", f"{painted:.2f} s", "first paint under 1.5 s")
    say("  with beeswarm, case and similar cases, nothing kept", f"{whole:.1f} s", "")
    say("  explainerdashboard, the same booster and rows", f"{other:.1f} s", f"{other / whole:.1f} times, goal {GOAL}")


if __name__ == "__main__":
    main()
