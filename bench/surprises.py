"""Surprises on data of known truth: how many planted effects are found, and how many discoveries are false.

    python -m bench.surprises [--seeds 200] [--rows 200000] [--family NAME ...] [--effect 0.2 ...]

Every family draws ten columns of eight levels with main effects of their own. Recall is the share of planted cells that are
found; the false discovery rate is the mean over data sets of the share of discoveries that are not true, with its 95%
interval; "any" is the share of data sets with a false one. Seeds from 0 were used while building; figures are of seeds from
100,000. ``--scale`` times five million rows. ``--pool`` keeps what was listed, ``--write`` makes the reliability table of it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
import yaml

from lexsi_ds.data.handle import Column
from lexsi_ds.insights.coding import Coded
from lexsi_ds.insights.dimensions import dimensions
from lexsi_ds.insights.effects import family as cells_of
from lexsi_ds.insights.hypotheses import Scene
from lexsi_ds.insights.reliability import Reliability
from lexsi_ds.insights.search import search
from lexsi_ds.insights.surprise import Measure, Surprise

COLUMNS, LEVELS, PLANTED, FIRST_SEED = 10, 8, 5, 100_000
_Y = Measure(column="y", sql="y")


@dataclass
class World:
    """A data set and what is true of it."""

    codes: np.ndarray
    y: np.ndarray
    mean: np.ndarray
    """What ``y`` is without its noise."""
    planted: set[frozenset[tuple[int, int]]] = field(default_factory=set)
    uneven: bool = False
    """Whether the noise's size goes with the first column, so that rows far off are concentrated there in truth."""


class Judged(NamedTuple):
    """Something that was listed, and whether it is true."""

    family: str
    effect: float
    sure: float
    true: bool


def draw(name: str, seed: int, rows: int, effect: float) -> World:
    """One data set of a family."""
    rng = np.random.default_rng(FIRST_SEED + seed)
    codes = rng.integers(0, LEVELS, (rows, COLUMNS))
    if name in ("correlated", "null_correlated"):
        for copy, original in ((1, 0), (5, 4), (9, 2)):
            same = rng.random(rows) < 0.5
            codes[same, copy] = codes[same, original]
    effects = rng.normal(0, 0.3, (COLUMNS, LEVELS))
    mean = effects[np.arange(COLUMNS), codes].sum(axis=1)
    planted: set[frozenset[tuple[int, int]]] = set()
    if not name.startswith("null") and name != "clustered":
        while len(planted) < PLANTED:
            a, b = rng.choice(COLUMNS, 2, replace=False)
            cell = frozenset({(int(a), int(rng.integers(LEVELS))), (int(b), int(rng.integers(LEVELS)))})
            hit = np.all([codes[:, c] == level for c, level in cell], axis=0)
            if cell not in planted and hit.sum() >= 200:
                planted.add(cell)
                mean = mean + effect * hit * rng.choice([-1, 1])
    y = mean + _NOISE.get(name, _plain)(rng, codes)
    if name == "missing":
        codes = np.where(rng.random(codes.shape) < 0.1, LEVELS, codes)
        y = np.where(rng.random(rows) < 0.1, np.nan, y)
    return World(codes, y, mean, planted, name.endswith("uneven"))


def _plain(rng: np.random.Generator, codes: np.ndarray) -> np.ndarray:
    return rng.normal(0, 1, len(codes))


def _heavy(rng: np.random.Generator, codes: np.ndarray) -> np.ndarray:
    return rng.standard_t(4, len(codes)) / np.sqrt(2)


def _uneven(rng: np.random.Generator, codes: np.ndarray) -> np.ndarray:
    return rng.normal(0, 1, len(codes)) * (0.4 + 0.25 * codes[:, 0])


def _clustered(rng: np.random.Generator, codes: np.ndarray) -> np.ndarray:
    """Rows of a household share three of their columns and a shock."""
    house = rng.integers(0, len(codes) // 50, len(codes))
    for column in (0, 1, 2):
        codes[:, column] = rng.integers(0, LEVELS, house.max() + 1)[house]
    return rng.normal(0, 0.5, house.max() + 1)[house] + rng.normal(0, 0.87, len(codes))


_NOISE: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "heavy": _heavy, "null_heavy": _heavy, "uneven": _uneven, "null_uneven": _uneven, "clustered": _clustered,
}
FAMILIES = ("null", "null_heavy", "null_correlated", "null_uneven", "planted", "heavy", "correlated", "uneven", "missing",
            "clustered")
