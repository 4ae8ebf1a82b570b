"""Files that hold other files: zip, and gzip, bzip2, xz and zstd, unpacked into scratch under names of our own, within limits.

Sizes are counted while bytes come out, not taken from what an archive claims. Must never: write outside of scratch,
follow a link, unpack an archive within an archive within an archive, or go on past a limit.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

import pyarrow as pa

from lexsi_ds.errors import BadInput

COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
MOST_MEMBERS = 1_000
MOST_BYTES = 16 << 30
MOST_WORKBOOK_BYTES = 1 << 30
MOST_RATIO = 250
_RATIO_FROM = 32 << 20
"""Small things may be squeezed well; beyond this size a ratio past the limit is a bomb."""
_CHUNK = 1 << 20
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError)
_TO_DO = "Unpack it yourself and choose the files."


@dataclass(frozen=True)
class Member:
    """A file that was taken out of an archive: where it lies now, and its name in there."""

    path: Path
    name: str


class Budget:
    """What may still come out of one archive."""

    def __init__(self, where: str, packed: int, most: int = MOST_BYTES) -> None:
        self._where, self._packed, self._most, self.used = where, max(packed, 1), most, 0

    def spend(self, size: int) -> None:
        """Count bytes that came out. Raises BadInput past a limit."""
        self.used += size
        if self.used > self._most:
            raise BadInput(
                f"This archive unpacks to more than {self._most >> 30} GB.", where=self._where, to_do=_TO_DO
            )
        if self.used > _RATIO_FROM and self.used > self._packed * MOST_RATIO:
            raise BadInput(
                f"This archive unpacks to more than {MOST_RATIO} times its size, as archives made to do harm do.",
                where=self._where, to_do=_TO_DO,
            )  # fmt: skip


def unzip(
    path: Path, scratch: Path, wanted: Callable[[str], bool], *, head: Callable[[str], int | None]
) -> tuple[list[Member], list[str]]:
    """Take the ``wanted`` members out; of each only the first ``head(name)`` bytes when that is a number.

    Returns them in the order of their names, and the names that were passed over. Raises BadInput for unsafe names, links,
    encrypted members and bombs.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [i for i in archive.infolist() if not i.is_dir()]
            check_members(path.name, archive.infolist())
            budget = Budget(path.name, path.stat().st_size)
            chosen = sorted((i for i in infos if _is_data(i.filename) and wanted(i.filename)), key=lambda i: i.filename)
            made = []
            for info in chosen:
                to = _free(scratch, info.filename)
                with archive.open(info) as source:
                    _copy(source, to, budget, head(info.filename))
                made.append(Member(to, info.filename))
            names = {m.name for m in made}
            return made, [i.filename for i in infos if i.filename not in names and _is_data(i.filename)]
    except _ZIP_ERRORS as error:
        raise BadInput(
            "This zip archive cannot be read.", where=path.name, to_do="Check that it is whole and not encrypted."
        ) from error


def check_members(where: str, infos: list[zipfile.ZipInfo]) -> None:
    """Raise BadInput for an archive that should not be opened at all."""
    if len(infos) > MOST_MEMBERS:
        raise BadInput(
            f"This archive holds {len(infos):,} files; at most {MOST_MEMBERS:,} can be read.", where=where, to_do=_TO_DO
        )
    for info in infos:
        name = info.filename.replace("\\", "/")
        parts = PurePosixPath(name).parts
        if name.startswith("/") or ".." in parts or re.match(r"^[A-Za-z]:", name) or "\x00" in info.orig_filename:
            raise BadInput(
                "This archive holds a name that points outside of it.", where=f"{where}: {name[:80]}", to_do=_TO_DO
            )
        mode = info.external_attr >> 16
        if mode and stat.S_ISLNK(mode):
            raise BadInput("This archive holds a link.", where=f"{where}: {name[:80]}", to_do=_TO_DO)
        if info.flag_bits & 1:
            raise BadInput("This archive is encrypted.", where=where, to_do=_TO_DO)


def decompress(path: Path, scratch: Path, *, head: int | None = None) -> Path:
    """The file in a gzip, bzip2, xz or zstd file, under its name without that ending. Raises BadInput for a bomb."""
    to = _free(scratch, inner_name(path.name))
    try:
        with _opened(path) as source:
            _copy(source, to, Budget(path.name, path.stat().st_size), head)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        kind = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}.get(path.suffix.lower(), "compressed")
        raise BadInput(f"This {kind} file cannot be read.", where=path.name, to_do="Check that it is whole.") from error
    return to


def gunzip(path: Path, scratch: Path) -> Path:
    """As ``decompress``, the whole file."""
    return decompress(path, scratch)


def inner_name(name: str) -> str:
    """A compressed file's name without the ending that says how it is compressed."""
    return next((name[: -len(end)] for end in COMPRESSED if name.lower().endswith(end)), name)


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"BZh"):
        return bz2.open(path, "rb")
    if magic.startswith(b"\xfd7zXZ"):
        return lzma.open(path, "rb")
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return cast(IO[bytes], pa.CompressedInputStream(str(path), "zstd"))
    return cast(IO[bytes], gzip.open(path, "rb"))


def check_workbook(path: Path) -> None:
    """Raise BadInput when a workbook (a zip of XML) would unpack to more than can be held."""
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            check_members(path.name, archive.infolist())
            budget = Budget(path.name, path.stat().st_size, MOST_WORKBOOK_BYTES)
            for info in archive.infolist():
                with archive.open(info) as source:
                    for chunk in _chunks(source):
                        budget.spend(len(chunk))
    except _ZIP_ERRORS as error:
        raise BadInput(
            "This workbook cannot be read.", where=path.name, to_do="Check that it is whole and has no password."
        ) from error


def member_chunks(path: Path, ending: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Members whose name ends so, each as pieces of its bytes; none when it is no zip."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.filename.endswith(ending):
                with archive.open(info) as source:
                    yield info.filename, _chunks(source)


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    while chunk := source.read(_CHUNK):
        yield chunk


def _copy(source: IO[bytes], to: Path, budget: Budget, most: int | None) -> None:
    left = most if most is not None else -1
    with to.open("xb") as out:
        while left and (chunk := source.read(_CHUNK if left < 0 else min(left, _CHUNK))):
            budget.spend(len(chunk))
            out.write(chunk)
            left -= len(chunk) if left > 0 else 0


def _is_data(name: str) -> bool:
    """Not what systems leave beside the files: ``__MACOSX/``, ``.DS_Store``, hidden names."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return bool(parts) and "__MACOSX" not in parts and not any(p.startswith(".") for p in parts)


def _free(scratch: Path, name: str) -> Path:
    """A path in scratch of our own making that keeps the name's ending."""
    base = PurePosixPath(name.replace("\\", "/")).name
    stem, dot, suffix = base.rpartition(".")
    suffix = re.sub(r"[^A-Za-z0-9]", "", suffix)[:10] if dot else ""
    safe = re.sub(r"[^\w. -]", "_", stem if dot else base)[:60] or "file"
    folder = scratch / f"unpacked_{len(list(scratch.glob('unpacked_*')))}"
    folder.mkdir()
    return folder / (f"{safe}.{suffix}" if suffix else safe)
