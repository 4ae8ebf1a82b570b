"""The plain reading of one explained case: where it stands, and which values raise or lower its score.

Says how the score moves, never what caused the outcome, and says that it does. Every number of the text is among the facts
that come with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lexsi_ds.models.engine import CaseDriver, CaseExplanation
from lexsi_ds.models.task import TaskSpec

Fact = float | int | str
RAISING, LOWERING = 2, 1
NOT_CAUSES = " The model has learnt what goes together, not what causes it."
_TELLING_SHARE = 0.75
_NOTHING = {
    "probability": "No single feature moves it by a point.",
    "log-odds": "No single feature moves it noticeably.",
    "value": "No single feature moves it noticeably.",
}
_SMALLEST = {"probability": 0.005, "log-odds": 0.05}
_SMALLEST_SHARE = 0.005
"""Of the distance that all drivers of an amount span: what is less is not told."""


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
    told, sentences = _drivers(text)
    return " ".join([_standing(text), *sentences, *_together(text, told), *_origin(text)]) + NOT_CAUSES, text.facts


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
    who = f"{_capital(task.entity_label)} {case.case_id}"
    if case.scale == "value":
        at, base = number(case.prediction), number(case.base_value)
        text.facts |= {"case": case.case_id, "prediction": at[1], "base": base[1]}
        return f"{who} is put at a {task.target_label} of {at[0]}, from a base of {base[0]}."
    text.facts |= {"case": case.case_id, "prediction": round(case.prediction, 2), "base": round(case.base_value, 2)}
    unit = "" if case.scale == "probability" else " on the log-odds scale"
    if case.output is not None:
        text.facts["output"] = case.output
        unit = f' for "{case.output}"{unit}'
    return f"{who} is at {case.prediction:.2f}{unit}, from a base of {case.base_value:.2f}."


def _drivers(text: _Text) -> tuple[list[CaseDriver], list[str]]:
    """The drivers that are told, and their sentences: for first, then against."""
    whole = sum(abs(d.contribution) for d in text.case.drivers)
    smallest = _SMALLEST.get(text.case.scale, max(_SMALLEST_SHARE * whole, 1e-12))
    raising = [d for d in text.case.drivers if d.contribution >= smallest][:RAISING]
    lowering = [d for d in text.case.drivers if d.contribution <= -smallest][:LOWERING]
    if not raising and not lowering:
        return [], [_NOTHING[text.case.scale]]
    told = []
    if raising:
        parts = [f"{_capital(_value(text, raising[0]))} raises it most, by {_amount(text, raising[0])}"]
        parts += [f"{_value(text, d)} raises it by {_amount(text, d)}" for d in raising[1:]]
        told.append("; ".join(parts) + ".")
    if lowering:
        first = lowering[0]
        told.append(f"{_capital(_value(text, first))} lowers it most, by {_amount(text, first)}.")
    return [*raising, *lowering], told


def _together(text: _Text, told: list[CaseDriver]) -> list[str]:
    """The caveat for the first driver told whose credit is shared with another feature."""
    for driver in told:
        if driver.shares_with:
            text.facts[f"{driver.feature}.shares_with"] = driver.shares_with[0]
            return [
                f"{_capital(driver.label)} and {driver.shares_with[0]} move together in the training data, so how their "
                "credit is divided says little: read them as one."
            ]
    return []


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
    share, word = (below, "highest") if below >= above else (above, "lowest")
    if share < _TELLING_SHARE:
        return ""
    whom = f" of the {_plural(text.task.entity_label)} it was trained on" if text.of_whom else ""
    text.of_whom = False
    if share >= 1:
        return f" ({'above' if word == 'highest' else 'below'} all{whom or ' of them'})"
    percent = max(1, math.ceil(round((1 - share) * 100, 6)))
    text.facts[f"{driver.feature}.share"] = percent
    return f" (among the {word} {percent}%{whom})"


def _amount(text: _Text, driver: CaseDriver) -> str:
    size = abs(driver.contribution)
    if text.case.scale == "probability":
        points = round(size * 100)
        text.facts[f"{driver.feature}.points"] = points
        return f"{points} {'point' if points == 1 else 'points'}"
    if text.case.scale == "value":
        printed, text.facts[f"{driver.feature}.amount"] = number(size)
        return printed
    text.facts[f"{driver.feature}.log_odds"] = round(size, 2)
    return f"{size:.2f}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")