TABLE = Path(__file__).resolve().parent.parent / "lexsi_ds" / "insights" / "reliability.yaml"
OUT_OF_REACH = {"clustered": "rows of a cluster share their noise; the page says so where an identifier repeats"}


def load(world: World) -> tuple[duckdb.DuckDBPyConnection, list[Column]]:
    """The data set in DuckDB."""
    frame = pd.DataFrame({f"c{i}": world.codes[:, i].astype("int16") for i in range(COLUMNS)} | {"y": world.y})
    for i in range(COLUMNS):
        frame[f"c{i}"] = frame[f"c{i}"].where(frame[f"c{i}"] < LEVELS).astype("Int16")
    con = duckdb.connect(config={"threads": 2})
    con.register("given", frame)
    con.execute("CREATE TABLE data AS SELECT * FROM given")
    con.unregister("given")
    columns = [Column(name=f"c{i}", type="SMALLINT", distinct=LEVELS, nulls=int(frame[f"c{i}"].isna().sum()))
               for i in range(COLUMNS)]
    return con, [*columns, Column(name="y", type="DOUBLE", distinct=len(frame))]


def true(world: World, found: Surprise) -> bool:
    """Whether a surprise is one of the world's."""
    if found.kind == "simpson_reversal":
        return _reversed(world, found)
    if found.kind == "concentrated_anomaly":
        return world.uneven and found.sides[0].column == "c0"
    key = frozenset((int(s.column[1:]), int(s.level)) for s in found.sides if s.level != "missing")
    return key in world.planted


def _reversed(world: World, found: Surprise) -> bool:
    """Whether the noise-free means turn round as well: the mean difference of the two groups and its sign in each level of a
    column that does it."""
    first, second = found.sides
    column = int(first.column[1:])
    one, two = (world.codes[:, column] == int(s.level) for s in (first, second))
    overall = world.mean[one].mean() - world.mean[two].mean()
    for other in range(COLUMNS):
        if other == column:
            continue
        parts = [(one & (world.codes[:, other] == k), two & (world.codes[:, other] == k)) for k in range(LEVELS)]
        parts = [(a, b) for a, b in parts if a.sum() >= 20 and b.sum() >= 20]
        weights = np.array([a.sum() * b.sum() / (a.sum() + b.sum()) for a, b in parts])
        inside = np.array([world.mean[a].mean() - world.mean[b].mean() for a, b in parts])
        if weights @ inside * overall < 0:
            return True
    return False


def uncorrected(con: duckdb.DuckDBPyConnection, columns: list[Column], world: World) -> tuple[int, int]:
    """(discoveries, true ones) of every cell with p < .05."""
    rows = len(world.y)
    dims, _ = dimensions(con, "data", columns[:-1], rows, 20)
    coded = Coded(con, "data", dims)
    coded.load([_Y])
    scene = Scene(coded, dims, _Y, 0, 200, coded.take(0))
    hits = [t for a in range(len(dims)) for b in range(a + 1, len(dims))
            for t in cells_of(scene, a, b, coded.pair(a, b)) if t.p < 0.05]
    keys = [frozenset((d, int(dims[d].sides[k].level)) for d, k in t.key if dims[d].sides[k].level != "missing") for t in hits]
    return len(hits), sum(k in world.planted for k in keys)


def measure(name: str, seeds: int, rows: int, effect: float, pool: list[Judged]) -> str:
    """One line of the table; how sure each of what was found is, and whether it is true, go to ``pool``."""
    shares, any_false, recall, seconds, naive, count = [], 0, [], [], [], 0
    for seed in range(seeds):
        world = draw(name, seed, rows, effect)
        con, columns = load(world)
        started = time.perf_counter()
        found = search(con, "data", columns, [_Y], rows, reliability=Reliability()).surprises
        seconds.append(time.perf_counter() - started)
        right = [true(world, s) for s in found]
        pool += [Judged(name, effect, s.confidence, its) for s, its in zip(found, right, strict=True)]
        shares.append(1 - sum(right) / len(right) if right else 0.0)
        any_false += sum(right) < len(right)
        count += len(right)
        if world.planted:
            cells = {frozenset((int(x.column[1:]), int(x.level)) for x in s.sides if x.level != "missing")
                     for s in found if s.kind == "unexpected_effect"}
            recall.append(len(cells & world.planted) / len(world.planted))
        if seed < 5:
            hits, good = uncorrected(con, columns, world)
            naive.append(1 - good / hits if hits else 0.0)
        con.close()
    wide = 1.96 * np.std(shares) / np.sqrt(seeds)
    seen = f"{np.mean(recall):.3f}" if recall else "-"
    return (f"| {name} | {effect if recall else 0:.2f} | {seen} | {np.mean(shares):.3f} ± {wide:.3f} | {any_false / seeds:.3f} | "
            f"{count / seeds:.1f} | {np.mean(naive):.3f} | {np.median(seconds):.2f} |")


