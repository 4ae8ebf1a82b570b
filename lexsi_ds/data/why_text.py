"""Why values that look like numbers or dates stay text: what tells codes, telephone numbers and amounts that do not go together.

Must never: name a reason that the values do not show.
"""

from __future__ import annotations

from lexsi_ds.data.column_words import is_code, is_no_date, is_phone, numbers_something
from lexsi_ds.data.evidence import Forms
from lexsi_ds.data.forms import DATE_FORMS, STYLES

_LEAST_PHONE = 6


def why_phone(name: str, f: Forms) -> str:
    """Why whole numbers are telephone numbers, or others that blanks part into groups; empty when nothing says so."""
    spaced = next((i for i in f.styles if STYLES[i].thousands == " "), None)
    if is_phone(name) and f.n["shortest"] >= _LEAST_PHONE and (f.all("integer") or spaced is not None):
        return "under this name they are telephone numbers"
    if spaced is not None and f.all(f"whole{spaced}") and (is_code(name) or numbers_something(name)):
        return "blanks part its digits into groups, and under this name they are no thousands"
    return ""


def why_code(name: str, f: Forms) -> str:
    """Why values that could be numbers are none, or would not be written back as they stand; empty when nothing says so."""
    if f.n["inexact"]:
        many = "1 value has" if f.n["inexact"] == 1 else f"{f.n['inexact']:,} values have"
        return f"{many} more digits than floating point holds"
    if f.n["power"] and not f.n["decimals"]:
        return "values such as 1E5, without a decimal mark, may be codes"
    if is_uneven(f) and is_code(name):
        return "some values end in a zero (1.10 is not 1.1), as in versions and numbers of sections"
    return ""


def why_no_date(name: str, f: Forms) -> str:
    """Why values that could be dates with years of two digits are kept as they are; empty when nothing says so."""
    if any(not d.endswith("y") or DATE_FORMS[d].order is None for d in f.dates):
        return ""
    if is_code(name) or is_no_date(name):
        return "values such as 01-02-03 may be codes under this name, rather than dates"
    if f.all("ymd2") and not any(d.startswith("mdy") for d in f.dates):
        return "it cannot be told whether the year or the day comes first"
    return ""


def is_uneven(f: Forms) -> bool:
    return bool(f.n["tailed"]) and f.n["fewest"] != f.n["most"]


def why_text(name: str, f: Forms) -> tuple[str, ...]:
    """Why values stay text that look like numbers or dates to a reader."""
    if f.mixed:
        what = "some are in percent and some are not" if "%" in f.mixed else f"amounts are in {' and '.join(filter(None, f.mixed))}"
        return (f"{name} was kept as text: {what}.",)
    if f.n["huge"] and f.n["huge"] + max(f.n[f"style{i}"] for i in range(len(STYLES))) == f.filled:
        what = "1 value is" if f.n["huge"] == 1 else f"{f.n['huge']:,} values are"
        return (f"{name} was kept as text: {what} larger than any number that can be held (1e308).",)
    if f.all("worded"):
        return (f"{name} was kept as text: its dates have names of months that are not English.",)
    return ()
