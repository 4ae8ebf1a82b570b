"""Features from what happened before a row's cut-off: dated rows of other tables (transactions, cards), aggregated strictly
before it. One CTE a table.

A table without dates gives nothing here unless a person approves its columns by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexsi_ds.knowledge.model import ColumnModel, Relationship, TableModel
from lexsi_ds.models.task import FeatureDef
from lexsi_ds.text_to_sql.features import CUTOFF, ROWS, Ancestor, Plan, Scene, Selected
from lexsi_ds.text_to_sql.sqltext import ident

RECENT_DAYS = 90


@dataclass(frozen=True)
class History:
    """A child table and the joins that lead from the rows to it."""

    table: TableModel
    joins: tuple[str, ...]
    link: str
    """The test that ties a child row to a row to predict."""
    bridge: TableModel | None = None
    """A table that is only passed through."""

    @property
    def cte(self) -> str:
        """Name of its CTE."""
        return f"{self.table.name}_before"


@dataclass(frozen=True)
class _Aggregate:
    name: str
    label: str
    sql: str
    unit: str | None
    zero: bool
    """Whether no rows mean zero (a count, a sum) rather than unknown."""


def histories(scene: Scene, ancestors: list[Ancestor]) -> list[History]:
    """Tables whose rows point to the entity or to something near it, bridges passed through."""
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
                        found.setdefault(further.child, _through(scene, source, link, child, further))
            else:
                joins = source.joins[:-1] if source is not start else ()
                found.setdefault(
                    child.name,
                    History(child, joins, f"{ident(child.name)}.{ident(link.child_column)} = {source.key_sql}"),
                )
    return list(found.values())


def _belongs(scene: Scene, ancestor: Ancestor) -> bool:
    """Whether an ancestor is close enough that its history is the row's own: an account is, a country is not."""
    few = scene.entity.rows <= 20 * max(1, ancestor.table.rows)
    return few and (
        ancestor.table.time is not None or ancestor.table.bridge or ancestor.table.rows * 2 >= scene.entity.rows
    )


def _through(scene: Scene, source: Ancestor, link: Relationship, bridge: TableModel, further: Relationship) -> History:
    join = f"JOIN {ident(bridge.name)} ON {ident(bridge.name)}.{ident(link.child_column)} = {source.key_sql}"
    tie = f"{ident(further.child)}.{ident(further.child_column)} = {ident(bridge.name)}.{ident(further.parent_column)}"
    return History(scene.model.table(further.child), (*source.joins[:-1], join), tie, bridge)


def history_features(scene: Scene, plan: Plan, history: History) -> None:
    """Add the CTE of one child table and its features, or say why its columns are left out."""
    table = history.table
    dated = scene.cutoff is not None and table.time is not None
    used = []
    if history.bridge is not None:
        _leave_out_bridge(scene, plan, history.bridge)
    for column in scene.model.of_table(table.name):
        if column.masked:
            plan.leave_out(column, "masked", "It identifies a person and is masked.")
        elif column.role in ("key", "link") or column.identifier:
            continue
        elif column.protected and not scene.is_approved(column):
            plan.leave_out(
                column, "protected", f"{column.label.capitalize()} is a protected attribute.", approvable=True
            )
        elif not dated and not scene.is_approved(column):
            when = f"before the {scene.entity.label}" if scene.cutoff else "before the outcome"
            named = column.label[:1].upper() + column.label[1:]
            said = f"{named}: {table.label} rows have no usable date, so nothing proves it was there {when}."
            plan.leave_out(column, "undated", said, approvable=column.role == "measure")
        else:
            used.append(column)
    if dated or used:
        aggregates = _aggregates(scene, table, used, dated=dated)
        plan.ctes.append(_cte(scene, history, aggregates, dated=dated))
        plan.joins.append(
            f"LEFT JOIN {ident(history.cte)} ON {ident(history.cte)}.{ident(scene.key)} = {ROWS}.{ident(scene.key)}"
        )
        plan.features += [_selected(scene, history, a, dated=dated) for a in aggregates]


