"""What is turned away before anything is read as a question on the data: small talk, orders to change data, attempts to steer.

It only refuses. It never rewrites a question and never lets one through on its own word: what passes must still be understood.
"""

from __future__ import annotations

import re
from typing import Literal

from lexsi_ds.knowledge.words import fold

Refusal = Literal["empty", "small_talk", "steering", "write", "sql"]

_GREETING = re.compile(
    r"^\W*(hi|hello|hey|good (morning|evening|afternoon|day)|thanks?|thank you|bye|goodbye|ciao|cheers)\b[\w\s,!.]{0,30}$"
)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_TALK = _any_of(
    r"\bmeaning of life\b",
    r"\b(tell|write|sing|compose|make up|give|know)\b[\w\s]{0,20}\b(joke|poem|haiku|limerick|riddle|song|story|tale)s?\b",
    r"\bwrite\b[\w\s]{0,20}\b(essay|recipe|rap|email|letter)s?\b",
    r"\b(what|who) are you\b",
    r"\bhow (old )?are you\b",
    r"\bwhat('s| is) your name\b",
    r"\byour (favou?rite|opinion)\b",
    r"\bdo you (love|like|feel|dream|think|believe|sleep)\b",
    r"\bare you (human|alive|conscious|real|a robot|an ai|happy)\b",
    r"\bmarry me\b",
    r"\btell me about yourself\b",
    r"\bwho (made|created|built) you\b",
    r"\bwhat time is it\b",
    r"\btranslate (this|the|into|to)\b",
    r"\bwhat can you do\b",
)
_STEERING = _any_of(
    r"\b(ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(instruction|rule|prompt|guard|restriction|safety)",
    r"\b(ignore|disregard|forget) (everything|all|anything)\b",
    r"\bsystem prompt\b",
    r"\byou are now\b",
    r"\bact as\b",
    r"\bpretend (to be|you)\b",
    r"\bjailbreak\b",
    r"\bdeveloper mode\b",
    r"\breveal (your|the) (prompt|instructions|rules|key|secret)",
    r"\b(api|secret) keys?\b",
    r"\benvironment variables?\b",
    r"/etc/|\.\./|<script|\bread_(text|csv|parquet|blob)\b|\bpasswords?\b",
)
_THINGS = r"(table|tables|database|column|schema|view|index)"
_WRITE = _any_of(
    rf"\b(drop|truncate|alter|rename) (the |this |all |every |my |our )?(\w+ )?{_THINGS}\b",
    r"\b(drop|truncate) \w+\s*(;|$)",
    r"\bdelete\b",
    r"\binsert (into|a|an|new|the)\b",
    r"^\W*(please )?(can you |could you )?update\b",
    r"\bupdate \w+ set\b",
    r"\b(remove|erase|wipe|purge)\b.{0,40}\b(from the|all|tables?|rows?|records?|data)\b",
    r"^\W*(please )?(can you |could you )?(set|change|rename|overwrite|mark|cancel|move|replace)\b",
    r"\bset (the )?\w+ of\b.{0,60}\bto\b",
    r"\bcreate (a |an |the )?(new )?(table|view|database|index|user)\b",
    r"\b(grant|revoke) (access|rights|all|privileges)\b",
    r"\bcopy\b.{0,40}\bto\b.{0,20}(file|csv|parquet|'|/)",
    r"\b(attach|detach) (database|'|\")",
    r"\binstall (extension|httpfs|sqlite)\b",
)
_SQL = _any_of(
    r"\bselect\b[\s\S]{1,300}\bfrom\b\s+[\w\"]+\s*(;|$|where|group|order|limit|join)",
    r"^\W*select\b[\s\S]{1,300}\bfrom\b",
    r";\s*(drop|delete|select|insert|update|copy|attach|pragma|set)\b",
    r"\bunion\s+(all\s+)?select\b",
    r"--\s|/\*|\bpragma\b",
    r"^\s*(with\s+\w+\s+as\s*\(|describe\b|show tables|explain (select|analyze))",
)

_QUOTED = re.compile(r'"[^"]{1,80}"')
"""A value in double quotes is looked up, not obeyed: its words are nobody's order."""

REASONS: dict[Refusal, str] = {
    "empty": "There is no question.",
    "small_talk": "That is not a question about the connected data.",
    "steering": "That asks to change how this works, not about the data.",
    "write": "This only reads data: it never changes, adds or deletes anything.",
    "sql": "Questions are asked in plain words here; pasted SQL is not run.",
}


def refusal(question: str) -> Refusal | None:
    """Why a question is turned away unread; None when it may be read."""
    text = " ".join(fold(question).replace("’", "'").split())
    if not any(ch.isalnum() for ch in text):
        return "empty"
    if _STEERING.search(text):
        return "steering"
    text = _QUOTED.sub(" ", text)
    if _SQL.search(text):
        return "sql"
    if _WRITE.search(text):
        return "write"
    if _GREETING.match(text) or _TALK.search(text):
        return "small_talk"
    return None
