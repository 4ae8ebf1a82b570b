"""How words are compared: folded to plain lower case, singular where English allows, and near spellings by edit distance.

Pure functions of text. Nothing here may know a data set.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from lexsi_ds.knowledge.abbreviations import meanings
from lexsi_ds.knowledge.joined import taken_apart


def of_words(text: str) -> frozenset[str]:
    """The words of a text as a set: how word lists are written here."""
    return frozenset(text.split())


_IRREGULAR = {
    "people": "person",
    "persons": "person",
    "women": "woman",
    "men": "man",
    "children": "child",
    "indices": "index",
    "analyses": "analysis",
    "criteria": "criterion",
    "lives": "life",
    "wives": "wife",
    "halves": "half",
}
_UNCHANGED = {
    "status",
    "address",
    "business",
    "sales",
    "always",
    "gas",
    "bus",
    "this",
    "is",
    "was",
    "has",
    "does",
    "its",
    "us",
    "as",
    "less",
    "series",
    "news",
    "plus",
    "versus",
    "yes",
    "basis",
    "days'",
    "across",
    "process",
    "access",
    "loss",
    "class",
}

def fold(text: str) -> str:
    """Lower case without accents: ``"Ústí"`` becomes ``"usti"``."""
    lower = text.casefold().replace("ł", "l").replace("ø", "o")
    return "".join(ch for ch in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(ch))


@lru_cache(maxsize=50_000)
def singular(word: str) -> str:
    """Singular of one folded word by spelling rules; words that only look plural stay."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("es") and word[:-2] in _UNCHANGED:
        return word[:-2]
    if len(word) < 4 or word in _UNCHANGED or word.endswith(("ss", "us", "is", "ous")) or not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def stem(word: str) -> str:
    """A word without its ending, so that forms of one verb meet: billed and billing, pay and payment."""
    for ending in ("ments", "ment", "ings", "ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def plural(phrase: str) -> str:
    """Plural of a noun phrase: its last word takes the ending."""
    head, _, last = phrase.rpartition(" ")
    known = {v: k for k, v in _IRREGULAR.items() if k != "persons"}
    if last in known:
        made = known[last]
    elif last in ("sales", "series", "news") or (last.endswith("s") and singular(last) != last):
        made = last
    elif last.endswith("y") and len(last) > 1 and last[-2] not in "aeiou":
        made = last[:-1] + "ies"
    elif last.endswith(("s", "x", "z", "ch", "sh")):
        made = last + "es"
    else:
        made = last + "s"
    return f"{head} {made}" if head else made


def phrase(text: str) -> tuple[str, ...]:
    """A text as the tuple of folded singular words by which phrases are looked up."""
    bare = re.sub(r"['’]s\b", "", fold(text)).replace("'", "")
    return tuple(singular(w) for w in re.findall(r"[a-z0-9]+", bare))


@lru_cache(maxsize=50_000)
def split_name(name: str) -> tuple[str, ...]:
    """The words of an identifier: ``"NumCompaniesWorked"`` -> ``("number", "companies", "worked")``."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", spaced)
    spaced = re.sub(r"([A-Za-z]{3,})(\d+)", r"\1 \2", spaced)
    words: list[str] = re.findall(r"[a-z0-9]+", fold(spaced))
    apart = [part for w in words for part in ((w,) if meanings(w) else taken_apart(w))]
    longer = [w if w == "no" and _denies(apart, i) else (meanings(w) or (w,))[0] for i, w in enumerate(apart)]
    return tuple(part for w in longer for part in w.split())


def _denies(words: list[str], i: int) -> bool:
    """Whether a "no" is none rather than a number: a no show, and not the number of rooms."""
    following = words[i + 1] if i == 0 and len(words) > 1 else ""
    return bool(following) and following != "of" and singular(following) == following


@lru_cache(maxsize=50_000)
def other_names(name: str) -> tuple[str, ...]:
    """The name with its abbreviations meant otherwise, where they may be: an ``Inv No`` is also an inventory's number."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    words = re.findall(r"[a-z0-9]+", fold(spaced))
    return tuple(
        " ".join((*split_name(" ".join(words[:i])), other, *split_name(" ".join(words[i + 1 :]))))
        for i, w in enumerate(words)
        for other in meanings(w)[1:]
    )


def label_of(name: str) -> str:
    """An identifier as a person would write it."""
    return " ".join(split_name(name)) or name


def distance(a: str, b: str, most: int) -> int:
    """Edits from ``a`` to ``b``, counting a swap of neighbours as one; ``most + 1`` when there are more than ``most``."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def allowed_edits(word: str) -> int:
    """How many edits still count as a misspelling of a word: none for short ones and for codes with digits."""
    if len(word) < 5 or any(ch.isdigit() for ch in word):
        return 0
    return 1 if len(word) < 11 else 2


def nearest(word: str, known: set[str] | frozenset[str]) -> str | None:
    """The one known word within the allowed edits; None when there is none or more than one at the least distance."""
    most = allowed_edits(word)
    if not most:
        return None
    found: dict[int, list[str]] = {}
    for other in known:
        if other[:1] != word[:1] and other[1:2] != word[1:2]:
            continue
        far = distance(word, other, most)
        if far <= most:
            found.setdefault(far, []).append(other)
    best = found[min(found)] if found else []
    doubled = [other for other in best if _single_letters(other) == _single_letters(word)]
    best = doubled or best
    return best[0] if len(best) == 1 else None


def _single_letters(word: str) -> str:
    """A word with doubled letters written once: what is most often got wrong."""
    return "".join(ch for i, ch in enumerate(word) if i == 0 or word[i - 1] != ch)


_SPELT = (
    ("tre", "ter"), ("bre", "ber"), ("our", "or"), ("ise", "ize"), ("isation", "ization"), ("yse", "yze"), ("ogue", "og"),
    ("ence", "ense"), ("lled", "led"), ("lling", "ling"), ("mme", "m"), ("aluminium", "aluminum"), ("grey", "gray"),
    ("tyre", "tire"), ("cheque", "check"), ("plough", "plow"), ("jewellery", "jewelry"), ("kerb", "curb"),
)  # fmt: skip
"""Endings and words that British and American English spell differently."""


def other_spelling(word: str, known: set[str] | frozenset[str]) -> str | None:
    """The one known word that is this one as the other side of the Atlantic spells it: fibre, fiber; None where there is none."""
    found = set[str]()
    for british, american in _SPELT:
        for mine, theirs in ((british, american), (american, british)):
            for tail in ("", "s", "d"):
                if word.endswith(mine + tail):
                    found.add(word[: len(word) - len(mine + tail)] + theirs + tail)
    found &= known
    return found.pop() if len(found) == 1 else None
