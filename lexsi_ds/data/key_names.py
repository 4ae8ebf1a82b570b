"""What names say of keys: whether a column is called like a key, and how well it names another table.

General rules of English and of database habits (``customer_id``, ``CustomerID``, ``fk_customer``, ``cust_no``). Must never: know
a table or a column of one data set.
"""

from __future__ import annotations

from functools import lru_cache

from lexsi_ds.data.marks import split_name

_SUFFIXES = {"id", "ids", "key", "code", "no", "nr", "num", "number", "uuid", "guid", "pk", "fk", "ref", "sk", "identifier"}
_NOISE = {"tbl", "table", "dim", "fact", "stg", "raw", "data", "t", "vw", "v"}
_SELF = {"parent", "manager", "reports", "supervisor", "boss", "mentor", "predecessor", "previous", "superior", "root"}
_ROLES = {
    "rep", "representative", "agent", "manager", "supervisor", "salesperson", "seller", "assignee", "assigned", "handler",
    "approver", "author", "creator", "owner", "operator", "advisor", "consultant", "created", "updated", "modified",
}  # fmt: skip
_STAFF = {"employee", "staff", "user", "worker", "person", "people", "agent", "member", "personnel"}
_SHORTEST_STEM = 3

OWN_NAME, ROLE_NAME, SAME_WORD = 1.0, 0.9, 0.75


def looks_like_key(column: str) -> bool:
    """Whether the name ends as keys do."""
    words = _words(column)
    return bool(words) and (words[-1] in _SUFFIXES or (len(words) == 1 and words[0].endswith("id") and len(words[0]) > 2))


def names_own_row(table: str, column: str) -> bool:
    """Whether a column is called as the key of its own table: ``id``, ``loan_id`` in ``loans``."""
    core = _core(column)
    return (not core and looks_like_key(column)) or (bool(core) and _joined(core) == _joined(_noun(table)))


def name_score(child: str, column: str, parent: str, key: str) -> float:
    """How well ``column`` of ``child`` names the rows of ``parent``, whose key is ``key``: 1 is plain, 0 not at all."""
    words, core, noun, key_core = _words(column), _core(column), _noun(parent), _core(key)
    if not words:
        return 0.0
    keyed = looks_like_key(column)
    if child == parent:
        return 0.8 if set(words) & _SELF or _ends(core, noun) else 0.0
    if key_core and words == _words(key):
        return OWN_NAME
    if core and _joined(core) in (_joined(noun), _joined(key_core) or None):
        return OWN_NAME if keyed else 0.85
    if _ends(core, noun) or _ends(core, key_core):
        return ROLE_NAME if keyed else 0.75
    if keyed and core and set(core) & _ROLES and noun[-1:] and noun[-1] in _STAFF:
        return 0.8
    if keyed and core and len(noun) > 1 and core == noun[-1:]:
        return 0.7
    if keyed and len(_joined(core)) >= _SHORTEST_STEM and _joined(noun).startswith(_joined(core)):
        return 0.75
    return 0.0


def shared_name(column: str, key: str) -> float:
    """How well one name in two tables says that they share what it names, as ``iata_code`` does: 1, less for a name that is none
    of a key, and 0 for different names and for ones that say nothing, as ``id`` and ``code``."""
    if _words(column) != _words(key) or not _core(column):
        return 0.0
    return OWN_NAME if looks_like_key(column) else SAME_WORD


def _ends(core: tuple[str, ...], noun: tuple[str, ...]) -> bool:
    return bool(noun) and len(core) > len(noun) and core[-len(noun) :] == noun


@lru_cache(maxsize=20_000)
def _words(name: str) -> tuple[str, ...]:
    return split_name(name)


@lru_cache(maxsize=20_000)
def _core(column: str) -> tuple[str, ...]:
    """The words of a column's name without those that only say "key", singular."""
    words = list(_words(column))
    if len(words) == 1 and words[0].endswith("id") and words[0] not in _SUFFIXES and len(words[0]) > 4:
        words = [words[0][:-2]]
    while words and words[-1] in _SUFFIXES:
        words.pop()
    while words and words[0] in ("fk", "pk"):
        words.pop(0)
    return tuple(_singular(word) for word in words)


@lru_cache(maxsize=20_000)
def _noun(table: str) -> tuple[str, ...]:
    """What one row of a table is called, by its name."""
    words = [word for word in _words(table) if not word.isdigit()]
    kept = [word for word in words if word not in _NOISE] or words
    return tuple(_singular(word) for word in kept)


def _joined(words: tuple[str, ...]) -> str:
    return "".join(words)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
