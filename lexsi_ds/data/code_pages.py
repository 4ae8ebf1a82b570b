"""Which European code page bytes are in, told by how often each language uses its letters with accents.

Each code page is tried with each language; the pair under which the letters are likeliest wins. Must never: go by one word, or
prefer a page for a sign that all of them have.
"""

from __future__ import annotations

import math
import re
from collections import Counter

EUROPEAN = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp852")
"""In the order in which a tie is settled."""
CYRILLIC = ("cp1251", "koi8_r", "cp866")
_LANGUAGES = {
    "Czech": "á22 č9 ď.3 é13 ě16 í32 ň1 ó.3 ř12 š8 ť.5 ú1 ů7 ý11 ž10",
    "Slovak": "á19 ä.5 č12 ď1.5 é8 í10 ĺ.3 ľ4 ň1.5 ó1 ô2 ŕ.2 š10 ť6 ú10 ý11 ž9",
    "Polish": "ą10 ć4 ę11 ł18 ń2.5 ó9 ś7 ź1 ż8",
    "Hungarian": "á34 é34 í5 ó10 ö8 ő9 ú2 ü6 ű2",
    "Romanian": "ă40 â9 î12 ş14 ţ10",
    "Croatian": "č8 ć6 đ3 š10 ž6",
    "German": "ä6 ö3 ü7 ß3",
    "French": "é19 è3 ê2 à5 ç1 â.5 î.5 ô.3 ù.6 û.6 ï.1 ë.1 œ.2",
    "Spanish": "á5 é4 í7 ñ3 ó8 ú2 ü.1",
    "Portuguese": "ã7 á5 é5 ê4 ç5 í3 ó3 õ1 â1 à1 ô.5 ú1",
    "Italian": "à6 è3 é2 ì2 ò2 ù2",
    "Nordic": "å15 ä18 ö13 æ9 ø9 é.5",
    "Turkish": "ç11 ğ11 ı51 ö8 ş18 ü18 i̇1",
}
_CYRILLIC_LANGUAGES = {
    "Russian": "о109 е84 а80 и74 н67 т63 с55 р47 в45 л44 к35 м32 д30 п28 у26 я20 ы19 ь17 г17 з16 "
    "б16 ч15 й12 х10 ж9 ш7 ю6 ц5 щ4 э3 ф3 ъ.4 ё.4",
    "Ukrainian": "о94 а83 н68 и61 і57 в54 т54 е49 р48 с41 к40 л36 у34 д34 м30 п29 я21 з21 ь18 г16 "
    "б16 ч14 х12 ц10 ж9 й9 ю9 ї8 є6 ш6 щ4 ф3 ґ.1",
    "Bulgarian": "а120 и91 о91 е88 т74 н69 р58 с50 в43 л35 д34 к31 п30 м24 з21 я17 ъ17 г16 б15 у15 "
    "ч15 ж9 щ7 х6 ц6 ш4 й3 ю2 ф2 ь.1",
}
_THIN = 4.0
"""Natural logarithm of how much likelier a code page must be for its rivals not to be named."""
_RARE = {"cp852": (6.0, math.log(1e-4))}
"""Pages of DOS: how much likelier they must be, and how likely their signs are, which are lines of boxes."""
_STRANGE, _SIGN, _CONTROL = math.log(1e-4), math.log(1e-2), math.log(1e-7)


def _frequencies(listed: str) -> dict[str, float]:
    counts = {word[0]: float(word[1:].lstrip("\u0307")) for word in listed.split()}
    return {letter: math.log(count / sum(counts.values())) for letter, count in counts.items()}


_LIKELY = {language: _frequencies(listed) for language, listed in _LANGUAGES.items()}
_LIKELY_CYRILLIC = {language: _frequencies(listed) for language, listed in _CYRILLIC_LANGUAGES.items()}


def european(letters: bytes) -> str:
    """The likeliest of the European code pages for bytes beyond ASCII."""
    scores = _scores(letters)
    return max(EUROPEAN, key=lambda page: (round(scores[page], 6), -EUROPEAN.index(page)))


def cyrillic(letters: bytes) -> str | None:
    """The likeliest of the Cyrillic code pages for bytes beyond ASCII; None where a European one is likelier."""
    counts = Counter(letters)
    scores = {page: max(_score(counts, page, likely) for likely in _LIKELY_CYRILLIC.values()) for page in CYRILLIC}
    best = max(CYRILLIC, key=lambda page: (scores[page], -CYRILLIC.index(page)))
    return best if scores[best] > max(_scores(letters).values()) else None


def rival(sample: bytes, page: str) -> tuple[str, str, str] | None:
    """Another code page that is nearly as likely and reads the sample otherwise, and a word in either; None when none is."""
    if page not in EUROPEAN:
        return None
    scores = _scores(re.sub(rb"[\x00-\x7f]+", b"", sample))
    for other in sorted((p for p in EUROPEAN if p != page), key=lambda p: -scores[p]):
        if scores[page] - scores[other] > _THIN:
            return None
        for word in re.findall(rb"[\w\x80-\xff]{2,40}|[0-9] ?[\x80-\xff]", sample):
            here, there = word.decode(page, errors="replace"), word.decode(other, errors="replace")
            if here != there:
                return other, here, there
    return None


def _scores(letters: bytes) -> dict[str, float]:
    counts = Counter(letters)
    return {page: max(_score(counts, page, likely) for likely in _LIKELY.values()) for page in EUROPEAN}


def _score(counts: Counter[int], page: str, likely: dict[str, float]) -> float:
    less, sign = _RARE.get(page, (0.0, _SIGN))
    total = -less
    for byte, n in counts.items():
        letter = bytes([byte]).decode(page, errors="replace").lower()[:1]
        if letter == "\ufffd" or "\x80" <= letter <= "\x9f":
            total += n * _CONTROL
        else:
            total += n * likely.get(letter, _STRANGE if letter.isalpha() else sign)
    return total
