"""The rows of a chart for its CSV are what it draws."""

from __future__ import annotations

import plotly.graph_objects as go

from components.chart_menu import rows_of


def test_series_intervals_and_words_of_an_axis_are_kept() -> None:
    figure = go.Figure()
    figure.add_scatter(x=[0.5, 0.7], y=[0, 1], name="Rate", error_x={"array": [0.1, 0.2], "arrayminus": [0.2, 0.1]})
    figure.update_xaxes(title_text="Share<br>caught").update_yaxes(tickvals=[0, 1], ticktext=["f &lt; m", "m"])
    names, rows = rows_of(figure)
    assert names == ["series", "Share caught", "y", "low", "high"]
    assert rows[0][:3] == ("Rate", 0.5, "f < m") and rows[0][3:] == (0.3, 0.6)
    assert rows[1][2] == "m"


def test_a_confusion_has_a_row_a_square() -> None:
    figure = go.Figure().add_heatmap(z=[[0.75, 0.25]], x=[0, 1], y=[0], customdata=[[[3, "a"], [1, "b"]]])
    figure.update_xaxes(title_text="Said", tickvals=[0, 1], ticktext=["a", "b"])
    names, rows = rows_of(figure)
    assert names[-2:] == ["value", "rows"] and rows == [("", "a", 0, 0.75, 3), ("", "b", 0, 0.25, 1)]
