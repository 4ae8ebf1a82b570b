"""What the name of a column says of its values: codes, dates, places, telephone numbers.

A name decides only between readings that the values allow. Must never: know a data set by its names.
"""

from __future__ import annotations

import re


def _words(*words: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)(^|[^a-z])({'|'.join(words)})([^a-z]|$)")


_CODE = _words(
    "versions?|ver|verze|releases?|rev|revision|builds?|sections?|sec|chapters?|clauses?|paragraphs?|kapitola|kapitel|abschnitt",
    "periods?|month|year_?month|codes?|sku|hash|parts?|items?|articles?|models?|sizes?",
)
_NO_DATE = _words("ip|address|scores?|results?|sets?|serial|numbers?|no|nr|ratio|dimensions?")
_PLACE = _words(r"lat|latitude|lon|lng|long|longitude|gps|coord\w*|breite|l[äa]nge|šířka|délka")
_PHONE = _words(r"phones?|phone_?(no|number)|tel|telephones?|telefon\w*|mobiles?|mobil|cell|fax|handy|gsm")
_NUMBER = _words("numbers?|no|nr|num|id|zip|postcode|postal|psc|psč|plz|iban|account|card|ico|ičo|dič|ssn|vat|ean|isbn")
_KEY = _words("ids?|keys?|zipcode|gtin|batch|lot|dic")
_KEY_END = re.compile(r"[a-z](Id|Code|Key|No)$")
_MAKER = _words(
    "brands?|makers?|makes?|manufacturers?|company|companies|firms?|suppliers?|vendors?|operators?|stations?|customers?|clients?|partners?",
    "issuers?|značka|firma|výrobce|dodavatel|marke|hersteller|marque|societe|société",
)
_REGION = _words("regions?|continents?|countr(y|ies)|markets?|areas?|territor(y|ies)|zones?|geo|geograph(y|ies)|states?")
_YEAR = _words("years?|yr|fy|rok|roky|jahr|jahre|ann[ée]es?|a[nñ]o|anno")
_DATE = ("date", "datum", "day", "datetime", "dt", "fecha", "tag", "jour")


def is_code(name: str) -> bool:
    """Values that are told apart by how they are written: versions, sections, sizes."""
    return bool(_CODE.search(name))


def is_no_date(name: str) -> bool:
    """Values such as 01-02-03 that are no dates: scores, addresses, numbers of something."""
    return bool(_NO_DATE.search(name))


def is_place(name: str) -> bool:
    """Coordinates."""
    return bool(_PLACE.search(name))


def is_phone(name: str) -> bool:
    """Telephone numbers."""
    return bool(_PHONE.search(name))


def numbers_something(name: str) -> bool:
    """Digits that number or name something, and that nobody adds up."""
    return bool(_NUMBER.search(name))


def is_key(name: str) -> bool:
    """What tells rows or things apart: codes, numbers of something, keys."""
    return bool(is_code(name) or numbers_something(name) or is_phone(name) or _KEY.search(name) or _KEY_END.search(name))


def is_date(name: str) -> bool:
    """Dates."""
    return any(word in name.lower() for word in _DATE)


def is_maker(name: str) -> bool:
    """Companies and their brands, one of which is called Total."""
    return bool(_MAKER.search(name))


def is_region(name: str) -> bool:
    """Parts of the world, of which NA is one."""
    return bool(_REGION.search(name))


def is_year(name: str) -> bool:
    """Years, which all have four digits and are numbers all the same."""
    return bool(_YEAR.search(name))
