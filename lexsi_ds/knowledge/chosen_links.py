"""Takes the relationships that were found in the data, declared by a database or chosen by a person into the derived model.

Must never: add a link whose parent column is no key, which would multiply rows, or a second unconfirmed way between two
tables, which would make every question about them ambiguous.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.relations import Relation
from lexsi_ds.knowledge import thesaurus as th
from lexsi_ds.knowledge.model import Relationship, TableModel
from lexsi_ds.knowledge.roles import role_nouns
from lexsi_ds.knowledge.words import split_name


def with_relations(
    derived: list[Relationship], handle: DatasetHandle, tables: Sequence[TableModel], relations: Sequence[Relation]
) -> list[Relationship]:
    """The derived links, less the rejected ones, with those that are confirmed, declared or found."""
    rejected = {r.ends for r in relations if r.state == "rejected"}
    links = [link for link in derived if _ends(link) not in rejected]
    sure = [r for r in relations if r.usable and (r.state == "confirmed" or r.origin == "declared")]
    for relation in [*sure, *(r for r in relations if r.usable and r not in sure)]:
        if relation.child == relation.parent or not _leads_to_one(handle, relation):
            continue
        same_column = [x for x in links if (x.child, x.child_column) == relation.ends[:2]]
        if any(_ends(link) == relation.ends for link in same_column):
            continue
        if relation in sure:
            links = [link for link in links if link not in same_column]
        elif same_column or any((x.child, x.parent) == (relation.child, relation.parent) for x in links):
            continue
        links.append(_link(relation, tables))
    return links


def own_links(
    handle: DatasetHandle, tables: Sequence[TableModel], relations: Sequence[Relation]
) -> tuple[Relationship, ...]:
    """Links of a table to itself, each with what the parent is called: ``ReportsTo`` leads to the manager."""
    labels = {t.name: t for t in tables}
    found = []
    for relation in relations:
        if relation.child == relation.parent and relation.usable and _leads_to_one(handle, relation):
            table = labels[relation.child]
            nouns = role_nouns(relation.child_column, (table.label, *table.synonyms)) or (f"parent {table.label}",)
            link = _link(relation, tables)
            found.append(link.model_copy(update={"nouns": nouns, "role": f"the {table.label}'s {nouns[0]}"}))
    return tuple(found)


def _ends(link: Relationship) -> tuple[str, str, str, str]:
    return link.child, link.child_column, link.parent, link.parent_column


def _leads_to_one(handle: DatasetHandle, relation: Relation) -> bool:
    child, parent = handle.table(relation.child), handle.table(relation.parent)
    if child is None or parent is None or not (child.column(relation.child_column) and parent.column(relation.parent_column)):
        return False
    return relation.to_key or relation.origin == "declared"


def _link(relation: Relation, tables: Sequence[TableModel]) -> Relationship:
    labels = {t.name: t.label for t in tables}
    words = [w for w in split_name(relation.child_column) if w not in th.KEY_ENDINGS]
    meant = " ".join(words) or labels[relation.parent]
    return Relationship(
        child=relation.child, child_column=relation.child_column, parent=relation.parent,
        parent_column=relation.parent_column, role=f"the {labels[relation.child]}'s {meant}",
        one_to_one=relation.one_to_one,
    )
