"""Which of several readings of a question holds: the parser's, the one that most drafts agree on, or none.

Pure decisions over results. It never picks between readings that differ where a person can be asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lexsi_ds.text_to_sql.model.result import Result, agree

Holds = Literal["parser", "model", "ask", "none"]


@dataclass(frozen=True)
class Verdict:
    """What holds. ``draft`` is the index of the draft that holds, or that a person is asked about."""

    holds: Holds
    draft: int | None = None
    agreed: int = 0
    """Drafts that give the result that holds, or that speaks against the parser's."""
    settled: bool = False
    """Whether further drafts could not change it."""


def verdict(parser: Result | None, drafts: Sequence[Result | None], declined: int, wanted: int) -> Verdict:
    """The verdict on what there is so far: one entry a draft, None for those without a result; ``declined`` of them say that the
    tables cannot answer; ``wanted`` drafts are asked for at most.

    With the parser's result: it holds as soon as drafts agree with it, and while those against it disagree among themselves;
    where most of the drafts agree against it, a person is asked. Without: the result that most drafts give holds, or none.
    """
    groups = _groups(drafts)
    best = max(groups, key=len, default=[])
    asked = max(len(drafts), 1)
    over = len(drafts) >= wanted
    if parser is not None:
        ours = sum(1 for d in drafts if d is not None and agree(parser, d))
        if ours and ours + 1 >= len(best):
            return Verdict("parser", agreed=ours, settled=True)
        if len(best) >= 2 and len(best) > (wanted if not over else asked) / 2:
            return Verdict("ask", best[0], len(best), settled=True)
        return Verdict("parser", agreed=ours, settled=over)
    enough = min(2, wanted)
    if len(best) >= enough and len(best) > declined and len(best) > (wanted if not over else asked) / 2:
        return Verdict("model", best[0], len(best), settled=True)
    return Verdict("none", best[0] if best else None, len(best), settled=over or declined > wanted / 2)


def _groups(drafts: Sequence[Result | None]) -> list[list[int]]:
    """Indices of drafts by equal results, in the order in which they came."""
    groups: list[list[int]] = []
    for i, found in enumerate(drafts):
        if found is None:
            continue
        same = next((g for g in groups if (first := drafts[g[0]]) is not None and agree(first, found)), None)
        if same is not None:
            same.append(i)
        else:
            groups.append([i])
    return groups
