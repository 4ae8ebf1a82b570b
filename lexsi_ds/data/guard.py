"""Decides whether a text is one SELECT over the given tables that calls only listed functions.

Everything is an allow-list: statement kinds, kinds of syntax, functions, tables. What cannot be read for certain is
refused, and so is what sqlglot and DuckDB's own scanner read differently. Must never change the text it lets through.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections import Counter
from collections.abc import Collection
from itertools import pairwise
from typing import NoReturn

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType  # pyright: ignore[reportPrivateImportUsage]

from lexsi_ds.data.functions import FUNCTIONS, SYNTAX, TABLE_FUNCTIONS
from lexsi_ds.errors import SqlRefused

MAX_CHARS = 100_000
_ONE_SELECT = "Write a single SELECT statement."

_EXPRESSIONS = """
Add Adjacent All Any Between BitString BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor
Boolean Bracket ByteString Column DPipe Distance Div Dot EQ Escape GT GTE Glob HexString ILike In IntDiv Is Kwarg LT
LTE Like Literal Mod Mul NEQ Neg NestedJSONSelect Not Null NullSafeEQ NullSafeNEQ Operator Overlaps Paren Predicate
PropertyEQ Pseudocolumn RawString SimilarTo Sub UnicodeString Window Collate Slice Tuple Star Lambda Comprehension
Interval IntervalOp IntervalSpan AtTimeZone DataType DataTypeParam ColumnDef Identifier Var Heredoc Alias Aliases
Distinct Ordered Order Filter WithinGroup WindowSpec IgnoreNulls RespectNulls HavingMax PositionalColumn ExtendsLeft
ExtendsRight Null JSON JSONKeyValue JSONPath JSONPathFilter JSONPathKey JSONPathRecursive JSONPathRoot JSONPathScript
JSONPathSelector JSONPathSlice JSONPathSubscript JSONPathUnion JSONPathWildcard
"""
_CLAUSES = """
Select Union Except Intersect SetOperation Subquery Values Pivot PivotAlias PivotAny UnpivotColumns With CTE From Join
Lateral Table TableAlias TableSample Where Group GroupingSets Cube Rollup Having Qualify Limit LimitOptions Offset
Fetch
"""
_KINDS = frozenset((_EXPRESSIONS + _CLAUSES).split())
_ROOTS = (exp.Query, exp.Values, exp.Pivot)
_REFUSED_CALLS = tuple(
    getattr(exp, name)
    for name in ("ReadCSV", "ReadParquet", "CurrentUser", "SessionUser", "CurrentSchema", "CurrentSchemas",
                 "CurrentCatalog", "CurrentDatabase", "CurrentRole", "NextValueFor")
    if hasattr(exp, name)
)

_TABLE_CALLS = (exp.Unnest, exp.Explode, exp.GenerateSeries)
_WORDS = (duckdb.token_type.identifier, duckdb.token_type.keyword)
_TEXT = duckdb.token_type.string_const
_QUOTED = frozenset(
    getattr(TokenType, name)
    for name in ("STRING", "IDENTIFIER", "HEREDOC_STRING", "BYTE_STRING", "HEX_STRING", "BIT_STRING", "RAW_STRING",
                 "NATIONAL_STRING", "UNICODE_STRING")
)
_WORD = re.compile(r'"(?:[^"]|"")*"|[^\W\d][\w$]*')

# It reports statements it cannot parse as warnings; here they are simply refused.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


def check(sql: str, tables: Collection[str]) -> str:
    """The text to run: ``sql`` without trailing semicolons.

    ``tables`` are the names that may be read, compared without case. Raises SqlRefused with the reason.
    """
    text = sql.strip()
    if not text:
        raise _refused("There is no SQL to run.", _ONE_SELECT)
    if len(text) > MAX_CHARS or "\0" in text:
        raise _refused(f"The SQL is longer than {MAX_CHARS:,} characters or holds a NUL character.")
    try:
        root = _only_statement(text)
        _check_calls(text, root)
        _check_kinds(root)
        _Tables(tables).check(root, frozenset())
    except RecursionError:
        raise _refused("The SQL is nested too deeply.", "Split it with WITH.") from None
    return text.rstrip("; \t\r\n")


def _only_statement(text: str) -> exp.Expr:
    try:
        found = [each for each in sqlglot.parse(text, dialect="duckdb") if each is not None]
    except SqlglotError as error:
        raise _refused(f"The SQL cannot be read: {_reason(error)}.", _ONE_SELECT) from None
    statements = [each for each in found if not isinstance(each, exp.Semicolon)]
    if not statements:
        raise _refused("There is no SQL to run.", _ONE_SELECT)
    if len(statements) != 1:
        raise _refused(f"The SQL holds {len(statements)} statements; exactly one can be run.", _ONE_SELECT)
    root = statements[0]
    if not isinstance(root, _ROOTS):
        raise _refused(f"{_statement_name(text, root)} is not allowed: only reading is.", _ONE_SELECT)
    return root


def _check_kinds(root: exp.Expr) -> None:
    for node in root.walk():
        name = type(node).__name__
        if isinstance(node, _REFUSED_CALLS):
            raise _refused(f"{re.sub('(?<=[a-z])(?=[A-Z])', ' ', name).lower()} is not allowed.", _ONE_SELECT)
        if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
            _check_call(node.name)
        elif isinstance(node, exp.Parameter | exp.Placeholder | exp.SessionParameter):
            raise _refused("The SQL has a parameter without a value.", "Write the value itself.")
        elif not isinstance(node, exp.Func) and name not in _KINDS:
            raise _refused(f"This kind of SQL is not allowed: {name}.", _ONE_SELECT)


def _check_calls(text: str, root: exp.Expr) -> None:
    """Each word before a parenthesis, as DuckDB's scanner sees it, is a listed function, syntax or an alias."""
    called = _Scan(text).called
    for node in root.find_all(exp.TableAlias):
        if node.columns:
            called[node.name.casefold()] -= 1
    for word, count in called.items():
        if count > 0:
            _check_call(word)


