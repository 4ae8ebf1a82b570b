"""Plotly look of Lexsi DS for the light and the dark theme.

Plotly figures are drawn with ``st.plotly_chart(fig, theme=None)``; this module gives them the fonts, margins, hover
style and palettes that `.streamlit/config.toml` gives to everything else. Pure: it imports Plotly and nothing of the app.
The chart lists, the page, ink and accent repeat config.toml; change both or neither, and let a test compare them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import plotly.graph_objects as go

FONT = '"Source Sans", "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
CONFIG = {
    "displaylogo": False,
    "displayModeBar": "hover",
    "modeBarButtonsToRemove": ["autoScale2d", "zoomIn2d", "zoomOut2d"],
}
"""Pass as ``config=``: the tool bar shows on hover and keeps PNG, zoom, pan, reset."""


@dataclass(frozen=True)
class Palette:
    """Colours of one mode: text at least 4.5:1 on the surface, marks at least 3:1, save the near-page part of the ramps."""

    surface: str
    raised: str
    """Background of the hover label."""
    text: str
    muted: str
    """Axis labels, legends, notes."""
    grid: str
    line: str
    """Zero lines, connectors, borders of hover labels."""
    accent: str
    reference: str
    """Baselines, chance lines, the rest of the population."""
    raises: str
    """SHAP value above zero: towards the outcome."""
    lowers: str
    """SHAP value below zero: away from the outcome."""
    total: str
    """Base value and prediction in a waterfall."""
    risk: str
    """One fixed colour for a probability bar: a middle step of the sequential ramp, `orange` in the tables."""
    categorical: tuple[str, ...]
    sequential: tuple[str, ...]
    """One hue, low to high."""
    diverging: tuple[str, ...]
    """Lowers to raises, surface in the middle."""
    feature_value: tuple[str, ...]
    """Low to high feature value in a beeswarm; kept apart from the two directions."""


LIGHT = Palette(
    surface="#FFFFFF",
    raised="#FFFFFF",
    text="#0F1720",
    muted="#56606B",
    grid="#E9ECEF",
    line="#AEB6BF",
    accent="#00707A",
    reference="#7C8792",
    raises="#A34A08",
    lowers="#5490E0",
    total="#76818C",
    risk="#C46E2D",
    categorical=("#386FD1", "#CF8017", "#025E54", "#AB3A96", "#786A00", "#4E2E78", "#149CD4", "#5E2800"),
    sequential=(
        "#FFEDDC",
        "#FBD2AD",
        "#F2B786",
        "#E69E64",
        "#D68546",
        "#C46E2D",
        "#B05917",
        "#994608",
        "#803504",
        "#652808",
    ),
    diverging=(
        "#14407F",
        "#2D68B4",
        "#5693DC",
        "#8FC0F6",
        "#D8EAFE",
        "#F8E4D1",
        "#E9AF7F",
        "#CE7D3E",
        "#A7510B",
        "#762F00",
    ),
    feature_value=("#8F8FA9", "#7A77AD", "#695EA9", "#59469E", "#432383"),
)

DARK = Palette(
    surface="#050608",
    raised="#191D22",
    text="#DFE4E9",
    muted="#A0A9B3",
    grid="#1C2126",
    line="#4A535D",
    accent="#068488",
    reference="#8A949E",
    raises="#F5A55F",
    lowers="#4A83D4",
    total="#8A949E",
    risk="#D38B43",
    categorical=("#699EFC", "#F48921", "#1E8F79", "#EDA7C5", "#F6E276", "#8B65C2", "#C5EFFE", "#AA5B02"),
    sequential=(
        "#39261F",
        "#57321E",
        "#743E1D",
        "#8F4E1E",
        "#A86023",
        "#BF7430",
        "#D38B43",
        "#E5A35D",
        "#F4BC7D",
        "#FFD6A6",
    ),
    diverging=(
        "#A0D0FE",
        "#68A8EA",
        "#4880C0",
        "#375B89",
        "#2E3948",
        "#46332A",
        "#804927",
        "#B2682C",
        "#DA904C",
        "#F7BE85",
    ),
    feature_value=("#636174", "#7D73A6", "#9987D1", "#B79FF2", "#DECEFE"),
)


def palette(mode: str | None) -> Palette:
    """Colours of a mode; an unknown mode (first run, no browser) reads as light."""
    return DARK if mode == "dark" else LIGHT


def colorscale(colors: tuple[str, ...]) -> list[list[float | str]]:
    """Even steps from 0 to 1, the form Plotly takes."""
    return [[i / (len(colors) - 1), color] for i, color in enumerate(colors)]


@cache
def template(mode: str | None = "light") -> go.layout.Template:
    """Template for one mode; pass it as ``layout.template`` and draw with ``theme=None``."""
    p = palette(mode)
    return go.layout.Template(layout=_layout(p), data=_traces(p))


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign always shown and a real minus, for labels beside a bar."""
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{abs(value):.{digits}f}"


