"""The script that makes a part of an answer again, as text: queries through DuckDB, training, scores, explanations, a check.

What comes from data or a person stands in it as literals, never as code. It is written into an archive and run by whoever gets it;
nothing here runs it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from lexsi_ds.data.handle import Value

Does = Literal["query", "rows", "train", "predict", "explain", "check"]
TOLERANCE = 1e-6


class Step(Value):
    """One thing that the script makes; ``node`` names it in the graph."""

    node: str
    does: Does
    sql: str = ""
    """Of a query and a check."""
    rows: tuple[str, ...] = ()
    """Nodes whose rows it takes; for an explanation, those that are looked in for its cases."""
    model: str = ""
    task: dict[str, Any] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)
    cases: tuple[str, ...] = ()
    expected: Any = None
    """A number that was stored: the main figure of a model, the rows that violate a finding."""


HEAD = '''"""Makes {title} again from the data in snapshot/, and compares with what was stored (expected/).

    python -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/python recreate.py

Prints one JSON line for each part and exits with 1 when one differs. {about}
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
TOLERANCE = {tolerance}
TABLES = {tables}

'''
BODY = '''

def connect() -> duckdb.DuckDBPyConnection:
    """The tables of the snapshot under their names."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    for name, file in TABLES.items():
        quoted, path = name.replace('"', '""'), str(HERE / "snapshot" / file).replace("'", "\'\'")
        con.execute(f"CREATE VIEW \\"{quoted}\\" AS SELECT * FROM read_parquet('{path}')")
    return con


def plain(table: pa.Table) -> pd.DataFrame:
    """Numbers as floats and everything else as text, columns by place, rows in an order of their own."""
    columns = []
    for column in table.columns:
        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
            columns.append(column.cast(pa.float64()).to_pandas().astype(float))
        else:
            columns.append(pd.Series([None if v is None else str(v) for v in column.to_pylist()], dtype=object))
    frame = pd.DataFrame(dict(enumerate(columns)))
    keys = [frame[c].map(lambda v: format(v, ".7g") if isinstance(v, float) else str(v)) for c in frame]
    order = pd.DataFrame(dict(enumerate(keys))).sort_values(list(range(len(keys))), kind="stable").index if keys else frame.index
    return frame.loc[order].reset_index(drop=True)


def compare(node: str, mine: pa.Table) -> bool:
    """Say how the rows made now differ from the stored ones."""
    path = HERE / "expected" / f"{node}.parquet"
    if not path.is_file():
        return told(node, True, rows=mine.num_rows, compared=False)
    stored = pq.read_table(path)
    if (mine.num_rows, mine.num_columns) != (stored.num_rows, stored.num_columns):
        return told(node, False, rows=mine.num_rows, stored_rows=stored.num_rows)
    left, right = plain(mine), plain(stored)
    gap, same = 0.0, True
    for c in left:
        if left[c].dtype == right[c].dtype == float:
            same = same and bool((left[c].isna() == right[c].isna()).all())
            distance = (left[c] - right[c]).abs() / right[c].abs().clip(lower=1.0)
            gap = max(gap, float(distance.max()) if distance.notna().any() else 0.0)
        else:
            same = same and bool((left[c].astype(str) == right[c].astype(str)).all())
    return told(node, same and gap <= TOLERANCE, rows=mine.num_rows, largest_difference=gap)


def told(node: str, same: bool, **more: object) -> bool:
    """One line for one part."""
    print(json.dumps({"node": node, "same": same, **more}))
    return same

'''
LEARNING = '''
sys.path.insert(0, str(HERE / "code"))

from lexsi_ds.data.frames import to_frame  # noqa: E402
from lexsi_ds.explain import worker as explaining  # noqa: E402
from lexsi_ds.models import worker as learning  # noqa: E402
from lexsi_ds.models.card import ModelCard  # noqa: E402
from lexsi_ds.models.frame_task import numbered  # noqa: E402
from lexsi_ds.models.frames import entity_keys, write_frame  # noqa: E402
from lexsi_ds.models.task import TaskSpec  # noqa: E402


def quiet(_message: dict) -> None:
    """Progress that nobody reads."""


def write(table: pa.Table, path: Path) -> str:
    """Rows as the modules in code/ read them."""
    write_frame(to_frame(table), path)
    return str(path)


def train(node: str, table: pa.Table, task: dict, training: dict, folder: Path, stored: float | None) -> bool:
    """Train into ``folder / node``; its main figure on held-out rows is the stored one."""
    made = learning.train({
        **training, "frame": write(table, folder / f"{node}.arrow"), "task": task, "folder": str(folder / node),
        "temporary": str(folder / f"{node}.tmp"), "threads": 2,
    }, quiet)
    card = ModelCard.model_validate(made["card"])
    chosen = next(c for c in card.candidates if c.chosen)
    same = stored is None or abs(chosen.main.value - stored) <= TOLERANCE
    return told(node, same, figure=chosen.main_name, value=chosen.main.value, stored=stored)


def predict(node: str, model: str, table: pa.Table, task: dict, folder: Path) -> pa.Table:
    """Scores of every row."""
    spec, frame = TaskSpec.model_validate(task), to_frame(table)
    target = spec.target_column
    if target in frame.columns and frame[target].isna().all():
        frame = frame.drop(columns=target)
    rows, out = folder / f"{node}-rows.arrow", folder / f"{node}.arrow"
    write_frame(numbered(frame, spec), rows)
    learning.predict({"folder": str(folder / model), "frame": str(rows), "out": str(out), "threads": 2}, quiet)
    with pa.ipc.open_stream(out.read_bytes()) as reader:
        return reader.read_all()


def explain(node: str, model: str, tables: list, cases: list, task: dict, folder: Path) -> bool:
    """Contributions of every feature in every case; the stored ones are in expected/."""
    entity, found = task["entity_column"], {}
    for table in tables:
        frame = to_frame(table)
        for place, case in enumerate(entity_keys(frame[entity]) if entity in frame else ()):
            if case in cases and case not in found:
                found[case] = frame.iloc[[place]]
    missing = [c for c in cases if c not in found]
    if missing:
        return told(node, False, missing=missing)
    write_frame(pd.concat([found[c] for c in cases], ignore_index=True), folder / f"{node}.arrow")
    out = folder / f"{node}.json"
    stored = json.loads((HERE / "expected" / f"{node}.json").read_text(encoding="utf-8"))
    explaining.explain_cases({
        "folder": str(folder / model), "rows": str(folder / f"{node}.arrow"), "out": str(out), "scale": stored["scale"],
    }, quiet)
    mine = {(c["case_id"], d["feature"]): d["contribution"] for c in json.loads(out.read_text())["cases"] for d in c["drivers"]}
    expected = {(c["case_id"], d["feature"]): d["contribution"] for c in stored["cases"] for d in c["drivers"]}
    gap = max((abs(mine[k] - v) for k, v in expected.items() if k in mine), default=0.0)
    return told(node, mine.keys() == expected.keys() and gap <= TOLERANCE, cases=len(cases), largest_difference=gap)

'''
README = """{title}

