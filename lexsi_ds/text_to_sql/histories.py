"""Where the events of a row are: dated rows of other tables (transactions, cards, items of orders) along one or two joins, cut
strictly before the row's cut-off. One CTE a table.

A table without dates gives nothing here unless a person approves its columns by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lexsi_ds.knowledge.model import ColumnModel, Relationship, TableModel
from lexsi_ds.models.task import FeatureDef
from lexsi_ds.text_to_sql.event_features import Aggregate, Events, aggregates
from lexsi_ds.text_to_sql.probes import Query
from lexsi_ds.text_to_sql.sqltext import Names, ident
from lexsi_ds.text_to_sql.task_scene import CUTOFF, ROWS, Ancestor, Plan, Scene, Selected
from lexsi_ds.text_to_sql.task_sql import rows_cte

_MOST_CLASSES = 30
"""Most classes of a column whose shares are worth a feature."""


@dataclass(frozen=True)
class History:
    """A table of events and the joins that lead from the rows to it."""

    table: TableModel
    joins: tuple[str, ...]
    link: str
    """The test that ties an event to a row to predict."""
    dates: tuple[tuple[str, str], ...]
    """(table, column) of every date on the way; the first dates the event. All must come before the cut-off."""
    bridge: TableModel | None = None
    """A table that is only passed through."""
    through: TableModel | None = None
    """The table of events that these belong to: an item's order."""
    tie: str = ""
    """The column that points towards the rows."""

    @property
    def cte(self) -> str:
        """Name of its CTE."""
        return f"{self.table.name}_before"


@dataclass(frozen=True)
class Made:
    """The features of a table of events, before it is settled how many fit."""

    history: History
    aggregates: tuple[Aggregate, ...]
    dated: bool


def histories(scene: Scene, ancestors: Sequence[Ancestor]) -> list[History]:
    """Tables whose rows point to the entity or to something near it, bridges passed through; then the rows that point to those."""
    start = Ancestor(scene.entity, ROWS, (), f"{ROWS}.{ident(scene.key)}", "", near=True)
    above = {a.table.name for a in ancestors if a.near} | {scene.entity.name}
    found: dict[str, History] = {}
    for source in [start, *(a for a in ancestors if a.near and _belongs(scene, a))]:
        for link in scene.model.relationships:
            if link.parent != source.table.name or link.child in above:
                continue
            child = scene.model.table(link.child)
            if child.bridge:
                for further in scene.model.relationships:
                    if further.parent == child.name and further.child not in above:
                        found.setdefault(further.child, _through_bridge(scene, source, link, child, further))
            else:
                joins = source.joins[:-1] if source is not start else ()
                tie = f"{ident(child.name)}.{ident(link.child_column)} = {source.key_sql}"
                found.setdefault(child.name, History(child, joins, tie, _date_of(child), tie=link.child_column))
    for history in [h for h in found.values() if h.bridge is None]:
        for link in scene.model.relationships:
            if link.parent == history.table.name and link.child not in above and link.child not in found:
                found[link.child] = _of_events(scene, history, link)
    return list(found.values())


def _date_of(table: TableModel) -> tuple[tuple[str, str], ...]:
    return ((table.name, table.time),) if table.time else ()


def _belongs(scene: Scene, ancestor: Ancestor) -> bool:
    """Whether an ancestor is close enough that its history is the row's own: an account is, a country is not."""
    few = scene.entity.rows <= 20 * max(1, ancestor.table.rows)
    return few and (
        ancestor.table.time is not None or ancestor.table.bridge or ancestor.table.rows * 2 >= scene.entity.rows
    )


def _through_bridge(scene: Scene, source: Ancestor, link: Relationship, bridge: TableModel, further: Relationship) -> History:
    join = f"JOIN {ident(bridge.name)} ON {ident(bridge.name)}.{ident(link.child_column)} = {source.key_sql}"
    tie = f"{ident(further.child)}.{ident(further.child_column)} = {ident(bridge.name)}.{ident(further.parent_column)}"
    table = scene.model.table(further.child)
    return History(table, (*source.joins[:-1], join), tie, _date_of(table), bridge, tie=further.child_column)


