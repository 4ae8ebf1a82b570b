"""Command line: ``python -m lexsi_ds ask``, ``inspect``, ``train``, ``score``, ``serve``, ``mcp``.

With ``--json`` stdout holds JSON and nothing else.

Exit status of ``ask``: 0 answered or asks back, 2 cannot answer or refused, 1 failed or limit reached, 130 stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import shlex
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from lexsi_ds import model_commands, server_commands
from lexsi_ds.agent import events as ev
from lexsi_ds.agent.context import SessionContext
from lexsi_ds.agent.given import AnyGiven, given_of
from lexsi_ds.agent.report import refused, report
from lexsi_ds.agent.results import MemorySink
from lexsi_ds.application import Application, get_application
from lexsi_ds.asking_back import Answers, how_to_answer, show
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, LexsiError, Stopped
from lexsi_ds.ids import new_id
from lexsi_ds.inspection import as_json, as_lines
from lexsi_ds.jobs.cancel import Cancel

EXIT = {
    "answered": 0,
    "needs_clarification": 0,
    "cannot_answer": 2,
    "refused": 2,
    "failed": 1,
    "limit_reached": 1,
    "stopped": 130,
}


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    args = _parser().parse_args(argv)
    speaks = any(getattr(args, name, None) for name in ("json", "file"))
    out = _quiet_stdout() if speaks else sys.stdout
    warnings.filterwarnings("ignore")
    cancel = Cancel()
    signal.signal(signal.SIGINT, lambda *_: cancel.set())
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    for chatty in ("httpx", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    app: Application | None = None
    try:
        app = get_application()
        logging.getLogger().setLevel(_log_level(app, args))
        return args.command(args, app, out, cancel)
    except Stopped:
        print("Stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read this has seen enough, as `head` does
        sys.stdout = None
        return 0
    except LexsiError as error:
        if getattr(args, "json", False):
            body = refused(getattr(args, "question", "") or "", "failed", str(error))
            print(json.dumps(body, ensure_ascii=False), file=out)
        else:
            print(str(error), file=sys.stderr)
        return 1
    finally:
        with contextlib.suppress(BrokenPipeError):
            out.flush()
        if app is not None:
            app.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lexsi_ds", description="Ask, predict and explain, from the command line."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    ask = commands.add_parser("ask", help="answer a question about a data set")
    ask.add_argument("question", nargs="?", help="the question, in plain words")
    ask.add_argument(
        "--file", type=Path, help='JSON lines of {"question", "context"}; one object a line comes out, in order'
    )
    ask.add_argument("--dataset", default="demo", help="demo, a folder, a file, or the id of a source (default: demo)")
    ask.add_argument("--context", help="hints about the data: a text, or a file that holds one")
    ask.add_argument("--max-rows", type=int, default=1000, help="most rows of the result in the output (default: 1000)")
    ask.add_argument("--json", action="store_true", help="print one JSON object")
    ask.add_argument(
        "--answer", action="append", default=[], metavar="TEXT",
        help="answer what is asked back: an option's number or a text; again for a further question back",
    )
    stop = ask.add_mutually_exclusive_group()
    stop.add_argument("--review", action="store_true", help="of a prediction: show the task and stop before it trains")
    stop.add_argument("--approve", action="store_true", help="of a prediction: train the task as stated, even a doubtful one")
    stop.add_argument(
        "--task", type=Path, help="train this task instead: the object that --review --json prints, or its task.draft, edited"
    )
    ask.set_defaults(command=_ask)
    inspect = commands.add_parser("inspect", help="say what a file or folder holds")
    inspect.add_argument("path", help="demo, a folder or a file")
    inspect.add_argument("--json", action="store_true", help="print one JSON object")
    inspect.set_defaults(command=_inspect)
    model_commands.add(commands, _handle, _say_on_stderr)
    server_commands.add(commands, _handle)
    return parser


def _log_level(app: Application, args: argparse.Namespace) -> str:
    """What is logged on stderr: the setting; unset, a person at the terminal is told of trouble only."""
    person = args.command in (_ask, _inspect) and "log_level" not in app.settings.model_fields_set
    return "WARNING" if person else app.settings.log_level


def _ask(args: argparse.Namespace, app: Application, out: IO[str], cancel: Cancel) -> int:
    if (args.question is None) == (args.file is None):
        raise BadInput("Give a question, or --file with one a line.", where="ask")
    if args.file is not None and (args.task is not None or args.answer):
        raise BadInput("--task and --answer go with one question, not with --file.", where="ask")
    if args.max_rows < 0:
        raise BadInput("--max-rows must not be negative.", where="ask")
    handle = _handle(args.dataset, app, cancel)
    if args.file is not None:
        return _ask_file(args, app, handle, out, cancel)
    body = _asked(args, handle, app, out, cancel)
    if args.json:
        print(json.dumps(body, ensure_ascii=False), file=out)
    else:
        _tell(body, out)
        _tell_task(body, args, out)
    return EXIT[body["state"]]


def _asked(args: argparse.Namespace, handle: DatasetHandle, app: Application, out: IO[str], cancel: Cancel) -> dict[str, Any]:
    """The answer; what is asked back on the way is answered by ``--answer`` or by the person at the terminal."""
    session, question = SessionContext(), args.question
    answers = Answers(args.answer, person=not args.json)
    while True:
        body = _answer(args, question, _context(args.context), handle, app, cancel, live=not args.json, session=session)
        if body["state"] != "needs_clarification" or body["options"] is None:
            return body
        if not args.json:
            print(body["answer"], file=out)
            show(body["options"], out)
        if (said := answers.next(body["options"])) is None:
            if not args.json:
                how_to_answer(args.question, args.dataset, answers.used, out)
            return body
        question = said


def _ask_file(args: argparse.Namespace, app: Application, handle: DatasetHandle, out: IO[str], cancel: Cancel) -> int:
    shared = _context(args.context)
    for line in _lines(args.file):
        cancel.check()
        try:
            item = json.loads(line)
            question = item["question"]
            if not isinstance(question, str):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            body = refused(line.strip()[:200], "failed", 'Each line must be a JSON object with a "question".')
        else:
            hints = "\n".join(filter(None, (shared, str(item.get("context") or ""))))
            body = _answer(args, question, hints, handle, app, cancel, live=False)
        if isinstance(body, dict) and body["state"] == "stopped":
            raise Stopped
        print(json.dumps(body, ensure_ascii=False), file=out, flush=True)
    return 0


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from (line for line in file if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"The file cannot be read: {error.__class__.__name__}.", where=str(path), to_do="Give a UTF-8 text file."
        ) from error


def _answer(
    args: argparse.Namespace,
    question: str,
    hints: str,
    handle: DatasetHandle,
    app: Application,
    cancel: Cancel,
    *,
    live: bool,
    session: SessionContext | None = None,
) -> dict[str, Any]:
    run_id = new_id("run")
    with tempfile.TemporaryDirectory(prefix="lexsi-", dir=app.pool.scratch) as folder:
        ctx = app.answering.context(
            handle, run_id, Path(folder), session=session, cancel=cancel, hints=hints, given=_task_file(args.task),
            review="always" if args.review else "never" if args.approve else None,
        )  # fmt: skip
        events: list[ev.Event] = []
        sink = MemorySink()
        for event in app.answering.loop(ctx, sink).stream(question, ctx):
            events.append(event)
            if live and isinstance(event, ev.ToolCalled):
                print(f"Calling {event.name}… {event.argument}", file=sys.stderr)
        body = report(question, events, ctx, max_rows=args.max_rows, look=sink.look)
    if passed := _passed_over(handle, app):
        body["caveats"] = [*(body["caveats"] or ()), *passed]
    return body


def _passed_over(handle: DatasetHandle, app: Application) -> list[str]:
    """Files and sheets that are not in the data set that was asked."""
    return [] if handle.synthetic else app.catalog.source_notes(app.person(), handle.source_id)


def _task_file(path: Path | None) -> AnyGiven | None:
    """The task of ``--task``: a draft, or a whole answer that holds one."""
    if path is None:
        return None
    try:
        body = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise BadInput(
            "The task file cannot be read as JSON.", where=str(path), to_do="Give what --review --json prints."
        ) from error
    found = body.get("task") if isinstance(body, dict) else None
    draft = found.get("draft") if isinstance(found, dict) else body
    return given_of({"kind": "task", "draft": draft})


def _tell_task(body: dict[str, Any], args: argparse.Namespace, out: IO[str]) -> None:
    """The task's card, and how to go on from it when it waits."""
    task = body["task"]
    if task is None:
        return
    print("\nPrediction task", file=out)
    for line in task["lines"]:
        print(f"  {line['about']}: {line['text']}", file=out)
    if body["state"] != "needs_clarification":
        return
    question = shlex.join(["python", "-m", "lexsi_ds", "ask", args.question, "--dataset", args.dataset])
    print(f"\nTo train it as it stands:\n  {question} --approve", file=out)
    print("To change it: write it to a file, edit task.draft there, and train from it:", file=out)
    print(f"  {question} --review --json > task.json\n  {question} --task task.json", file=out)


