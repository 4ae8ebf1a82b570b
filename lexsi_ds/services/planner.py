"""How files would be read, asked of an ingest worker: plans before an import, and the first rows under a plan.

Must never: read a person's file in this process, or import anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lexsi_ds.data.plan import Preview, ReadPlan
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool

_PLAN, _PREVIEW = "lexsi_ds.data.ingest:plan_files", "lexsi_ds.data.ingest:preview_file"
_LONGEST_S = 120.0


class Plans(list[ReadPlan]):
    """Plans in the order of the tables, and ``notes`` on what was passed over: other types, empty members, hidden sheets."""

    def __init__(self, plans: Iterable[ReadPlan], notes: Iterable[str] = ()) -> None:
        super().__init__(plans)
        self.notes = tuple(notes)


class Planner:
    """Plans and previews of files, by the ingest workers of a pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def plan(
        self, paths: Sequence[Path | str], cancel: Cancel | None, tell: Callable[[dict[str, Any]], None] | None
    ) -> Plans:
        """A plan a table, and what was passed over. Raises BadInput when there is nothing to read."""
        made = self._pool.run("ingest", _PLAN, {"paths": _texts(paths)}, cancel=cancel, tell=tell, timeout_s=_LONGEST_S)
        return Plans((ReadPlan.model_validate(plan) for plan in made["plans"]), made["notes"])

    def preview(self, path: Path | str, plan: ReadPlan, n: int, cancel: Cancel | None) -> Preview:
        """The first rows of the plan's table. Raises BadInput for what cannot be read so."""
        args = {"path": _texts([path])[0], "plan": plan.model_dump(mode="json"), "n": n}
        return Preview.model_validate(self._pool.run("ingest", _PREVIEW, args, cancel=cancel, timeout_s=_LONGEST_S))


def _texts(paths: Sequence[Path | str]) -> list[str]:
    return [str(Path(p).expanduser().absolute()) for p in paths]
