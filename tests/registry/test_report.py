"""The report of a model: whole, offline, with every text escaped; and the same as JSON."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import NotFound
from lexsi_ds.models.assessment import Importance, OutOfTime
from lexsi_ds.models.card import CalibrationBin, Interval, LeftOut, ModelCard
from lexsi_ds.services.model_backtests import OutcomeFile

from .conftest import ADA, write_loans

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


class Page(HTMLParser):
    """Tags and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def report(app: Application, model: ModelCard, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder, person = tmp_path_factory.mktemp("report"), app.person()
    frame = write_loans(folder / "new.csv", 200, seed=8, first=80_000, outcome=False)
    app.scoring.file(person, model.id, folder / "new.csv")
    frame[["loan_id", "bad", "granted"]].to_csv(folder / "outcomes.csv", index=False)
    app.backtests.run(person, model.id, file=OutcomeFile(path=folder / "outcomes.csv"))
    seen = app.registry.entry(person, model.id).row_version
    seen = app.registry.describe(person, model.id, seen, intended_use="Whom to call first.", limits="Not after 1999.").row_version
    app.registry.set_threshold(person, model.id, seen, costs=(1.0, 5.0))
    return app.model_reports.html(person, model.id).decode("utf-8")


def test_a_report_has_its_sections_with_figures_and_intervals(report: str, model: ModelCard) -> None:
    heads = re.findall(r"<h2>([^<]*)</h2>", report)
    for wanted in ("Figures", "Calibration", "Importance", "Threshold", "Fairness", "Backtests", "Features",
                   "Left out, and why", "Limits", "Environment", "History"):
        assert wanted in heads, wanted
    words = " ".join(Page(report).text)
    main = model.chosen.main
    assert f"{main.value:,.4g} ({main.low:,.4g} to {main.high:,.4g})" in words
    for wanted in ("Whom to call first.", "Not after 1999.", "by cost: 1 a false alarm, 5 a miss", "Set by You", "loans.balance",
                   "protected attribute", "on the card", "set the threshold", model.versions["python"], *model.warnings):
        assert wanted in words, wanted


def test_a_report_stands_alone_and_loads_nothing(report: str) -> None:
    page = Page(report)
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "object", "embed", "img", "form", "base"}
    for _, attributes in page.tags:
        assert not {"src", "href", "onload", "onerror", "onclick", "style"} & attributes.keys()
    assert "default-src 'none'" in report and "url(" not in report and "@import" not in report
    outside = {value for _, a in page.tags for name, value in a.items() if name != "xmlns" and value and "://" in value}
    assert outside == set() and report.count("<svg") >= 2


def test_what_data_and_people_wrote_is_text_in_a_report_and_never_markup(app: Application, model: ModelCard) -> None:
    words = {"label": HOSTILE, "expression": HOSTILE}
    stats = tuple(s.model_copy(update={"feature": s.feature.model_copy(update=words)}) for s in model.features)
    task = model.task.model_copy(update={
        "title": HOSTILE, "notes": (HOSTILE,), "positive_meaning": HOSTILE, "target_label": HOSTILE, "context_sql": HOSTILE,
    })
    figure = Interval(value=0.1, low=0.05, high=0.2)
    chosen = model.chosen.model_copy(update={
        "model_type": HOSTILE, "calibration": (CalibrationBin(predicted=0.2, observed=0.3, low=0.1, high=0.5, n=20),),
    })
    hostile = model.model_copy(update={
        "task": task, "features": stats, "warnings": (HOSTILE,), "source_name": HOSTILE, "candidates": (chosen,), "comparisons": (),
        "why_chosen": HOSTILE, "importance": (Importance(feature="x", label=HOSTILE, drop=figure),),
        "left_out": (LeftOut(name=HOSTILE, table=HOSTILE, reason="leak", detail=HOSTILE),), "versions": {HOSTILE: HOSTILE},
        "out_of_time": OutOfTime(
            column=HOSTILE, first="a", last="b", trained=1, tested=1, metrics=model.chosen.metrics, difference=0, sentence=HOSTILE,
        ),
    })
    folder = app.models.ref(app.person(), model.id).folder
    from lexsi_ds.ids import new_id
    from lexsi_ds.models.engine import ModelRef

    ref = ModelRef(id=new_id("mdl"), folder=folder)
    kept = app.models.register(app.person(), ref, hostile.model_copy(update={"id": ref.id}), None)
    before = app.model_reports.fairness
    app.model_reports.fairness = lambda *_: [(HOSTILE, [HOSTILE], [[HOSTILE]])]
    try:
        report = app.model_reports.html(app.person(), kept.id).decode()
    finally:
        app.model_reports.fairness = before
    page = Page(report)
    assert not {tag for tag, _ in page.tags} & {"script", "img"} and not any("onerror" in a for _, a in page.tags)
    assert "".join(page.text).count("<script>alert(1)</script>") > 15
    assert "<h2>Fairness</h2>" in report and "<h2>Importance</h2>" in report


def test_the_card_as_json_says_where_the_model_stands(app: Application, model: ModelCard, report: str) -> None:
    body = json.loads(json.dumps(app.model_reports.json(app.person(), model.id)))
    assert ModelCard.model_validate(body["card"]) == app.models.get(app.person(), model.id)
    assert body["registry"]["threshold"]["how"] == "cost" and body["registry"]["state"] == "draft"
    assert [step["action"] for step in body["history"]][:1] == ["trained"] and len(body["backtests"]) >= 1
    for call in (app.model_reports.html, app.model_reports.json):
        with pytest.raises(NotFound):
            call(ADA, model.id)
