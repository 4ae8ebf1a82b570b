"""The same questions said otherwise: in capitals, politely, with wide spaces, with a slip of the finger. The gold stays.

An answer that changes with any of these is wrong; no answer at all is only a pity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bench.pkdd.items import Item

_SHORTEST_MISTYPED = 6


def variants(items: Iterable[Item]) -> Iterator[Item]:
    """Every way of saying each single data question that differs from the question itself."""
    for item in items:
        if item.expect != "answer" or item.question is None or item.calls or item.context:
            continue
        for name, say in WAYS.items():
            question = say(item.question)
            if question != item.question:
                yield item.model_copy(update={"id": f"{item.id}-{name}", "kind": "variant", "question": question})


def _politely(question: str) -> str:
    return f"Could you please tell me {question[0].lower()}{question[1:]}"


def _thankfully(question: str) -> str:
    return f"{question.rstrip('?. ')}, thanks!"


def _widely(question: str) -> str:
    return question.replace(" ", "  ")


def _swapped(question: str) -> str:
    """Two inner letters of the longest word change places."""
    return _mistyped(question, lambda word, k: word[:k] + word[k + 1] + word[k] + word[k + 2 :])


def _doubled(question: str) -> str:
    """An inner letter of the longest word is typed twice."""
    return _mistyped(question, lambda word, k: word[:k] + word[k] + word[k:])


def _mistyped(question: str, slip: Callable[[str, int], str]) -> str:
    words = question.split(" ")
    long = [w for w in words if w.isalpha() and len(w) >= _SHORTEST_MISTYPED]
    if not long:
        return question
    chosen = max(long, key=len)
    words[words.index(chosen)] = slip(chosen, len(chosen) // 2)
    return " ".join(words)


WAYS: dict[str, Callable[[str], str]] = {
    "upper": str.upper, "lower": str.lower, "polite": _politely, "thanks": _thankfully, "spaces": _widely, "swapped": _swapped,
    "doubled": _doubled,
}  # fmt: skip