def _check_call(name: str) -> None:
    if name.casefold() not in FUNCTIONS:
        near = difflib.get_close_matches(name.casefold(), FUNCTIONS, n=2, cutoff=0.75)
        raise _refused(f"The function {name} is not allowed.", f"Did you mean {' or '.join(near)}?" if near else "")


class _Scan:
    """The text as DuckDB's own scanner cuts it, so that no trick of quoting hides a call from us."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()
        found = duckdb.tokenize(text)
        starts = [start for start, _ in found] + [len(self._bytes)]
        self._tokens = [(start, end, kind) for (start, kind), end in zip(found, starts[1:], strict=True)]
        if self._quoted() != _quoted_by_sqlglot(text):
            raise _refused("It is not certain where the quoted parts of this SQL begin and end.",
                           "Use plain 'text' and \"name\" quotes.")

    @property
    def called(self) -> Counter[str]:
        """Words that stand before an opening parenthesis and are not syntax, folded, with their number."""
        words: Counter[str] = Counter()
        for (start, end, kind), (following, _, _) in pairwise(self._tokens):
            if kind not in _WORDS or self._bytes[following : following + 1] != b"(":
                continue
            word = _word(self._bytes[start:end].decode())
            if word.startswith('"') or word.casefold() not in SYNTAX:
                words[word.strip('"').replace('""', '"').casefold()] += 1
        return words

    def _quoted(self) -> list[int]:
        """Where texts and quoted names begin."""
        return [start for start, _, kind in self._tokens if kind == _TEXT or self._bytes[start : start + 1] == b'"']


class _Tables:
    """The names that may stand after FROM and JOIN."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = {name.casefold(): name for name in names}

    def check(self, node: exp.Expr, ctes: frozenset[str]) -> None:
        """Refuse any table below ``node`` that is neither given nor a CTE in scope there."""
        clause = node.args.get("with_")
        if isinstance(clause, exp.With):
            for cte in clause.expressions:
                own = cte.alias.casefold()
                self.check(cte.this, ctes | {own} if clause.recursive else ctes)
                ctes = ctes | {own}
        if isinstance(node, exp.Table):
            self._check_table(node, ctes)
        for child in node.iter_expressions():
            if child is not clause:
                self.check(child, ctes)

    def _check_table(self, table: exp.Table, ctes: frozenset[str]) -> None:
        source = table.this
        if isinstance(source, exp.Func):
            name = source.name if isinstance(source, exp.Anonymous) else source.sql_name()
            if not isinstance(source, _TABLE_CALLS) and name.casefold() not in TABLE_FUNCTIONS:
                raise _refused(f"The function {name.lower()} cannot stand for a table.")
            return
        if table.args.get("db") or table.args.get("catalog"):
            raise _refused("Table names cannot have a schema before them.", "Write the bare table name.")
        if not isinstance(source, exp.Identifier):
            raise _refused("This cannot stand for a table.", "Name one of the tables.")
        if source.name.casefold() not in self._names and source.name.casefold() not in ctes:
            self._refuse_unknown(source.name)

    def _refuse_unknown(self, name: str) -> NoReturn:
        near = difflib.get_close_matches(name.casefold(), self._names, n=2, cutoff=0.6)
        there = ", ".join(sorted(self._names.values())[:12])
        advice = f"Did you mean {' or '.join(self._names[each] for each in near)}?" if near else f"There are: {there}."
        raise _refused(f"There is no table named {name[:80]}.", advice)


def _quoted_by_sqlglot(text: str) -> list[int]:
    """Byte offsets at which sqlglot sees texts and quoted names begin."""
    starts = [token.start for token in sqlglot.tokenize(text, dialect="duckdb") if token.token_type in _QUOTED]
    return starts if text.isascii() else [len(text[:start].encode()) for start in starts]


def _word(raw: str) -> str:
    """The word at the start of a token's text, which runs on to the next token."""
    found = _WORD.match(raw)
    if found is None:
        raise _refused("A name in this SQL cannot be read for certain.", 'Write it in "double quotes".')
    return found.group()


def _reason(error: SqlglotError) -> str:
    details = getattr(error, "errors", None)
    if not details:
        return "its quotes or comments do not end"
    first = details[0]
    description = re.sub(r"<class '[\w.]*?(\w+)'>", r"\1", first["description"]).rstrip(".")
    return f"{description[:120]}, at line {first['line']}, column {first['col']}"


def _statement_name(text: str, root: exp.Expr) -> str:
    found = re.search(r"[A-Za-z]+", re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL))
    word = found.group().upper()[:20] if found else "This statement"
    return type(root).__name__.upper() if word == "WITH" else word


def _refused(what: str, to_do: str = "") -> SqlRefused:
    return SqlRefused(what, to_do=to_do)
