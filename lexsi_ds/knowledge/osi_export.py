"""A semantic model as an OSI file: what the specification has a place for goes there, the rest into our extension.

Counts and marks of the data are left out: they belong to a snapshot, the file to the source.
"""

from __future__ import annotations

from lexsi_ds.knowledge import meanings as mn
from lexsi_ds.knowledge import osi
from lexsi_ds.knowledge.metric_sql import expression_of, name_sql
from lexsi_ds.knowledge.model import ColumnModel, Formula, Metric, Relationship, SemanticModel, TableModel


def document_of(model: SemanticModel, name: str) -> osi.Document:
    """The file of a model; learned words are a layer of their own and are not in it."""
    whole = osi.OsiModel(
        name=name,
        ai_context=_context((), model.instructions, tuple(v.question for v in model.verified)),
        datasets=tuple(dataset_of(t, model.of_table(t.name)) for t in model.tables),
        relationships=tuple(relationship_of(r) for r in (*model.relationships, *model.hierarchies)),
        metrics=(*(metric_of(m) for m in model.metrics), *(formula_of(f) for f in model.formulas)),
        custom_extensions=(mn.extension(model_meaning(model)),),
    )
    return osi.Document(semantic_model=(whole,))


def model_meaning(model: SemanticModel) -> mn.ModelMeaning:
    """What the specification has no place for, of the whole."""
    return mn.ModelMeaning(
        paths=model.paths, segments=model.segments, outcomes=model.outcomes, disambiguations=model.disambiguations,
        concepts=model.concepts, house=model.house, ambiguous=model.ambiguous, verified=model.verified,
    )  # fmt: skip


def dataset_of(table: TableModel, columns: tuple[ColumnModel, ...]) -> osi.OsiDataset:
    """A table with its columns."""
    meaning = mn.DatasetMeaning(
        label=table.label, plural=table.plural, time=table.time, names=table.names, size=table.size, bridge=table.bridge,
        flows=table.flows,
    )  # fmt: skip
    return osi.OsiDataset(
        name=table.name, source=table.name, primary_key=(table.key,) if table.key else (), description=table.comment or None,
        ai_context=_context(table.synonyms), fields=tuple(field_of(c) for c in columns), custom_extensions=(mn.extension(meaning),),
    )  # fmt: skip


def field_of(column: ColumnModel) -> osi.OsiField:
    """A column."""
    meaning = mn.FieldMeaning(
        role=column.role, unit=column.unit, additive=column.additive, identifier=column.identifier, verbs=column.verbs,
        values=column.values, counted=column.counted, bigger=column.bigger, smaller=column.smaller, described=column.described,
    )  # fmt: skip
    return osi.OsiField(
        name=column.name, label=column.label, description=column.comment or None, expression=sql_of(name_sql(column.name)),
        dimension=None if column.role == "measure" else osi.Dimension(is_time=column.role == "time"),
        ai_context=_context(column.synonyms), custom_extensions=(mn.extension(meaning),),
    )  # fmt: skip


def relationship_of(link: Relationship) -> osi.OsiRelationship:
    """A link."""
    meaning = mn.RelationshipMeaning(role=link.role, nouns=link.nouns, one_to_one=link.one_to_one)
    return osi.OsiRelationship(
        name=f"{link.child}_{link.child_column}_to_{link.parent}", **{"from": link.child}, to=link.parent,
        from_columns=(link.child_column,), to_columns=(link.parent_column,), ai_context=_context(link.words),
        custom_extensions=(mn.extension(meaning),),
    )  # fmt: skip


def metric_of(metric: Metric) -> osi.OsiMetric:
    """A rate, sum or average."""
    meaning = mn.MetricMeaning(
        label=metric.label, table=metric.table, kind=metric.kind, conditions=metric.conditions, hits=metric.hits,
        unsettled=metric.unsettled, unsettled_label=metric.unsettled_label, unit=metric.unit, higher_is=metric.higher_is,
    )  # fmt: skip
    return osi.OsiMetric(
        name=metric.id, description=metric.text or None, expression=sql_of(expression_of(metric)),
        ai_context=_context(metric.words), custom_extensions=(mn.extension(meaning),),
    )  # fmt: skip


def formula_of(formula: Formula) -> osi.OsiMetric:
    """A figure over several columns."""
    meaning = mn.MetricMeaning(label=formula.label, table=formula.table, conditions=formula.conditions, unit=formula.unit)
    return osi.OsiMetric(
        name=formula.id, description=formula.text or None, expression=sql_of(formula.expression),
        ai_context=_context(formula.words), custom_extensions=(mn.extension(meaning),),
    )  # fmt: skip


def sql_of(expression: str) -> osi.Expression:
    """An expression in plain SQL."""
    return osi.Expression(dialects=(osi.DialectExpression(dialect="ANSI_SQL", expression=expression),))


def _context(synonyms: tuple[str, ...], instructions: str = "", examples: tuple[str, ...] = ()) -> osi.AiContext | None:
    if not (synonyms or instructions or examples):
        return None
    return osi.AiContext(instructions=instructions or None, synonyms=synonyms or None, examples=examples or None)

