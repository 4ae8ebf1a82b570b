"""Outcomes that events decide: "which customers will order in the next 90 days". Rows that train stand at a day whose label window
is over; rows to score stand at the day after the last event.

Must never: let an event of a label window into a feature, or train a row whose window is not over.
"""

from __future__ import annotations

from datetime import date, timedelta

from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import Outcome
from lexsi_ds.text_to_sql.features import ancestors
from lexsi_ds.text_to_sql.histories import History, histories
from lexsi_ds.text_to_sql.probes import Query
from lexsi_ds.text_to_sql.sqltext import Names, ident, text_literal
from lexsi_ds.text_to_sql.task_draft import HorizonAsk, TaskDraft
from lexsi_ds.text_to_sql.task_outcome import horizon_outcome
from lexsi_ds.text_to_sql.task_rows import cutoff_of, scene_of
from lexsi_ds.text_to_sql.task_scene import CUTOFF, FIGURE, LABELS, ROWS, Scene, Window
from lexsi_ds.text_to_sql.task_sql import label_counts


def events_of(names: Names, table: str) -> list[History]:
    """The dated tables whose rows are events of a table's rows, along one or two joins."""
    entity = names.model.table(table)
    if entity.key is None:
        return []
    blank = Outcome(id="", name="", table=table, label="", words=(), target="", positive=(), positive_meaning="", known=(),
                    known_meaning="", unknown=(), unknown_meaning="")  # fmt: skip
    scene = Scene(names, blank, entity, entity.key, cutoff_of(names.model, entity), frozenset())
    return [h for h in histories(scene, ancestors(scene)) if h.dates]


def horizon_scene(draft: TaskDraft, names: Names, query: Query, approved: frozenset[str]) -> Scene:
    """The scene of a task that asks for an event within days. Raises BadInput where the data cannot teach it."""
    ask, outcome = draft.horizon, horizon_outcome(draft, names)
    history = next((h for h in events_of(names, draft.table) if ask and h.table.name == ask.events), None)
    if ask is None or history is None:
        raise BadInput("Those events do not belong to these rows, or have no dates.", where=draft.table,
                       to_do="Ask the question again.")  # fmt: skip
    first, last = _span(names, history, query)
    score = last + timedelta(days=1)
    train = score - timedelta(days=ask.days)
    rows, events = names.model.table(draft.table), history.table
    if (train - first).days < ask.days:
        raise BadInput(
            f"{events.plural.capitalize()} cover {(last - first).days + 1:,} days. To learn what happens in {ask.days} days,"
            f" {ask.days} to look back on and {ask.days} to look ahead are needed.",
            where=events.name, to_do=f"Ask for at most {((last - first).days + 1) // 2} days.",
        )  # fmt: skip
    base = scene_of(names, outcome, approved, "binary")
    scene = Scene(
        names, _dated(outcome, rows.plural, train, score, last), base.entity, base.key, None, approved,
        "binary" if ask.measure == "any" else "regression",
        window=Window(train.isoformat(), score.isoformat(), ask.days, _label_cte(base, history, ask), _target_sql(base, ask),
                      events.plural),
        present=_present(base, history),
    )  # fmt: skip
    seen = label_counts(scene, query)
    everyone = seen["p"] == seen["n"] and ask.measure == "any"
    if not seen["p"] or everyone:
        told = "all of them have" if everyone != ask.absent else "none of them has"
        raise BadInput(
            f"Of the {seen['n']:,} {rows.plural} of {train}, {told} {events.plural} in the {ask.days} days that followed, so there"
            " is nothing to tell apart.", where=events.name, to_do="Choose another number of days.",
        )  # fmt: skip
    return scene


