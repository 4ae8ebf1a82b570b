"""The search for surprises: one fixed family of hypotheses over all pairs of columns, and what of it may be called found.

1. Columns become levels; all of them together are fitted to the measure; what is left is summed by every pair of levels.
2. Every hypothesis of every kind is tested on all rows; Benjamini-Hochberg over all of them at 5%.
3. Inside a pair, and between pairs that share rows, each discovery must stand when stronger ones are known.

Must never: choose what to test by what the data showed, or call one minus a q-value a confidence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import combinations

import duckdb
import numpy as np

from lexsi_ds.data.handle import Column
from lexsi_ds.insights import concentrated, effects, reversals, trends
from lexsi_ds.insights.coding import Coded, Numbers, PairTable
from lexsi_ds.insights.dimensions import Dimension, dimensions
from lexsi_ds.insights.hypotheses import Scene, Tested
from lexsi_ds.insights.multiple import LEVEL, confidence, null_share, q_values
from lexsi_ds.insights.reliability import Reliability, measured
from lexsi_ds.insights.surprise import Measure, Search
from lexsi_ds.insights.wording import said

MAX_DIMENSIONS = 40
_ALIKE = 0.98
_MOST = 50
Progress = Callable[[int, int, str], None]


def search(
    con: duckdb.DuckDBPyConnection, source: str, columns: Sequence[Column], measures: Sequence[Measure], rows: int,
    *, progress: Progress = lambda done, total, text: None, level: float = LEVEL, max_dimensions: int = MAX_DIMENSIONS,
    reliability: Reliability | None = None,
) -> Search:
    """Find what is surprising about ``measures`` in the relation ``source`` (``rows`` rows). A confidence is what the
    ``reliability`` table measured; the shipped one unless another is given."""
    started = time.perf_counter()
    own = measures[0].column if len(measures) == 1 else None
    dims, notes = dimensions(con, source, [c for c in columns if c.name != own], rows, max_dimensions)
    smallest = max(50, min(200, rows // 50))
    if len(dims) < 2:
        notes.append("Fewer than two columns have levels: there is nothing that two of them could do together.")
        return _result((), 0, rows, dims, measures, smallest, notes, started)
    progress(0, 1, "Coding the columns")
    coded = Coded(con, source, dims)
    coded.load(measures)
    dims, twins = _without_twins(coded, dims)
    if twins:
        notes += twins
        coded = Coded(con, source, dims)
        coded.load(measures)
    found: list[tuple[Scene, Tested]] = []
    family: list[Tested] = []
    tables: dict[tuple[int, int, int], PairTable] = {}
    pairs = list(combinations(range(len(dims)), 2))
    for number, measure in enumerate(measures):
        scene = Scene(coded, dims, measure, number, smallest)
        scene.rows = coded.take(number)
        if scene.rows < 2 * smallest:
            notes.append(f"{measure.label} is known in {scene.rows:,} rows only: nothing was tested.")
            continue
        own_dims = {i for i, dim in enumerate(dims) if dim.column == measure.column}
        for at, (a, b) in enumerate(pairs):
            if own_dims & {a, b}:
                continue
            tables[number, a, b] = table = coded.pair(a, b)
            family += _pair_family(scene, a, b, table)
            progress(number * len(pairs) + at, len(measures) * len(pairs), f"{dims[a].column} and {dims[b].column}")
        family += concentrated.family(scene)
    if not family:
        return _result((), 0, rows, dims, measures, smallest, notes, started)
    p = np.array([t.p for t in family])
    q, nulls = q_values(p), null_share(p)
    chosen = [t for t, its in zip(family, q, strict=True) if its <= level]
    cut = level * len(chosen) / len(family)  # the line that the weakest discovery is below, not the discovery itself
    q_of = dict(zip((_name(t) for t in family), q, strict=True))
    for number, measure in enumerate(measures):
        mine = [t for t in chosen if t.measure == number]
        if mine:
            scene = Scene(coded, dims, measure, number, smallest, coded.take(number))
            found += [(scene, t) for t in _confirmed(scene, mine, cut, tables)]
    ranked = sorted(found, key=lambda f: (-confidence(f[1].p, nulls), -_weight(f[0], f[1])))[:_MOST]
    table = reliability or measured()
    told = tuple(
        said(scene.measure, dims, t, q=float(q_of[_name(t)]), confidence=table.of(confidence(t.p, nulls)))
        for scene, t in ranked
    )
    if len(found) > _MOST:
        notes.append(f"{len(found)} were found; the {_MOST} surest are listed.")
    return _result(told, len(family), rows, dims, measures, smallest, notes, started)


def _pair_family(scene: Scene, a: int, b: int, table: PairTable) -> list[Tested]:
    first, second = scene.dims[a], scene.dims[b]
    out = effects.family(scene, a, b, table)
    for one, other, its in ((a, b, table), (b, a, _turned(table))):
        if scene.dims[other].time and not scene.dims[one].time:
            out += trends.family(scene, one, other, _timed(its, scene.dims[other]))
    if not first.time and not second.time:
        out += reversals.family(scene, a, b, table) + reversals.family(scene, b, a, _turned(table))
    return out


def _confirmed(
    scene: Scene, chosen: list[Tested], cut: float, tables: dict[tuple[int, int, int], PairTable]
) -> list[Tested]:
    """What stands when stronger discoveries are known, the strongest pair first."""
    by_pair: dict[tuple[int, int], list[Tested]] = {}
    for tested in chosen:
        if tested.kind in ("unexpected_effect", "trend_shift"):
            a, b = sorted(set(tested.dims))
            by_pair.setdefault((a, b), []).append(tested)
    out: list[Tested] = []
    known: list[str] = []
    for (a, b), mine in sorted(by_pair.items(), key=lambda item: min(t.p for t in item[1])):
        table = scene.coded.pair(a, b, " OR ".join(known)) if known else tables[scene.number, a, b]
        given: list[Numbers] = []
        for one, other, its in ((a, b, table), (b, a, _turned(table))):
            if not scene.dims[other].time:
                continue
            shifts = [t for t in mine if t.kind == "trend_shift" and t.key[0][0] == one]
            kept, slopes = trends.confirmed(scene, one, other, _timed(its, scene.dims[other]), shifts, cut)
            out += kept
            given += [_padded(s if one == a else s.T, table.n.shape) for s in slopes]
        cells = [t for t in mine if t.kind == "unexpected_effect"]
        kept = effects.confirmed(scene, a, b, table, cells, cut, given)
        out += kept
        known += [scene.where(t.key) for t in kept]
    out += concentrated.confirmed([t for t in chosen if t.kind == "concentrated_anomaly"])
    return out + reversals.confirmed([t for t in chosen if t.kind == "simpson_reversal"])


def _without_twins(coded: Coded, dims: list[Dimension]) -> tuple[list[Dimension], list[str]]:
    """Dimensions without those that say the same as an earlier one (Cramér's V of .98 or more)."""
    kept: list[Dimension] = []
    notes: list[str] = []
    for j, dim in enumerate(dims):
        twin = next((k for k in kept if coded.association(dims.index(k), j) >= _ALIKE), None)
        if twin is None:
            kept.append(dim)
        else:
            notes.append(f"{dim.column} is left out: it says the same as {twin.column}.")
    return kept, notes


def _turned(table: PairTable) -> PairTable:
    return PairTable(table.n.T, table.s.T, table.q.T, table.raw.T, table.raw_q.T)


def _timed(table: PairTable, time_dim: Dimension) -> PairTable:
    """Without the column of rows that have no date."""
    last = time_dim.size - (time_dim.sides[-1].level == "missing")
    return PairTable(*(t[:, :last] for t in (table.n, table.s, table.q, table.raw, table.raw_q)))


def _padded(values: Numbers, shape: tuple[int, ...]) -> Numbers:
    out = np.zeros(shape)
    out[: values.shape[0], : values.shape[1]] = values
    return out


def _name(tested: Tested) -> tuple[object, ...]:
    return tested.kind, tested.measure, tested.key


def _weight(scene: Scene, tested: Tested) -> float:
    return abs(tested.effect) / max(abs(tested.expected), 1e-12) * tested.n / max(scene.rows, 1)


def _result(
    told: tuple, tests: int, rows: int, dims: list[Dimension], measures: Sequence[Measure], smallest: int, notes: list[str],
    started: float,
) -> Search:
    return Search(
        surprises=told, tests=tests, rows=rows, dimensions=tuple(d.column for d in dims),
        measures=tuple(m.label for m in measures), min_rows=smallest, notes=tuple(notes), seconds=time.perf_counter() - started,
    )
