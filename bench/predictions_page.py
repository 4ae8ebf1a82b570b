"""A page of 1,000,000 predictions against the same page of 1,000: first, deep, by another column, searched, filtered.

Run: python -m bench.predictions_page. Prints the medians of paired calls, A B A B …, through the service that the page calls.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
ROWS = int(os.environ.get("BENCH_PREDICTIONS", "1000000"))
FEW = 1_000
PAIRS = int(os.environ.get("BENCH_PAGE_PAIRS", "60"))


def _scored(folder: Path, rows: int):
    import numpy as np
    import pandas as pd

    from lexsi_ds.ids import new_id
    from lexsi_ds.models.engine import Predictions
    from lexsi_ds.models.frames import write_frame

    rng = np.random.default_rng(7)
    probability = rng.random(rows)
    rank = np.empty(rows, dtype="int64")
    rank[np.argsort(-probability, kind="stable")] = np.arange(1, rows + 1)
    frame = pd.DataFrame({
        "loan_id": np.arange(rows), "rank": rank, "segment": "ranked", "prediction": (probability >= 0.5).astype("int64"),
        "probability": probability, "probability_low": probability * 0.9, "probability_high": probability, "rank_low": rank,
        "rank_high": rank, "top_share": 0.1, "scored": "model", "status": rng.choice(["A", "B", "C", "D"], rows),
        "amount": rng.normal(1e5, 2e4, rows).round(), "city": rng.choice([f"city {i}" for i in range(500)], rows),
        "granted": pd.Timestamp("1994-01-01") + pd.to_timedelta(rng.integers(0, 2000, rows), unit="D"),
    })
    path = folder / f"{new_id('prd')}.arrow"
    write_frame(frame, path)
    return Predictions(path=path, rows=rows, ranked=rows, top_overlap=0.5)


def ratios() -> dict[str, tuple[float, float]]:
    """Milliseconds of a page of many rows and of few, by what is asked."""
    from lexsi_ds.services.access import LOCAL
    from lexsi_ds.services.models import Models
    from lexsi_ds.store.db import Store
    from tests.services.cards import card, trained

    with tempfile.TemporaryDirectory(prefix="lexsi-page-") as name:
        home = Path(name)
        store = Store(f"sqlite:///{home / 'store.sqlite'}")
        store.migrate()
        models, made = Models(store, home), card()
        models.register(LOCAL, trained(home, made), made, None)
        began = time.perf_counter()
        many = models.save_predictions(LOCAL, made.id, _scored(home, ROWS), None, "s")
        print(f"{ROWS:,} rows made and written in {time.perf_counter() - began:.1f} s", flush=True)
        few = models.save_predictions(LOCAL, made.id, _scored(home, FEW), None, "s")

        def call(predictions_id: str, rows: int, **ask: Any) -> float:
            deep = ask.pop("deep", False)
            began = time.perf_counter()
            models.page(LOCAL, predictions_id, offset=rows // 2 if deep else 0, limit=50, **ask)
            return (time.perf_counter() - began) * 1e3

        asks: dict[str, dict[str, Any]] = {
            "first page": {}, "deep page": {"deep": True}, "by amount": {"sort": "amount", "descending": True},
            "by amount, deep": {"sort": "amount", "deep": True}, "searched": {"search": "city 77"},
            "filtered": {"filters": {"status": "D"}}, "filtered, by city": {"filters": {"status": "D"}, "sort": "city"},
        }
        found = {}
        for what, ask in asks.items():
            first = call(many, ROWS, **ask)
            call(few, FEW, **ask)
            pairs = [(call(many, ROWS, **ask), call(few, FEW, **ask)) for _ in range(PAIRS)]
            found[what] = (statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs))
            print(f"{what:20} the first time it is asked of {ROWS:,}: {first:.0f} ms", flush=True)
        case = [models_case(models, many, i) for i in range(0, ROWS, ROWS // 20)]
        print(f"{'one case by its id':20} {statistics.median(case):.1f} ms of {ROWS:,}", flush=True)
        store.close()
        return found


def models_case(models: Any, predictions_id: str, case: int) -> float:
    """Milliseconds to find one case."""
    from lexsi_ds.services.access import LOCAL

    began = time.perf_counter()
    models.case(LOCAL, predictions_id, str(case))
    return (time.perf_counter() - began) * 1e3


def main() -> None:
    """Print the ratios."""
    for what, (many, few) in ratios().items():
        print(f"{what:20} {many:7.2f} ms / {few:7.2f} ms = {many / few:5.2f}   at most 1.20", flush=True)


if __name__ == "__main__":
    main()
