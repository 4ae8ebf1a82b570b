"""The few pieces of HTML that a report is made of. Every text that comes from data, a person or a model is escaped here.

Must never: let a page load anything: its policy forbids scripts and every request.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_STYLE = """
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:#24292f;max-width:960px;margin:0 auto;padding:24px}
h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:34px 0 8px;border-bottom:1px solid #e3e6ea;padding-bottom:4px}
table{border-collapse:collapse;width:100%;margin:8px 0 14px;font-size:14px}
th,td{text-align:left;padding:5px 10px 5px 0;border-bottom:1px solid #e3e6ea;vertical-align:top}
th{color:#57606a;font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.quiet{color:#57606a}.state{display:inline-block;border:1px solid #57606a;border-radius:4px;padding:0 8px;font-size:13px}
.warn{border-left:4px solid #bf8700;background:#fff8e5;padding:8px 12px;margin:8px 0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f8fa;padding:10px;font-size:13px}
td{overflow-wrap:anywhere}svg{max-width:100%;height:auto}@media print{body{padding:0}h2{break-after:avoid}}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def page(title: str, parts: Sequence[str]) -> str:
    """A whole document that stands alone."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )


def section(title: str, *parts: str) -> str:
    """A titled part; nothing when it would be empty."""
    inside = "".join(parts)
    return f"<h2>{escape(title)}</h2>{inside}" if inside else ""


def text(words: str, kind: str = "") -> str:
    """A paragraph; ``kind`` is a class of the style."""
    return f'<p{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{escape(words)}</p>' if words else ""


def items(lines: Sequence[str]) -> str:
    """A list."""
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def warning(lines: Sequence[str]) -> str:
    """Sentences that must not be missed."""
    return "".join(f'<div class="warn">{escape(line)}</div>' for line in lines)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table; columns in ``numbers`` are set to the right."""
    if not rows:
        return ""
    head = "".join(_cell(name, i in numbers, "th") for i, name in enumerate(heads))
    body = "".join(
        f"<tr>{''.join(_cell(value, i in numbers) for i, value in enumerate(row))}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def pairs(rows: Sequence[tuple[str, str]]) -> str:
    """Names and what they are; those without a text are left out."""
    kept = [(name, value) for name, value in rows if value]
    body = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in kept)
    return f"<table><tbody>{body}</tbody></table>" if kept else ""


def code(words: str) -> str:
    """Text as it stands."""
    return f"<pre>{escape(words)}</pre>" if words else ""


def _cell(value: str, number: bool, tag: str = "td") -> str:
    return f"<{tag}{' class=n' if number else ''}>{escape(value)}</{tag}>"