def _of_events(scene: Scene, history: History, link: Relationship) -> History:
    """Rows that belong to an event, such as an order's items: dated by themselves, else by the event, and by both before the
    cut-off."""
    table, parent = scene.model.table(link.child), history.table
    join = f"JOIN {ident(parent.name)} ON {history.link}"
    tie = f"{ident(table.name)}.{ident(link.child_column)} = {ident(parent.name)}.{ident(link.parent_column)}"
    dates = (*_date_of(table), *history.dates)
    return History(table, (*history.joins, join), tie, dates, through=parent, tie=link.child_column)


def made_of(scene: Scene, plan: Plan, history: History, own: Sequence[tuple[str, ColumnModel]], query: Query) -> Made | None:
    """The features that the rules make of one table of events; None where there is nothing. Says which columns are left out."""
    table = history.table
    dated = scene.dated and bool(history.dates)
    used = []
    if history.bridge is not None:
        _leave_out_bridge(scene, plan, history.bridge)
    for column in scene.model.of_table(table.name):
        if column.masked:
            plan.leave_out(column, "masked", "It identifies a person and is masked.")
        elif column.role in ("key", "link") or column.identifier or (table.name, column.name) in history.dates:
            continue
        elif column.protected and not scene.is_approved(column):
            plan.leave_out(
                column, "protected", f"{column.label.capitalize()} is a protected attribute.", approvable=True
            )
        elif not dated and not scene.is_approved(column):
            when = f"before {scene.moment}" if scene.dated else "before the outcome"
            named = column.label[:1].upper() + column.label[1:]
            said = f"{named}: {table.label} rows have no usable date, so nothing proves it was there {when}."
            plan.leave_out(column, "undated", said, approvable=column.role == "measure")
        elif column.name in scene.outcome.target_columns and table.name == scene.outcome.table != scene.entity.name:
            plan.leave_out(column, "target", f"It holds the outcome itself ({scene.outcome.label}).")
        else:
            used.append(column)
    if not (dated or used):
        return None
    when = scene.names.read(history.dates[0][0], *history.dates[0]) if dated else ""
    links = _links(scene, history) if dated else ()
    values = _values(scene, history, used, query) if dated else {}
    events = Events(scene, table, used, when, links, values)
    return Made(history, tuple(aggregates(events, own)), dated)


def _links(scene: Scene, history: History) -> tuple[tuple[ColumnModel, str], ...]:
    """Columns that point to rows of another table than the one they came through, with what those are called."""
    pointed = {r.child_column: r.parent for r in scene.model.relationships if r.child == history.table.name}
    near = {scene.entity.name, history.through.name if history.through else ""}
    return tuple(
        (c, scene.model.table(pointed[c.name]).plural) for c in scene.model.of_table(history.table.name)
        if c.name in pointed and c.name != history.tie and not c.masked and pointed[c.name] not in near
    )  # fmt: skip


def _values(scene: Scene, history: History, columns: Sequence[ColumnModel], query: Query) -> dict[str, tuple[str, ...]]:
    """The classes of each column among the events before a cut-off, most frequent first: none that comes later has a say."""
    classes = [c for c in columns if c.role == "category" and 2 <= c.distinct <= _MOST_CLASSES]
    if not classes:
        return {}
    rows = rows_cte(scene, (), score=False)
    counted = [
        f"SELECT {n} AS c, CAST({scene.names.raw(history.table.name, c.name)} AS VARCHAR) AS v, count(*) AS n"
        f" FROM {ROWS} {_inner(history)} WHERE {_cut(scene.names, history, f'{ROWS}.{CUTOFF}')} GROUP BY 2"
        for n, c in enumerate(classes)
    ]
    frame = query(f"WITH {rows} {' UNION ALL '.join(counted)} ORDER BY c, n DESC, v")
    found: dict[str, tuple[str, ...]] = {}
    for row in frame.to_dict("records"):
        column = classes[int(row["c"])]
        if isinstance(row["v"], str) and row["v"].strip():
            found[column.name] = (*found.get(column.name, ()), row["v"])
    return found


