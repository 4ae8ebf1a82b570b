"""Rows like a given one that the model judges otherwise: the random search of DiCE (Mothilal, Sharma & Tan 2020).

Written here because the package dice-ml installs the other build of XGBoost over the one that is used (same module name,
hundreds of megabytes with GPU libraries). The search is as there: draw values for a growing number of the columns that may
change, keep what the model judges as wanted, then take back every change that is not needed. Must never change a column
the person did not offer, leave a permitted range, or return a row that the model itself does not judge as wanted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.answers import answer
from lexsi_ds.explain.dependence import place_of
from lexsi_ds.explain.plausible import Known, known_of
from lexsi_ds.explain.results import Cell
from lexsi_ds.explain.results_local import Change, Counterfactual, Counterfactuals
from lexsi_ds.explain.wanted import Wanted
from lexsi_ds.explain.what_if import as_read, changed_rows
from lexsi_ds.models.bundle import Prepared, SavedModel

_BATCH = 400
_ROUNDS_A_SIZE = 3
_SMALL_STEP = 0.05
"""Deviations under which a change of a number is undone: nobody acts on it."""
Say = Callable[[dict[str, Any]], None]
Allowed = Mapping[str, Sequence[Cell]]


@dataclass
class _Search:
    model: SavedModel
    row: pd.DataFrame
    now: dict[str, Cell]
    wanted: Wanted
    known: Known
    until: float
    base: Prepared
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Between which values each number may be set."""
    words: dict[tuple[str, Cell], np.ndarray] = field(default_factory=dict)
    judged: int = 0
    found: dict[tuple[tuple[str, Cell], ...], float] = field(default_factory=dict)

    @property
    def late(self) -> bool:
        return time.monotonic() >= self.until

    def answers(self, changes: list[dict[str, Cell]]) -> np.ndarray:
        """The model's answers for rows with these changes, by the models that judge the row itself. Only what changes is
        encoded anew."""
        self.judged += len(changes)
        count = np.zeros(len(changes), dtype=np.int64)
        rows = replace(
            self.base, keys=self.base.keys[count], x=self.base.x[count].copy(), position=self.base.position[count]
        )
        for place, change in enumerate(changes):
            for name, value in change.items():
                rows.x[place, self._columns(name)] = self._encoded(name, value)
        return answer(self.model, rows, "probability", self.wanted.output)

    def rechecked(self, change: dict[str, Cell]) -> float:
        """The model's answer for the row with this change, read and encoded like any row."""
        self.judged += 1
        rows = self.model.prepare(changed_rows(self.row, [change]))
        return float(answer(self.model, rows, "probability", self.wanted.output)[0])

    def _columns(self, name: str) -> np.ndarray:
        return np.flatnonzero(self.model.encoding.groups == self.model.encoding.names.index(name))

    def _encoded(self, name: str, value: Cell) -> np.ndarray:
        if name not in self.known.words:
            return np.array([np.nan if value is None else float(value)])
        if (name, value) not in self.words:
            rows = self.model.prepare(changed_rows(self.row, [{name: value}]))
            self.words[name, value] = rows.x[0, self._columns(name)]
        return self.words[name, value]

    def distance(self, change: Mapping[str, Cell]) -> float:
        """How far the changes go: deviations of a number, 1 for anything else."""
        return sum(self._step(name, value) for name, value in change.items())

    def _step(self, name: str, value: Cell) -> float:
        before = self.now[name]
        if name in self.known.numbers and before is not None and value is not None:
            return abs(float(value) - float(before)) / self.known.spread(name)
        return 1.0


