"""Everything that can be a feature of the rows to predict, gathered: their own columns, what they point to, their events.

It asks the data for counts only.
"""

from __future__ import annotations

from dataclasses import replace

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql import feature_budget
from lexsi_ds.text_to_sql.features import ancestor_features, ancestors, own_features
from lexsi_ds.text_to_sql.histories import Made, add_history, histories, made_of, without_history_sql
from lexsi_ds.text_to_sql.probes import Query, count, counts, probe_columns
from lexsi_ds.text_to_sql.sqltext import ident
from lexsi_ds.text_to_sql.task_scene import CUTOFF, ROWS, Ancestor, Plan, Scene
from lexsi_ds.text_to_sql.task_sql import label_counts, rows_cte


def gather(scene: Scene, plan: Plan, query: Query) -> None:
    """Gather every feature of the rows, and why the other columns are left out."""
    own = tuple(c for c in scene.model.of_table(scene.entity.name) if c.name not in scene.outcome.target_columns)
    probed = tuple(c for c in own if c.role not in ("key", "link") and not c.masked and scene.window is None)
    own_features(scene, plan, probe_columns(scene.names, scene.outcome, probed, scene.cutoff, query))
    above = ancestors(scene)
    for ancestor in above:
        ancestor_features(scene, plan, ancestor, _late(scene, ancestor, query))
    _event_features(scene, plan, above, query)


def _event_features(scene: Scene, plan: Plan, above: list[Ancestor], query: Query) -> None:
    own = _amounts(scene, plan)
    found = [m for h in histories(scene, above) if (m := made_of(scene, plan, h, own, query)) is not None]
    found = _named_once(scene, plan, found)
    most = feature_budget.budget(_teaching(scene, query), figure=scene.kind == "regression")
    for made, kept in zip(found, feature_budget.chosen([m.aggregates for m in found], most), strict=True):
        add_history(scene, plan, made, kept)
        sql = without_history_sql(scene, made.history)
        none = count(query, sql) if sql else 0
        if none:
            plan.notes.append(
                f"{none:,} of {scene.entity.rows:,} {scene.entity.plural} have no {made.history.table.plural} before their date."
            )
    told = feature_budget.told(sum(len(m.aggregates) for m in found), most)
    if told:
        plan.notes.append(told)


def _named_once(scene: Scene, plan: Plan, found: list[Made]) -> list[Made]:
    """The same features, none called as another or as a column of the rows: names are one whatever their capitals."""
    taken = {c.name.casefold() for c in scene.model.of_table(scene.entity.name)} | {scene.outcome.target.casefold()}
    taken |= {s.feature.name.casefold() for s in plan.features} | {CUTOFF, scene.key.casefold()}
    done = []
    for made in found:
        named = []
        for aggregate in made.aggregates:
            name = aggregate.name
            while name.casefold() in taken:
                name += "_before"
            taken.add(name.casefold())
            named.append(replace(aggregate, name=name))
        done.append(replace(made, aggregates=tuple(named)))
    return done


def _teaching(scene: Scene, query: Query) -> int:
    """What there is to learn from: rows of the rarest class, or all where a figure is predicted."""
    if scene.window is not None:
        sides = label_counts(scene, query)
        if scene.kind == "regression":
            return sides["n"]
        return min(sides["p"], sides["n"] - sides["p"])
    known, of = scene.names.tests("t", scene.outcome.known), scene.names.tests("t", scene.outcome.positive)
    rows = f"FROM {ident(scene.entity.name)} AS t WHERE {known}"
    if scene.kind == "binary":
        sides = counts(query, f"SELECT count(*) FILTER (WHERE {of}) AS p, count(*) AS n {rows}")
        return min(sides["p"], sides["n"] - sides["p"])
    if scene.kind == "regression":
        return count(query, f"SELECT count(*) AS n {rows}")
    column = ident(scene.outcome.target_columns[0])
    return count(query, f"SELECT coalesce(min(n), 0) AS n FROM (SELECT count(*) AS n {rows} GROUP BY t.{column})")


def _amounts(scene: Scene, plan: Plan) -> list[tuple[str, ColumnModel]]:
    """Amounts of the rows themselves that events are measured against: the one meant by their size, else their only one."""
    used = {s.feature.name for s in plan.features}
    own = [c for c in scene.model.of_table(scene.entity.name) if c.role == "measure" and c.additive and c.name in used]
    sized = [c for c in own if c.name == scene.entity.size]
    return [(c.name, c) for c in (sized or (own if len(own) == 1 else []))]


def _late(scene: Scene, ancestor: Ancestor, query: Query) -> int:
    """Rows of the entity whose ancestor is dated after their cut-off."""
    table = ancestor.table
    if scene.cutoff is None or table.time is None:
        return 0
    when = scene.names.read(ancestor.alias, table.name, table.time)
    joins = " ".join(ancestor.joins)
    rows = f"{rows_cte(scene, (), score=False)} SELECT count(*) AS n FROM {ROWS} {joins} WHERE {when} > {ROWS}.{CUTOFF}"
    return count(query, f"WITH {rows}")
