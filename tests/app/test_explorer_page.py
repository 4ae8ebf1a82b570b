"""The explorer on stand-in views: cohorts, tabs, what-ifs, counterfactuals, and what is drawn while something is at work."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from components import explain_draw, explain_work, session
from components.explain_state import ExplorerState
from lexsi_ds.errors import BadInput, Stopped
from lexsi_ds.jobs.background import Background
from tests.app import fake_application as fake
from tests.app import fixtures as fx
from tests.app import scripts
from tests.app.conftest import settled, words

CASE = str(fx.predictions_frame()["loan_id"][3])


@pytest.fixture
def app() -> fake.FakeApplication:
    return fake.FakeApplication([scripts.count()])


def specs(at: Any) -> list[str]:
    """Each chart as the browser gets it."""
    return [str(chart.proto.spec) for chart in at.get("plotly_chart")]


@pytest.mark.parametrize(
    ("tab", "says"),
    [
        ("Beeswarm", "Probability points, rescaled"),
        ("Importance", "Loss of ROC AUC when shuffled"),
        ("Dependence", "Probability points, rescaled"),
        ("Interactions", "log-odds"),
        ("Effect", "Probability of default"),
    ],
)
def test_each_tab_draws_its_chart_with_its_scale_and_its_rows(app, open_page, tab: str, says: str) -> None:
    at = open_page(app, "explorer", model=fx.MODEL)
    at.session_state[session.OVERALL_TAB] = tab
    settled(at.run())
    assert says in specs(at)[0]
    assert any(f"{n} loans" in words(at) for n in (448, 60))
    assert any(button.label == "CSV" for button in at.get("download_button"))


def test_only_the_open_tab_is_asked_for(app, open_page) -> None:
    open_page(app, "explorer", model=fx.MODEL)
    assert {name for name, _ in app.cohorts} == {"overall"}


def test_importances_that_disagree_are_warned_of(app, open_page) -> None:
    at = open_page(app, "explorer", model=fx.MODEL)
    at.session_state[session.OVERALL_TAB] = "Importance"
    settled(at.run())
    assert "The two measures disagree on 1 feature, marked ≠." in words(at)
    assert "≠ " in json.loads(specs(at)[0])["layout"]["yaxis"]["ticktext"][1]


def test_a_pair_opens_the_dependence_of_its_first_feature(app, open_page) -> None:
    at = open_page(app, "explorer", model=fx.MODEL)
    at.session_state[session.OVERALL_TAB] = "Interactions"
    settled(at.run())
    pair = next(b for b in at.button if " with " in b.label and b.key.startswith("explorer-pair"))
    settled(pair.click().run())
    assert at.session_state[session.OVERALL_TAB] == "Dependence"
    assert at.session_state[session.EXPLAINED_FEATURE] == fx.LABELS[0][0]


def test_a_cohort_of_the_address_reaches_every_view_and_is_cleared(app, open_page) -> None:
    feature = fx.LABELS[0][0]
    at = open_page(app, "explorer", model=fx.MODEL, cohort=json.dumps([[feature, ">=", 48], ["status", "in", ["C"]]]))
    for tab in ("Importance", "Dependence", "Interactions", "Effect"):
        at.session_state[session.OVERALL_TAB] = tab
        settled(at.run())
    seen = {name: [(c.column, c.operator, c.value) for c in cohort.conditions] for name, cohort in app.cohorts}
    assert set(seen) == {"overall", "importance", "dependence", "interactions", "profile"}
    assert all(found == [(feature, ">=", 48), ("status", "in", ("C",))] for found in seen.values())
    assert f"{fx.LABELS[0][1]} at least 48" in words(at) and "status is C" in words(at)
    settled(at.button(key="explorer-clear").click().run())
    assert "cohort" not in at.query_params
    assert app.cohorts[-1][1] is None or "Cohort: all 448 loans" in str(at.get("popover"))


def test_a_band_of_scores_becomes_the_cases_in_it(app, open_page) -> None:
    open_page(app, "explorer", model=fx.MODEL, cohort=json.dumps([["(probability)", ">=", 0.4]]))
    rows = app.models.rows
    wanted = {str(i) for i in rows.loc[rows["probability"] >= 0.4, "loan_id"]}
    assert wanted and set(app.cohorts[-1][1].case_ids) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "7",
        '[["ghost", "=", 1]]',
        '[["status", "; DROP", 1]]',
        '[["status"]]',
        '[["(probability)", ">=", "x"]]',
        '{"a": 1}',
    ],
)
def test_a_cohort_that_does_not_fit_is_left_out(app, open_page, text: str) -> None:
    open_page(app, "explorer", model=fx.MODEL, cohort=text)
    assert app.cohorts[-1] == ("overall", None)


def test_a_box_makes_its_points_the_cohort_and_a_click_opens_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    address: dict[str, str] = {}
    monkeypatch.setattr("streamlit.query_params", address)
    points = [{"customdata": ["5001", 1.0]}, {"customdata": ["A&amp;B &lt;i>", 2.0]}, {"customdata": ["5001", 3.0]}]
    mine = ExplorerState(fx.MODEL)
    event: dict[str, Any] = {"selection": {"points": points, "box": [{"x": [0, 1]}], "lasso": []}}
    monkeypatch.setattr(session, "read", lambda key, default=None: event)
    explain_draw._selected("k", "Beeswarm", mine)
    assert mine.chosen == ("5001", "A&B <i>") and mine.cohort is not None and mine.cohort.case_ids == mine.chosen
    assert address == {"chosen": "5001,A&B <i>"}
    event["selection"] = {"points": points[:1], "box": [], "lasso": []}
    explain_draw._selected("k", "Beeswarm", mine)
    assert address["case"] == "5001" and len(mine.chosen) == 2


def test_moving_a_value_moves_the_prediction_with_its_doubts_until_reset(app, open_page) -> None:
    at = open_page(app, "explorer", model=fx.MODEL, case=CASE)
    before = at.metric[0].value
    slider = at.slider[0]
    settled(slider.set_value(slider.value + 500 if slider.value < 19_000 else slider.value - 500).run())
    case, changes = app.changed[-1]
    assert case == CASE and len(changes) == 1
    assert at.metric[0].value != before and "No training row has such values together." in words(at)
    settled(at.button(key="explorer-what-if-reset").click().run())
    assert at.metric[0].value == before


def test_counterfactuals_are_searched_when_asked_and_shown_as_changes(app, open_page) -> None:
    at = open_page(app, "explorer", model=fx.MODEL, case=CASE)
    assert not [f for f in at.dataframe if "Would be" in f.value.columns]
    settled(at.button(key="explorer-counterfactuals").click().run())
    table = next(f.value for f in at.dataframe if "Would be" in f.value.columns)
    assert table["Prediction"][0] == "0.42" and table["Would be"][0] == "5"
    assert "not what a change would bring about" in words(at)


def test_definitions_are_one_click_away(app, open_page) -> None:
    at = open_page(app, "explorer", model=fx.MODEL)
    at.session_state["explorer-definitions"] = True
    settled(at.run())
    assert any("FILTER" in code.value for code in at.code)


def test_contributions_are_made_as_a_job_and_then_downloaded(app, open_page, tmp_path) -> None:
    app.settings.home = tmp_path
    at = open_page(app, "explorer", model=fx.MODEL)
    settled(at.button(key="explorer-contributions").click().run())
    assert any(b.label == "Download contributions" for b in at.get("download_button"))
    assert [f.read_bytes() for f in (tmp_path / "tmp").glob("*.csv")] == [b"loan_id,prediction\n1,0.5\n"]


def test_a_view_that_fails_says_why_in_its_place_and_can_be_tried_again(app, open_page) -> None:
    app.views_fail = BadInput("No row is in this cohort.", to_do="Widen its conditions.")
    at = open_page(app, "explorer", model=fx.MODEL)
    assert "No row is in this cohort." in words(at) and "Why loan" in words(at)
    app.views_fail = None
    settled(next(b for b in at.button if b.label == "Try again").click().run())
    assert "No row is in this cohort." not in words(at) and len(specs(at)) == 2


def test_a_view_at_work_is_a_skeleton_and_the_rest_of_the_page_stands(app, open_page, monkeypatch) -> None:
    go = threading.Event()
    monkeypatch.setattr(explain_work, "PATIENCE", 0.0)
    monkeypatch.setattr(fake.FakeViews, "overall", lambda self, **_: (go.wait(30), fx.overall())[1])
    try:
        at = open_page(app, "explorer", model=fx.MODEL, case=CASE)
        assert at.get("skeleton") and "XAI explorer" in words(at)
    finally:
        go.set()


def test_the_order_by_uncertainty_puts_the_widest_band_first(app, open_page) -> None:
    at = open_page(app, "explorer", model=fx.MODEL)
    settled(at.selectbox(key=session.CASE_ORDER).set_value("uncertainty").run())
    rows = app.models.rows
    widest = (rows["probability_high"] - rows["probability_low"]).max()
    picked = next(str(i) for i in rows["loan_id"] if f"Why loan {i}" in words(at))
    row = rows[rows["loan_id"].astype(str) == picked].iloc[0]
    assert row["probability_high"] - row["probability_low"] == pytest.approx(widest)


def test_a_view_is_asked_once_a_key_and_again_after_it_was_stopped() -> None:
    board, calls = explain_work.Board(Background()), []

    def work(*, cancel: Any, tell: Any) -> int:
        calls.append(1)
        if len(calls) == 1:
            raise Stopped("stopped")
        return 7

    first = board.ask(("k",), "A view", work, "local")
    assert board.ask(("k",), "A view", work, "local") is first
    assert first.over.wait(10) and isinstance(first.error, Stopped)
    board.again(("k",))
    second = board.ask(("k",), "A view", work, "local")
    assert second.over.wait(10) and second.value == 7 and len(calls) == 2


def test_a_cell_of_a_chart_file_starts_no_formula() -> None:
    text = explain_draw.csv_of(["case", "=name"], [("=1+1", -0.5), ("-3.2", None), ("@x", True)]).decode("utf-8-sig")
    assert text.splitlines() == ["case,'=name", "'=1+1,-0.5", "-3.2,", "'@x,True"]


def test_another_model_does_not_keep_the_cohort(app, open_page, monkeypatch) -> None:
    at = open_page(app, "explorer", model=fx.MODEL, cohort=json.dumps([["status", "in", ["C"]]]))
    at.query_params["model"] = app.models.cards[1].id
    settled(at.run())
    assert app.cohorts[-1] == ("overall", None)