def _leave_out_bridge(scene: Scene, plan: Plan, bridge: TableModel) -> None:
    for column in scene.model.of_table(bridge.name):
        if column.role not in ("key", "link"):
            named = column.label[:1].upper() + column.label[1:]
            plan.leave_out(column, "undated", f"{named}: {bridge.label} rows only link others and have no date.")


def add_history(scene: Scene, plan: Plan, made: Made, kept: Sequence[Aggregate]) -> None:
    """Add the CTE of one table of events with the features that fit."""
    if not kept:
        return
    history = made.history
    plan.ctes.append(_cte(scene, history, kept, dated=made.dated))
    plan.joins.append(
        f"LEFT JOIN {ident(history.cte)} ON {ident(history.cte)}.{ident(scene.key)} = {ROWS}.{ident(scene.key)}"
    )
    plan.features += [_selected(scene, history, a, dated=made.dated) for a in kept]


def _inner(history: History) -> str:
    joins = [j.removeprefix("LEFT ") for j in history.joins]
    return " ".join([*joins, f"JOIN {ident(history.table.name)} ON {history.link}"])


def _cut(names: Names, history: History, cutoff: str) -> str:
    """Every date on the way strictly before the cut-off."""
    return " AND ".join(f"{names.read(t, t, c)} < {cutoff}" for t, c in history.dates)


def _cte(scene: Scene, history: History, chosen: Sequence[Aggregate], *, dated: bool) -> str:
    key, child = f"{ROWS}.{ident(scene.key)}", history.table
    lines = [f"    {a.sql} AS {ident(a.name)}" for a in chosen]
    cut = f"\n    AND {_cut(scene.names, history, f'{ROWS}.{CUTOFF}')}" if dated else ""
    joins = "".join(f"  {j.removeprefix('LEFT ')}\n" for j in history.joins)
    return (
        f"{ident(history.cte)} AS (\n  SELECT\n    {key},\n"
        + ",\n".join(lines)
        + f"\n  FROM {ROWS}\n{joins}  JOIN {ident(child.name)}\n    ON {history.link}{cut}\n  GROUP BY {key}\n)"
    )


def _selected(scene: Scene, history: History, aggregate: Aggregate, *, dated: bool) -> Selected:
    table, entity = history.table, ident(scene.entity.name)

    def shown(sql: str) -> str:
        return sql.replace(f"{ROWS}.{CUTOFF}", scene.cutoff_said).replace(f"{ROWS}.", f"{entity}.")

    cut = f" AND {_cut(scene.names, history, scene.cutoff_said)}" if dated else ""
    way = "".join(f" {shown(j.removeprefix('LEFT '))}" for j in history.joins)
    value, definition = f"{ident(history.cte)}.{ident(aggregate.name)}", shown(aggregate.sql)
    if aggregate.zero and not definition.startswith("count"):
        definition = f"coalesce({definition}, 0)"
    return Selected(
        FeatureDef(
            name=aggregate.name,
            label=aggregate.label,
            kind="numeric",
            unit=aggregate.unit,
            expression=f"{definition} FROM {ident(table.name)}{way} WHERE {shown(history.link)}{cut}",
            tables=(table.name, *((history.through.name,) if history.through else ())),
        ),
        f"coalesce({value}, 0) AS {ident(aggregate.name)}" if aggregate.zero else value,
    )


def without_history_sql(scene: Scene, history: History) -> str | None:
    """SQL that counts rows with nothing in this table of events before their cut-off; None where that is no surprise."""
    child, entity = history.table, ident(scene.entity.name)
    events = any(c.role == "measure" for c in scene.model.of_table(child.name))
    if scene.cutoff is None or not history.dates or history.joins or not events:
        return None
    cutoff = scene.names.read(scene.entity.name, scene.entity.name, scene.cutoff)
    link = history.link.replace(f"{ROWS}.", f"{entity}.")
    inside = f"SELECT 1 FROM {ident(child.name)} WHERE {link} AND {_cut(scene.names, history, cutoff)}"
    return f"SELECT count(*) AS n FROM {entity} WHERE NOT EXISTS ({inside})"
