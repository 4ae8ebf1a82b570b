"""What is made of a figure once its groups are there: share of all, change or growth against the period before, running total."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.amounts import main_measure
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.logical import Dimension, Measure, Predicate
from lexsi_ds.text_to_sql.wording import slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_LABELS = {
    "share": "{} in percent of all",
    "change": "change of {} against the {} before",
    "growth": "growth of {} against the {} before in percent",
    "running": "running total of {}",
    "moving": "moving average of {}",
}


def windowed(r: Resolver, dimensions: list[Dimension], measures: list[Measure]) -> list[Measure]:
    """The measures with the one that was asked to be made of them."""
    kind = r.draft.window
    if kind is None:
        return measures
    text = r.draft.window_text
    if not dimensions or not measures:
        raise NotUnderstood((text,), "it needs something to group by")
    if kind == "share" and not r.draft.share_each and any(f.kind not in ("days", "key") for f in r.draft.filters):
        raise NotUnderstood((text,), "it is not clear whether these rows are a part of their group or of all groups")
    figure = main_measure(measures)
    if figure.fn not in ("count", "sum") and (kind in ("share", "running")):
        raise NotUnderstood((text,), f"{figure.label} does not add up over groups")
    period = next((d for d in dimensions if d.grain), None)
    if kind != "share" and period is None:
        raise NotUnderstood((text,), "it needs a period to go by, such as a year")
    if kind in ("change", "growth", "running", "moving") and sum(1 for d in dimensions if d.grain) != 1:
        raise NotUnderstood((text,), "there are two periods to go by")
    if period is not None and period.grain == "weekday" and kind != "share":
        raise NotUnderstood((text,), "days of the week have no period before")
    wanted = r.draft.window_grain
    if period is not None and wanted is not None and wanted != period.grain:
        raise NotUnderstood((text,), f"the groups are {period.grain}s and not {wanted}s")
    label = _LABELS[kind].format(figure.label, period.grain if period else "")
    size = r.draft.window_size
    if kind == "moving" and period is not None:
        label = f"moving average of {figure.label} over {size} {period.grain}s"
        r.scope.said.append(f"the first {(size or 1) - 1} {period.grain}s are averages of fewer")
        r.scope.said.append(f"{period.grain}s without any rows are left out")
    within = tuple(d.name for d in dimensions if d is not period) if kind != "share" else r.share_within
    if kind == "share" and within:
        label = f"{figure.label} in percent of its {' and '.join(d.label for d in dimensions if d.name in within)}"
    unit = "%" if kind in ("share", "growth") else figure.unit
    made = figure.model_copy(
        update={
            "name": slug(label), "label": label, "window": kind, "within": within, "unit": unit, "rows_name": "", "hits_name": "",
            "size": size,
        }
    )
    r.note(text, label)
    return [*measures, made]


def periods_after(
    r: Resolver, filters: list[Predicate], dimensions: list[Dimension]
) -> tuple[list[Predicate], list[Predicate]]:
    """Tests of rows, and tests of the periods shown: a change in the first period still needs the period before it."""
    period = next((d for d in dimensions if d.grain), None)
    if r.draft.window not in ("change", "growth", "moving") or period is None:
        return filters, []
    days = [f for f in filters if f.test == "days" and f.ref == period.ref]
    return [f for f in filters if f not in days], days