def counterfactuals(
    model: SavedModel,
    row: pd.DataFrame,
    actionable: Sequence[str],
    say: Say,
    *,
    wanted: Wanted | None = None,
    permitted: Allowed | None = None,
    count: int = 4,
    seed: int = 7,
    seconds: float = 20.0,
) -> Counterfactuals:
    """At most ``count`` rows that differ in the ``actionable`` columns only and are judged as ``wanted``; fewest changes
    first. ``permitted``: (low, high) of a number, or the words that are allowed; else what training held."""
    one, began = row.head(1).reset_index(drop=True), time.monotonic()
    known, now = known_of(model), as_read(model, one)
    names = _names(model, actionable)
    rows = model.prepare(one)
    goal = (wanted or Wanted()).settled(model, rows)
    prediction = float(answer(model, rows, "probability", goal.output)[0])
    case_id, task = str(rows.keys[0]), model.card.task
    common: dict[str, Any] = {
        "case_id": case_id, "prediction": prediction, "wanted": goal.words(task), "actionable": tuple(names),
    }  # fmt: skip
    if goal.met(prediction):
        return Counterfactuals(
            **common, found=(), tried=1, seconds=0.0, stopped=False,
            sentence=f"{task.entity_label.capitalize()} {case_id} is judged so already: {goal.words(task)}.",
            facts={**goal.facts(), "case": case_id},
        )  # fmt: skip
    search = _Search(model, one, now, goal, known, began + seconds, rows)
    pools = {name: _pool(known, name, now[name], (permitted or {}).get(name)) for name in names}
    usable = [name for name in names if len(pools[name])]
    search.limits = {n: (min(map(_amount, pools[n])), max(map(_amount, pools[n]))) for n in usable if n in known.numbers}
    _draw(search, usable, pools, np.random.default_rng(seed), count, say)
    found = _best(search, count)
    stopped = search.late and len(found) < count
    return Counterfactuals(
        **common, found=tuple(found), tried=search.judged, seconds=round(time.monotonic() - began, 3), stopped=stopped,
        sentence=_sentence(found, search, goal.words(task), stopped, usable),
        facts={**goal.facts(), "found": len(found), "tried": search.judged, "case": case_id,
               "fewest": len(found[0].changes) if found else 0},
    )  # fmt: skip


def _draw(
    search: _Search, names: list[str], pools: dict[str, list[Cell]], rng: np.random.Generator, count: int, say: Say
) -> None:
    """Draw rows that change 1, 2, 3 ... columns until enough are found at the size reached."""
    for size in range(1, len(names) + 1):
        for _ in range(_ROUNDS_A_SIZE):
            if search.late:
                return
            changes = []
            for _ in range(_BATCH):
                chosen = rng.choice(len(names), size=size, replace=False)
                changes.append({names[c]: pools[names[c]][int(rng.integers(len(pools[names[c]])))] for c in chosen})
            answers = search.answers(changes)
            hits = [change for change, value in zip(changes, answers, strict=True) if search.wanted.met(float(value))]
            hits.sort(key=search.distance)
            for change in hits[: 3 * count]:
                if search.late:
                    return
                _keep(search, _sparse(search, change))
            say({"text": f"{search.judged:,} rows tried, {len(search.found):,} found", "done": size, "total": len(names)})
        if len({frozenset(name for name, _ in found) for found in search.found}) >= count:
            return


def _sparse(search: _Search, change: dict[str, Cell]) -> dict[str, Cell]:
    """The same without what is not needed: whole changes first, then numbers moved back by halves."""
    kept = {n: v for n, v in change.items() if v != search.now[n] and search.distance({n: v}) >= _SMALL_STEP} or change
    if len(kept) < len(change) and not search.wanted.met(float(search.answers([kept])[0])):
        kept = dict(change)
    for name in sorted(kept, key=lambda n: search.distance({n: kept[n]})):
        rest = {n: v for n, v in kept.items() if n != name}
        if rest and search.wanted.met(float(search.answers([rest])[0])):
            kept = rest
    for name in [n for n in kept if n in search.known.numbers and search.now[n] is not None and kept[n] is not None]:
        kept = _nearer(search, kept, name)
    return kept


def _nearer(search: _Search, change: dict[str, Cell], name: str) -> dict[str, Cell]:
    """The value of one number moved back towards the row's own as far as the answer stays as wanted."""
    start, end = float(search.now[name] or 0.0), float(change[name] or 0.0)
    steps = [start + (end - start) * share for share in (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)]
    tried = [{**change, name: _rounded(search.known, name, step)} for step in steps]
    low, high = search.limits.get(name, (-np.inf, np.inf))
    tried = [t for t in tried if search.distance({name: t[name]}) >= _SMALL_STEP and low <= float(t[name] or 0) <= high]
    if not tried:
        return change
    for option, value in zip(tried, search.answers(tried), strict=True):
        if search.wanted.met(float(value)):
            return option
    return change