def _leave_out_bridge(scene: Scene, plan: Plan, bridge: TableModel) -> None:
    for column in scene.model.of_table(bridge.name):
        if column.role not in ("key", "link"):
            named = column.label[:1].upper() + column.label[1:]
            plan.leave_out(column, "undated", f"{named}: {bridge.label} rows only link others and have no date.")


def _aggregates(scene: Scene, table: TableModel, columns: list[ColumnModel], *, dated: bool) -> list[_Aggregate]:
    entity, name = scene.entity.label, table.name
    before = f"before the {entity}" if dated else "(undated)"
    made = [_Aggregate(f"{name}_count", f"{table.plural} {before}", "count(*)", None, zero=True)]
    measures = [c for c in columns if c.role == "measure"]
    when = scene.names.read(name, name, table.time) if dated and table.time else ""
    recent = f"{when} >= {ROWS}.{CUTOFF} - INTERVAL {RECENT_DAYS} DAY"
    if dated and measures:
        made.append(
            _Aggregate(
                f"{name}_count_{RECENT_DAYS}d",
                f"{table.plural} in the last {RECENT_DAYS} days {before}",
                f"count(*) FILTER (WHERE {recent})",
                None,
                zero=True,
            )
        )
        made.append(
            _Aggregate(
                f"{name}_days_since_last",
                f"days from the last {table.label} to the {entity}",
                f"min(date_diff('day', {when}, {ROWS}.{CUTOFF}))",
                "days",
                zero=False,
            )
        )
    for column in measures:
        made += _of_measure(scene, table, column, when, recent, before)
    for column in columns:
        made += _of_codes(scene, table, column, before)
    return made


def _of_measure(
    scene: Scene, table: TableModel, column: ColumnModel, when: str, recent: str, before: str
) -> list[_Aggregate]:
    value, stem = scene.names.read(table.name, table.name, column.name), f"{table.name}_{column.name}"
    if not column.additive:
        made = [
            _Aggregate(f"{stem}_avg", f"average {column.label} {before}", f"avg({value})", column.unit, zero=False),
            _Aggregate(f"{stem}_min", f"lowest {column.label} {before}", f"min({value})", column.unit, zero=False),
        ]
        if when and table.key:
            order = f"{when} DESC, {scene.names.raw(table.name, table.key)} DESC"
            made.append(
                _Aggregate(
                    f"{stem}_last",
                    f"last {column.label} {before}",
                    f"first({value} ORDER BY {order})",
                    column.unit,
                    zero=False,
                )
            )
        return made
    if not table.flows:
        made = [
            _Aggregate(f"{stem}_sum", f"total {column.label} {before}", f"sum({value})", column.unit, zero=True),
            _Aggregate(f"{stem}_avg", f"average {column.label} {before}", f"avg({value})", column.unit, zero=False),
        ]
        if when:
            made.append(
                _Aggregate(
                    f"{stem}_sum_{RECENT_DAYS}d",
                    f"total {column.label} in the last {RECENT_DAYS} days {before}",
                    f"sum({value}) FILTER (WHERE {recent})",
                    column.unit,
                    zero=True,
                )
            )
        return made
    return _of_flows(scene, table, column, value, stem, when, recent, before)


def _of_flows(
    scene: Scene, table: TableModel, column: ColumnModel, value: str, stem: str, when: str, recent: str, before: str
) -> list[_Aggregate]:
    made, tests = [], {}
    for flow in table.flows:
        values = ", ".join(scene.names.literal(table.name, flow.column, v) for v in flow.values)
        tests[flow.slug] = f"{scene.names.raw(table.name, flow.column)} IN ({values})"
        made.append(
            _Aggregate(
                f"{stem}_{flow.slug}",
                f"total {flow.label} {before}",
                f"sum({value}) FILTER (WHERE {tests[flow.slug]})",
                column.unit,
                zero=True,
            )
        )
    if when and {"in", "out"} <= tests.keys():
        net = f"CASE WHEN {tests['in']} THEN {value} WHEN {tests['out']} THEN -{value} END"
        made.append(
            _Aggregate(
                f"{stem}_net_{RECENT_DAYS}d",
                f"paid in minus paid out in the last {RECENT_DAYS} days {before}",
                f"sum({net}) FILTER (WHERE {recent})",
                column.unit,
                zero=True,
            )
        )
    return made


