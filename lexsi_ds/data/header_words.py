"""What a word in the first rows of a table can be: a name, a unit, or what only data says.

Must never: let what names a person become the name of a column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lexsi_ds.data.forms import is_date

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_CODE_OF_A_PERSON = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9 ]{11,30}|\d{3}-\d{2}-\d{4}|\+?\d[\d ()/-]{8,}\d")
"""Account numbers (IBAN), social security numbers, telephone numbers."""
_LIMIT = re.compile(r"[<>≤≥]=?\s*[\d.,]+.*")
_COLOUR = re.compile(r"#(?=.*\d|(.)\1{5})[0-9A-Fa-f]{6}|#\d+")
"""A colour such as ``#ffffff``, or a number with its sign."""
_STARS = re.compile(r"[*†‡.]+")
_BRACKETS = re.compile(r"[\[(].{1,20}[\])]")
_LISTED = (
    "% ‰ ° °c °f degc degf deg c k s sec ms us µs min h hr hrs d day days week weeks month months y yr year years "
    "m km cm mm nm µm um mi ft in m2 m² km2 km² ha m3 m³ l ml cl hl g kg mg µg ug t kt mt lb oz "
    "m/s km/h kmh mph kn knots m/s2 m/s² rpm hz khz mhz ghz pa hpa kpa mpa bar mbar atm psi n kn j kj mj gj cal kcal "
    "w kw mw gw wh kwh mwh gwh twh v kv mv a ma ah va kva ohm ω db dba lux lx lm cd mol mmol ppm ppb ph "
    "µg/m3 µg/m³ ug/m3 mg/m3 mg/m³ mg/l g/l mg/dl mmol/l g/cm3 kg/m3 kg/m³ kg/ha t/ha l/100km b kb mb gb tb bit bits "
    "bps mbps eur usd gbp chf czk pln jpy cny € $ £ kč zł eur/t €/t €/kg eur/kg €/m² €/mwh eur/mwh czk/kg "
    "count pcs pieces ks szt stk stück units number index score"
)
_UNITS = frozenset(_LISTED.split())


def names_a_person(cell: str) -> bool:
    """Whether a cell says who somebody is: an email, an account, a telephone number."""
    text = cell.strip()
    return bool(_EMAIL.fullmatch(text) or (_CODE_OF_A_PERSON.fullmatch(text) and not is_date(text)))


def may_be_name(cell: str) -> bool:
    """Whether a cell could be the name of a column: not what names a person, not ``<0.5``, ``#ff0000`` or a mere sign."""
    text = cell.strip()
    return not (names_a_person(text) or _LIMIT.fullmatch(text) or _STARS.fullmatch(text) or _COLOUR.fullmatch(text))


def are_units(cells: Sequence[str]) -> bool:
    """Whether all cells are units of measure: ``s``, ``degC``, ``[m/s]``, ``(EUR)``."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    return bool(texts) and all(text.casefold() in _UNITS or _BRACKETS.fullmatch(text) for text in texts)
