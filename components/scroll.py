"""Brings the newest question into view, once, when it first appears. Streamlit itself only scrolls to the very bottom, past
the answer that a person wants to read from its beginning.

The script is fixed text and reads nothing of the page but its own place. Must never: move the page again after that, or
after the person has moved it.
"""

from __future__ import annotations

from streamlit.components.v2 import component

_NAME = "lexsi_scroll_here"
_HTML = "<span aria-hidden='true'></span>"
_SCRIPT = """
const SETTLES_AFTER_MS = 2500

export default function ({ parentElement }) {
  const here = parentElement.host ?? parentElement
  if (here.dataset.seen) return
  here.dataset.seen = "yes"
  here.style.scrollMarginTop = "4.5rem"
  const go = () => here.isConnected && here.scrollIntoView({ block: "start", behavior: "instant" })
  const page = here.closest("[data-testid='stMain']") ?? document.body
  const grown = new ResizeObserver(go)
  const stop = () => grown.disconnect()
  for (const moved of ["wheel", "touchmove", "keydown", "pointerdown"]) {
    page.addEventListener(moved, stop, { once: true, passive: true })
  }
  grown.observe(page.querySelector("[data-testid='stMainBlockContainer']") ?? page)
  setTimeout(stop, SETTLES_AFTER_MS)
  go()
}
"""
_here = component(_NAME, html=_HTML, js=_SCRIPT)


def bring_into_view(key: str) -> None:
    """Scroll this place to the top of the window when ``key`` is first drawn."""
    _here(key=key, height="content")
