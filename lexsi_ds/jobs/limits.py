"""What one worker process may use, and the environment it starts with.

The operating system enforces these, so a query or a training that runs away ends in its own process. Must never hand a
key, a password or the store's address to a worker.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from lexsi_ds.settings import Settings

Lane = Literal["sql", "ml", "explain", "ingest", "connector", "lexsi", "documents"]
EXCLUSIVE: frozenset[Lane] = frozenset({"connector"})
"""Lanes whose worker serves one key all its life: what one connector loaded or was told never meets another."""

_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", "USERPROFILE", "LD_LIBRARY_PATH")
_NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_SDK = {
    # lexsi-sdk's import sets what is unset of these; "False" would count as true.
    "DEBUG": "", "XAI_ENV": "prod", "XAI_API_VERSION": "v1",
    # It brings tracers for other people's agents along; nothing may report from here.
    "OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none",
    "CREWAI_DISABLE_TELEMETRY": "true",
    # Plotly must not open a browser.
    "PLOTLY_RENDERER": "json",
}
_THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Limits:
    """Limits of one worker of a lane."""

    workers: int
    """Most processes of the lane."""
    memory_mb: int
    """Address space. Not enforced on macOS and Windows."""
    file_mb: int | None
    """Largest file it may write; None for no limit."""
    timeout_s: float
    """Longest time of one task; then the worker is killed."""
    cpu_s: float
    """Most processor time of one task, all threads together: what is left when nobody is there to look at the clock."""
    nice: int
    """Lowered priority, so that the page stays quick."""

    def to_dict(self) -> dict[str, Any]:
        """For the worker's first frame."""
        return asdict(self)


def lane_limits(settings: Settings) -> dict[Lane, Limits]:
    """The limits that the settings ask for."""
    s = settings

    def lane(workers: int, memory_mb: int, file_mb: int | None, timeout_s: float, nice: int) -> Limits:
        return Limits(workers, memory_mb, file_mb, timeout_s, cpu_seconds(timeout_s, s.threads), nice)

    return {
        "sql": lane(s.sql_workers, s.sql_memory_mb, 2 * s.sql_result_mb, s.sql_timeout_s, 0),
        "ml": lane(s.ml_workers, s.ml_memory_mb, None, s.ml_timeout_s, 5),
        # A person waits for an explanation; a training that takes minutes must not be in front of it.
        "explain": lane(1, s.ml_memory_mb, None, s.ml_timeout_s, 2),
        "ingest": lane(1, s.ml_memory_mb, None, s.ingest_timeout_s, 5),
        # It holds a scanner, a network library and the buffers of the files it binds, beside what a query needs.
        "connector": lane(s.sql_workers + 1, 2 * s.sql_memory_mb, 2 * s.sql_result_mb, s.sql_timeout_s, 0),
        "lexsi": lane(2, s.ml_memory_mb, None, s.ml_timeout_s, 5),
        "documents": lane(1, 1024, 64, 60, 5),
    }


def cpu_seconds(timeout_s: float, threads: int) -> float:
    """Processor time that fits into ``timeout_s`` when every thread is at work, and a second of grace."""
    return timeout_s * threads + 1


def worker_environment(
    settings: Settings, scratch: Path, environment: Mapping[str, str] = os.environ, lane: Lane = "sql",
) -> dict[str, str]:
    """A short environment: where Python and its packages are, thread counts set once, temporary files in scratch."""
    own: dict[str, str] = {}
    if lane == "lexsi":
        own = _network(environment) | _SDK | {"XAI_API_URL": settings.lexsi_url, "IPYTHONDIR": str(scratch)}
    return _common(settings, scratch, environment) | own


def _network(environment: Mapping[str, str]) -> dict[str, str]:
    """How the network is reached: proxies and certificates, for the one lane that leaves the machine."""
    return {name: value for name, value in environment.items() if name.upper() in _NETWORK}


def _common(settings: Settings, scratch: Path, environment: Mapping[str, str]) -> dict[str, str]:
    package_root = str(Path(__file__).resolve().parents[2])
    inherited_path = environment.get("PYTHONPATH")
    kept = {name: environment[name] for name in _INHERITED if name in environment}
    return kept | dict.fromkeys(_THREAD_COUNTS, str(settings.threads)) | {
        "PYTHONPATH": os.pathsep.join([package_root, inherited_path] if inherited_path else [package_root]),
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "TMPDIR": str(scratch),
        "TEMP": str(scratch),
        "LEXSI_DS_HOME": str(settings.home.absolute()),
        "LEXSI_DS_THREADS": str(settings.threads),
        # OpenMP's default spins while it waits, which takes the machine from everybody else for minutes.
        "OMP_WAIT_POLICY": "PASSIVE",
        # Arrow's own allocator reserves a gigabyte of address space at its first use: half of the limit.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "2",
        "NUMBA_NUM_THREADS": str(settings.threads),
    }


def can_limit_memory() -> bool:
    """Whether this system enforces an address-space limit; elsewhere only the clock and the pipe's end are left."""
    return sys.platform.startswith("linux")