def horizon_notes(scene: Scene, query: Query) -> list[str]:
    """What is said of cut-offs, label windows and rows that are left out."""
    window, model = scene.window, scene.model
    if window is None:
        return []
    rows, events = scene.entity.plural, window.events
    last = date.fromisoformat(window.score) - timedelta(days=1)
    ends = date.fromisoformat(window.score) + timedelta(days=window.days - 1)
    notes = [
        f"Rows that train stand at {window.train}: every feature comes from strictly before it, the outcome from {events} between"
        f" it and {last}, the last date of {events}.",
        f"Rows to score stand at {window.score}; what happens until {ends} is not known yet.",
        f"Nothing says that one of the {rows} is gone for good: who is counts as one without {events}.",
    ]
    if (time := cutoff_of(model, scene.entity)) is not None:
        when = scene.names.read(scene.entity.name, scene.entity.name, time)
        sql = f"SELECT count(*) AS n FROM {ident(scene.entity.name)} WHERE {when} >= DATE {text_literal(window.train)}"
        late = int(query(sql)["n"].iloc[0])
        if late:
            who, do = (scene.entity.label, "does") if late == 1 else (rows, "do")
            notes.append(f"{late:,} {who} with {time} on or after {window.train} {do} not train: the {window.days} days from there"
                         " are not over.")  # fmt: skip
    else:
        notes.append(f"{rows.capitalize()} have no date of their own: those without {events} before the cut-off are left out, since"
                     " nothing proves that they were there.")  # fmt: skip
    return notes


def _span(names: Names, history: History, query: Query) -> tuple[date, date]:
    table, column = history.dates[0]
    when = names.read(table, table, column)
    frame = query(f"SELECT strftime(min({when}), '%Y-%m-%d') AS a, strftime(max({when}), '%Y-%m-%d') AS b FROM {ident(table)}")
    first, last = frame["a"].iloc[0], frame["b"].iloc[0]
    if not isinstance(first, str) or not isinstance(last, str):
        raise BadInput(f"{history.table.plural.capitalize()} have no dates.", where=table, to_do="Name other events.")
    return date.fromisoformat(first), date.fromisoformat(last)


def _dated(outcome: Outcome, rows: str, train: date, score: date, last: date) -> Outcome:
    return outcome.model_copy(
        update={
            "known_meaning": f"{rows} as they were on {train}, with what followed until {last}",
            "unknown_meaning": f"{rows} as they are on {score}",
        }
    )


def _way(scene: Scene, history: History, name: str) -> str:
    """The joins from the rows, under a name, to the events."""
    joins = [j.removeprefix("LEFT ") for j in history.joins]
    return " ".join([*joins, f"JOIN {ident(history.table.name)} ON {history.link}"]).replace(f"{ROWS}.", f"{name}.")


def _label_cte(scene: Scene, history: History, ask: HorizonAsk) -> str:
    """Rows with an event on the cut-off or in the days after it, up to the end of the window."""
    table, column = history.dates[0]
    when, key = scene.names.read(table, table, column), f"{ROWS}.{ident(scene.key)}"
    figure = f"sum({scene.names.read(history.table.name, history.table.name, ask.column)})" if ask.measure == "sum" else "count(*)"
    return (
        f"{LABELS} AS (\n  SELECT\n    {key},\n    {figure} AS {FIGURE}\n  FROM {ROWS}\n  {_way(scene, history, ROWS)}\n"
        f"    AND {when} >= {ROWS}.{CUTOFF}\n    AND {when} < {ROWS}.{CUTOFF} + INTERVAL {ask.days} DAY\n  GROUP BY {key}\n)"
    )


def _target_sql(scene: Scene, ask: HorizonAsk) -> str:
    if ask.measure != "any":
        return f"coalesce({LABELS}.{FIGURE}, 0)"
    return f"CASE WHEN {LABELS}.{ident(scene.key)} IS {'' if ask.absent else 'NOT '}NULL THEN 1 ELSE 0 END"


def _present(scene: Scene, history: History) -> str:
    """A test for rows that were there before the cut-off: by their own date, else by an event before it."""
    name = ident(scene.entity.name)
    if scene.cutoff is not None:
        return f"{scene.names.read(scene.entity.name, scene.entity.name, scene.cutoff)} < {ROWS}.{CUTOFF}"
    table, column = history.dates[0]
    when = scene.names.read(table, table, column)
    key = f"{name}.{ident(scene.key)}"
    return f"{key} IN (SELECT {key} FROM {name} {_way(scene, history, name)} WHERE {when} < {ROWS}.{CUTOFF})"
