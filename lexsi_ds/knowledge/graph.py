"""The business knowledge graph of a source: its model as nodes that can be outlined, listed, fetched and searched.

Search works on whole questions, because trigger phrases ("lives in", "likely to default") carry what single nouns lose.
It reads the semantic model only, never the data.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import NotFound
from lexsi_ds.knowledge.model import Condition, Formula, RolePath, Section, SemanticModel, TableModel
from lexsi_ds.knowledge.words import fold, nearest, phrase

SECTIONS: tuple[Section, ...] = ("concepts", "disambigs", "metrics", "join_paths", "tables")
WEAK_SCORE = 2.0
"""A best hit below this says little: the search is then widened by the run's question."""
_COMMON = frozenset(
    phrase(
        "a an the of in on at by for to and or is are was were be do does did how many much what which who when where our we my"
    )
)
_TRIGGER_BONUS = 4.0


class KgHit(Value):
    """A node that was found."""

    id: str
    label: str
    section: Section
    text: str
    score: float


@dataclass(frozen=True)
class _Node:
    id: str
    label: str
    section: Section
    text: str
    triggers: tuple[tuple[str, ...], ...]
    words: Counter[str]
    said: tuple[str, ...] = ()
    """The words and phrases it is found by, as they are written."""

    def hit(self, score: float = 0.0) -> KgHit:
        return KgHit(id=self.id, label=self.label, section=self.section, text=self.text, score=round(score, 3))


class KnowledgeGraph:
    """The nodes of one semantic model."""

    def __init__(self, model: SemanticModel) -> None:
        self.model = model
        self._nodes = _nodes(model)
        found = Counter(w for n in self._nodes for w in n.words)
        self._weight = {w: math.log(1 + len(self._nodes) / n) for w, n in found.items()}

    def outline(self) -> dict[Section, list[str]]:
        """Labels of all nodes by section."""
        return {s: [n.label for n in self._nodes if n.section == s] for s in SECTIONS}

    def section(self, name: Section) -> list[KgHit]:
        """Every node of a section, in the model's order."""
        return [n.hit() for n in self._nodes if n.section == name]

    def node(self, label: str) -> KgHit:
        """One node by its id or its label, whatever the case; NotFound names the nearest."""
        wanted = label.strip().casefold()
        for found in self._nodes:
            if wanted in (found.id.casefold(), found.label.casefold()):
                return found.hit()
        near = nearest(wanted, {n.label.casefold() for n in self._nodes})
        raise NotFound(
            f"No node is called {label[:80]!r}.",
            where="knowledge graph",
            to_do=f"Did you mean {near!r}?" if near else "Ask for the outline to see all nodes.",
        )

    def record(self, node_id: str) -> str:
        """All that is kept of a node, as lines: id, section, text, and the words and phrases it is found by."""
        node = next(n for n in self._nodes if n.id == node_id)
        lines = [f"id: {node.id}", f"section: {node.section}", f"label: {node.label}", f"text: {node.text}"]
        if node.said:
            lines.append(f"found by: {', '.join(node.said)}")
        return "\n".join(lines)

    def search(
        self, text: str, top_k: int = 8, question: str | None = None, section: Section | None = None
    ) -> list[KgHit]:
        """The best nodes for a text, best first, of one section or of all. Weak hits are widened by the run's question."""
        scores = self._scores(text)
        if question and question != text and self.is_weak(text):
            for node_id, score in self._scores(question).items():
                scores[node_id] = scores.get(node_id, 0.0) + score / 2
        among = [n for n in self._nodes if section in (None, n.section)]
        ranked = sorted(((s, n) for n in among if (s := scores.get(n.id, 0.0)) > 0), key=lambda p: (-p[0], p[1].id))
        return [n.hit(s) for s, n in ranked[: max(1, top_k)]]

    def is_weak(self, text: str) -> bool:
        """Whether the best node for a text says little, so that a search is widened."""
        return max(self._scores(text).values(), default=0.0) < WEAK_SCORE

    def ambiguous_nouns(self, question: str) -> list[str]:
        """Nouns of the question that mean several things on this source, in the order in which they appear."""
        words = list(phrase(question))
        found: dict[str, int] = {}
        for noun in self.model.ambiguous:
            form = phrase(noun)
            place = next((i for i in range(len(words)) if tuple(words[i : i + len(form)]) == form), None)
            if place is not None:
                found[noun] = place
        return sorted(found, key=lambda n: found[n])

    def _scores(self, text: str) -> dict[str, float]:
        words = list(phrase(text))
        told = set(words) - _COMMON
        scores: dict[str, float] = {}
        for node in self._nodes:
            shared = sum(self._weight[w] * min(2, node.words[w]) for w in told if w in node.words)
            length = 1 + 0.02 * sum(node.words.values())
            bonus = sum(_TRIGGER_BONUS * len(t) ** 0.5 for t in node.triggers if _contains(words, t))
            if shared or bonus:
                scores[node.id] = shared / length + bonus
        return scores


