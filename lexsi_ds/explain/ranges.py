"""What each feature may be set to in a what-if: the range and words of training, as a form shows them."""

from __future__ import annotations

from lexsi_ds.explain.plausible import known_of
from lexsi_ds.explain.results_local import FeatureRange, FeatureRanges
from lexsi_ds.models.bundle import SavedModel


def ranges(model: SavedModel) -> FeatureRanges:
    """One entry a feature, in encoded order."""
    known = known_of(model)
    made = []
    for feature in model.features:
        low, high = known.range_of(feature.name) if feature.name in known.numbers else (None, None)
        made.append(FeatureRange(
            feature=feature.name, label=feature.label, unit=feature.unit, kind=feature.kind, low=low, high=high,
            whole=feature.name in known.numbers and known.whole(feature.name),
            words=known.words_of(feature.name) if feature.name in known.words else (),
            missing=known.has_missing(feature.name),
        ))  # fmt: skip
    return FeatureRanges(features=tuple(made))
