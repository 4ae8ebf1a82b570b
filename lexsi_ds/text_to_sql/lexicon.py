"""What words can mean on one source: every name, synonym, value, segment and metric of its semantic model by its folded words.

It holds all meanings of a phrase; which one is meant is settled later, by the rest of the question.
"""

from __future__ import annotations

from lexsi_ds.knowledge.loose_names import first_words, short_names
from lexsi_ds.knowledge.model import ColumnModel, SemanticModel
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.knowledge.words import fold, of_words, phrase, split_name, stem
from lexsi_ds.text_to_sql.cues import CUES, STOP_WORDS
from lexsi_ds.text_to_sql.joins import via_of
from lexsi_ds.text_to_sql.lengths import is_length as is_length
from lexsi_ds.text_to_sql.senses import Sense as Sense

_PAST = {
    "paid": "payment", "sold": "sale", "bought": "purchase", "built": "build", "sent": "send", "flown": "flight", "driven": "drive",
    "written": "write", "spoken": "speak", "grown": "grow", "won": "win", "lost": "loss", "shipped": "ship", "spent": "spend",
}  # fmt: skip
"""Participles that share no stem with the noun of what was done."""
_ENDS = of_words("left end ended closed exit termination terminated resigned returned return finished retired expiry")
_FORMS_OF = 3
"""Most words of a name that is also found by the stems of its words."""
_ARTICLES = frozenset({"the", "a", "an"})