def _of_codes(scene: Scene, table: TableModel, column: ColumnModel, before: str) -> list[_Aggregate]:
    codes = column.counted or tuple(m.value for m in column.values[:1] if column.role == "flag")
    made = []
    for code in codes:
        said = scene.model.meaning(table.name, column.name, code) or code
        slug = "_".join("".join(ch if ch.isalnum() else " " for ch in said.casefold()).split())
        test = f"{scene.names.raw(table.name, column.name)} = {scene.names.literal(table.name, column.name, code)}"
        made.append(
            _Aggregate(
                f"{table.name}_{slug}_count",
                f"times {said} {before}",
                f"count(*) FILTER (WHERE {test})",
                None,
                zero=True,
            )
        )
    return made


def _cte(scene: Scene, history: History, aggregates: list[_Aggregate], *, dated: bool) -> str:
    key, child = f"{ROWS}.{ident(scene.key)}", history.table
    lines = [f"    {a.sql} AS {ident(a.name)}" for a in aggregates]
    cut = ""
    if dated and child.time:
        cut = f"\n    AND {scene.names.read(child.name, child.name, child.time)} < {ROWS}.{CUTOFF}"
    joins = "".join(f"  {j.removeprefix('LEFT ')}\n" for j in history.joins)
    return (
        f"{ident(history.cte)} AS (\n  SELECT\n    {key},\n"
        + ",\n".join(lines)
        + f"\n  FROM {ROWS}\n{joins}  JOIN {ident(child.name)}\n    ON {history.link}{cut}\n  GROUP BY {key}\n)"
    )


def _selected(scene: Scene, history: History, aggregate: _Aggregate, *, dated: bool) -> Selected:
    table = history.table
    cut = (
        f" AND {ident(table.name)}.{ident(table.time)} < {ident(scene.entity.name)}.{ident(scene.cutoff)}"
        if dated and table.time and scene.cutoff
        else ""
    )
    shown = aggregate.sql.replace(f"{ROWS}.{CUTOFF}", f"{ident(scene.entity.name)}.{ident(scene.cutoff or '')}")
    link = history.link.replace(f"{ROWS}.", f"{ident(scene.entity.name)}.")
    value = f"{ident(history.cte)}.{ident(aggregate.name)}"
    return Selected(
        FeatureDef(
            name=aggregate.name,
            label=aggregate.label,
            kind="numeric",
            unit=aggregate.unit,
            expression=f"{shown} FROM {ident(table.name)} WHERE {link}{cut}",
            tables=(table.name,),
        ),
        f"coalesce({value}, 0) AS {ident(aggregate.name)}" if aggregate.zero else value,
    )


def without_history_sql(scene: Scene, history: History) -> str | None:
    """SQL that counts rows with nothing in this table of events before their cut-off; None where that is no surprise."""
    child, entity = history.table, ident(scene.entity.name)
    events = any(c.role == "measure" for c in scene.model.of_table(child.name))
    if scene.cutoff is None or child.time is None or history.joins or not events:
        return None
    cutoff = scene.names.read(scene.entity.name, scene.entity.name, scene.cutoff)
    link = history.link.replace(f"{ROWS}.", f"{entity}.")
    when = scene.names.read(child.name, child.name, child.time)
    inside = f"SELECT 1 FROM {ident(child.name)} WHERE {link} AND {when} < {cutoff}"
    return f"SELECT count(*) AS n FROM {entity} WHERE NOT EXISTS ({inside})"
