"""Semantic model files as YAML text: written for people, read with the line of everything in them.

Reading is safe: plain YAML only, no anchors, bounded in size. What is wrong is told with its line; nothing is guessed.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import Any, Literal

import yaml
from pydantic import ValidationError

from lexsi_ds.knowledge import meanings as mn
from lexsi_ds.knowledge import osi

MOST_LETTERS = 2_000_000
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Issue:
    """Something about a file. An error keeps it from being saved; a warning does not."""

    line: int
    what: str
    level: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        return f"Line {self.line}: {self.what}"


class Located:
    """Which line each part of a text stands on, by its path."""

    def __init__(self, lines: dict[Path, int]) -> None:
        self._lines = lines

    def line(self, path: Path) -> int:
        """The line of a part, or of the nearest part around it."""
        for end in range(len(path), -1, -1):
            if path[:end] in self._lines:
                return self._lines[path[:end]]
        return 1


def write(document: osi.Document) -> str:
    """A file as YAML text."""
    return yaml.dump(osi.tidy(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, lists indented."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


def _list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.Node:
    short = all(isinstance(v, str) for v in value) and sum(len(str(v)) + 2 for v in value) <= 90
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=short)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def read(text: str) -> tuple[osi.Document | None, list[Issue], Located]:
    """A file from YAML text: the document, or what is wrong with the text."""
    if len(text) > MOST_LETTERS:
        return None, [Issue(1, f"the file has {len(text):,} characters; {MOST_LETTERS:,} are the most")], Located({})
    try:
        node, issues = _composed(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        return None, [Issue(mark.line + 1 if mark else 1, f"this is no YAML: {problem}")], Located({})
    if node is None:
        return None, [*issues, Issue(1, "the file is empty")], Located({})
    lines: dict[Path, int] = {}
    data = _plain(node, (), lines, issues)
    located = Located(lines)
    if issues:
        return None, sorted(issues, key=lambda i: i.line), located
    try:
        document = osi.Document.model_validate(data)
    except ValidationError as error:
        return None, _told(error, located, (), osi.Document), located
    issues = _extensions(document, located)
    return (None if issues else document), issues, located


def _composed(text: str) -> tuple[yaml.Node | None, list[Issue]]:
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            return None, [Issue(event.start_mark.line + 1, "anchors and aliases are not read; write the part out")]
    return yaml.compose(text, Loader=_LOADER), []


def _plain(node: yaml.Node, path: Path, lines: dict[Path, int], issues: list[Issue]) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        body: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in body:
                issues.append(Issue(key.start_mark.line + 1, f"{name!r} stands twice in the same place"))
            lines[(*path, name)] = key.start_mark.line + 1
            body[name] = _plain(value, (*path, name), lines, issues)
        return body
    if isinstance(node, yaml.SequenceNode):
        return [_plain(v, (*path, i), lines, issues) for i, v in enumerate(node.value)]
    if path[-1:] == ("data",):
        _lines_of_json(node, path, lines)
    return _scalar(node, path)


def _scalar(node: yaml.Node, path: Path) -> Any:
    """A scalar as its type; names and words stay texts, also ``no`` and ``1996``."""
    value = node.value
    if getattr(node, "style", None) is not None:
        return value
    if node.tag.endswith(":null"):
        return None
    if node.tag.endswith(":bool") and path[-1:] == ("is_time",):
        return value.casefold() in ("true", "yes", "on")
    return value


def _lines_of_json(node: yaml.Node, path: Path, lines: dict[Path, int]) -> None:
    """The lines of the parts of a JSON text: JSON is YAML too."""
    try:
        inner = yaml.compose(str(node.value), Loader=_LOADER)
    except yaml.YAMLError:
        return
    first = node.start_mark.line + (2 if getattr(node, "style", None) in ("|", ">") else 1)

    def walk(part: yaml.Node, where: Path) -> None:
        lines.setdefault(where, first + part.start_mark.line)
        if isinstance(part, yaml.MappingNode):
            for key, value in part.value:
                lines.setdefault((*where, str(key.value)), first + key.start_mark.line)
                walk(value, (*where, str(key.value)))
        elif isinstance(part, yaml.SequenceNode):
            for i, value in enumerate(part.value):
                walk(value, (*where, i))

    if inner is not None:
        lines.setdefault(path, node.start_mark.line + 1)
        walk(inner, (*path, "json"))


def _extensions(document: osi.Document, located: Located) -> list[Issue]:
    """What is wrong with our extensions."""
    whole = document.model
    parts: list[tuple[Path, osi.Described, type[mn.Meaning]]] = [((), whole, mn.ModelMeaning)]
    for i, dataset in enumerate(whole.datasets):
        parts.append((("datasets", i), dataset, mn.DatasetMeaning))
        parts += [(("datasets", i, "fields", j), f, mn.FieldMeaning) for j, f in enumerate(dataset.fields)]
    parts += [(("relationships", i), r, mn.RelationshipMeaning) for i, r in enumerate(whole.relationships or ())]
    parts += [(("metrics", i), m, mn.MetricMeaning) for i, m in enumerate(whole.metrics or ())]
    issues = []
    for path, part, kind in parts:
        for k, each in enumerate(part.custom_extensions):
            where: Path = ("semantic_model", 0, *path, "custom_extensions", k, "data")
            try:
                body = json.loads(each.data)
            except ValueError as error:
                issues.append(Issue(located.line(where), f"the data of a custom extension is no JSON: {error}"))
                continue
            if each.vendor_name != mn.VENDOR or not isinstance(body, dict) or mn.KEY not in body:
                continue
            try:
                kind.model_validate(body[mn.KEY])
            except ValidationError as error:
                issues += _told(error, located, (*where, "json", mn.KEY), kind)
    return issues


def _told(error: ValidationError, located: Located, prefix: Path, kind: type) -> list[Issue]:
    issues = []
    for each in error.errors():
        path: Path = (*prefix, *(p for p in each["loc"] if p not in ("AiContext", "str")))
        name = str(each["loc"][-1]) if each["loc"] else ""
        place = next((str(p) for p in reversed(path) if isinstance(p, str) and p != name), "")
        if each["type"] == "extra_forbidden":
            said = f"{name!r} is no part of this{_near(name, kind)}"
        elif each["type"] == "missing":
            said = f"{name!r} is missing" + (f" in {place}" if place else "")
        else:
            said = f"{name}: {each['msg'][0].lower()}{each['msg'][1:]}"
        issue = Issue(located.line(path), said)
        if issue not in issues:
            issues.append(issue)
    return sorted(issues, key=lambda i: i.line)


def _near(name: str, kind: type) -> str:
    """The nearest known key: names of all parts, since a key is often right but in the wrong place."""
    parts = (osi.OsiModel, osi.OsiDataset, osi.OsiField, osi.OsiMetric, osi.OsiRelationship)
    every = {n for part in parts for n in part.model_fields}
    every |= set(getattr(kind, "model_fields", ()))
    near = difflib.get_close_matches(name, sorted(every - {"from_"}), n=1, cutoff=0.7)
    return f"; did you mean {near[0]!r}?" if near and near[0] != name else ""
