"""What is turned away before anything is read as a question on the data: small talk, orders to change data, attempts to steer.

It only refuses. It never rewrites a question and never lets one through on its own word: what passes must still be understood.
"""

from __future__ import annotations

import re
from typing import Literal

from lexsi_ds.knowledge.words import fold

Refusal = Literal["empty", "small_talk", "steering", "write", "sql"]

_GREETING = re.compile(r"^\W*(hi|hello|hey|good (morning|evening|afternoon|day)|thanks?|thank you|bye|goodbye|yo|ciao|cheers)\b[\w\s,!.]{0,30}$")
_TALK = re.compile(
    r"\bmeaning of life\b|\b(tell|write|sing|compose|make up|give|do you know|know)\b[\w\s]{0,20}\b(joke|poem|haiku|limerick|riddle|song|story|tale|"
    r"essay|recipe|script|rap)s?\b|\b(what are you|who are you|how are you|how old are you|what is your name|what's your name|your favou?rite|your opinion|"
    r"do you (love|like|feel|dream|think|believe|sleep)|are you (human|alive|conscious|real|a robot|an ai|happy)|marry me|tell me about yourself|"
    r"who (made|created|built) you|what time is it|translate (this|the|into|to)|what can you do)\b"
)
_STEERING = re.compile(
    r"\b((ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(instructions?|rules?|prompts?|above|previous|guard(rails?)?|restrictions?|everything)|"
    r"system prompt|you are now|act as|pretend (to be|you)|jailbreak|developer mode|reveal (your|the) (prompt|instructions|rules|key|secret)|"
    r"(api|secret) keys?|environment variables?|/etc/|\.\./|read_(text|csv|parquet|blob)|<script|passwords?)"
)
_WRITE = re.compile(
    r"\b((drop|truncate|alter) (the |this |all |every |my |our )?(\w+ )?(table|tables|database|column|schema|view)|"
    r"delete\b|insert (into|a|an|new|the)|update (the |all |every |my |our |\w+ set\b|loans?\b|accounts?\b|customers?\b)|"
    r"(remove|erase|wipe|purge)\b.{0,40}\b(from|all|table|rows?|records?|data)|"
    r"set\b.{0,60}\bto\b|rename\b|overwrite\b|create (a |an |the )?(new )?(table|view|database|index|user)|grant (access|rights|all|privileges)|"
    r"revoke (access|rights)|copy\b.{0,40}\bto\b.{0,20}(file|csv|parquet|'|/)|attach\b|detach\b|install (extension|httpfs|sqlite|the)|change the .{0,40} to\b|"
    r"mark .{0,40} as\b|move .{0,40}\bto the\b|cancel (the|all|every|loan|order))"
)
_SQL = re.compile(
    r"(\bselect\b[\s\S]{1,300}\bfrom\b\s+[\w\"]|;\s*(drop|delete|select|insert|update|copy|attach|pragma|set)\b|\bunion\s+(all\s+)?select\b|--\s|/\*|"
    r"\bpragma\b|^\s*(with\s+\w+\s+as\s*\(|describe\b|show tables|explain select|explain analyze))"
)

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
    if _SQL.search(text):
        return "sql"
    if _WRITE.search(text):
        return "write"
    if _GREETING.match(text) or _TALK.search(text):
        return "small_talk"
    return None
