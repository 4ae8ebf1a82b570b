"""The code that trained a model, as it stands: the modules of this package that training and scoring need, and the libraries
they import with their versions. So an exported model can be trained again anywhere, without this product.

Must never: take along a module that holds settings, keys or the store.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_PACKAGE = _ROOT.name
_START = ("lexsi_ds.models.worker",)
_NEVER = ("lexsi_ds.settings", "lexsi_ds.store", "lexsi_ds.services", "lexsi_ds.agent", "lexsi_ds.llm", "lexsi_ds.jobs")


def modules(*more: str) -> dict[str, Path]:
    """Path inside the package's parent -> file, for every module that training and scoring import, and those named besides."""
    found: dict[str, Path] = {}
    waiting = [*_START, *more]
    while waiting:
        name = waiting.pop()
        path = _file(name)
        key = None if path is None else path.relative_to(_ROOT.parent).as_posix()
        if path is None or key is None or key in found or name.startswith(_NEVER):
            continue
        found[key] = path
        parent = name.rpartition(".")[0]
        waiting += [*(_imports(path, name)), *([parent] if parent else [])]
    return found


def requirements(*more: str) -> list[str]:
    """The libraries that those modules import, pinned as they are here."""
    tops = {name.partition(".")[0] for path in modules(*more).values() for name in _imported(ast.parse(path.read_text("utf-8")))}
    outside = sorted(name for name in tops - {_PACKAGE} if name not in sys.stdlib_module_names)
    known = metadata.packages_distributions()
    needed = {dist for name in outside for dist in known.get(name, ())} | {"pyarrow", "pandas"}
    return pinned(needed)


def pinned(names: Iterable[str]) -> list[str]:
    """Libraries with the versions that are installed here."""
    return [f"{name}=={metadata.version(name)}" for name in sorted(names)]


def _imports(path: Path, name: str) -> list[str]:
    return [each for each in _imported(ast.parse(path.read_text("utf-8"))) if each.startswith(_PACKAGE)]


def _imported(tree: ast.AST) -> list[str]:
    """Names of modules that are imported, apart from those for the type checker alone."""
    names: list[str] = []
    for node in _running(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def _running(tree: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        found += [node, *_running(node)]
    return found


def _file(name: str) -> Path | None:
    path = _ROOT.parent.joinpath(*name.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None
