"""First guesses about a column: does it name a person, is it a protected trait, is it a key?

General rules of names and values, in English and in the common European spellings; a person can change every mark
afterwards. Must never: read the name of a known file or table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = re.compile(r"[^0-9A-Za-zÀ-ž]+")

_PROTECTED_WORDS = {
    "gender", "sex", "age", "dob", "birthdate", "birthday", "birthyear", "yob", "marital", "married", "religion",
    "religious", "ethnicity", "ethnic", "race", "nationality", "citizenship", "disability", "disabled", "pregnant",
    "pregnancy", "orientation", "senior", "elderly", "geschlecht", "alter", "pohlavi", "vek", "sexe", "sexo", "edad",
    "veteran", "caste", "immigrant",
}  # fmt: skip
_PROTECTED_PAIRS = (
    ("birth", "date"), ("date", "birth"), ("date", "of", "birth"), ("year", "birth"), ("birth", "year"),
    ("birth", "day"), ("civil", "status"), ("marital", "status"), ("senior", "citizen"), ("sexual", "orientation"),
    ("native", "country"), ("country", "birth"),
)  # fmt: skip
_AGE_OF_THINGS = {
    "account", "loan", "house", "building", "car", "vehicle", "policy", "contract", "page", "card", "machine", "days",
    "months",
}  # fmt: skip
_RACE_OF_SPORT = {"id", "date", "time", "number", "no", "track", "result", "position"}
_MASKED_WORDS = {
    "email", "mail", "phone", "telephone", "mobile", "fax", "ssn", "passport", "iban", "surname", "lastname",
    "firstname", "fullname", "forename", "username", "birthnumber", "nino", "vorname", "nachname", "telefon",
    "password",
}  # fmt: skip
_MASKED_PAIRS = (
    ("birth", "number"), ("first", "name"), ("last", "name"), ("full", "name"), ("middle", "name"), ("family", "name"),
    ("given", "name"), ("maiden", "name"), ("user", "name"), ("social", "security"), ("tax", "id"), ("e", "mail"),
    ("credit", "card", "number"), ("card", "number"), ("street", "address"), ("billing", "address"),
    ("home", "address"),     ("ip", "address"), ("passport", "number"), ("rodne", "cislo"),
)  # fmt: skip
_MASKED_WHOLE = {("address",), ("street",), ("ip",)}
_KEY_WORDS = {"id", "key", "uuid", "guid", "pk", "fk", "identifier", "rowid"}
_NUMBER_WORDS = {"number", "no", "nr", "num", "code"}
_YES_NO = {"yes", "no", "y", "n", "true", "false", "t", "f", "0", "1", "ano", "ne", "ja", "nein", "oui", "non", "si"}
"""Values of a column that says whether there is an email or a phone: they name nobody."""
_EMAIL = re.compile(r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$")
_PERSON = re.compile(
    r"^[A-ZÀ-Ž][\w'’.\-]*,\s*(?:(?:Mr|Mrs|Miss|Ms|Master|Dr|Rev|Col|Major|Capt|Don|Mme|Mlle|Sir|Lady)\.?\s)?[A-ZÀ-Ž]"
)
_SAMPLE_SHARE = 0.8


@dataclass(frozen=True)
class Facts:
    """What a guess goes by: how the column is called, its type family, its counts and some of its values as text."""

    name: str
    family: str
    rows: int
    nulls: int
    distinct: int
    sample: tuple[str, ...] = ()


@dataclass(frozen=True)
class Marks:
    """The guess."""

    protected: bool = False
    identifier: bool = False
    masked: bool = False


def guess_marks(facts: Facts) -> Marks:
    """Guess the marks of a column. A masked or protected column is not also taken for a key."""
    words = split_name(facts.name)
    if _is_masked(words, facts):
        return Marks(masked=True)
    if _is_protected(words, facts):
        return Marks(protected=True)
    return Marks(identifier=_is_key(words, facts))


def split_name(name: str) -> tuple[str, ...]:
    """A name's words in lower case, whatever its case style: ``SeniorCitizen`` -> ``("senior", "citizen")``."""
    parts = [piece for part in _SPLIT.split(name) for piece in _CAMEL.split(part)]
    return tuple(p.lower() for p in parts if p)


def _has(words: tuple[str, ...], pairs: tuple[tuple[str, ...], ...]) -> bool:
    return any(words[i : i + len(pair)] == pair for pair in pairs for i in range(len(words) - len(pair) + 1))


def _is_masked(words: tuple[str, ...], facts: Facts) -> bool:
    if facts.family not in ("text", "number"):
        return False
    if _has(words, _MASKED_PAIRS) or words in _MASKED_WHOLE or any(w in _MASKED_WORDS for w in words):
        return not facts.sample or not all(v.strip().lower() in _YES_NO for v in facts.sample)
    if facts.sample and sum(map(_is_card_number, facts.sample)) >= _SAMPLE_SHARE * len(facts.sample):
        return True
    if facts.family != "text" or not facts.sample:
        return False
    if _share(_EMAIL, facts.sample) >= _SAMPLE_SHARE:
        return True
    return words[-1:] == ("name",) and _share(_PERSON, facts.sample) >= _SAMPLE_SHARE


def _is_protected(words: tuple[str, ...], facts: Facts) -> bool:
    if _has(words, _PROTECTED_PAIRS):
        return True
    hit = {w for w in words if w in _PROTECTED_WORDS}
    if "age" in hit and (set(words) & _AGE_OF_THINGS or facts.family not in ("number", "text")):
        hit.discard("age")
    if "race" in hit and set(words) & _RACE_OF_SPORT:
        hit.discard("race")
    if "alter" in hit and facts.family != "number":
        hit.discard("alter")
    return bool(hit)


def _is_key(words: tuple[str, ...], facts: Facts) -> bool:
    if not words or facts.family not in ("number", "text", "other"):
        return False
    last = words[-1]
    if last in _KEY_WORDS or (last.endswith("id") and len(words) == 1 and last[:-2] and _unique(facts)):
        return True
    return last in _NUMBER_WORDS and _unique(facts)


def _unique(facts: Facts) -> bool:
    """No value twice, in a table of some size."""
    return facts.rows >= 20 and facts.distinct == facts.rows - facts.nulls and facts.nulls == 0


def _is_card_number(value: str) -> bool:
    """Whether digits are those of a payment card: its length, and the check digit that one number in ten has by chance."""
    digits = re.sub(r"[ -]", "", value)
    if not re.fullmatch(r"[2-6]\d{12,18}", digits):
        return False
    pairs = [int(d) * (2 if i % 2 else 1) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in pairs) % 10 == 0


def _share(pattern: re.Pattern[str], sample: tuple[str, ...]) -> float:
    return sum(bool(pattern.match(value)) for value in sample) / len(sample)