STEPS = (0.0, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999)
_FEWEST = 30


def reliability(pool: list[Judged]) -> list[dict[str, float]]:
    """Steps of at least thirty surprises whose share of true ones does not fall: neighbours that would are taken together."""
    inside = [j for j in pool if j.family not in OUT_OF_REACH]
    bounds = [*STEPS, 2.0]
    steps: list[list[float]] = []
    for low, high in pairwise(bounds):
        mine = [j.true for j in inside if low <= j.sure < high]
        steps.append([low, len(mine), sum(mine)])
        while len(steps) > 1 and (steps[-2][1] < _FEWEST or steps[-1][1] < _FEWEST or _share(steps[-2]) > _share(steps[-1])):
            if steps[-1][1] < _FEWEST and steps[-2][1] >= _FEWEST and high < 2:
                break
            last = steps.pop()
            steps[-1] = [steps[-1][0], steps[-1][1] + last[1], steps[-1][2] + last[2]]
    return [{"least": low, "listed": int(n), "true": int(right)} for low, n, right in steps if n]


def _share(step: list[float]) -> float:
    return step[2] / step[1] if step[1] else 0.0


def write_reliability(pool: list[Judged], seeds: int) -> None:
    """The table that confidences on screen are read from."""
    head = f"# Written by bench.surprises, {seeds} seeds of each family in reach: how sure a search was, how many were true.\n"
    TABLE.write_text(head + yaml.safe_dump({"steps": reliability(pool)}, sort_keys=False), encoding="utf-8")


def scale(rows: int) -> str:
    """Seconds of one search over many rows."""
    world = draw("planted", 0, rows, 0.06)
    con, columns = load(world)
    started = time.perf_counter()
    found = search(con, "data", columns, [_Y], rows)
    return f"{rows:,} rows by {COLUMNS} columns: {time.perf_counter() - started:.1f} s, {found.tests:,} tests, " \
           f"{len(found.surprises)} surprises"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--family", action="append", choices=FAMILIES)
    parser.add_argument("--effect", type=float, action="append")
    parser.add_argument("--scale", type=int, default=0, help="rows of one search to time, instead of the tables")
    parser.add_argument("--pool", type=Path, help="a file for what was listed: family, effect, how sure, whether true")
    parser.add_argument("--write", action="store_true", help="write the reliability table from --pool, and measure nothing")
    given = parser.parse_args()
    if given.write:
        write_reliability([Judged(*json.loads(line)) for line in given.pool.read_text().splitlines()], given.seeds)
        return
    if given.scale:
        print(scale(given.scale))
        return
    pool: list[Judged] = []
    print("| family | effect | recall | false discovery rate | any false | found | same without correction | s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in given.family or FAMILIES:
        nothing = name.startswith("null") or name == "clustered"
        for effect in (0.0,) if nothing else given.effect or (0.12, 0.2):
            print(measure(name, given.seeds, given.rows, effect, pool), flush=True)
    if given.pool:
        given.pool.write_text("".join(json.dumps(list(judged)) + "\n" for judged in pool))
    print("\n| confidence | surprises | true |\n|---|---|---|")
    for low, high in ((0, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 0.99), (0.99, 1.01)):
        inside = [j.true for j in pool if j.family not in OUT_OF_REACH and low <= j.sure < high]
        print(f"| {low:.2f} to {min(high, 1):.2f} | {len(inside)} | {np.mean(inside) if inside else float('nan'):.3f} |")
    for name, why in OUT_OF_REACH.items():
        print(f"\nOut of reach: {name} ({why}).")


if __name__ == "__main__":
    main()
