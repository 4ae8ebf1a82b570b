"""``python -m lexsi_ds train`` and ``score``: a model from a file, and a file through a model.

Exit status: 0 done, 2 refused because the data cannot carry a model, 1 failed, 130 stopped. With ``--json`` stdout holds one
JSON object and nothing else. Must never: leave out of the output what must be known before a score is read.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.frames import plain
from lexsi_ds.services.model_scoring import FileScore
from lexsi_ds.services.model_training import TrainRequest

SCHEMA_VERSION = 1
_TOP = 10
HandleOf = Callable[[str, Application, Cancel], DatasetHandle]
Tell = Callable[[dict[str, Any]], None]


def add(commands: Any, handle_of: HandleOf, tell: Tell) -> None:
    """Add both commands. ``handle_of`` reads a name or path as a data set, ``tell`` shows progress."""
    train = commands.add_parser("train", help="train a model on a table, and keep it")
    train.add_argument("path", help="a file, a folder, demo, or the id of a source")
    train.add_argument("--target", required=True, metavar="COLUMN", help="the column to predict")
    train.add_argument("--table", help="which table, where there are several")
    train.add_argument("--entity", metavar="COLUMN", help="the column that names a row (default: found, else rows are numbered)")
    train.add_argument("--task", choices=("classification", "regression"), help="default: what the target's values are")
    train.add_argument("--positive", metavar="VALUE", help="which value of a yes/no target counts as the outcome")
    train.add_argument("--model-type", metavar="TYPE", help="such as XGBoost or Logistic (default: the types are compared)")
    train.add_argument("--name", default="", help="title of the task")
    train.add_argument("--exclude", nargs="+", default=(), metavar="COLUMN", help="columns to leave out")
    train.add_argument("--include", nargs="+", default=(), metavar="COLUMN", help="protected columns to take in all the same")
    train.add_argument("--time", metavar="COLUMN", help="date of a row, for the check on later rows")
    train.add_argument("--group", metavar="COLUMN", help="rows of one group stay in one fold")
    train.add_argument("--score-column", metavar="COLUMN", help="an existing score to compare with")
    train.add_argument("--json", action="store_true", help="print one JSON object")
    train.set_defaults(command=partial(_train, handle_of=handle_of, tell=tell))
    score = commands.add_parser("score", help="score a new file with a model that was trained before")
    score.add_argument("path", help="a file, a folder or a source with the columns that the model learned from")
    score.add_argument("--model", required=True, metavar="NAME_OR_ID", help="such as XGBoost_v1")
    score.add_argument("--table", help="which table, where there are several")
    score.add_argument("--out", type=Path, metavar="F.csv", help="write every row with its score here")
    score.add_argument(
        "--fill-missing", action="store_true", help="count absent columns and unreadable values as missing instead of refusing"
    )
    score.add_argument("--json", action="store_true", help="print one JSON object")
    score.set_defaults(command=partial(_score, handle_of=handle_of, tell=tell))


def _train(
    args: argparse.Namespace, app: Application, out: IO[str], cancel: Cancel, handle_of: HandleOf, tell: Tell
) -> int:
    handle = handle_of(args.path, app, cancel)
    request = TrainRequest(
        target=args.target, table=args.table, entity=args.entity, task_type=args.task, positive=args.positive,
        model_type=args.model_type, name=args.name, exclude=tuple(args.exclude), include=tuple(args.include),
        time_column=args.time, group_column=args.group, score_column=args.score_column,
    )
    try:
        card = app.training.train(app.person(), handle, request, via="cli", cancel=cancel, tell=tell)
    except ModelRefused as error:
        return _refused(error, args, out)
    if args.json:
        body = {"schema_version": SCHEMA_VERSION, "state": "trained", "model_id": card.id, "name": card.name,
                "card": card.model_dump(mode="json")}
        out.write(json.dumps(body, ensure_ascii=False) + "\n")
    else:
        out.write("\n".join(_told(card)) + "\n")
    return 0


def _score(
    args: argparse.Namespace, app: Application, out: IO[str], cancel: Cancel, handle_of: HandleOf, tell: Tell
) -> int:
    if args.out is not None and not args.out.absolute().parent.is_dir():
        raise BadInput("There is no folder to write the scores into.", where=str(args.out), to_do="Make it first.")
    person = app.person()
    _, card = app.scoring.model(person, args.model)  # says so before a large file is read
    scored = app.scoring.source(
        person, card.id, handle_of(args.path, app, cancel), table=args.table, fill_missing=args.fill_missing, cancel=cancel,
        tell=tell,
    )
    if args.out is not None:
        try:
            args.out.write_bytes(app.models.predictions_csv(person, scored.predictions_id))
        except OSError as error:
            raise BadInput(f"The scores cannot be written ({error.strerror}).", where=str(args.out)) from error
    top, _ = app.models.page(person, scored.predictions_id, limit=_TOP)
    rows = [{str(name): plain(value) for name, value in row.items()} for row in top.to_dict("records")]
    if args.json:
        out.write(json.dumps(_body(scored, rows, list(map(str, top.columns)), args.out), ensure_ascii=False) + "\n")
    else:
        out.write("\n".join(_scored(scored, rows, args.out)) + "\n")
    return 0


def _body(scored: FileScore, rows: list[dict[str, Any]], columns: list[str], written: Path | None) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION, "state": "scored", "model_id": scored.model_id, "model": scored.model_name,
        "predictions_id": scored.predictions_id, "source": scored.name, "table": scored.table,
        "predictions": {"row_count": scored.rows, "ranked_count": scored.ranked, "columns": columns, "top": rows},
        "columns": scored.columns.model_dump(mode="json"), "notes": list(scored.notes),
        "out": None if written is None else str(written),
    }


def _scored(scored: FileScore, rows: list[dict[str, Any]], written: Path | None) -> list[str]:
    lines = [f"{scored.model_name} scored {scored.rows:,} rows of {scored.name}."]
    lines += [f"Note: {note}" for note in scored.notes]
    shown = [scored.entity_column, "rank", "prediction", "probability"]
    lines += ["", " | ".join(shown), *(" | ".join(_cell(row.get(name)) for name in shown) for row in rows)]
    if scored.rows > len(rows):
        lines.append(f"… {scored.rows:,} rows in all" + ("" if written else "; --out F.csv writes them"))
    return [*lines, *([f"Written: {written}"] if written else [])]


def _told(card: ModelCard) -> list[str]:
    lines = [f"{card.name} ({card.model_type}) predicts {card.task.target_label}, trained on {card.rows:,} rows."]
    for candidate in card.candidates:
        main, mark = candidate.main, " (chosen)" if candidate.chosen else ""
        figure = f"{main.value:.3f} ({main.low:.3f} to {main.high:.3f})"
        lines.append(f"  {candidate.model_type}{mark}: out of fold {candidate.main_name} {figure}")
    lines += [card.why_chosen, *(f"Note: {said}" for said in (*card.headlines, *card.warnings, *card.notes))]
    if card.left_out:
        lines.append(f"Left out: {', '.join(f'{out.name} ({out.reason})' for out in card.left_out)}")
    return [*lines, f"To score a file with it: python -m lexsi_ds score --model {card.name} FILE"]


def _refused(error: ModelRefused, args: argparse.Namespace, out: IO[str]) -> int:
    if args.json:
        body = {"schema_version": SCHEMA_VERSION, "state": "refused", "answer": str(error)}
        out.write(json.dumps(body, ensure_ascii=False) + "\n")
    else:
        out.write(f"{error}\n")
    return 2


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)