def _contains(words: list[str], part: tuple[str, ...]) -> bool:
    return bool(part) and any(tuple(words[i : i + len(part)]) == part for i in range(len(words) - len(part) + 1))


def _node(
    section: Section, label: str, text: str, words: tuple[str, ...] = (), triggers: tuple[str, ...] = ()
) -> _Node:
    slug = "_".join(re.findall(r"[a-z0-9]+", fold(label))) or "node"
    counted = Counter(w for t in (label, label, text, *words) for w in phrase(t) if w not in _COMMON)
    phrases = tuple(sorted({p for t in (*triggers, *words) if len(p := phrase(t)) > 1 or t in triggers}))
    said = tuple(dict.fromkeys((*words, *triggers)))
    return _Node(f"{section}:{slug}", label, section, text, phrases, counted, said)


def _nodes(model: SemanticModel) -> list[_Node]:
    made = [_node("concepts", c.label, c.text, c.words) for c in model.concepts]
    made += [
        _node("concepts", s.label, f"{s.table}: {s.text or _tests(s.conditions)}", s.words) for s in model.segments
    ]
    made += [
        _node(
            "concepts",
            o.name,
            f"Can be predicted for {o.table}: 1 means {o.positive_meaning}; known for {o.known_meaning};"
            f" scored: {o.unknown_meaning}.",
            o.words,
        )
        for o in model.outcomes
    ]
    made += [_node("disambigs", d.noun, d.text, d.words, d.triggers) for d in model.disambiguations]
    made += [_node("metrics", m.label, f"{m.text or m.label} ({m.table})", m.words, m.words) for m in model.metrics]
    made += [_node("metrics", f.label, _formula_text(f), f.words, f.words) for f in model.formulas]
    made += [
        _node(
            "join_paths",
            f"{r.child} to {r.parent}",
            f"{r.child}.{r.child_column} = {r.parent}.{r.parent_column}: {r.role or 'link'}",
            (*r.words, *r.nouns),
            (*r.words, *r.nouns),
        )
        for r in (*model.relationships, *model.hierarchies)
    ]
    made += [_node("join_paths", p.name, _path_text(p), p.words, p.words) for p in model.paths]
    made += [_node("tables", t.name, _table_text(model, t), (t.label, t.plural, *t.synonyms)) for t in model.tables]
    return _told_apart(made)


def _told_apart(nodes: list[_Node]) -> list[_Node]:
    seen: Counter[str] = Counter()
    made = []
    for node in nodes:
        seen[node.id] += 1
        name = node.id if seen[node.id] == 1 else f"{node.id}_{seen[node.id]}"
        made.append(replace(node, id=name))
    return made


def _tests(conditions: tuple[Condition, ...]) -> str:
    return " and ".join(f"{c.column} {c.op} {', '.join(c.values)}".strip() for c in conditions)


def _formula_text(formula: Formula) -> str:
    tests = f" where {_tests(formula.conditions)}" if formula.conditions else ""
    return f"{formula.text or formula.label}: {formula.expression} over rows of {formula.table}{tests}"


def _path_text(path: RolePath) -> str:
    steps = " and ".join(f"{s.table}.{s.column} = {s.to_table}.{s.to_column}" for s in path.steps)
    tests = _tests(path.conditions)
    return (
        f"{path.start} to {path.end}: {steps}"
        + (f", where {tests}" if tests else "")
        + (f" ({path.said})" if path.said else "")
    )


def _table_text(model: SemanticModel, table: TableModel) -> str:
    parts = []
    for column in model.of_table(table.name):
        codes = ", ".join(f"{m.value} = {m.label}" for m in column.values if m.label)
        unit = f", {column.unit}" if column.unit else ""
        parts.append(f"{column.name} ({column.label}{unit}{': ' + codes if codes else ''})")
    return (
        (f"{table.comment} " if table.comment else "") + f"One row is one {table.label}. Columns: " + "; ".join(parts)
    )
