"""The part of a schema that a question is about, as a language model reads it: relevant tables and columns, always with the keys
and links that join them, within a number of tokens. No value of a masked column is ever in it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.knowledge.model import ColumnModel, Relationship, SemanticModel, TableModel
from lexsi_ds.knowledge.words import phrase, split_name
from lexsi_ds.text_to_sql.model.budget import tokens_of
from lexsi_ds.text_to_sql.model.linking import LinkedValue
from lexsi_ds.text_to_sql.model.relevance import Bm25
from lexsi_ds.text_to_sql.sqltext import ident

_MOST_TABLES = 14
_MOST_VALUES = 12
_LONGEST_COMMENT = 160
_VALUE_BONUS = 12.0


@dataclass(frozen=True)
class SchemaSlice:
    """What was chosen."""

    columns: dict[str, tuple[str, ...]]
    """Columns by table, both in the order of the source."""
    links: tuple[Relationship, ...]
    text: str
    whole: bool
    """Whether it is the entire schema."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The chosen tables."""
        return tuple(self.columns)


Known = dict[tuple[str, str], tuple[str, ...]]
"""All distinct values of the columns that have few, by table and column."""


def schema_slice(
    question: str, handle: DatasetHandle, model: SemanticModel, linked: Sequence[LinkedValue], known: Known, tokens: int
) -> SchemaSlice:
    """The whole schema where it fits, else what scores best for the question with all that joins it."""
    writer = _Writer(handle, model, known)
    everything = {t.name: tuple(c.name for c in t.columns) for t in handle.tables}
    text = writer.text(everything)
    if tokens_of(text) <= tokens:
        return SchemaSlice(everything, writer.links(everything), text, whole=True)
    scores = _scores(question, handle, model, linked)
    chosen = _chosen(scores, writer, tokens)
    return SchemaSlice(chosen, writer.links(chosen), writer.text(chosen), whole=False)


def _scores(
    question: str, handle: DatasetHandle, model: SemanticModel, linked: Sequence[LinkedValue]
) -> dict[tuple[str, str], float]:
    """A score for each column, and for each table under the empty column name."""
    entries = [(t.name, "", _table_words(model.table(t.name))) for t in handle.tables if _modelled(model, t.name)]
    entries += [(c.table, c.name, _column_words(c)) for c in model.columns]
    found = Bm25([words for _, _, words in entries]).scores(phrase(question))
    scores = {(table, column): score for (table, column, _), score in zip(entries, found, strict=True)}
    places = Counter(link.words for link in linked)
    for link in linked:  # words that are a value of one column alone say most
        scores[link.table, link.column] = scores.get((link.table, link.column), 0.0) + _VALUE_BONUS / places[link.words]
    for table in handle.tables:
        best = sorted((s for (t, c), s in scores.items() if t == table.name and c), reverse=True)[:3]
        scores[table.name, ""] = scores.get((table.name, ""), 0.0) + sum(best)
    return scores


def _modelled(model: SemanticModel, table: str) -> bool:
    return any(t.name == table for t in model.tables)


def _table_words(table: TableModel) -> list[str]:
    said = (table.label, table.plural, *table.synonyms)
    return [*split_name(table.name) * 2, *(w for t in said for w in phrase(t)), *phrase(table.comment)]


def _column_words(column: ColumnModel) -> list[str]:
    said = (column.label, *column.synonyms, *column.verbs, *column.bigger, *column.smaller)
    meanings = [] if column.masked else [w for m in column.values for t in (m.label, *m.words) for w in phrase(t)]
    return [*phrase(" ".join(split_name(column.name))), *(w for t in said for w in phrase(t)), *phrase(column.comment), *meanings]


def _chosen(scores: dict[tuple[str, str], float], writer: _Writer, tokens: int) -> dict[str, tuple[str, ...]]:
    """Tables by score with what joins them, then columns by score, until the tokens are used up."""
    ranked = sorted((t.name for t in writer.handle.tables), key=lambda n: -scores.get((n, ""), 0.0))
    tables: list[str] = []
    for name in ranked:
        if tables and (scores.get((name, ""), 0.0) <= 0 or len(tables) >= _MOST_TABLES):
            break
        more = writer.connected([*tables, name])
        if tables and tokens_of(writer.text(writer.pinned(more))) > tokens * 0.7:
            continue
        tables = more
    columns = {name: list(names) for name, names in writer.pinned(tables).items()}
    used = tokens_of(writer.text({k: tuple(v) for k, v in columns.items()}))
    rest = [(t, c.name) for t in tables for c in writer.table(t).columns if c.name not in columns[t]]
    for table, column in sorted(rest, key=lambda p: -scores.get(p, 0.0)):
        cost = tokens_of(writer.line(table, column))
        if used + cost <= tokens:
            columns[table].append(column)
            used += cost
    kept = [t for t in writer.handle.tables if t.name in tables]
    return {t.name: tuple(c.name for c in t.columns if c.name in columns[t.name]) for t in kept}


