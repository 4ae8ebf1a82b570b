"""The plain reading of one explained case: where it stands, and which values raise or lower its score.

Says how the score moves, never what caused the outcome. Every number of the text is among the facts that come with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lexsi_ds.models.engine import CaseDriver, CaseExplanation
from lexsi_ds.models.task import TaskSpec

Fact = float | int | str
RAISING, LOWERING = 2, 1
_TELLING_SHARE = 0.75
_NOTHING = {
    "probability": "No single feature moves it by a point.",
    "log-odds": "No single feature moves it noticeably.",
}
_SMALLEST = {"probability": 0.005, "log-odds": 0.05}


@dataclass
class _Text:
    """Sentences in the making, and the facts they cite."""

    case: CaseExplanation
    task: TaskSpec
    facts: dict[str, Fact] = field(default_factory=dict)
    of_whom: bool = True


def case_sentence(case: CaseExplanation, task: TaskSpec) -> tuple[str, dict[str, Fact]]:
    """The reading of a case and the facts it cites (name to value, numbers as they are printed)."""
    text = _Text(case, task)
    return " ".join([_standing(text), *_drivers(text), *_origin(text)]), text.facts


def number(value: float) -> tuple[str, float]:
    """A number as people print it, and the value as printed: thousands marks, about three significant digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}", int(value)
    size = abs(value)
    decimals = 0 if size >= 1_000 else 1 if size >= 10 else 2 if size >= 1 else 3
    printed = f"{value:,.{decimals}f}"
    return printed, float(printed.replace(",", ""))


def _standing(text: _Text) -> str:
    case, task = text.case, text.task
    text.facts |= {"case": case.case_id, "prediction": round(case.prediction, 2), "base": round(case.base_value, 2)}
    unit = "" if case.scale == "probability" else " on the log-odds scale"
    who = f"{_capital(task.entity_label)} {case.case_id}"
    return f"{who} is at {case.prediction:.2f}{unit}, from a base of {case.base_value:.2f}."


def _drivers(text: _Text) -> list[str]:
    smallest = _SMALLEST[text.case.scale]
    raising = [d for d in text.case.drivers if d.contribution >= smallest][:RAISING]
    lowering = [d for d in text.case.drivers if d.contribution <= -smallest][:LOWERING]
    if not raising and not lowering:
        return [_NOTHING[text.case.scale]]
    told = []
    if raising:
        parts = [f"{_capital(_value(text, raising[0]))} raises it most, by {_amount(text, raising[0])}"]
        parts += [f"{_value(text, d)} raises it by {_amount(text, d)}" for d in raising[1:]]
        told.append("; ".join(parts) + ".")
    if lowering:
        first = lowering[0]
        told.append(f"{_capital(_value(text, first))} lowers it most, by {_amount(text, first)}.")
    return told


def _origin(text: _Text) -> list[str]:
    if text.case.scored != "out_of_fold":
        return []
    text.facts["known"] = text.task.known_meaning
    return [f"It is a training row ({text.task.known_meaning}): this score is out of fold, from models that did not see it."]


def _value(text: _Text, driver: CaseDriver) -> str:
    text.facts[f"{driver.feature}.label"] = driver.label
    if driver.value is None:
        return f"a missing {driver.label}"
    if isinstance(driver.value, bool):
        return f"{driver.label}: {'yes' if driver.value else 'no'}"
    if isinstance(driver.value, str):
        text.facts[f"{driver.feature}.value"] = driver.value
        return f'{driver.label} "{driver.value}"'
    printed, text.facts[f"{driver.feature}.value"] = number(driver.value)
    unit = f" {driver.unit}" if driver.unit else ""
    if any(sign.isdigit() for sign in unit):
        text.facts[f"{driver.feature}.unit"] = unit.strip()
    return f"{driver.label} of {printed}{unit}{_place(text, driver)}"


def _place(text: _Text, driver: CaseDriver) -> str:
    """How unusual the value is among the training rows, when it is."""
    below, above = driver.lower_share or 0.0, driver.higher_share or 0.0
    share, word = (below, "higher") if below >= above else (above, "lower")
    if share < _TELLING_SHARE:
        return ""
    percent = min(99, int(share * 100))
    text.facts[f"{driver.feature}.share"] = percent
    whom = f" of the {_plural(text.task.entity_label)} it was trained on" if text.of_whom else ""
    text.of_whom = False
    return f" ({word} than {percent}%{whom})"


def _amount(text: _Text, driver: CaseDriver) -> str:
    size = abs(driver.contribution)
    if text.case.scale == "probability":
        points = round(size * 100)
        text.facts[f"{driver.feature}.points"] = points
        return f"{points} {'point' if points == 1 else 'points'}"
    text.facts[f"{driver.feature}.log_odds"] = round(size, 2)
    return f"{size:.2f}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")
