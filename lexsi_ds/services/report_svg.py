"""Charts of a report as plain SVG text: they draw offline, print, and hold no script.

Must never: put a text into the drawing that is not escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_W, _H, _L, _B, _T, _R = 520, 340, 56, 44, 14, 14
_INK, _GRID, _LINE, _BAND, _SOFT = "#24292f", "#e3e6ea", "#2458a6", "#c9d8ee", "#7b8794"

Points = Sequence[tuple[float, float]]


def curve(
    points: Points, *, low: Points = (), high: Points = (), x_title: str, y_title: str, name: str, diagonal: bool = True
) -> str:
    """A line in the unit square, with a band where there is one."""
    parts = [_frame(x_title, y_title)]
    if diagonal:
        parts.append(_path([(0.0, 0.0), (1.0, 1.0)], _SOFT, dash=True))
    if low and high:
        ring = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in (*high, *reversed(low)))
        parts.append(f'<polygon points="{ring}" fill="{_BAND}" opacity="0.7"/>')
    parts.append(_path(points, _LINE))
    return _svg(parts, name)


def calibration(bins: Sequence[tuple[float, float, float, float, int]], name: str, unit: str) -> str:
    """Predicted against observed shares, each with its interval: (predicted, observed, low, high, rows)."""
    parts = [_frame(f"Predicted share of {unit}", f"Observed share of {unit}"), _path([(0.0, 0.0), (1.0, 1.0)], _SOFT, dash=True)]
    for predicted, observed, low, high, rows in bins:
        x = _x(predicted)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_y(low):.1f}" y2="{_y(high):.1f}" stroke="{_LINE}" stroke-width="2"/>')
        parts.append(
            f'<circle cx="{x:.1f}" cy="{_y(observed):.1f}" r="4.5" fill="{_LINE}"><title>{rows:,} rows: predicted '
            f"{predicted:.1%}, observed {observed:.1%} ({low:.1%} to {high:.1%})</title></circle>"
        )
    return _svg(parts, name)


def bars(rows: Sequence[tuple[str, float, float | None, float | None]], name: str, x_title: str) -> str:
    """Horizontal bars: (label, value, low, high), the interval where there is one."""
    step, left, width = 26, 210, 280
    height = step * len(rows) + 52
    top = max([abs(v) for _, value, low, high in rows for v in (value, low or 0.0, high or 0.0)] or [1.0]) or 1.0
    parts = []
    for i, (label, value, low, high) in enumerate(rows):
        y = 10 + i * step
        text = label if len(label) <= 32 else label[:31] + "…"
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(text)}<title>{escape(label)}</title></text>')
        long = max(0.0, value) / top * width
        parts.append(f'<rect x="{left}" y="{y + 3}" width="{long:.1f}" height="15" fill="{_LINE}" opacity="0.85"/>')
        if low is not None and high is not None:
            ends = [left + max(0.0, v) / top * width for v in (low, high)]
            across = f'x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y + 10.5}" y2="{y + 10.5}"'
            parts.append(f'<line {across} stroke="{_INK}" stroke-width="2"/>')
        parts.append(f'<text x="{left + width + 10}" y="{y + 14}">{value:.3g}</text>')
    parts.append(f'<text x="{left + width / 2}" y="{height - 12}" text-anchor="middle">{escape(x_title)}</text>')
    return _svg(parts, name, width=_W + 60, height=height)


def _frame(x_title: str, y_title: str) -> str:
    parts = []
    for i in range(6):
        share = i / 5
        parts.append(f'<line x1="{_x(share):.1f}" x2="{_x(share):.1f}" y1="{_y(0):.1f}" y2="{_y(1):.1f}" stroke="{_GRID}"/>')
        parts.append(f'<line x1="{_x(0):.1f}" x2="{_x(1):.1f}" y1="{_y(share):.1f}" y2="{_y(share):.1f}" stroke="{_GRID}"/>')
        parts.append(f'<text x="{_x(share):.1f}" y="{_H - _B + 16}" text-anchor="middle">{share:.1f}</text>')
        parts.append(f'<text x="{_L - 7}" y="{_y(share) + 4:.1f}" text-anchor="end">{share:.1f}</text>')
    parts.append(f'<text x="{(_L + _W - _R) / 2}" y="{_H - 6}" text-anchor="middle">{escape(x_title)}</text>')
    middle = (_T + _H - _B) / 2
    parts.append(f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">{escape(y_title)}</text>')
    return "".join(parts)


def _path(points: Points, colour: str, *, dash: bool = False) -> str:
    line = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)
    dashes = ' stroke-dasharray="5 4"' if dash else ""
    return f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{1.2 if dash else 2}"{dashes}/>'


def _svg(parts: Sequence[str], name: str, *, width: int = _W, height: int = _H) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(name)}" font-family="system-ui, sans-serif" font-size="12" fill="{_INK}">{"".join(parts)}</svg>'
    )


def _x(share: float) -> float:
    return _L + min(max(share, 0.0), 1.0) * (_W - _L - _R)


def _y(share: float) -> float:
    return _H - _B - min(max(share, 0.0), 1.0) * (_H - _B - _T)
