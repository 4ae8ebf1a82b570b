"""The two queries of a task: the rows that train and the rows to score, with the same columns in the same order.

Every row of the entity's table that meets the conditions comes out once, whatever it is joined to.
"""

from __future__ import annotations

from lexsi_ds.knowledge.model import Condition
from lexsi_ds.text_to_sql.probes import Query, counts
from lexsi_ds.text_to_sql.sqltext import Names, ident, text_literal
from lexsi_ds.text_to_sql.task_scene import CUTOFF, LABELS, ROWS, Plan, Scene


def rows_cte(scene: Scene, conditions: tuple[Condition, ...], *, score: bool) -> str:
    """The CTE of the rows with their cut-off; ``score`` takes the later of an outcome's two cut-offs."""
    name = ident(scene.entity.name)
    cutoff = cutoff_sql(scene, score=score)
    tests = [row_test(scene.names, scene.entity.name, c) for c in conditions]
    if scene.present:
        tests.insert(0, scene.present.replace(f"{ROWS}.{CUTOFF}", cutoff))
    where = "\n  WHERE " + "\n    AND ".join(tests) if tests else ""
    dated = f",\n    {cutoff} AS {CUTOFF}" if cutoff else ""
    return f"{ROWS} AS (\n  SELECT\n    {name}.*{dated}\n  FROM {_source(scene)}{where}\n)"


def cutoff_sql(scene: Scene, *, score: bool) -> str:
    """A row's cut-off as SQL over the entity's table; empty where it has none."""
    if scene.window is not None:
        return f"DATE {text_literal(scene.window.score if score else scene.window.train)}"
    return scene.names.read(scene.entity.name, scene.entity.name, scene.cutoff) if scene.cutoff else ""


def _source(scene: Scene) -> str:
    """The entity's table; with a number a row where it has no key, given before any row is left out."""
    name = ident(scene.entity.name)
    if scene.model.column(scene.entity.name, scene.key) is not None:
        return name
    order = ", ".join(ident(c.name) for c in scene.model.of_table(scene.entity.name))
    numbered = f"row_number() OVER (ORDER BY {order}) AS {ident(scene.key)}"
    return f"(\n    SELECT *, {numbered}\n    FROM {name}\n  ) AS {name}"


def task_sql(
    scene: Scene, plan: Plan, display: tuple[str, ...], conditions: tuple[Condition, ...], *, with_target: bool
) -> str:
    """One query of the task; ``with_target`` makes it the one that trains."""
    key = f"{ROWS}.{ident(scene.key)}"
    chosen = [key]
    if with_target:
        chosen.append(f"{_target(scene)} AS {ident(scene.outcome.target)}")
    chosen += [s.select for s in plan.features]
    taken = {s.feature.name for s in plan.features} | {scene.key}
    chosen += [_shown(scene, c) for c in display if c not in taken]
    labels = [scene.window.label_cte] if scene.window is not None and with_target else []
    ctes = ",\n".join([rows_cte(scene, conditions, score=not with_target), *labels, *plan.ctes])
    joins = "".join(f"\n{j}" for j in ([_label_join(scene)] if labels else []) + plan.joins)
    return f"WITH {ctes}\nSELECT\n  " + ",\n  ".join(chosen) + f"\nFROM {ROWS}{joins}\nORDER BY {key}"


def guarded_sql(scene: Scene, plan: Plan, conditions: tuple[Condition, ...]) -> str:
    """The rows that train with their protected columns alone; empty where they have none."""
    if not plan.guarded:
        return ""
    key = f"{ROWS}.{ident(scene.key)}"
    ctes = ",\n".join([rows_cte(scene, conditions, score=False), *plan.ctes])
    joins = "".join(f"\n{j}" for j in plan.guarded_joins)
    return f"WITH {ctes}\nSELECT\n  " + ",\n  ".join([key, *plan.guarded.values()]) + f"\nFROM {ROWS}{joins}\nORDER BY {key}"


def row_test(names: Names, alias: str, condition: Condition) -> str:
    """A condition as SQL; what is missing is judged by the column's true type, so that a blank is no figure."""
    if condition.op not in ("is null", "is not null") or not names.model.column(condition.table, condition.column):
        return names.test(alias, condition)
    return f"{names.read(alias, condition.table, condition.column)} {condition.op.upper()}"


def _shown(scene: Scene, column: str) -> str:
    value = scene.names.raw(ROWS, column)
    if column != scene.cutoff:
        return value
    typed = scene.names.read(ROWS, scene.entity.name, column)
    return value if typed == value else f"{typed} AS {ident(column)}"


def _target(scene: Scene) -> str:
    if scene.window is not None:
        return scene.window.target_sql
    if scene.kind == "binary":
        return f"CASE WHEN {scene.names.tests(ROWS, scene.outcome.positive)} THEN 1 ELSE 0 END"
    column = scene.outcome.target_columns[0]
    if scene.kind == "multiclass":
        return f"CAST({scene.names.raw(ROWS, column)} AS VARCHAR)"
    return scene.names.read(ROWS, scene.entity.name, column)


def _label_join(scene: Scene) -> str:
    return f"LEFT JOIN {LABELS} ON {LABELS}.{ident(scene.key)} = {ROWS}.{ident(scene.key)}"


def label_counts(scene: Scene, query: Query) -> dict[str, int]:
    """Of an outcome that events decide: rows that train (n), and those of them with more than nothing (p)."""
    if scene.window is None:
        return {"n": 0, "p": 0}
    rows = rows_cte(scene, (), score=False)
    sql = f"SELECT count(*) AS n, count(*) FILTER (WHERE {_target(scene)} > 0) AS p FROM {ROWS} {_label_join(scene)}"
    return counts(query, f"WITH {rows},\n{scene.window.label_cte}\n{sql}")
