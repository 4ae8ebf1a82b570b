"""How numbers, shares, times and dates are written on screen: one precision each, thousands marks, a real minus."""

from __future__ import annotations

import math
import re
import time
from datetime import UTC, date, datetime

import pandas as pd

from lexsi_ds.jobs.background import Task
from lexsi_ds.models.card import Interval

MINUS = "−"


def count(n: int | float) -> str:
    """A count with thousands marks: 1,079,680."""
    return f"{int(n):,}".replace("-", MINUS)


def counted(n: int, noun: str) -> str:
    """A count with its noun, in the right number: "1 table", "8 tables"."""
    return f"{count(n)} {noun if n == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """English plural of an ordinary noun; words that end in a consonant and y take ies."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def number(value: float, digits: int = 2) -> str:
    """A figure at fixed precision: 0.81."""
    return "unknown" if not math.isfinite(value) else f"{value:,.{digits}f}".replace("-", MINUS)


def probability(value: float) -> str:
    """A probability: two decimals, three next to 0 and 1, where two would say never or always."""
    if math.isfinite(value) and (0 < value < 0.0005 or 0.9995 < value < 1):
        return "below 0.001" if value < 0.5 else "above 0.999"
    return number(value, 3 if 0 < value < 0.01 or 0.99 < value < 1 else 2)


def span(low: float, high: float, digits: int = 2) -> str:
    """A band: 0.61 to 0.74; "none" where an engine gives none."""
    if any(v is None or v is pd.NA or v != v for v in (low, high)):
        return "none"
    return f"{number(low, digits)} to {number(high, digits)}"


def signed(value: float, digits: int = 2) -> str:
    """A difference with its sign; one that rounds to nothing is ±0.00."""
    if round(abs(value), digits) == 0:
        return f"±{0:.{digits}f}"
    return f"{'+' if value > 0 else MINUS}{abs(value):.{digits}f}"


def interval(figure: Interval, digits: int = 2) -> str:
    """The 95% interval of a figure: "0.77 to 0.85"."""
    return f"{number(figure.low, digits)} to {number(figure.high, digits)}"


def share(part: float, whole: float) -> str:
    """A rate with one decimal and its n: "17.4% of 201"."""
    return f"{100 * part / whole:.1f}% of {count(whole)}" if whole else "no rows"


def seconds(value: float) -> str:
    """A duration: "12 ms", "3.2 s", "2 min 5 s"."""
    if value < 0.1:
        return f"{max(1, round(value * 1000))} ms"
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def size(n: int) -> str:
    """Bytes for a person: "4.2 MB"."""
    value = float(n)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def progress(task: Task) -> str:
    """How far a task is: "412.0 MB of 1.0 GB, 55.3 MB/s, 11 s left", or a percentage where nothing is counted; "" at first."""
    if not task.total:
        return ""
    now = time.monotonic()
    rate, left = task.pace.rate(now), task.pace.left(now)
    if task.unit == "bytes":
        parts = [f"{size(int(task.done))} of {size(int(task.total))}", f"{size(int(rate))}/s" if rate else ""]
    elif task.unit:
        parts = [f"{count(task.done)} of {count(task.total)} {task.unit}", f"{count(rate)} {task.unit}/s" if rate else ""]
    else:
        parts = [f"{round(100 * task.share)}%"]
    if left is not None and task.share < 1:
        parts.append(f"{remaining(left)} left")
    return ", ".join(part for part in parts if part)


def remaining(seconds_left: float) -> str:
    """A time that is estimated: "2 s", "40 s", "3 min"; no finer than it is known."""
    if seconds_left < 10:
        return f"{max(1, math.ceil(seconds_left))} s"
    if seconds_left < 90:
        return f"{10 * math.ceil(seconds_left / 10)} s"
    return f"{math.ceil(seconds_left / 60)} min"


def ago(moment: float | str | datetime | None, now: float | None = None) -> str:
    """How long ago, coarse: "just now", "12 min ago", "3 days ago". Takes seconds since the epoch, ISO text or a datetime."""
    stamp = epoch(moment)
    if stamp is None:
        return ""
    past = max(0.0, (time.time() if now is None else now) - stamp)
    for limit, unit, name in ((60, 0, ""), (3600, 60, "min"), (86400, 3600, "h"), (math.inf, 86400, "day")):
        if past < limit:
            if not unit:
                return "just now"
            n = int(past // unit)
            return f"{n} {name if n == 1 or name != 'day' else 'days'} ago"
    return ""


def age(moment: float | str | datetime | None) -> str:
    """How old something is: "3 days old", "new"."""
    past = ago(moment)
    return "new" if past == "just now" else past.removesuffix("ago") + "old" if past else ""


def epoch(moment: float | str | datetime | None) -> float | None:
    """Seconds since the epoch; None for what is no time. A time without a zone is UTC."""
    if isinstance(moment, (int, float)):
        return float(moment)
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            return None
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None


def value(raw: object) -> str:
    """A feature's or cell's value for a person: numbers short with thousands marks, dates ISO, missing said."""
    if raw is None or raw is pd.NA or raw is pd.NaT or (isinstance(raw, float) and math.isnan(raw)):
        return "missing"
    if isinstance(raw, bool):
        return "yes" if raw else "no"
    if isinstance(raw, int):
        return count(raw)
    if isinstance(raw, float):
        digits = 0 if abs(raw) >= 1000 or raw == int(raw) else 2
        return number(raw, digits)
    if isinstance(raw, datetime):
        return raw.isoformat(sep=" ", timespec="minutes").removesuffix(" 00:00")
    return raw.isoformat() if isinstance(raw, date) else str(raw).removesuffix("T00:00:00")


def slug(name: str) -> str:
    """A name as part of a file's name: letters, digits and underscores."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:60] or "data"
