"""Whether a column is how long a row lasts or is: what "longest" and "longer" speak of."""

from __future__ import annotations

from lexsi_ds.knowledge.model import ColumnModel, SemanticModel
from lexsi_ds.knowledge.words import of_words

_LENGTHS = of_words(
    "length duration time playing running total minute minutes second seconds millisecond milliseconds hour hours"
    " runtime page pages distance"
)


def is_length(column: ColumnModel, model: SemanticModel) -> bool:
    """Whether a column is how long a row itself lasts or is: a duration, and no delay."""
    noun = model.table(column.table)
    words = {*noun.label.split(), *noun.plural.split()}
    return not set(column.label.split()) - _LENGTHS - words
