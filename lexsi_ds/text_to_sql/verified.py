"""Questions that a person has checked: which one a question is, with which values, and how one is made of an answer.

A near match differs only in words that mean nothing, in number, in the spelling of a word that the data does not know, and in
values of its parameters; the value of a text must be one of its column. All else is another question. Must never: run anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lexsi_ds.knowledge.model import Parameter, VerifiedQuestion
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.knowledge.verified_sql import filled_sql
from lexsi_ds.knowledge.words import nearest, of_words, phrase
from lexsi_ds.text_to_sql.tokens import Token, tokenise

MARK = "As checked by a person"
"""How the reading of such an answer begins: what a screen goes by for its badge."""
_FILLER = of_words(
    "a an the please can could you me us tell show give is are was were there do does did we have our what s"
)
_COUNT = (("how", "many"), ("number", "of"), ("count", "of"), ("total", "number", "of"))
_SLOT = re.compile(r"\{(\w{1,30})\}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOST_WORDS = 6


@dataclass(frozen=True)
class Found:
    """The verified question that a question is, and the values of its parameters."""

    verified: VerifiedQuestion
    values: dict[str, str]
    near: bool


@dataclass(frozen=True)
class Candidate:
    """A literal of the SQL that stands in the question too: what may become a parameter."""

    parameter: Parameter
    start: int
    end: int


def find(question: str, verified: Sequence[VerifiedQuestion], values: ValueIndex, vocabulary: frozenset[str]) -> Found | None:
    """The verified question that this is: the exact one, else the only near one."""
    asked = tokenise(question)
    near: list[Found] = []
    for each in verified:
        exact, loose = _exact(each, asked, values), _near(each, asked, values, vocabulary)
        if exact is not None:
            return Found(each, exact, near=bool(each.parameters) and exact != {p.name: p.value for p in each.parameters})
        if loose is not None:
            near.append(Found(each, loose, near=True))
    sql = {filled_sql(f.verified, f.values) for f in near}
    return near[0] if len(sql) == 1 else None


def candidates(question: str, sql: str) -> tuple[Candidate, ...]:
    """Literals of the SQL that are in the question, each once, in the question's order."""
    try:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
    except SqlglotError:
        return ()
    aliases = {t.alias_or_name: t.name for t in tree.find_all(exp.Table)}
    found: dict[tuple[int, int], Candidate] = {}
    for node in tree.find_all(exp.Literal):
        span = _span(question, node)
        column = _column_of(node)
        table = (aliases.get(column.table) or (next(iter(aliases.values())) if len(aliases) == 1 else "")) if column else ""
        kind = "date" if node.is_string and _DATE.fullmatch(node.this) else "text" if node.is_string else "number"
        if span is None or span in found or (kind == "text" and column is None):
            continue
        name = re.sub(r"\W+", "_", (column.name if column else kind).casefold()).strip("_")[:24] or kind
        taken = {c.parameter.name for c in found.values()}
        while name in taken:
            name = f"{name[:24]}_{len(taken) + 1}"
        made = Parameter(name=name, kind=kind, value=node.this, table=table, column=column.name if column else "")
        found[span] = Candidate(made, *span)
    return tuple(sorted(found.values(), key=lambda c: c.start))


def with_parameters(question: str, sql: str, chosen: Sequence[Candidate]) -> VerifiedQuestion:
    """A verified question whose chosen literals may change. The SQL keeps its meaning when the values of now are filled in."""
    words = question
    for each in sorted(chosen, key=lambda c: -c.start):
        words = f"{words[: each.start]}{{{each.parameter.name}}}{words[each.end :]}"
    if not chosen:
        return VerifiedQuestion(question=words, sql=sql)
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    for node in list(tree.find_all(exp.Literal)):
        for each in chosen:
            p, column = each.parameter, _column_of(node)
            same_kind = node.is_string == (p.kind != "number")
            if same_kind and node.this == p.value and (column.name if column else "") == p.column:
                node.replace(exp.Var(this=f"{{{p.name}}}"))
                break
    text = tree.sql(dialect="duckdb", pretty=True)
    return VerifiedQuestion(question=words, sql=text, parameters=tuple(c.parameter for c in chosen))


def _span(question: str, node: exp.Literal) -> tuple[int, int] | None:
    """Where the literal stands in the question."""
    tokens = tokenise(question)
    if not node.is_string:
        try:
            value = float(node.this)
        except ValueError:
            return None
        return next(((t.start, t.end) for t in tokens if t.kind == "number" and t.value == value), None)
    at = question.find(node.this)
    if _DATE.fullmatch(node.this):
        return (at, at + len(node.this)) if at >= 0 else None
    wanted = phrase(node.this)
    for i in range(len(tokens) if wanted else 0):
        for j in range(i + 1, min(len(tokens), i + _MOST_WORDS) + 1):
            if phrase(" ".join(t.text for t in tokens[i:j])) == wanted:
                return tokens[i].start, tokens[j - 1].end
    return None


