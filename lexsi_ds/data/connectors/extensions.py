"""DuckDB's scanner extensions as files of their wheels. Nothing is ever downloaded or installed into a home folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import duckdb

from lexsi_ds.data.raw_rows import literal
from lexsi_ds.errors import LexsiError


def extension_path(name: str) -> Path:
    """The extension's file. Raises LexsiError when it is not there for this DuckDB."""
    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        path = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if path.is_file():
            return path
    raise LexsiError(
        f"The extension {name} for this DuckDB is not installed here.", where=f"duckdb {duckdb.__version__}",
        to_do=f"Install duckdb-extension-{name.replace('_', '-')} of the same version.",
    )


def load(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load an extension into this instance."""
    con.execute(f"LOAD {literal(str(extension_path(name)))}")


def connection(scratch: Path | None, *, threads: int, memory_mb: int) -> duckdb.DuckDBPyConnection:
    """An instance that may reach out, and that keeps, finds and downloads nothing by itself.

    With ``scratch`` it works on a file there; without, in memory.
    """
    config = {
        "threads": threads,
        "memory_limit": f"{memory_mb}MB",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "allow_persistent_secrets": "false",
        "python_enable_replacements": "false",
        "python_scan_all_frames": "false",
    }
    if scratch is None:
        return duckdb.connect(":memory:", config=config)
    return duckdb.connect(str(scratch / "scratch.duckdb"), config=config | {"temp_directory": str(scratch / "spill")})
