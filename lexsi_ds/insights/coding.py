"""The coded table: one small integer a dimension and one number a measure for each row, and its sums by pairs of levels.

Everything after it works on these sums, so that five million rows cost a few scans and no more memory than their codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt

from lexsi_ds.data.raw_rows import quoted
from lexsi_ds.insights.dimensions import LOOK, Dimension, one_in
from lexsi_ds.insights.surprise import Measure

Numbers = npt.NDArray[np.float64]
_FIT_ROWS = 200_000


@dataclass(frozen=True)
class PairTable:
    """Sums by the levels of two dimensions, each of shape (levels of the first, levels of the second)."""

    n: Numbers
    s: Numbers
    """Of what the single columns leave of the measure."""
    q: Numbers
    """Of its square."""
    raw: Numbers
    """Of the measure itself."""
    raw_q: Numbers


class Coded:
    """The coded table of one measure at a time, in a connection of its own."""

    def __init__(self, con: duckdb.DuckDBPyConnection, source: str, dims: Sequence[Dimension]) -> None:
        self._con, self._source, self._dims = con, source, dims
        self._measures: Sequence[Measure] = ()
        self.effects: list[Numbers] = []
        self.mean = 0.0
        self._rows = 0

    def load(self, measures: Sequence[Measure]) -> None:
        """Code every row once, for all measures."""
        self._measures = measures
        joins, chosen = [], []
        for i, dim in enumerate(self._dims):
            code = dim.code
            if dim.mapping is not None:
                looked = dim.mapping[0] if dim.time else quoted(dim.column)
                values = dim.mapping[1:] if dim.time else dim.mapping
                self._con.execute(f"CREATE OR REPLACE TEMP TABLE look_{i} AS SELECT {looked} AS v, 0::UTINYINT AS k "
                                  f"FROM {self._source} LIMIT 0")
                self._con.executemany(f"INSERT INTO look_{i} VALUES (?, ?)", [(v, k) for k, v in enumerate(values)])
                joins.append(f"LEFT JOIN look_{i} ON look_{i}.v = {looked}")
                code = code.replace(LOOK, f"look_{i}.k")
            chosen.append(f"({code})::UTINYINT AS d{i}")
        chosen += [f"({m.sql})::DOUBLE AS y{i}" for i, m in enumerate(measures)]
        self._con.execute(f"CREATE OR REPLACE TEMP TABLE coded AS SELECT {', '.join(chosen)} FROM {self._source} "
                          + " ".join(joins))

    def association(self, a: int, b: int) -> float:
        """Cramér's V of two dimensions: 0 where they have nothing to do with each other, 1 where either gives the other."""
        counts = np.zeros((self._dims[a].size, self._dims[b].size))
        for i, j, n in self._con.execute(f"SELECT d{a}, d{b}, count(*) FROM coded GROUP BY 1, 2").fetchall():
            counts[i, j] = n
        counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
        smaller = min(counts.shape) - 1
        if smaller == 0:
            return 0.0
        return float(np.sqrt(((counts - expected) ** 2 / expected).sum() / (counts.sum() * smaller)))

    def take(self, number: int) -> int:
        """Take up a measure: fit the additive effects of all other dimensions together, keep what they leave; rows that have it."""
        known = f"isfinite(y{number})"
        count = self._con.execute(f"SELECT count(*) FROM coded WHERE {known}").fetchone()
        assert count is not None
        if count[0] == 0:
            return 0
        self._fit(number, int(count[0]))
        columns = ", ".join(f"d{i}" for i in range(len(self._dims)))
        for i, effect in enumerate(self.effects):
            self._con.execute(f"CREATE OR REPLACE TEMP TABLE effect_{i} (k UTINYINT, v DOUBLE)")
            self._con.executemany(f"INSERT INTO effect_{i} VALUES (?, ?)", list(enumerate(effect.tolist())))
        joins = " ".join(f"JOIN effect_{i} ON effect_{i}.k = d{i}" for i in range(len(self._dims)))
        left = f"y{number} - {self.mean!r}" + "".join(f" - effect_{i}.v" for i in range(len(self._dims)))
        self._con.execute(
            f"CREATE OR REPLACE TEMP TABLE now AS SELECT {columns}, y{number} AS y, {left} AS r "
            f"FROM coded {joins} WHERE {known}"
        )
        self._rows = int(count[0])
        return self._rows

    def pair(self, a: int, b: int, without: str = "FALSE") -> PairTable:
        """Sums by two dimensions, rows of the condition ``without`` left out."""
        shape = self._dims[a].size, self._dims[b].size
        found = self._con.execute(
            f"SELECT d{a}, d{b}, count(*)::DOUBLE, sum(r), sum(r * r), sum(y), sum(y * y) FROM now WHERE NOT ({without}) "
            "GROUP BY 1, 2"
        ).fetchnumpy()
        names = list(found)
        at = np.asarray(found[names[0]]).astype(int), np.asarray(found[names[1]]).astype(int)
        tables = []
        for name in names[2:]:
            table = np.zeros(shape)
            table[at] = np.asarray(found[name], dtype=float)
            tables.append(table)
        return PairTable(*tables)

    def extremes(self, share: float) -> tuple[int, int, list[tuple[Numbers, Numbers]]]:
        """(rows, extreme rows, for each dimension its levels' rows and extreme rows); extreme is the ``share`` of rows that
        are farthest from what the columns by themselves give."""
        some = one_in(self._rows // _FIT_ROWS)
        cut = self._con.execute(f"SELECT quantile_cont(abs(r), {1 - share}) FROM now WHERE {some}").fetchone()
        assert cut is not None
        far = f"abs(r) > {cut[0]!r}"
        out = []
        for i, dim in enumerate(self._dims):
            n, k = np.zeros(dim.size), np.zeros(dim.size)
            for level, rows, extreme in self._con.execute(
                f"SELECT d{i}, count(*), count(*) FILTER (WHERE {far}) FROM now GROUP BY 1"
            ).fetchall():
                n[level], k[level] = rows, extreme
            out.append((n, k))
        return int(out[0][0].sum()), int(out[0][1].sum()), out

    def _fit(self, number: int, rows: int) -> None:
        """Least squares of the measure on the levels of every dimension, on all rows or a sample of them. An error in it does
        not bias a pair's test, which projects the additive part of its own two dimensions out again."""
        sample = self._con.execute(
            f"SELECT * FROM coded WHERE isfinite(y{number}) AND {one_in(rows // _FIT_ROWS)}"
        ).fetchnumpy()
        y = np.asarray(sample[f"y{number}"], dtype=float)
        self.mean = float(y.mean())
        its = [i for i, dim in enumerate(self._dims) if dim.column != self._measures[number].column]
        starts = np.cumsum([0, *(self._dims[i].size for i in its)])
        codes = [np.asarray(sample[f"d{i}"]).astype(int) + starts[place] for place, i in enumerate(its)]
        size = int(starts[-1])
        gram = np.zeros((size, size))
        for i, first in enumerate(codes):
            for j in range(i, len(codes)):
                counts = np.bincount(first * size + codes[j], minlength=size * size).reshape(size, size)
                gram += counts if i == j else counts + counts.T
        right = sum((np.bincount(c, weights=y - self.mean, minlength=size) for c in codes), np.zeros(size))
        ridge = 1e-6 * np.diag(np.maximum(np.diag(gram), 1.0))
        solved: Numbers = np.asarray(np.linalg.solve(gram + ridge, right), dtype=np.float64)
        self.effects = [np.zeros(dim.size) for dim in self._dims]
        for place, i in enumerate(its):
            self.effects[i] = solved[starts[place] : starts[place + 1]]


def _listed(values: Numbers) -> str:
    return "[" + ", ".join(repr(float(v)) for v in values) + "]::DOUBLE[]"