class Lexicon:
    """Phrases of one source and their meanings."""

    def __init__(self, model: SemanticModel, values: ValueIndex) -> None:
        self.model, self.values = model, values
        self._senses: dict[tuple[str, ...], list[Sense]] = {}
        for table in model.tables:
            for text in (table.label, table.plural, table.name):
                self._add(text, Sense("entity", table.name, label=table.label))
            for text in table.synonyms:
                self._add(text, Sense("entity", table.name, label=table.label, strong=False))
        for text in model.house:
            self._add(text, Sense("house", ""))
        self._nouns = frozenset(self._senses)
        for column in model.columns:
            self._add_column(column)
        for segment in model.segments:
            for text in (segment.label, *segment.words):
                self._add(text, Sense("segment", segment.table, value=segment.id, label=segment.label))
        for metric in model.metrics:
            for text in (metric.label, *metric.words):
                self._add(text, Sense("metric", metric.table, value=metric.id, label=metric.label))
        for formula in model.formulas:
            for text in (formula.label, *formula.words):
                if not self._is_column(text):
                    self._add(text, Sense("metric", formula.table, value=formula.id, label=formula.label))
        for path in model.paths:
            for text in path.words:
                self._add(text, Sense("role", path.end, value=path.name, label=path.said))
        for link in model.relationships:
            for text in (*link.words, *link.nouns):
                self._add(text, Sense("role", link.parent, value=via_of(link), label=link.role))
        for outcome in model.outcomes:
            for text in outcome.entity_words:
                self._add(text, Sense("rows", outcome.table, value=outcome.id, label=outcome.label))
            for text in (outcome.label, *outcome.words):
                self._add(text, Sense("outcome", outcome.table, value=outcome.id, label=outcome.label))
        for words, hits in values.entries():
            for hit in hits:
                self._put(words, Sense("value", hit.table, hit.column, hit.value, hit.label))
        for link in model.hierarchies:
            for text in link.nouns:
                self._add(text, Sense("boss", link.parent, link.child_column, via_of(link), link.role))
        self._add_deals()
        self._add_pay()
        self._add_short_names()
        for word, hit in first_words(values, self._said()).items():
            if (word,) not in CUES and word not in STOP_WORDS:
                self._put((word,), Sense("value", hit.table, hit.column, hit.value, hit.label, strong=False))
        ends = (c for c in model.columns if c.role == "time" and c.nulls and set(c.label.split()) & _ENDS)
        self.has_ends = any(True for _ in ends)
        """Whether rows of some table have a day that they end on, and not all have ended."""
        self._stems = self._hints()
        self._forms = self._other_forms()
        self.longest = max((len(w) for w in self._senses), default=1)
        self.vocabulary = frozenset(w for words in self._senses for w in words if w.isalpha() and len(w) > 3)

    def _said(self) -> frozenset[str]:
        """Every word that is part of a name, so that no value takes it."""
        names = {w for c in self.model.columns for w in (*split_name(c.name), *phrase(c.label))}
        values = {words for words, _ in self.values.entries()}
        return frozenset(names | {w for words in self._senses if words not in values for w in words})

    def _is_column(self, text: str) -> bool:
        """Whether a column of the source is called just so: then nothing that is worked out takes the word."""
        return any(phrase(text) in (phrase(c.label), phrase(c.name)) for c in self.model.columns)

    def _add_pay(self) -> None:
        """ "pay", "bill": verbs of figures that are charges; they count only beside such a figure or its comparison."""
        for column in self.model.columns:
            words = set(split_name(column.name)) | set(column.label.split())
            charged = column.role == "measure" and words & {
                "charge",
                "charges",
                "fee",
                "fees",
                "bill",
                "fare",
                "payment",
                "payments",
                "premium",
            }
            for word in ("pay", "pays", "paid", "paying", "bill", "billed", "charge", "charged") if charged else ():
                if not any(s.kind != "pay" for s in self.senses((word,))):
                    self._put((word,), Sense("pay", column.table, column.name, label=column.label, role=column.role))

    def _add_short_names(self) -> None:
        """Short names of columns, where nothing else is called so and one column of its table is."""
        offered: dict[str, dict[str, list[ColumnModel]]] = {}
        named = {" ".join(c.label.split()[:-1]) for c in self.model.columns if c.label.split()[-1:] == ["name"]}
        for column in self.model.columns:
            if not (column.masked or column.role == "key" or column.described):
                for text in short_names(tuple(column.label.split())):
                    offered.setdefault(text, {}).setdefault(column.table, []).append(column)
        for text, tables in offered.items():
            words = phrase(text)
            idle = ("outcome", "rows", "pay", *(("value",) if text in named else ()))
            known = any(s.kind not in idle for s in (*self.senses(words), *self.senses(tuple(text.split()))))
            if known or words in CUES or (len(words) == 1 and words[0] in STOP_WORDS) or any(len(c) > 1 for c in tables.values()):
                continue
            for column in (c[0] for c in tables.values()):
                self._add(text, Sense("column", column.table, column.name, label=column.label, strong=False, role=column.role))

    def is_entity(self, word: str) -> bool:
        """Whether a singular word names rows."""
        return any(s.kind == "entity" for s in self.senses((word,)))

    def is_figure(self, senses: tuple[Sense, ...]) -> bool:
        """Whether a name is one of figures and of no rows."""
        return any(s.kind == "column" and s.role == "measure" for s in senses) and all(s.kind != "entity" for s in senses)

    def is_additive(self, sense: Sense) -> bool:
        """Whether the figures of a column may be added up."""
        column = self.model.column(sense.table, sense.column)
        return column is not None and column.additive

    def counts_things(self, sense: Sense) -> bool:
        """Whether a column holds how many of something each row has: an award count, a number of pages."""
        words = sense.label.split()
        return self.is_additive(sense) and len(words) > 1 and (words[-1] == "count" or words[0] == "number")

    def is_sort(self, word: str) -> bool:
        """Whether a word is a value of a column of a few, and not what rows are called."""
        values = [s for s in self.senses((word,)) if s.kind == "value"]
        return bool(values) and all(s.column not in self.model.table(s.table).names for s in values)

    def is_of_time(self, senses: tuple[Sense, ...]) -> bool:
        """Whether any of these is of a date or a year: then higher is later, not more."""
        columns = [self.model.column(s.table, s.column) for s in senses]
        return any(c is None or c.role == "time" or "year" in c.label.split() for c in columns)

    def _add_deals(self) -> None:
        """ "bought", "sold", "spent": rows of the one table that a figure of price times quantity is worked out of."""
        tables = {f.table for f in self.model.formulas if "revenue" in f.words}
        if len(tables) != 1:
            return
        table = tables.pop()
        for word in ("bought", "purchased", "sold"):
            if not self.senses((word,)):
                self._put((word,), Sense("deal", table, value="buy", label=self.model.table(table).label))
        for word in ("spent", "spend"):
            if not self.senses((word,)):
                self._put((word,), Sense("deal", table, value="spend", label=self.model.table(table).label))

    def _hints(self) -> dict[str, tuple[Sense, ...]]:
        """Columns by the stems of their labels' words: "billed" hints at billing_country, "hired" at hire_date."""
        found: dict[str, list[Sense]] = {}
        for column in self.model.columns:
            if column.role in ("key", "link") or column.masked:
                continue
            for word in dict.fromkeys((*split_name(column.name), *column.label.split())):
                if len(stem(word)) > 2:
                    found.setdefault(stem(word), []).append(
                        Sense("hint", column.table, column.name, label=column.label, role=column.role)
                    )
        return {s: tuple(senses) for s, senses in found.items()}

    def _other_forms(self) -> dict[tuple[str, ...], tuple[Sense, ...]]:
        """Columns of several words by the stems of them: "waiting time" for a wait time."""
        found: dict[tuple[str, ...], list[Sense]] = {}
        for words, senses in self._senses.items():
            stems = tuple(stem(w) for w in words)
            if 1 < len(words) <= _FORMS_OF:
                found.setdefault(stems, []).extend(s for s in senses if s.kind == "column")
        return {stems: tuple(dict.fromkeys(senses)) for stems, senses in found.items() if senses}

    def by_stems(self, words: tuple[str, ...]) -> tuple[Sense, ...]:
        """Columns whose several words are other forms of these."""
        return self._forms.get(tuple(stem(w) for w in words), ()) if 1 < len(words) <= _FORMS_OF else ()

    def hints(self, word: str) -> tuple[Sense, ...]:
        """Columns that an otherwise unknown verb may point at; it counts only beside a value or date of such a column."""
        if not word.isalpha():
            return ()
        found = self._stems.get(stem(word), ())
        base = _PAST.get(word)
        return found or (self._stems.get(stem(base), ()) if base else ())

    def senses(self, words: tuple[str, ...]) -> tuple[Sense, ...]:
        """Every meaning of these folded singular words."""
        return tuple(self._senses.get(words, ()))

    def _add_column(self, column: ColumnModel) -> None:
        sense = Sense("column", column.table, column.name, label=column.label, role=column.role)
        pointer = column.role in ("key", "link") or column.identifier
        names = (column.name, " ".join(split_name(column.name)))
        for text in dict.fromkeys((column.label, *column.synonyms, *names)):
            taken = pointer and phrase(text) in self._nouns
            if not taken and not any(s.kind == "house" for s in self.senses(phrase(text))):
                self._add(text, sense)
        noun = self.model.table(column.table).label
        named = column.role in ("measure", "time", "category") or column.name in self.model.table(column.table).names
        if named and noun not in column.label and not column.label.endswith("ed"):
            self._add(f"{noun} {column.label}", sense)
        length = is_length(column, self.model)
        for end, words in (("highest", column.bigger), ("lowest", column.smaller)):
            for text in (w for w in words if tuple(w.split()) not in CUES or w in ("oldest", "youngest")):
                if text in ("longest", "shortest") and not length:
                    continue  # the longest flight is not the one with the longest delay
                self._add(text, Sense("extreme", column.table, column.name, end, column.label))
        for verb in column.verbs:
            self._add(verb, Sense("verb", column.table, column.name, label=column.label))
        if column.role == "flag" and column.values:
            self._add_flag(column, column.values[0].value)
        elif column.role == "category" and (yes := self._yes_of(column)):
            self._add_flag(column, yes)

    def _yes_of(self, column: ColumnModel) -> str | None:
        """The yes of a column that has other values beside yes and no."""
        hits = [h.value for h in self.values.find(("yes",)) if (h.table, h.column) == (column.table, column.name)]
        return hits[0] if hits else None

    def _add_flag(self, column: ColumnModel, yes: str) -> None:
        """A yes/no column said as an adjective or noun means its yes: "senior citizens", "waterfront homes"."""
        bare = [t.split(" ", 1)[1] for t in (column.label,) if t.split(" ")[0] in ("is", "has", "was") and " " in t]
        for text in (column.label, *column.synonyms, column.name, *bare):
            self._add(text, Sense("value", column.table, column.name, yes, column.label, strong=False))
            if text.endswith(("er", "or")) and text.isalpha():  # smokers are people, and not the column's name
                self._put((f"{fold(text)}s",), Sense("value", column.table, column.name, yes, column.label))

    def _add(self, text: str, sense: Sense) -> None:
        words = phrase(text)
        self._put(words, sense)
        raw = tuple(w for w in fold(text).split() if w.isalnum())
        if raw and raw != words and len(raw) == len(words):
            self._put(raw, sense)

    def _put(self, words: tuple[str, ...], sense: Sense) -> None:
        bare = tuple(w for w in words if w not in _ARTICLES)
        if bare and bare != words:
            self._put(bare, sense)
        if not words:
            return
        found = self._senses.setdefault(words, [])
        same = [
            s
            for s in found
            if (s.kind, s.table, s.column, s.value) == (sense.kind, sense.table, sense.column, sense.value)
        ]
        if not same:
            found.append(sense)
        elif sense.strong and not same[0].strong:
            found[found.index(same[0])] = sense


class LexiconCache:
    """Lexicons of the models in use, by identity: building one takes longer than reading a question."""

    def __init__(self, most: int = 16) -> None:
        self._most = most
        self._kept: list[tuple[SemanticModel, ValueIndex, Lexicon]] = []

    def of(self, model: SemanticModel, values: ValueIndex) -> Lexicon:
        """The lexicon of this very model and index."""
        for kept_model, kept_values, lexicon in self._kept:
            if kept_model is model and kept_values is values:
                return lexicon
        made = Lexicon(model, values)
        self._kept = [*self._kept[-self._most + 1 :], (model, values, made)]
        return made


LEXICONS = LexiconCache()
