"""The usual changes to a semantic model file, one entry at a time: everything else in the file stays, stale parts too.

An entry is written anew from what the model says of it now, so that a column the file did not speak of gets its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lexsi_ds.errors import NotFound
from lexsi_ds.knowledge import meanings as mn
from lexsi_ds.knowledge import osi
from lexsi_ds.knowledge.model import ColumnModel, Formula, Metric, SemanticModel, TableModel, VerifiedQuestion
from lexsi_ds.knowledge.osi_export import dataset_of, field_of, formula_of, metric_of, model_meaning
from lexsi_ds.knowledge.osi_read import column_of

T = TypeVar("T", bound=osi.Described)


def change_column(
    document: osi.Document, model: SemanticModel, table: str, column: str, change: Callable[[ColumnModel], ColumnModel]
) -> osi.Document:
    """The file with one column changed. NotFound for an unknown one."""
    found = model.column(table, column)
    if found is None:
        raise NotFound("There is no such column.", where=f"{table}.{column}"[:80], to_do="Choose one of the list.")
    entry = field_of(change(found))

    def changed(dataset: osi.OsiDataset) -> osi.OsiDataset:
        place = next((i for i, f in enumerate(dataset.fields) if column_of(f) == column), None)
        if place is None:
            return dataset.model_copy(update={"fields": (*dataset.fields, entry)})
        fields = [_merged(f, entry) if i == place else f for i, f in enumerate(dataset.fields)]
        return dataset.model_copy(update={"fields": tuple(fields)})

    return _with_dataset(document, model, table, changed)


def change_table(
    document: osi.Document, model: SemanticModel, table: str, change: Callable[[TableModel], TableModel]
) -> osi.Document:
    """The file with one table's own entry changed; its fields stay."""
    found = next((t for t in model.tables if t.name == table), None)
    if found is None:
        raise NotFound("There is no such table.", where=table[:80], to_do="Choose one of the list.")
    entry = dataset_of(change(found), ())

    def changed(dataset: osi.OsiDataset) -> osi.OsiDataset:
        merged = _merged(dataset, entry)
        kept = {"fields": dataset.fields, "name": dataset.name, "source": dataset.source, "unique_keys": dataset.unique_keys}
        return merged.model_copy(update=kept)

    return _with_dataset(document, model, table, changed)


def put_metric(document: osi.Document, metric: Metric | Formula) -> osi.Document:
    """The file with a metric added, or the one of its id replaced."""
    entry = metric_of(metric) if isinstance(metric, Metric) else formula_of(metric)
    told = document.model.metrics or ()
    if any(m.name == entry.name for m in told):
        made = tuple(_merged(m, entry) if m.name == entry.name else m for m in told)
    else:
        made = (*told, entry)
    return _with_model(document, metrics=made)


def drop_metric(document: osi.Document, name: str) -> osi.Document:
    """The file without a metric."""
    told = document.model.metrics or ()
    if all(m.name != name for m in told):
        raise NotFound("There is no such metric.", where=name[:80], to_do="Choose one of the list.")
    return _with_model(document, metrics=tuple(m for m in told if m.name != name))


def put_verified(document: osi.Document, model: SemanticModel, verified: Sequence[VerifiedQuestion]) -> osi.Document:
    """The file with these verified questions."""
    whole = document.model
    meaning = mn.meaning_of(whole, mn.ModelMeaning) or model_meaning(model)
    meaning = meaning.model_copy(update={"verified": tuple(verified)})
    said = osi.AiContext(instructions=whole.instructions or None)
    context = whole.ai_context if isinstance(whole.ai_context, osi.AiContext) else said
    context = context.model_copy(update={"examples": tuple(v.question for v in verified) or None})
    return _with_model(document, ai_context=context, custom_extensions=mn.with_meaning(whole.custom_extensions, meaning))


def _merged(old: T, new: T) -> T:
    """A new entry that keeps what others wrote into the old one: instructions, examples, extensions of other vendors."""
    ours = new.custom_extensions
    place = mn.place_of(old)
    others = tuple(e for i, e in enumerate(old.custom_extensions) if i != place)
    context = new.ai_context
    if isinstance(old.ai_context, osi.AiContext):
        synonyms = context.synonyms if isinstance(context, osi.AiContext) else None
        context = old.ai_context.model_copy(update={"synonyms": synonyms})
    changed: dict[str, object] = {"custom_extensions": (*others, *ours), "ai_context": context}
    if hasattr(old, "datatype"):
        changed["datatype"] = getattr(old, "datatype", None)
    return new.model_copy(update=changed)


def _with_dataset(
    document: osi.Document, model: SemanticModel, table: str, change: Callable[[osi.OsiDataset], osi.OsiDataset]
) -> osi.Document:
    datasets = document.model.datasets
    names = {d.source.rsplit(".", 1)[-1].strip('"').casefold(): i for i, d in enumerate(datasets)}
    names |= {d.name.casefold(): i for i, d in enumerate(datasets)}
    place = names.get(table.casefold())
    if place is None:
        added = dataset_of(next(t for t in model.tables if t.name == table), model.of_table(table))
        return _with_model(document, datasets=(*datasets, change(added)))
    return _with_model(document, datasets=tuple(change(d) if i == place else d for i, d in enumerate(datasets)))


def _with_model(document: osi.Document, **changed: object) -> osi.Document:
    return document.model_copy(update={"semantic_model": (document.model.model_copy(update=changed),)})
