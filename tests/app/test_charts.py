"""Figures say what the payload says: they add up, name their scale, and keep hostile labels as text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from components import charts, explanation_charts
from components.result_chart import result_chart
from lexsi_ds.models.engine import CaseDriver
from tests.app import fixtures as fx


@pytest.mark.parametrize("scale", ["probability", "log-odds"])
def test_a_waterfall_adds_up_from_base_value_to_prediction(scale: str) -> None:
    case = fx.case("5314", scale)
    bars = explanation_charts.waterfall(case, "default", "dark").figure.data[0]
    assert bars.measure[0] == "absolute" and bars.measure[-1] == "total"
    assert sum(bars.x[:-1]) == pytest.approx(case.prediction, abs=1e-9)
    assert bars.x[-1] == pytest.approx(case.prediction)


def test_a_waterfall_sums_what_it_does_not_show() -> None:
    figure = explanation_charts.waterfall(fx.case("5314"), "default", "light").figure
    assert "4 other features" in figure.layout.yaxis.ticktext
    assert len(figure.data[0].x) == 1 + 8 + 1 + 1


def test_the_scale_is_named_on_the_axis() -> None:
    assert (
        explanation_charts.waterfall(fx.case("1"), "default", None).figure.layout.xaxis.title.text
        == "Probability points, rescaled"
    )
    assert (
        explanation_charts.waterfall(fx.case("1", "log-odds"), "default", None).figure.layout.xaxis.title.text
        == "Log-odds of default"
    )
    assert "rescaled" in explanation_charts.importance(fx.overall(), "default", None).figure.layout.xaxis.title.text


def test_sign_is_shown_by_mark_and_number() -> None:
    case = fx.case("5314")
    texts = [a.text for a in explanation_charts.waterfall(case, "default", "light").figure.layout.annotations]
    for driver, text in zip(case.drivers[:8], texts[1:9], strict=True):
        assert text.startswith("▲ +" if driver.contribution > 0 else "▼ −")


def test_a_beeswarm_holds_every_row_and_grays_missing_values() -> None:
    overall = fx.overall(rows=100)
    figure = explanation_charts.beeswarm(overall, "default", "dark").figure
    shown = overall.features[:10]
    assert sum(len(trace.x) for trace in figure.data) == 100 * len(shown)
    gray = [t for t in figure.data if isinstance(t.marker.color, str)]
    assert sum(len(t.x) for t in gray) == sum(v is None for f in shown for v in f.values)
    for i, feature in enumerate(shown):
        ys = np.concatenate([np.asarray(t.y) for t in figure.data if abs(np.mean(t.y) - i) < 0.5])
        assert len(ys) == len(feature.values)
        assert np.abs(ys - i).max() < 0.5


def test_a_roc_has_band_baseline_and_chance() -> None:
    figure = charts.roc(fx.card(), "light").figure
    assert [t.name for t in figure.data] == [None, "XGBoost, 0.81", "Logistic, 0.76", "Chance"]
    assert figure.data[0].opacity == 0.16
    assert figure.data[2].line.dash == "dash" and figure.data[3].line.dash == "dot"


def test_calibration_bars_reach_their_interval() -> None:
    bins = fx.card().chosen.calibration
    points = charts.calibration(fx.card(), "light").figure.data[1]
    assert [o + e for o, e in zip(points.y, points.error_y.array, strict=True)] == pytest.approx([b.high for b in bins])
    assert [o - e for o, e in zip(points.y, points.error_y.arrayminus, strict=True)] == pytest.approx(
        [b.low for b in bins]
    )


def test_a_label_that_looks_like_a_tag_stays_text() -> None:
    case = fx.case("1")
    evil = CaseDriver(
        feature="x", label="<a href='http://evil.example'>", value=1.0, unit=None, contribution=9.0, margin=9.0
    )
    figure = explanation_charts.waterfall(
        case.model_copy(update={"drivers": (evil, *case.drivers)}), "<b>default", "light"
    ).figure
    assert not [t for t in figure.layout.yaxis.ticktext if "<" in t]
    assert "<" not in explanation_charts.scale_title("log-odds", figure.layout.xaxis.title.text)


def test_every_figure_has_a_spoken_name_and_our_template() -> None:
    made = [
        charts.roc(fx.card(), "dark"),
        charts.calibration(fx.card(), "dark"),
        explanation_charts.importance(fx.overall(), "default", "dark"),
        explanation_charts.beeswarm(fx.overall(), "default", "dark"),
        explanation_charts.waterfall(fx.case("1"), "default", "dark"),
    ]
    for chart in made:
        assert len(chart.alt) > 20
        assert chart.figure.layout.template.layout.font.color == "#DFE4E9"


@pytest.mark.parametrize(
    ("frame", "groups"),
    [
        (pd.DataFrame({"n": [1]}), ()),
        (pd.DataFrame({"g": ["a"], "n": [1]}), ("g",)),
        (pd.DataFrame({"g": ["a", "b"], "n": ["x", "y"]}), ("g",)),
        (pd.DataFrame({"g": [], "n": []}), ("g",)),
    ],
)
def test_a_result_that_carries_no_chart_gets_none(frame: pd.DataFrame, groups: tuple[str, ...]) -> None:
    assert result_chart(frame, "bar", "n", groups, None, "light") is None


def test_groups_are_named_plainly() -> None:
    frame = pd.DataFrame({"year": pd.array([1993, None], dtype="Int64"), "n": [1, 2]})
    made = result_chart(frame, "bar", "n", ("year",), None, "light")
    assert made is not None
    assert list(made.figure.data[0].x) == ["1993", "missing"]
    days = pd.DataFrame({"day": pd.to_datetime(["1993-01-01", "1993-01-02"]), "n": [1, 2]})
    made = result_chart(days, "bar", "n", ("day",), None, "light")
    assert made is not None
    assert list(made.figure.data[0].x) == ["1993-01-01", "1993-01-02"]


def test_two_group_columns_become_series() -> None:
    frame = pd.DataFrame({"year": [1993, 1993, 1994, 1994], "sex": ["F", "M", "F", "M"], "n": [1, 2, 3, 4]})
    made = result_chart(frame, "line", "n", ("year", "sex"), "loans", "light")
    assert made is not None
    assert [t.name for t in made.figure.data] == ["F", "M"]
    assert made.figure.layout.yaxis.title.text == "n, loans"
