"""Many findings at once: judged together, each by itself with its own outcome; written to a YAML file and read from one.

Must never: let one that fails stop the others, take a file's word for a review (what is read in is proposed), or follow what a
file refers to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.services.access import Actor
from lexsi_ds.services.datasets import Datasets
from lexsi_ds.services.finding import Band, Decision, Finding
from lexsi_ds.services.findings import Findings

MAX_FILE_BYTES, MAX_FINDINGS = 2_000_000, 2_000
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_FIELDS = {"dataset", "title", "statement", "columns", "check_sql", "depends_on", "band", "review", "verdict", "version"}


class Outcome(Value):
    """What became of one of many."""

    title: str
    done: bool
    said: str
    finding_id: str | None = None
    row_version: int | None = None


class FindingBatch:
    """Judges, writes and reads many findings."""

    def __init__(self, findings: Findings, datasets: Datasets) -> None:
        self._findings, self._datasets = findings, datasets

    def decide(
        self, actor: Actor, seen: Sequence[tuple[str, int]], decision: Decision, *, note: str = "", via: str = "ui"
    ) -> tuple[Outcome, ...]:
        """Accept or reject each of these, by id and the row version that was seen; what became of each, in order."""
        made = []
        for finding_id, version in seen:
            try:
                kept = self._findings.decide(actor, finding_id, version, decision, note=note, via=via)
                made.append(Outcome(title=kept.title, done=True, said=decision, finding_id=kept.id, row_version=kept.row_version))
            except LexsiError as error:
                titles = self._findings.titles(actor, [finding_id])
                made.append(Outcome(title=titles.get(finding_id, finding_id), done=False, said=str(error), finding_id=finding_id))
        return tuple(made)

    def to_yaml(self, actor: Actor, found: Sequence[Finding]) -> str:
        """These findings as a file that ``from_yaml`` reads; dependencies by title."""
        ids = {i for f in found for i in f.depends_on}
        titles = self._findings.titles(actor, ids)
        names: dict[str, str] = {}
        for finding in found:
            if finding.dataset_id not in names:
                names[finding.dataset_id] = self._datasets.resolve(actor, finding.dataset_id)[0].name
        items = []
        for f in found:
            item: dict[str, Any] = {
                "dataset": names[f.dataset_id], "title": f.title, "statement": f.statement, "columns": list(f.columns),
                "check_sql": f.check_sql, "depends_on": [titles[i] for i in f.depends_on if i in titles],
                "band": None if f.band is None else f.band.model_dump(exclude_defaults=True), "review": f.review,
                "verdict": f.verdict, "version": f.version,
            }
            items.append({name: value for name, value in item.items() if value not in (None, [])})
        return yaml.dump({"findings": items}, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=120)

    def from_yaml(self, actor: Actor, text: str, *, within: str | None = None) -> tuple[Outcome, ...]:
        """Propose each finding of a file; what became of each, in order. One that is there already is left as it is.

        Raises BadInput for a file that is none. ``within`` is the source whose data sets are looked at first.
        """
        actor.need("findings:write")
        made: list[Outcome] = []
        by_title: dict[tuple[str, str], str] = {}
        for number, item in enumerate(_items(text), start=1):
            title = str(item.get("title") or f"Number {number}")[:120]
            try:
                made.append(self._one(actor, item, within, by_title))
            except LexsiError as error:
                made.append(Outcome(title=title, done=False, said=str(error)))
        return tuple(made)

    def _one(self, actor: Actor, item: dict[str, Any], within: str | None, by_title: dict[tuple[str, str], str]) -> Outcome:
        unknown = set(item) - _FIELDS
        if unknown:
            raise BadInput(f"A finding has no {sorted(unknown)[0]!s:.40}.", where="file", to_do="Leave it out.")
        texts = {name: item.get(name) for name in ("dataset", "title", "statement")}
        if not all(isinstance(value, str) and value for value in texts.values()):
            raise BadInput("A finding needs a dataset, a title and a statement.", where="file")
        row, source = self._datasets.resolve(actor, str(texts["dataset"]), within=within)
        if not by_title.get((row.id, "")):
            by_title |= {(row.id, f.title): f.id for f in self._findings.of_dataset(actor, row.id, status="active")}
            by_title[row.id, ""] = "read"
        band = item.get("band")
        made = self._findings.propose(
            actor, dataset_id=row.id, title=str(texts["title"]), statement=str(texts["statement"]),
            columns=_texts(item.get("columns"), "columns"), check_sql=_text(item.get("check_sql")),
            depends_on=tuple(_named(by_title, row.id, title) for title in _texts(item.get("depends_on"), "depends_on")),
            band=_band(band), source="file", source_id=source.id,
        )
        known = made.id in by_title.values()
        by_title[row.id, made.title] = made.id
        return Outcome(
            title=made.title, done=True, said="there already" if known else made.headline, finding_id=made.id
        )


def _items(text: str) -> list[dict[str, Any]]:
    if len(text.encode("utf-8", "replace")) > MAX_FILE_BYTES:
        raise BadInput(f"The file is larger than {MAX_FILE_BYTES // 1_000_000} MB.", where="file")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_LOADER)):
            raise BadInput("The file refers to parts of itself.", where="file", to_do="Write each part out.")
        body = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput("The file is no YAML that can be read.", where="file", to_do="Export one and look at its form.") from error
    items = body.get("findings") if isinstance(body, dict) else None
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise BadInput("The file has no list called findings.", where="file", to_do="Export one and look at its form.")
    if len(items) > MAX_FINDINGS:
        raise BadInput(f"The file has {len(items):,} findings; {MAX_FINDINGS:,} are the most.", where="file")
    return items


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise BadInput("A check is a text.", where="check_sql")
    return value


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise BadInput(f"{name} is a list of texts.", where="file")
    return tuple(value)


def _band(value: Any) -> Band | None:
    if value is None:
        return None
    try:
        return Band.model_validate(value)
    except ValueError as error:
        raise BadInput("The band cannot be read.", where="band", to_do="It has metric_sql, low, high, strict, percent.") from error


def _named(by_title: dict[tuple[str, str], str], dataset_id: str, title: str) -> str:
    found = by_title.get((dataset_id, title))
    if found is None:
        raise BadInput("It depends on a finding that is not there.", where=title[:80], to_do="Put that one before it.")
    return found