def direction(value: float) -> str:
    """Marker that repeats the sign of a SHAP value, so that it survives greyscale print."""
    return "▲" if value > 0 else "▼" if value < 0 else "•"


def _layout(p: Palette) -> go.Layout:
    small = {"family": FONT, "size": 12, "color": p.muted}
    axis = {
        "gridcolor": p.grid,
        "linecolor": p.line,
        "zerolinecolor": p.line,
        "zerolinewidth": 1,
        "ticks": "",
        "tickfont": small,
        "title": {"font": small, "standoff": 10},
        "automargin": True,
        "showspikes": False,
    }
    return go.Layout(
        font={"family": FONT, "size": 13, "color": p.text},
        title={"x": 0, "xanchor": "left", "font": {"family": FONT, "size": 14, "color": p.text}},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        colorway=list(p.categorical),
        colorscale={
            "sequential": colorscale(p.sequential),
            "sequentialminus": colorscale(p.sequential),
            "diverging": colorscale(p.diverging),
        },
        xaxis={**axis, "showgrid": False},
        yaxis=axis,
        margin={"l": 8, "r": 16, "t": 32, "b": 8, "pad": 4},
        hovermode="closest",
        hoverlabel={
            "bgcolor": p.raised,
            "bordercolor": p.line,
            "font": {"family": FONT, "size": 13, "color": p.text},
            "align": "left",
            "namelength": -1,
        },
        legend={
            "orientation": "h",
            "x": 1,
            "xanchor": "right",
            "y": 1.02,
            "yanchor": "bottom",
            "font": small,
            "bgcolor": "rgba(0,0,0,0)",
            "itemsizing": "trace",
            "itemwidth": 30,
            "title": {"text": ""},
        },
        annotationdefaults={"font": small, "showarrow": False},
        shapedefaults={"line": {"color": p.reference, "width": 1}},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": p.muted, "activecolor": p.accent, "orientation": "h"},
        newselection={"line": {"color": p.accent, "width": 1.5}},
        activeselection={"fillcolor": p.accent, "opacity": 0.12},
        dragmode=False,
        bargap=0.35,
        coloraxis={"colorbar": _colorbar(p)},
        separators=".,",
        transition={"duration": 0},
    )


def _colorbar(p: Palette) -> dict:
    font = {"family": FONT, "size": 12, "color": p.muted}
    title = {"font": font, "side": "right"}
    return {"thickness": 8, "outlinewidth": 0, "len": 0.9, "xpad": 8, "tickfont": font, "title": title}


def _traces(p: Palette) -> go.layout.template.Data:
    label = {"family": FONT, "size": 12, "color": p.text}
    sequential = colorscale(p.sequential)
    return go.layout.template.Data(
        bar=[go.Bar(marker={"line": {"width": 0}}, textfont=label, cliponaxis=False)],
        scatter=[go.Scatter(line={"width": 2}, marker={"size": 7, "line": {"width": 0}}, textfont=label)],
        scattergl=[go.Scattergl(marker={"size": 5, "line": {"width": 0}, "colorbar": _colorbar(p)})],
        histogram=[go.Histogram(marker={"line": {"width": 0}})],
        box=[go.Box(line={"width": 1.5}, marker={"size": 4})],
        heatmap=[go.Heatmap(colorscale=sequential, colorbar=_colorbar(p), xgap=2, ygap=2)],
        contour=[go.Contour(colorscale=sequential, colorbar=_colorbar(p))],
        waterfall=[
            go.Waterfall(
                increasing={"marker": {"color": p.raises}},
                decreasing={"marker": {"color": p.lowers}},
                totals={"marker": {"color": p.total}},
                connector={"line": {"color": p.line, "width": 1, "dash": "dot"}},
                textfont=label,
                cliponaxis=False,
            )
        ],
    )
