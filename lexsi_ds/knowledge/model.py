"""The semantic model of a source: what its tables, columns and codes mean, how they join and in which role, and what can be
measured or predicted. Hand-written for the bank, derived for any other source.

Values only. It knows no question and runs no SQL; everything in it exists in the handle it was made for.
"""

from __future__ import annotations

from typing import Literal

from lexsi_ds.data.handle import Value

ColumnRole = Literal["key", "link", "measure", "category", "flag", "time", "text"]
Stored = Literal["native", "number_text", "date_text"]
Op = Literal["=", "<>", "<", "<=", ">", ">=", "in", "is null", "is not null"]
Section = Literal["concepts", "disambigs", "metrics", "join_paths", "tables"]


class ValueMeaning(Value):
    """A code of a column and what it stands for."""

    value: str
    label: str
    words: tuple[str, ...] = ()
    """What people say for it; the value itself and the label are always understood."""


class ColumnModel(Value):
    """A column with its meaning."""

    table: str
    name: str
    label: str
    """As a person reads it, singular, without the table: "amount", "average salary"."""
    role: ColumnRole
    synonyms: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    """Of a time column: "granted", "opened", "born"."""
    unit: str | None = None
    additive: bool = False
    """Whether a sum over rows means something (amounts do; ages, balances, rates do not)."""
    stored: Stored = "native"
    date_format: str | None = None
    """Of date_text: the strptime format; None when a plain cast reads it."""
    values: tuple[ValueMeaning, ...] = ()
    protected: bool = False
    masked: bool = False
    identifier: bool = False
    distinct: int = 0
    nulls: int = 0
    comment: str = ""
    described: bool = False
    """Written by hand rather than derived from its name."""
    counted: tuple[str, ...] = ()
    """Codes whose number of occurrences before a date is worth a feature."""
    bigger: tuple[str, ...] = ()
    """Superlatives that mean the highest value: "longest", "dearest"."""
    smaller: tuple[str, ...] = ()


class Flow(Value):
    """A direction of movement inside an event table: the rows of some codes, such as money in."""

    slug: str
    label: str
    column: str
    values: tuple[str, ...]


class TableModel(Value):
    """A table with its meaning: one row is one ``label``."""

    name: str
    label: str
    plural: str
    synonyms: tuple[str, ...] = ()
    rows: int = 0
    key: str | None = None
    time: str | None = None
    """The date by which a row belongs to a period: when the loan was granted."""
    names: tuple[str, ...] = ()
    """Columns by which a person calls a row: a district's name."""
    size: str | None = None
    """The measure meant by "largest loan"; None when nothing is said."""
    bridge: bool = False
    """Only links other tables; carries nothing to aggregate."""
    flows: tuple[Flow, ...] = ()
    comment: str = ""


class Condition(Value):
    """A simple test of one column."""

    table: str
    column: str
    op: Op
    values: tuple[str, ...] = ()


class Relationship(Value):
    """Rows of ``child`` point to one row of ``parent``."""

    child: str
    child_column: str
    parent: str
    parent_column: str
    role: str = ""
    """What the parent is to the child: "the account's district"."""
    words: tuple[str, ...] = ()
    """What people say when they mean this role: "kept in"."""
    one_to_one: bool = False
    """No two child rows share a parent, so joining back does not multiply rows."""
    nouns: tuple[str, ...] = ()
    """What people call the parent in this role: "support rep", "manager", "boss"."""


class Step(Value):
    """One join of a path: from a table's column to another table's column."""

    table: str
    column: str
    to_table: str
    to_column: str


class RolePath(Value):
    """A declared way from a table to another that meets at most one row, such as the owner of an account."""

    name: str
    start: str
    end: str
    steps: tuple[Step, ...]
    conditions: tuple[Condition, ...] = ()
    words: tuple[str, ...] = ()
    default: bool = False
    said: str = ""
    """How a reading states it: "the account's owner, disponents left out"."""


class Segment(Value):
    """A named subset of a table's rows: running loans."""

    id: str
    label: str
    table: str
    words: tuple[str, ...]
    conditions: tuple[Condition, ...]
    text: str = ""


class Metric(Value):
    """A measure with a name: default rate."""

    id: str
    label: str
    table: str
    words: tuple[str, ...]
    kind: Literal["rate", "sum", "average"]
    column: str | None = None
    conditions: tuple[Condition, ...] = ()
    """Of a rate: the rows that count."""
    hits: str = ""
    """Plural noun of the rows that count: "defaults"."""
    unsettled: tuple[Condition, ...] = ()
    """Rows whose outcome may still change; a period full of them says little."""
    unsettled_label: str = ""
    unit: str | None = None
    higher_is: Literal["better", "worse"] | None = None
    text: str = ""


