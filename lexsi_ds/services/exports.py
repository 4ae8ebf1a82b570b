"""Whole results as files: CSV in the locale's way, Parquet, or an Excel workbook that also says what it shows.

Written by a worker, so a large one can be stopped and does not fill this process. Must never: cut a result, or hand out one of
somebody else.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from lexsi_ds.data.handle import DatasetHandle, Value
from lexsi_ds.data.sql import SqlResult
from lexsi_ds.data.workbook import check_size
from lexsi_ds.errors import BadInput
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool, Tell
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.audit import Audit
from lexsi_ds.services.home_files import HomeFiles
from lexsi_ds.store.db import Store
from lexsi_ds.store.runs import Runs
from lexsi_ds.store.sources import Sources

Format = Literal["csv", "parquet", "xlsx"]
MIME: dict[Format, str] = {
    "csv": "text/csv", "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}  # fmt: skip
_EXPORT = "lexsi_ds.data.export:export"
_KEPT_S = 3_600
"""How long a written file waits to be fetched."""


class CsvStyle(Value):
    """How a CSV is written. A byte order mark makes Excel read UTF-8."""

    delimiter: Literal[",", ";", "\t"] = ","
    decimal: Literal[".", ","] = "."
    bom: bool = False


CSV_STYLES: dict[str, CsvStyle] = {
    "Comma, decimal point": CsvStyle(),
    "Comma, decimal point, for Excel": CsvStyle(bom=True),
    "Semicolon, decimal comma": CsvStyle(delimiter=";", decimal=","),
    "Semicolon, decimal comma, for Excel": CsvStyle(delimiter=";", decimal=",", bom=True),
    "Tab, decimal point": CsvStyle(delimiter="\t"),
}
"""The choices of a person, by what they are called."""


class About(Value):
    """What a result is, for the second sheet."""

    title: str = ""
    question: str = ""
    reading: str = ""
    sql: str = ""
    source: str = ""
    data_date: str = ""
    """Latest date in the data, ISO."""
    version: str = ""
    """Number and id of the snapshot."""

    def pairs(self) -> list[tuple[str, str]]:
        """Names and texts, those without a text left out."""
        named = (("Title", self.title), ("Question", self.question), ("Reading", self.reading), ("SQL", self.sql),
                 ("Source", self.source), ("Data date", self.data_date), ("Data version", self.version))
        written = datetime.now(UTC).isoformat(timespec="seconds")
        return [*((name, text) for name, text in named if text), ("Written at", written)]


class Export(Value):
    """A written file. It goes after an hour; whoever shows it as a download reads it before."""

    path: Path
    file_name: str
    mime: str
    rows: int
    bytes: int


class Exports:
    """Writes results of this home. All methods raise Denied without the right."""

    def __init__(self, store: Store, home: Path, pool: Pool, artifacts: Artifacts) -> None:
        self._runs, self._sources = Runs(store), Sources(store)
        self._files, self._pool, self._artifacts = HomeFiles(home), pool, artifacts
        self.audit: Audit | None = None
        """Where each written file is noted: by whom, how many rows, of which snapshot."""

    def artifact(
        self, actor: Actor, artifact_id: str, file_format: Format, *, style: CsvStyle | None = None,
        cancel: Cancel | None = None, tell: Tell | None = None,
    ) -> Export:
        """A frame that a run made. Raises NotFound, BadInput when it is no frame or does not fit the format."""
        found = self._artifacts.get(actor, artifact_id)
        found.arrow()  # says so when it is no frame
        meta = found.meta
        about = self._about_run(found.run_id).model_copy(update={
            "title": str(meta.get("label") or meta.get("tool") or ""), "sql": str(meta.get("sql") or ""),
            "reading": _reading(meta),
        })
        return self._noted(actor, artifact_id, about, self._write(found.path, file_format, about, style, cancel, tell))

    def result(
        self, actor: Actor, result: SqlResult, handle: DatasetHandle, sql: str, file_format: Format, *, title: str = "Result",
        style: CsvStyle | None = None, cancel: Cancel | None = None, tell: Tell | None = None,
    ) -> Export:
        """The result of a query that a person ran on a handle."""
        actor.need("datasets:read")
        about = About(
            title=title, sql=sql, source=handle.name, data_date=handle.today.isoformat() if handle.today else "",
            version=f"{handle.snapshot_number} ({handle.snapshot_id})",
        )
        return self._noted(actor, handle.source_id, about, self._write(result.path, file_format, about, style, cancel, tell))

    def _noted(self, actor: Actor, target: str, about: About, made: Export) -> Export:
        if self.audit is not None:
            self.audit.downloaded(actor, target, rows=made.rows, snapshot=about.version)
        return made

    def _write(
        self, arrow: Path, file_format: Format, about: About, style: CsvStyle | None, cancel: Cancel | None, tell: Tell | None
    ) -> Export:
        style = style or CsvStyle()
        if file_format not in MIME:
            raise BadInput(f"Results cannot be written as {file_format}.", to_do="Choose csv, parquet or xlsx.")
        if style.delimiter == style.decimal:
            raise BadInput("The decimal mark cannot be the delimiter.", where="csv", to_do="Choose a semicolon.")
        rows, columns = _size(arrow)
        if file_format == "xlsx":
            check_size(rows, columns)
        folder = self._files.folder("tmp", "exports")
        forget_old(folder)
        own = folder / new_id("exp")
        own.mkdir()
        out = own / f"{_file_stem(about.title)}.{file_format}"
        args: dict[str, Any] = {"format": file_format, "arrow": str(arrow.absolute()), "out": str(out),
                                "style": style.model_dump(), "about": about.pairs()}
        try:
            made = self._pool.run("ingest", _EXPORT, args, cancel=cancel, tell=tell)
            if made["rows"] != rows:
                raise BadInput(f"Only {made['rows']:,} of {rows:,} rows were written.", where=file_format, to_do="Try again.")
        except BaseException:
            shutil.rmtree(own, ignore_errors=True)
            raise
        return Export(path=out, file_name=out.name, mime=MIME[file_format], rows=rows, bytes=made["bytes"])

    def _about_run(self, run_id: str) -> About:
        run = self._runs.run(run_id)
        if run is None:
            return About()
        source_id, snapshot_id = run.meta.get("source_id"), run.meta.get("snapshot_id")
        parts = self._sources.parts(source_id, snapshot_id) if source_id and snapshot_id else None
        if parts is None:
            return About(question=run.question)
        today = parts.snapshot.today
        return About(
            question=run.question, source=parts.source.name, data_date=today.isoformat() if today else "",
            version=f"{parts.snapshot.number} ({parts.snapshot.id})",
        )


def _reading(meta: dict[str, Any]) -> str:
    reading = meta.get("reading")
    if isinstance(reading, dict):
        reading = reading.get("reading") or reading.get("text") or ""
    return str(reading or "")


def _size(arrow: Path) -> tuple[int, int]:
    with pa.memory_map(str(arrow)) as mapped, pa.ipc.open_stream(mapped) as reader:
        return sum(batch.num_rows for batch in reader), len(reader.schema.names)


def _file_stem(title: str) -> str:
    stem = re.sub(r"[^\w .-]+", " ", title).strip(" .")[:60].strip()
    return re.sub(r"\s+", "_", stem) or "result"


def forget_old(folder: Path) -> None:
    """Remove what was written and not fetched within an hour."""
    oldest = time.time() - _KEPT_S
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # another process was first
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path)
