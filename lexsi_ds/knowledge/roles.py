"""Roles of links: what people call the row that a foreign key points to, from the key's own name. Pure functions of names.

Must never: name a role that the column's name does not say.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexsi_ds.knowledge import thesaurus as th
from lexsi_ds.knowledge.words import singular, split_name

_BOSS = ("manager", "boss", "supervisor", "superior")
_SAME_ROLE: dict[str, tuple[str, ...]] = {
    "report": _BOSS, "reports": _BOSS, "manager": _BOSS, "mgr": _BOSS, "supervisor": _BOSS, "boss": _BOSS, "superior": _BOSS,
    "rep": ("representative",), "buyer": ("purchaser",), "seller": ("vendor",),
}  # fmt: skip
_OF_ITSELF = frozenset({"parent", "referrer", "predecessor", "successor"})
_LITTLE = frozenset({"to", "by", "of", "the", "fk", "ref"})


_PARTS = frozenset({"origin", "destination", "source", "target", "sender", "receiver", "departure", "arrival"})
"""What a link is called by itself, without what it points to: the destination of a voyage."""


def role_nouns(column: str, parent_words: Sequence[str], parent_column: str = "") -> tuple[str, ...]:
    """What the parent is called in this role: ``SupportRepId`` -> support rep, support representative; ``ReportsTo`` -> manager,
    boss. Empty when the column only names the parent itself."""
    words = [w for w in split_name(column) if w not in th.KEY_ENDINGS and w not in _LITTLE]
    keyed = split_name(parent_column)
    if 0 < len(keyed) < len(words) and tuple(words[-len(keyed) :]) == tuple(keyed):
        words = [*words[: -len(keyed)], *parent_words[0].split()]  # dest_iata of an airport's iata: the destination airport
    if not words:
        return ()
    part = (words[0],) if len(words) > 1 and words[0] in _PARTS and " ".join(words[1:]) in parent_words else ()
    said = " ".join([*words[:-1], singular(words[-1])])
    if said in parent_words or "".join(words) in {p.replace(" ", "") for p in parent_words}:
        return ()
    if words[0] in _SAME_ROLE and _SAME_ROLE[words[0]] is _BOSS and len(words) == 1:
        return _BOSS
    others = _SAME_ROLE.get(words[-1], ())
    if others is _BOSS:
        return (said, *(b for b in _BOSS if b != said))
    return (said, *part, *(" ".join([*words[:-1], other]) for other in others))


def self_nouns(column: str, label: str) -> tuple[str, ...]:
    """What another row of the same table is called, where a key's name says that one is meant: ``manager_id``, ``parent_id``."""
    words = [w for w in split_name(column) if w not in th.KEY_ENDINGS and w not in _LITTLE]
    if len(words) != 1 or split_name(column) == tuple(words):
        return ()
    if _SAME_ROLE.get(words[0]) is _BOSS:
        return (words[0], *(b for b in _BOSS if b != words[0]))
    return (words[0], f"{words[0]} {label}") if words[0] in _OF_ITSELF else ()
