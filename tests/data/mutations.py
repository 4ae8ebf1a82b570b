"""Files made from clean tables with known truth: how they are written is drawn at random, what they say is known.

``python -m tests.data.mutations [COUNT] [SEED]`` reads COUNT of them and COUNT with damaged bytes, and prints what share
reads back equal, is flagged or rejected, or is wrong in silence. A sample runs in the normal tests.
"""

from __future__ import annotations

import csv
import io
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.planning import open_scratch
from lexsi_ds.data.reading import Reader
from lexsi_ds.errors import LexsiError

_WESTERN = ["José", "Müller", "François", "Ångström", "Zoë", "Peña", "Grüße", "naïve", "Köln", "Málaga"]
_CENTRAL = ["Žižka", "Dvořák", "Šťastný", "Łódź", "Kraków", "Křižík", "Děčín", "Żółw", "Plzeň", "čeština"]
_WORDS = ["alpha", "beta", "Berlin", "north side", "red", "blue", "Smith", "O'Neil", "long-term", "v2", "A/B", "high"]
_KINDS = ["integer", "large", "decimal", "date", "word", "sentence", "code", "letters"]
_SENTENCES = ['He said "no", twice', "one, two; three", "a|b", "plain words here", "line\nbreak", "tab\tin"]
_MISSING = ["", "", "", "NA", "?", "-", "N/A", "null", "."]
_LETTERS = {"cp1250": _CENTRAL, "cp1252": _WESTERN, "latin-1": _WESTERN}
_ENCODINGS = ["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-be-bom", "utf-16-le", "cp1250", "cp1252", "latin-1"]
_DATES = ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d"]


@dataclass(frozen=True)
class Truth:
    """What a file says: names, and values of the Python types that they should be read as."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Style:
    """How a file is written."""

    delimiter: str
    encoding: str
    decimal: str
    thousands: str
    dates: str
    preamble: int
    quoting: int
    missing: str
    ending: str
    trailing: int
    """Empty columns at the end of each line, and empty lines at the end of the file."""


def draw_table(rng: random.Random, letters: Sequence[str]) -> Truth:
    """A clean table of 20 to 120 rows and 2 to 8 columns of different kinds."""
    kinds = ["key", *rng.choices(_KINDS, k=rng.randint(1, 7))]
    rows = rng.randint(20, 120)
    columns = [_draw_column(rng, kind, rows, letters) for kind in kinds]
    names = tuple(f"{kind}_{i}" for i, kind in enumerate(kinds))
    return Truth(names, tuple(zip(*columns, strict=True)))


def _draw_column(rng: random.Random, kind: str, rows: int, letters: Sequence[str]) -> list[Any]:
    start = date(2010, 1, 1)
    places = rng.randint(1, 3)
    values: list[Any] = []
    for i in range(rows):
        match kind:
            case "key":
                values.append(i + 1)
            case "integer":
                values.append(rng.randint(-50, 900))
            case "large":
                values.append(rng.randint(0, 5_000_000))
            case "decimal":
                values.append(round(rng.uniform(-100, 10 ** rng.randint(1, 5)), places))
            case "date":
                values.append(start + timedelta(days=rng.randint(0, 5000)))
            case "word":
                values.append(rng.choice(_WORDS))
            case "sentence":
                values.append(rng.choice(_SENTENCES))
            case "code":
                values.append(f"{rng.randint(0, 99999):05}")
            case _:
                values.append(rng.choice([*letters, *_WORDS[:3]]))
    if kind != "key":
        share = rng.choice([0, 0, 0.05, 0.15])
        values = [None if rng.random() < share else v for v in values]
    if kind == "code":
        values[0] = "00042"  # without a leading zero somewhere nothing in the file says that these are no numbers
    return values


def draw_style(rng: random.Random) -> Style:
    """A way to write a file; decimal commas come with thousands that are no commas."""
    decimal = rng.choice([".", ".", ","])
    return Style(
        delimiter=rng.choice([",", ";", "\t", "|"]), encoding=rng.choice(_ENCODINGS), decimal=decimal,
        thousands=rng.choice(["", "", "", " ", "\u00a0", "'", "," if decimal == "." else "."]),
        dates=rng.choice(_DATES), preamble=rng.choice([0, 0, 0, 1, 3, 5]),
        quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
        missing=rng.choice(_MISSING), ending=rng.choice(["\n", "\r\n"]), trailing=rng.choice([0, 0, 0, 2]),
    )  # fmt: skip


def write(truth: Truth, style: Style) -> bytes:
    """The file's bytes."""
    out = io.StringIO()
    for i in range(style.preamble):
        out.write(["Report of the year", "# exported by hand", "Source: office", "", "Status: final"][i] + style.ending)
    writer = csv.writer(out, delimiter=style.delimiter, quoting=style.quoting, lineterminator=style.ending)
    extra = [""] * style.trailing
    writer.writerow([*truth.names, *extra])
    for row in truth.rows:
        writer.writerow([*(_text(value, style) for value in row), *extra])
    for _ in range(style.trailing):
        out.write(style.delimiter * (len(truth.names) + style.trailing - 1) + style.ending)
    text = out.getvalue()
    if style.encoding == "utf-16-be-bom":
        return b"\xfe\xff" + text.encode("utf-16-be")
    return text.encode(style.encoding)