class Formula(Value):
    """A figure that is worked out from several columns of one table: revenue as the sum of price times quantity.

    Its columns are written bare and quoted where they must be; ``table`` is its grain.
    """

    id: str
    label: str
    table: str
    words: tuple[str, ...]
    expression: str
    """One aggregate over rows of the table: ``SUM("UnitPrice" * "Quantity")``."""
    row: str = ""
    """What is summed or averaged of each row, when the expression is a plain sum or average: ``"UnitPrice" * "Quantity"``."""
    fn: Literal["sum", "average", "other"] = "other"
    conditions: tuple[Condition, ...] = ()
    """Rows that count; the others are left out of it."""
    unit: str | None = None
    text: str = ""


class Parameter(Value):
    """What may change in a verified question: ``{name}`` in its words and its SQL. ``value`` is what it was checked with."""

    name: str
    kind: Literal["number", "text", "date"]
    value: str
    table: str = ""
    column: str = ""
    """Of a text: the column whose values it may be."""


class VerifiedQuestion(Value):
    """A question with SQL that a person has checked; ``verified_sql`` fills its parameters in."""

    question: str
    sql: str
    parameters: tuple[Parameter, ...] = ()


class LearnedWord(Value):
    """What a person said that some words mean here: a table, a column, a value of a column, or a metric."""

    id: str
    words: str
    table: str = ""
    column: str = ""
    value: str = ""
    metric: str = ""
    """Id of a metric or a formula."""


class Disambiguation(Value):
    """A noun that could mean several things here, and what settles it."""

    noun: str
    words: tuple[str, ...]
    triggers: tuple[str, ...]
    """Phrases of a question that it is found by."""
    text: str


class Concept(Value):
    """A business term."""

    label: str
    words: tuple[str, ...]
    text: str


class Outcome(Value):
    """Something that can be predicted of the rows of a table."""

    id: str
    name: str
    """"Loan default"."""
    table: str
    label: str
    """The outcome as a noun: "default"."""
    words: tuple[str, ...]
    target: str
    """Name of the 0/1 column of the training frame: ``y_default``."""
    positive: tuple[Condition, ...]
    positive_meaning: str
    known: tuple[Condition, ...]
    known_meaning: str
    unknown: tuple[Condition, ...]
    unknown_meaning: str
    apart_column: str | None = None
    apart_value: str | None = None
    apart_label: str = ""
    display: tuple[str, ...] = ()
    target_columns: tuple[str, ...] = ()
    """Columns that hold the outcome itself."""
    entity_words: tuple[str, ...] = ()
    """Who or what may stand for the rows in a question: "borrower"."""
    out_of_fold: bool = False
    event: bool = False
    """Something that befalls a row, such as churn or default: what "at risk" means when nothing else is said."""


class SemanticModel(Value):
    """Everything that is known about a source."""

    tables: tuple[TableModel, ...]
    columns: tuple[ColumnModel, ...]
    relationships: tuple[Relationship, ...] = ()
    paths: tuple[RolePath, ...] = ()
    segments: tuple[Segment, ...] = ()
    metrics: tuple[Metric, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    disambiguations: tuple[Disambiguation, ...] = ()
    concepts: tuple[Concept, ...] = ()
    house: tuple[str, ...] = ()
    """Words for the whole that the data is about, such as the bank: they restrict nothing."""
    ambiguous: tuple[str, ...] = ()
    """Nouns that must be looked up before SQL is written."""
    formulas: tuple[Formula, ...] = ()
    hierarchies: tuple[Relationship, ...] = ()
    """Links of a table to itself: an employee's manager. Kept apart, since an ordinary join never visits a table twice."""
    instructions: str = ""
    """What a person wrote for whoever answers questions about this source; read as data."""
    verified: tuple[VerifiedQuestion, ...] = ()
    learned: tuple[LearnedWord, ...] = ()
    """Words that people taught; each is also among the synonyms of what it means."""

    def table(self, name: str) -> TableModel:
        """The table of this name."""
        return next(t for t in self.tables if t.name == name)

    def column(self, table: str, name: str) -> ColumnModel | None:
        """The column of this name; None when there is none."""
        return next((c for c in self.columns if c.table == table and c.name == name), None)

    def of_table(self, table: str) -> tuple[ColumnModel, ...]:
        """All columns of a table, in order."""
        return tuple(c for c in self.columns if c.table == table)

    def meaning(self, table: str, column: str, value: str) -> str | None:
        """What a code stands for, when that is written down."""
        found = self.column(table, column)
        return next((m.label for m in found.values if m.value == value), None) if found else None
