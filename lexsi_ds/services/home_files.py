"""Paths of the home as the store keeps them: relative text. The only place that turns such text into a path to open.

Must never: give out a path that lies outside of the home, whatever the text says or a link points to.
"""

from __future__ import annotations

from pathlib import Path

from lexsi_ds.errors import BadInput, NotFound


class HomeFiles:
    """Files and folders under ``home``."""

    def __init__(self, home: Path) -> None:
        self._home = home.resolve()

    @property
    def home(self) -> Path:
        """The home itself, without links."""
        return self._home

    def folder(self, *parts: str) -> Path:
        """A folder of the home, made when it is not there."""
        path = self._home.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def text_of(self, path: Path) -> str:
        """The text to keep for a path. Raises BadInput for one outside of the home."""
        whole = path.resolve()
        if not whole.is_relative_to(self._home):
            raise BadInput("Only files of the home can be kept.", where=path.name)
        return whole.relative_to(self._home).as_posix()

    def path_of(self, text: str, what: str) -> Path:
        """The existing path behind a kept text; ``what`` names it in the NotFound."""
        whole = (self._home / text).resolve()
        if not whole.is_relative_to(self._home) or whole == self._home or not whole.exists():
            raise NotFound(f"The file of this {what} is not there any more.", to_do="Run the question again.")
        return whole