def _keep(search: _Search, change: dict[str, Cell]) -> None:
    """Recheck with the model and keep; of the same columns only the nearest."""
    value = search.rechecked(change)
    if search.wanted.met(value):
        search.found[tuple(sorted(change.items(), key=lambda item: item[0]))] = value


def _best(search: _Search, count: int) -> list[Counterfactual]:
    """Those that nothing speaks against first, then fewest changes, then nearest; one of each set of columns before a
    second of any, so that they are different ways."""
    ordered = sorted(search.found, key=lambda found: (len(found), search.distance(dict(found)), str(found)))
    seen, first, rest = set(), [], []
    for found in ordered:
        columns = frozenset(name for name, _ in found)
        (rest if columns in seen else first).append(found)
        seen.add(columns)
    told = [_told(search, found) for found in [*first, *rest][: 10 * count]]
    return sorted(sorted(told, key=lambda way: bool(way.doubts))[:count], key=lambda way: len(way.changes))


def _told(search: _Search, found: tuple[tuple[str, Cell], ...]) -> Counterfactual:
    changes = tuple(
        Change(feature=name, label=search.known.features[name].label, before=search.now[name], after=value,
               unit=search.known.features[name].unit)
        for name, value in found
    )  # fmt: skip
    doubts = search.known.doubts({**search.now, **dict(found)}, {name for name, _ in found})
    return Counterfactual(
        changes=changes, prediction=search.found[found], distance=search.distance(dict(found)), doubts=doubts
    )


def _names(model: SavedModel, actionable: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(actionable))
    if not names:
        raise BadInput("Nothing may change.", to_do="Choose the features that can be acted on.")
    for name in names:
        place_of(model, name)
    return names


def _pool(known: Known, name: str, now: Cell, permitted: Sequence[Cell] | None) -> list[Cell]:
    """Values that may be tried: those of training inside of what is permitted, other than the row's own."""
    if name in known.numbers:
        low, high = known.range_of(name)
        if permitted is not None:
            if len(permitted) != 2 or any(isinstance(p, (str, bool)) or p is None for p in permitted):
                raise BadInput(f"The range of {name} must be two numbers.", where=name, to_do="Give a low and a high.")
            low, high = max(low, float(permitted[0] or 0)), min(high, float(permitted[1] or 0))
        values = known.values(name)
        inside = np.unique(values[np.isfinite(values) & (values >= low) & (values <= high)])
        evenly = [_rounded(known, name, v) for v in np.linspace(low, high, 20)] if low <= high else []
        whole = [_rounded(known, name, float(v)) for v in inside] + [v for v in evenly if low <= float(v) <= high]
        return [v for v in dict.fromkeys(whole) if v != now]
    options: list[Cell] = list(known.words_of(name)) if name in known.words else [True, False]
    if permitted is not None:
        allowed = {str(p).casefold() for p in permitted}
        options = [o for o in options if str(o).casefold() in allowed]
    return [o for o in options if o != now]


def _amount(value: Cell) -> float:
    return float(value or 0)


def _rounded(known: Known, name: str, value: float) -> int | float:
    return round(value) if known.whole(name) else float(f"{value:.6g}")


def _sentence(found: list[Counterfactual], search: _Search, wanted: str, stopped: bool, usable: list[str]) -> str:
    if found:
        fewest = len(found[0].changes)
        ways = f"{len(found)} {'way' if len(found) == 1 else 'ways'}"
        return (
            f"{ways} to {wanted}, from {fewest} {'change' if fewest == 1 else 'changes'} on; each was checked with the "
            "model. It says how the model judges such a row, not that a change would bring the outcome about."
        )
    if not usable:
        return "None of the chosen features can take another value inside of what is permitted."
    end = "the time was up" if stopped else "every size of change was tried"
    return f"No row was found with {wanted} after {search.judged:,} tries; {end}. Let more features change."