def _text(value: Any, style: Style) -> str:
    if value is None:
        return style.missing
    if isinstance(value, date):
        return value.strftime(style.dates)
    if isinstance(value, (int, float)):
        text = f"{value:,}".replace(",", "\x00").replace(".", style.decimal)
        return text.replace("\x00", style.thousands)
    return str(value)


def make(seed: int) -> tuple[bytes, Truth, Style]:
    """File number ``seed``."""
    rng = random.Random(seed)
    style = draw_style(rng)
    truth = draw_table(rng, _LETTERS.get(style.encoding, _WESTERN + _CENTRAL))
    return write(truth, style), truth, style


def damage(content: bytes, rng: random.Random) -> bytes:
    """Bytes changed, inserted, removed, doubled or cut off."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 3, 10, 50])):
        at = rng.randrange(len(data) or 1)
        match rng.randrange(6):
            case 0 if data:
                data[at] = rng.randrange(256)
            case 1:
                data[at:at] = bytes([rng.choice([0, 9, 10, 13, 34, 39, 44, 59, 92, 255])])
            case 2:
                del data[at : at + rng.randrange(1, 40)]
            case 3:
                data[at:at] = data[at : at + rng.randrange(1, 200)]
            case 4 if len(data) > 20:
                del data[rng.randrange(10, len(data)) :]
            case _:
                data[at:at] = rng.randbytes(rng.randrange(1, 8))
    return bytes(data)


@dataclass(frozen=True)
class Verdict:
    """``equal``, ``flagged``, ``rejected`` (rows kept aside), ``refused`` or ``silent``; and the first difference."""

    state: str
    detail: str = ""


def read_back(content: bytes, folder: Path) -> tuple[Loaded, list[str], list[tuple[Any, ...]]]:
    """The table as the reader makes it, its names and its rows."""
    path = folder / "t.csv"
    path.write_bytes(content)
    with tempfile.TemporaryDirectory(dir=folder) as scratch, open_scratch(Path(scratch)) as con:
        reader = Reader(con, Path(scratch), Limits(2000), {})
        items, _ = reader.items([path])
        ((_, loaded),), _ = reader.read(items[0], set())
        cursor = con.execute(loaded.select)
        names = [d[0] for d in cursor.description or ()]
        return loaded, names, cursor.fetchall()


def judge(content: bytes, truth: Truth, folder: Path) -> Verdict:
    """Read a file and hold it against the truth."""
    try:
        loaded, names, rows = read_back(content, folder)
    except LexsiError as error:
        return Verdict("refused", str(error))
    if tuple(names) != truth.names:
        return Verdict("silent", f"names {names}")
    if len(rows) != len(truth.rows):
        state = "rejected" if loaded.rejected and len(rows) + loaded.rejected >= len(truth.rows) else "silent"
        return Verdict(state, f"{len(rows)} rows for {len(truth.rows)}, {loaded.rejected} rejected")
    wrong = {
        i: (want[i], got[i])
        for want, got in zip(truth.rows, rows, strict=True)
        for i in range(len(names))
        if not _same(want[i], got[i])
    }
    if not wrong:
        return Verdict("equal")
    flagged = {c.name for c in loaded.columns if any("kept as text" in n or "read as" in n for n in c.notes)}
    flagged |= {s.column for s in loaded.suggestions}
    encoding = any("a guess from its letters" in note for note in loaded.notes)
    silent = {i: pair for i, pair in wrong.items() if names[i] not in flagged}
    if silent and not (encoding and all(isinstance(w, str) and isinstance(g, str) for w, g in silent.values())):
        return Verdict("silent", "; ".join(f"{names[i]}: {w!r} read as {g!r}" for i, (w, g) in silent.items()))
    return Verdict("flagged", "; ".join(f"{names[i]}: {w!r} read as {g!r}" for i, (w, g) in wrong.items()))


def _same(want: Any, got: Any) -> bool:
    if want is None or got is None:
        return want is got
    if isinstance(want, (int, float)) and isinstance(got, (int, float)):
        return abs(want - got) < 1e-9 * max(1, abs(want))
    if isinstance(want, str) and isinstance(got, str):
        return want.strip() == got.strip()
    return type(want) is type(got) and want == got


def main(count: int, first: int) -> int:
    """Print the shares; returns 1 when they are not good enough."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        states: Counter[str] = Counter()
        for seed in range(first, first + count):
            content, truth, style = make(seed)
            verdict = judge(content, truth, folder)
            states[verdict.state] += 1
            if verdict.state != "equal":
                print(f"{seed} {verdict.state}: {verdict.detail[:200]} | {style}")
        print("known truth:", dict(states), f"equal {states['equal'] / count:.1%}")
        ends, slowest = Counter[str](), 0.0
        for seed in range(first, first + count):
            started = time.monotonic()
            try:
                read_back(damage(make(seed)[0], random.Random(seed)), folder)
                ends["a table"] += 1
            except LexsiError:
                ends["a clear error"] += 1
            except Exception as error:
                ends["a traceback"] += 1
                print(f"{seed} damaged: {type(error).__name__}: {str(error)[:300]}")
            slowest = max(slowest, time.monotonic() - started)
        print("damaged:", dict(ends), f"slowest {slowest:.1f} s")
    bad = states["silent"] or states["equal"] < 0.97 * count or ends["a traceback"] or slowest > 20
    return 1 if bad else 0


if __name__ == "__main__":
    arguments = [int(a) for a in sys.argv[1:]]
    raise SystemExit(main(arguments[0] if arguments else 2000, arguments[1] if len(arguments) > 1 else 0))
