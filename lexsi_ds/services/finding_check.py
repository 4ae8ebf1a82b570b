"""Runs the check of a finding on its dataset, in the guarded sandbox, and shows a few of the rows that break it.

Must never: count a capped fetch (the count is a COUNT(*) over the whole check), or take "did not run" for "holds".
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pandas as pd
import sqlglot
from sqlglot import exp

from lexsi_ds.data import guard
from lexsi_ds.data.handle import Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, LexsiError, SqlRefused
from lexsi_ds.services.finding import Band, Check, Observed
from lexsi_ds.services.finding_text import hides
from lexsi_ds.services.masking import mask

MAX_CHECK_CHARS = 20_000
_SAMPLE_WITHIN_S, _SAMPLES_KEPT = 5.0, 64
Lookup = Callable[[str], Table]
"""A dataset's latest version by its id; raises NotFound."""


class FindingCheck:
    """Checks of findings on the latest version of their dataset."""

    def __init__(self, lookup: Lookup, sql: SqlRunner) -> None:
        self._lookup, self._sql = lookup, sql
        self._samples: dict[tuple[str, int, str, int], pd.DataFrame | LexsiError] = {}

    def table(self, dataset_id: str) -> Table:
        """The dataset's latest version. Raises NotFound."""
        return self._lookup(dataset_id)

    def accept(self, table: Table, sql: str) -> None:
        """Raise SqlRefused or BadInput unless this can be a check: one SELECT on this dataset alone, with no LIMIT."""
        if len(sql) > MAX_CHECK_CHARS:
            raise BadInput(f"The check has {len(sql):,} characters; {MAX_CHECK_CHARS:,} are the most.", where="check")
        if hides(sql):
            raise BadInput("The check has invisible characters.", where="check", to_do="Type it anew.")
        _whole(table, sql)

    def run(
        self, dataset_id: str, sql: str, columns: tuple[str, ...], version: int, band: Band | None = None
    ) -> Check:
        """Run it. Whatever keeps it from running is the check's outcome, not an exception; only Stopped passes."""
        started = datetime.now(UTC)
        table: Table | None = None
        try:
            table = self._lookup(dataset_id)
            frame = self._sql.frame_on_table(table, f"SELECT count(*) AS failures FROM (\n{_whole(table, sql)}\n) AS v")
            observed = None if band is None else self.observe(table, band)
        except LexsiError as error:
            return Check(
                ran_at=started, outcome="error", finding_version=version, error=str(error)[:500],
                dataset_version=None if table is None else table.version,
            )
        failures = int(frame["failures"].iloc[0])
        return Check(
            ran_at=started,
            outcome="violated" if failures else "holds",
            finding_version=version,
            dataset_version=table.version,
            failure_count=failures,
            rows_checked=table.rows,
            vacuous=not failures and _nothing_to_check(table, columns),
            seconds=(datetime.now(UTC) - started).total_seconds(),
            observed=observed,
            types={name: column.type for name in columns if (column := table.column(name)) is not None},
        )

    def observe(self, table: Table, band: Band) -> Observed:
        """What a band's metric is now. Raises BadInput unless it is one row with ``value`` and, if any, ``n``."""
        frame = self._sql.frame_on_table(table, _whole(table, band.metric_sql))
        if len(frame) != 1 or "value" not in frame.columns:
            raise BadInput("A band's metric is one row with a column called value.", where="band", to_do="Change its SELECT.")
        value, n = frame["value"].iloc[0], frame["n"].iloc[0] if "n" in frame.columns else None
        try:
            return Observed(
                value=None if pd.isna(value) else float(value), n=None if n is None or pd.isna(n) else int(n)
            )
        except (TypeError, ValueError) as error:
            raise BadInput("A band's value is a number.", where="band", to_do="Change its SELECT.") from error

    def types(self, dataset_id: str, columns: tuple[str, ...]) -> dict[str, str | None]:
        """The type of each of these columns; None for one that the dataset does not have (any more)."""
        try:
            table = self._lookup(dataset_id)
        except LexsiError:
            return {}
        found = {name: table.column(name) for name in columns}
        return {name: None if column is None else column.type for name, column in found.items()}

    def violating(self, dataset_id: str, sql: str) -> pd.DataFrame:
        """Every violating row, masked where a column identifies a person."""
        table = self._lookup(dataset_id)
        whole = _whole(table, sql)
        return mask(self._sql.frame_on_table(table, whole), whole, table)

    def sample(self, dataset_id: str, sql: str, n: int) -> pd.DataFrame:
        """At most ``n`` violating rows, the same ones each time, masked where a column identifies a person."""
        table = self._lookup(dataset_id)
        whole = _whole(table, sql)
        order = "" if _tree(whole).args.get("order") else " ORDER BY ALL"
        key = (dataset_id, table.version, sql, n)
        if key not in self._samples:
            query = f"SELECT * FROM (\n{whole}\n) AS v{order} LIMIT {int(n)}"
            self._samples[key] = self._rows(table, query)
            while len(self._samples) > _SAMPLES_KEPT:
                self._samples.pop(next(iter(self._samples)))
        found = self._samples[key]
        if isinstance(found, LexsiError):
            raise found
        return mask(found, whole, table)

    def _rows(self, table: Table, query: str) -> pd.DataFrame | LexsiError:
        """The rows of a short query; what keeps it from running is kept too, so that no page waits for it twice."""
        try:
            result = self._sql.run_on_table(table, query, timeout_s=_SAMPLE_WITHIN_S)
        except LexsiError as error:
            return error
        try:
            return result.frame()
        finally:
            result.path.unlink(missing_ok=True)


def _whole(table: Table, sql: str) -> str:
    """The check as the guard lets it pass, and without a LIMIT."""
    text = guard.check(sql, {"dataset", table.name})
    if _capped(_tree(text)):
        raise SqlRefused(
            "The check has a LIMIT, so its rows could not be counted in full.", where="check", to_do="Leave it out."
        )
    return text


def _capped(tree: exp.Expr) -> bool:
    found: exp.Expr | None = tree
    while found is not None:
        if any(found.args.get(part) for part in ("limit", "offset", "sample")):
            return True
        found = found.this if isinstance(found, exp.Subquery | exp.Paren) else None
    return False


def _tree(sql: str) -> exp.Expr:
    return sqlglot.parse_one(sql, dialect="duckdb")


def _nothing_to_check(table: Table, columns: tuple[str, ...]) -> bool:
    if table.rows == 0:
        return True
    found = [table.column(name) for name in columns]
    return any(column is not None and column.nulls >= table.rows for column in found)