class _Writer:
    """Lines about tables and columns."""

    def __init__(self, handle: DatasetHandle, model: SemanticModel, known: Known) -> None:
        self.handle, self._model, self._known = handle, model, known
        self._all = (*model.relationships, *model.hierarchies)

    def table(self, name: str) -> Table:
        return next(t for t in self.handle.tables if t.name == name)

    def links(self, tables: Sequence[str] | dict[str, tuple[str, ...]]) -> tuple[Relationship, ...]:
        return tuple(r for r in self._all if r.child in tables and r.parent in tables)

    def pinned(self, tables: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Keys, links, default dates and names: what no query on these tables can do without."""
        ends = {(r.child, r.child_column) for r in self.links(tables)} | {(r.parent, r.parent_column) for r in self.links(tables)}
        found = {}
        for name in tables:
            about = next((t for t in self._model.tables if t.name == name), None)
            own = {about.key, about.time, *about.names} if about else set()
            found[name] = tuple(c.name for c in self.table(name).columns if c.name in own or (name, c.name) in ends)
        return found

    def connected(self, tables: Sequence[str]) -> list[str]:
        """The tables with those on the shortest ways between them."""
        found = [tables[0]]
        for name in tables[1:]:
            found += [t for t in self._way(found, name) if t not in found]
            if name not in found:
                found.append(name)
        return found

    def _way(self, starts: Sequence[str], end: str) -> list[str]:
        before: dict[str, str | None] = dict.fromkeys(starts)
        queue = deque(starts)
        while queue:
            at = queue.popleft()
            if at == end:
                way = [at]
                while (previous := before[way[-1]]) is not None:
                    way.append(previous)
                return way[::-1]
            for r in self._model.relationships:
                for here, there in ((r.child, r.parent), (r.parent, r.child)):
                    if here == at and there not in before:
                        before[there] = at
                        queue.append(there)
        return []

    def text(self, columns: dict[str, tuple[str, ...]]) -> str:
        lines = []
        for name, chosen in columns.items():
            table = self.table(name)
            about = next((t for t in self._model.tables if t.name == name), None)
            says = f"; one row is one {about.label}" if about else ""
            comment = _short(table.comment or (about.comment if about else ""))
            lines.append(f"table {ident(name)} ({table.rows} rows{says}){': ' + comment if comment else ''}")
            lines += [self.line(name, c) for c in chosen]
            if len(chosen) < len(table.columns):
                lines.append(f"  ({len(table.columns) - len(chosen)} more columns are not listed)")
        return "\n".join(lines)

    def line(self, table: str, column: str) -> str:
        stored = next(c for c in self.table(table).columns if c.name == column)
        about = self._model.column(table, column)
        parts = [f"  {ident(column)} {stored.type}"]
        if stored.masked or (about is not None and about.masked):
            return parts[0] + "; identifies persons, values are hidden"
        if about is None:
            return parts[0]
        if about.label.casefold() != " ".join(split_name(column)):
            parts.append(about.label)
        if about.unit:
            parts.append(f"in {about.unit}")
        if about.stored == "number_text":
            parts.append("numbers stored as text: read with TRY_CAST(x AS DOUBLE)")
        if about.stored == "date_text":
            parts.append(f"dates stored as text{f' like {about.date_format}' if about.date_format else ''}")
        if values := self._values(about):
            parts.append(f"values: {values}")
        if stored.family == "date" and stored.minimum:
            parts.append(f"{stored.minimum} to {stored.maximum}")
        if comment := _short(about.comment):
            parts.append(comment)
        return "; ".join(parts)

    def _values(self, column: ColumnModel) -> str:
        meant = {m.value: m.label for m in column.values}
        stored = self._known.get((column.table, column.name), ())
        every = list(dict.fromkeys((*meant, *stored)))
        if not every or len(every) > _MOST_VALUES:
            return ""
        said = {v: label for v, label in meant.items() if label and label != v}
        return ", ".join(f"{v!r} = {_short(said[v], 40)}" if v in said else repr(v[:40]) for v in every)


def _short(text: str | None, longest: int = _LONGEST_COMMENT) -> str:
    flat = " ".join((text or "").split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"