def _tell(body: dict[str, Any], out: IO[str]) -> None:
    """The answer for a person's eyes; a question back was shown already."""
    if body["options"] is not None:
        return
    if body["reading"]:
        print(f"Read as: {body['reading']}", file=out)
    print(body["answer"] or f"No answer ({body['state']}).", file=out)
    for title, items in (("Note", body["caveats"]), ("You could ask", body["suggestions"])):
        for item in items or ():
            print(f"{title}: {item}", file=out)
    if body["predictions"] is None or body["parts"]:
        for part in body["parts"] or [body]:
            _table(part, out)


def _table(part: dict[str, Any], out: IO[str]) -> None:
    """The first rows of one question, and its SQL."""
    if result := part["result"]:
        print(file=out)
        print(" | ".join(c["name"] for c in result["columns"]), file=out)
        for row in result["rows"][:20]:
            print(" | ".join("" if v is None else str(v) for v in row), file=out)
        if result["row_count"] > 20:
            print(f"… {result['row_count']:,} rows in all", file=out)
    if part["sql"]:
        print(f"\nSQL:\n{part['sql']}", file=out)


def _inspect(args: argparse.Namespace, app: Application, out: IO[str], cancel: Cancel) -> int:
    handle = _handle(args.path, app, cancel)
    notes = app.catalog.notes(app.person(), handle.source_id)
    if args.json:
        print(json.dumps(as_json(handle, notes), ensure_ascii=False), file=out)
    else:
        print("\n".join(as_lines(handle, notes)), file=out)
    return 0


def _handle(name: str, app: Application, cancel: Cancel) -> DatasetHandle:
    """The data set that a name or path means; the demo bank is built on first use."""
    person = app.person()
    if name == "demo":
        return app.catalog.ensure_demo(person, tell=_say_on_stderr, cancel=cancel)
    if name.startswith("con_"):
        return app.catalog.handle(person, name)
    return app.catalog.throwaway(Path(name), tell=_say_on_stderr, cancel=cancel)


def _say_on_stderr(message: dict[str, Any]) -> None:
    if message.get("text") and sys.stderr.isatty():
        print(f"\r\033[K{message['text']}", end="", file=sys.stderr, flush=True)


def _context(given: str | None) -> str:
    """The hints: a file's text where the argument names one, else the argument itself."""
    if not given:
        return ""
    path = Path(given)
    try:
        is_file = len(given) < 1000 and path.is_file()
    except OSError:
        is_file = False
    return path.read_text(encoding="utf-8-sig", errors="replace") if is_file else given


def _quiet_stdout() -> IO[str]:
    """A handle on the real stdout; everything else that prints goes to stderr from now on, C libraries too."""
    sys.stdout.flush()
    real = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return real


if __name__ == "__main__":
    sys.exit(main())
