"""Many hypotheses at once: which to call discoveries, and how sure each is.

Benjamini and Hochberg (1995) over a family fixed in advance; the local false discovery rate by the bound of Sellke, Bayarri
and Berger (2001) on a p-value's odds, with Storey's (2002) share of true nulls.
"""

from __future__ import annotations

import numpy as np

from lexsi_ds.insights.coding import Numbers

LEVEL = 0.05
_SUREST = 0.9999
"""Nothing is certain."""


def q_values(p: Numbers) -> Numbers:
    """Benjamini-Hochberg adjusted p-values, in the order given."""
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    out = np.empty(len(p))
    out[order] = np.minimum(adjusted, 1)
    return out


def null_share(p: Numbers, cut: float = 0.5) -> float:
    """Storey's estimate of the share of true nulls, kept within .5 and .95."""
    if len(p) == 0:
        return 0.95
    return float(np.clip(np.mean(p > cut) / (1 - cut), 0.5, 0.95))


def confidence(p: float, nulls: float) -> float:
    """One minus the (largest) local false discovery rate of a p-value."""
    if p >= 1 / np.e:
        return 1 - nulls
    odds = -np.e * max(p, 1e-300) * np.log(max(p, 1e-300))
    return min(float(1 - nulls * odds / (nulls * odds + 1 - nulls)), _SUREST)
