"""Make text that the product did not write safe to draw as Markdown.

Streamlit loads any Markdown image at once, so a narrative, a column name or a button label could send data out; links can
hide their host; `$`, `[` and `:` start formulas, colours and icons. Everything untrusted passes ``plain`` (a label, drawn
letter by letter) or ``safe_md`` (prose: bold, italics, lists, tables and code stay) before it meets Markdown.
Must never: let an image, a raw tag or a link without its host through.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_JOINER = "\u2060"
"""Zero-width: breaks a pattern that Streamlit replaces in the finished text, where a backslash no longer helps."""
_PUNCTUATION = re.compile(r"([!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])")
_SHORTCODE = re.compile(r":(?=[A-Za-z0-9_+\-]+(?:/[A-Za-z0-9_]+)?:)")
_ARROW = re.compile(r"(?:(?<=\s)|(?<=^))(<->|<-|->|--|>=|<=|~=)(?=\s|$)", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,300})\]\((https?://[^\s()<>\"'\\]{1,2000})\)")
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\](?:\([^)\n]*\)|\[[^\]\n]*\])?")
_CODE = re.compile(r"(?<![`\\])`([^`\n]{1,500})`(?!`)")
_FENCE = re.compile(r"^(\s{0,3})(`{3,}|~{3,}).*$", re.MULTILINE)
_HEADING = re.compile(r"^(\s{0,3})(#{1,6})(?=\s)", re.MULTILINE)
_RULE = re.compile(r"^(\s{0,3})([-*_=])(?=[\s\-*_=]{2,}$)", re.MULTILINE)
_BACKSLASH = re.compile(r"\\+(?=[!\"#$%&'()*+,\-./:;<=>?@\[\]^_`{|}~\\])")
_ESCAPED_IN_PROSE = re.compile(r"([\[\]<>$!:&])")
_BARE_LINK = re.compile(r"\b(https?|ftp|mailto|xmpp)(?=:)|\b(www)(?=\.)", re.IGNORECASE)


def plain(text: object, limit: int = 300) -> str:
    """``text`` so that Markdown draws it letter by letter, on one line, cut at ``limit`` characters with an ellipsis."""
    return _letters(flat(text, limit))


def flat(text: object, limit: int = 300) -> str:
    """``text`` on one line, cut at ``limit``, for places that draw no Markdown: options of select boxes, ``alt``, placeholders."""
    line = " ".join(str(text).replace("\x00", "").split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def safe_md(text: str) -> str:
    """Prose for ``st.markdown``: images become their words, links show their host, formulas and directives stay letters."""
    held: list[str] = []

    def hold(markdown: str) -> str:
        held.append(markdown)
        return f"\x00{len(held) - 1}\x00"

    text = text.replace("\x00", "")
    text = _FENCE.sub(r"\1'''", text)
    text = _CODE.sub(lambda m: hold(f"`{_break_images(m[1])}`"), text)
    text = _BACKSLASH.sub("", text)
    text = _IMAGE.sub(lambda m: hold(f"{_letters(m[1]) or 'image'} \\(image left out\\)"), text)
    text = _LINK.sub(lambda m: hold(_link(m[1], m[2])), text)
    text = _break_replacements(text)
    text = _ESCAPED_IN_PROSE.sub(r"\\\1", text.replace("`", "\\`"))
    text = _RULE.sub(r"\1\\\2", _HEADING.sub(r"\1\\\2", text))
    for _ in held:
        text = re.sub(r"\x00(\d+)\x00", lambda m: held[int(m[1])], text)
    return text.replace("\x00", "")


def _letters(text: str) -> str:
    return _PUNCTUATION.sub(r"\\\1", _break_replacements(text))


def _link(label: str, url: str) -> str:
    host = urlsplit(url).hostname or ""
    return f"[{_letters(label)} \\({_letters(host)}\\)]({url})" if host else _letters(label)


def _break_images(code: str) -> str:
    return code.replace("![", f"!{_JOINER}[").replace("](", f"]{_JOINER}(").replace("\x00", "")


def _break_replacements(text: str) -> str:
    """Patterns that Streamlit looks for in the finished text: icons, arrows, bare addresses."""
    text = _SHORTCODE.sub(f":{_JOINER}", text)
    text = _BARE_LINK.sub(lambda m: m[0] + _JOINER, text)
    return _ARROW.sub(lambda m: m[1][0] + _JOINER + m[1][1:], text)
