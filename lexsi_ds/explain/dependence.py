"""How one feature's contribution depends on its value, coloured by the feature that it acts together with most.

Must never draw a colour that the model has no interaction for.
"""

from __future__ import annotations

import pandas as pd

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.cases import usual_class
from lexsi_ds.explain.interactions import partner_of
from lexsi_ds.explain.results import Basis, Cohort, Dependence
from lexsi_ds.explain.rows import cohort_rows
from lexsi_ds.explain.scales import check_scale
from lexsi_ds.explain.shap_values import explain_sample
from lexsi_ds.models.bundle import SavedModel


def dependence(
    model: SavedModel, frame: pd.DataFrame, feature: str, scale: str, *, output: str | None = None,
    cohort: Cohort | None = None,
) -> Dependence:
    """A point a row: the feature's value, its contribution, and its strongest partner's value."""
    scale = check_scale(scale, model.card.task.kind)
    place = place_of(model, feature)
    output = output or usual_class(model)
    explained, of_rows = explain_sample(model, frame, cohort or Cohort(), output)
    partner, share = partner_of(model, cohort_rows(frame, cohort or Cohort(), model.card.task.entity_column), feature, output)
    other = place_of(model, partner) if partner is not None else None
    data, parts = explained.data, explained.on(scale).contributions
    return Dependence(
        basis=Basis(
            scale=scale, output=explained.words[0], rows=len(explained.rows.keys), of_rows=of_rows, method=explained.told(scale)
        ),
        feature=feature,
        label=model.features[place].label,
        unit=model.features[place].unit,
        case_ids=tuple(str(key) for key in explained.rows.keys),
        x=tuple(data[:, place]),
        y=tuple(float(v) for v in parts[:, place]),
        partner=partner,
        partner_label=model.features[other].label if other is not None else None,
        colour=tuple(data[:, other]) if other is not None else (),
        partner_share=share,
    )


def place_of(model: SavedModel, feature: str) -> int:
    """Where a feature stands in the encoding; BadInput when the model does not use it."""
    if feature not in model.encoding.names:
        raise BadInput(f"This model does not use {feature}.", to_do="Choose one of its features.")
    return model.encoding.names.index(feature)