recreate.py       makes it again and compares (see its first lines)
requirements.txt  the libraries it was exported with
snapshot/         the tables it is made from, as they were in data version {version}; masked columns hold {mask}
expected/         what was stored: rows of queries and scores, contributions of explanations
rows/             rows that no query of these tables gives, where there are any
code/             the modules that train, score and explain, where there is a model
{words}"""


def script(title: str, about: str, tables: dict[str, str], steps: Sequence[Step]) -> str:
    """The whole script. ``tables`` are the names of tables and of their files in ``snapshot/``."""
    learns = any(s.does in ("train", "predict", "explain") for s in steps)
    constants, lines = [], []
    for step in steps:
        name = step.node.replace("-", "_")
        if step.sql:
            constants.append(f"SQL_{name.upper()} = {literal(step.sql)}")
        if step.task and step.does == "train":
            constants.append(f"TASK_{name.upper()} = json.loads({literal(json.dumps(step.task, ensure_ascii=False, indent=1))})")
        lines += _lines(step, name)
    head = HEAD.format(title=_words(title), about=_words(about), tolerance=TOLERANCE, tables=repr(tables))
    main = ['', 'def main() -> int:', '    """Make each part, in order."""', "    con, same = connect(), []",
            "    with tempfile.TemporaryDirectory() as name:", "        folder = Path(name)",
            *(f"        {line}" for line in lines), "    return 0 if all(same) else 1", "", "",
            'if __name__ == "__main__":', "    sys.exit(main())", ""]
    text = head + "\n".join(constants) + "\n" + BODY + (LEARNING if learns else "") + "\n".join(main)
    ast.parse(text)
    return text


def _lines(step: Step, name: str) -> list[str]:
    """The lines that make one part."""
    node, upper, task = repr(step.node), name.upper(), f"TASK_{step.model.replace('-', '_').upper()}"
    first = step.rows[0].replace("-", "_") if step.rows else ""
    match step.does:
        case "query":
            return [f"{name} = con.execute(SQL_{upper}).to_arrow_reader().read_all()", f"same.append(compare({node}, {name}))"]
        case "rows":
            return [f'{name} = pq.read_table(HERE / "rows" / {step.node + ".parquet"!r})']
        case "train":
            training = f"json.loads({literal(json.dumps(step.training))})"
            return [f"same.append(train({node}, {first}, TASK_{upper}, {training}, folder, {step.expected!r}))"]
        case "predict":
            return [f"{name} = predict({node}, {step.model!r}, {first}, {task}, folder)", f"same.append(compare({node}, {name}))"]
        case "explain":
            tables = ", ".join(each.replace("-", "_") for each in step.rows)
            cases = repr(list(step.cases))
            return [f"same.append(explain({node}, {step.model!r}, [{tables}], {cases}, {task}, folder))"]
        case "check":
            return [f"violating = con.execute(SQL_{upper}).to_arrow_reader().read_all().num_rows",
                    f"same.append(told({node}, violating == {step.expected!r}, violating=violating, stored={step.expected!r}))"]


def literal(text: str) -> str:
    """Text as a Python literal: readable over several lines where nothing in it could end it, else escaped."""
    readable = f'"""{text}"""'
    lines = all(line.isprintable() for line in text.split("\n"))
    plain = lines and '"""' not in text and "\\" not in text and not text.endswith('"')
    return readable if plain and ast.literal_eval(readable) == text else repr(text)


def _words(text: str) -> str:
    """Words for the first lines of the script, in which nothing can end them or be read as a field."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.replace("\\", "/").replace('"', "'").split())