def _column_of(node: exp.Literal) -> exp.Column | None:
    """The column that a literal is compared with."""
    above = node.parent
    while above is not None and isinstance(above, exp.Cast | exp.Lower | exp.Upper | exp.Paren | exp.Tuple):
        above = above.parent
    if isinstance(above, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.In | exp.Between | exp.Like | exp.ILike):
        return above.find(exp.Column)
    return None


def _exact(each: VerifiedQuestion, asked: Sequence[Token], values: ValueIndex) -> dict[str, str] | None:
    """Values when the words are the same, marks aside."""
    words = [t for t in asked if t.kind != "mark"]
    return _matched(_items(each, filler=frozenset(), counts=False), words, each, values, frozenset())


def _near(
    each: VerifiedQuestion, asked: Sequence[Token], values: ValueIndex, vocabulary: frozenset[str]
) -> dict[str, str] | None:
    words = [t for t in _plain(asked) if isinstance(t, Token)]
    return _matched(_items(each, filler=_FILLER, counts=True), words, each, values, vocabulary)


def _items(each: VerifiedQuestion, *, filler: frozenset[str], counts: bool) -> list[Token | Parameter]:
    """The template as words and slots."""
    known = {p.name: p for p in each.parameters}
    items: list[Token | Parameter] = []
    at = 0
    for match in _SLOT.finditer(each.question):
        if match[1] in known:
            items += tokenise(each.question[at : match.start()])
            items.append(known[match[1]])
            at = match.end()
    items += tokenise(each.question[at:])
    kept = [i for i in items if isinstance(i, Parameter) or i.kind != "mark"]
    return _plain(kept, filler) if counts else kept


def _plain(items: Sequence[Token | Parameter], filler: frozenset[str] = _FILLER) -> list[Token | Parameter]:
    """Without words that mean nothing; the ways of asking for a count made one."""
    items = [i for i in items if isinstance(i, Parameter) or i.kind != "mark"]
    out: list[Token | Parameter] = []
    i = 0
    while i < len(items):
        said = next((c for c in sorted(_COUNT, key=len, reverse=True) if _words(items[i : i + len(c)]) == c), None)
        if said:
            out.append(Token("#", "#", "#", "word", 0, 0))
            i += len(said)
            continue
        item = items[i]
        if isinstance(item, Parameter) or item.kind != "word" or item.word not in filler:
            out.append(item)
        i += 1
    return out


def _words(items: Sequence[Token | Parameter]) -> tuple[str, ...]:
    return tuple(i.word if isinstance(i, Token) else "" for i in items)


def _matched(
    items: Sequence[Token | Parameter], asked: Sequence[Token], each: VerifiedQuestion, values: ValueIndex,
    vocabulary: frozenset[str],
) -> dict[str, str] | None:
    """Values that make the template these tokens; None when none do."""
    if not items:
        return {} if not asked and not each.parameters else None
    if not asked:
        return None
    first, rest = items[0], items[1:]
    if isinstance(first, Token):
        return _matched(rest, asked[1:], each, values, vocabulary) if _same(first, asked[0], vocabulary) else None
    for taken, value in _filling(first, asked, values):
        found = _matched(rest, asked[taken:], each, values, vocabulary) if rest or taken < len(asked) else {}
        if found is not None and found.get(first.name, value) == value:
            return {first.name: value} | found
    return None


def _same(word: Token, asked: Token, vocabulary: frozenset[str]) -> bool:
    if word.kind == "number" or asked.kind == "number":
        return word.value is not None and word.value == asked.value
    if word.lemma == asked.lemma:
        return True
    known = asked.lemma in vocabulary or asked.word in vocabulary
    return bool(vocabulary) and len(asked.lemma) > 5 and not known and nearest(asked.lemma, {word.lemma}) == word.lemma


def _filling(slot: Parameter, asked: Sequence[Token], values: ValueIndex) -> list[tuple[int, str]]:
    """How many tokens may fill a slot, and with what; the longest first."""
    first = asked[0]
    if slot.kind == "number":
        if first.kind != "number" or first.value is None:
            return []
        whole = float(first.value).is_integer()
        return [(1, str(int(first.value)) if whole else repr(float(first.value)))]
    if slot.kind == "date":
        return [(1, first.text)] if _DATE.fullmatch(first.text) else []
    found = []
    for n in range(min(_MOST_WORDS, len(asked)), 0, -1):
        text = " ".join(t.text for t in asked[:n])
        hits = [h for h in values.search(text) if h.column == slot.column and slot.table in ("", h.table)]
        exact = [h.value for h in hits if phrase(h.value) == phrase(text)] or [h.value for h in hits if h.words == phrase(text)]
        if exact and len(set(exact)) == 1:
            found.append((n, exact[0]))
    return found
