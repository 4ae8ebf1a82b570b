"""TabPFN (Hollmann et al. 2025) and TabICL (Qu et al. 2025): networks that read the training rows as context.

Extras: neither package nor weights come with the app. Nothing is fitted, so what is saved is the training rows; the
network is opened again from the package, which finds its weights in its own cache folder or fetches them once. Must never
end in the package's own traceback: where weights cannot be had, it says so and what to do.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexsi_ds.errors import ModelRefused
from lexsi_ds.models.estimators.protocol import Outcome

Network = Literal["TabPFN", "TabICL"]
MOST_ROWS = {"TabPFN": 5_000, "TabICL": 20_000}
"""Rows that a processor without a graphics card reads in a reasonable time, by the makers' own words."""
_BACKGROUND = 50
_EPSILON = 1e-7


@dataclass(frozen=True)
class InContext:
    """A network with its context: the training rows ``x`` (n, p) and outcomes ``y`` (n,)."""

    network: Network
    outcome: Outcome
    settings: Mapping[str, Any]
    seed: int
    x: np.ndarray
    y: np.ndarray

    @cached_property
    def machine(self) -> Any:
        """The package's own estimator with these rows as its context."""
        machine = _machine(self.network, self.outcome, self.settings, self.seed)
        try:
            return machine.fit(self.x, self.y if self.outcome.kind == "regression" else self.y.astype(int))
        except (OSError, RuntimeError, ValueError, ImportError) as error:
            raise _no_weights(self.network, error) from error

    def margin(self, x: np.ndarray) -> np.ndarray:
        """Log-odds, log-probability a class, or the amount."""
        try:
            if self.outcome.kind == "regression":
                return np.asarray(self.machine.predict(x), dtype=float)
            shares = np.asarray(self.machine.predict_proba(x), dtype=float)
        except (OSError, RuntimeError) as error:
            raise _no_weights(self.network, error) from error
        shares = np.clip(shares, _EPSILON, 1 - _EPSILON)
        if self.outcome.kind == "binary":
            return np.log(shares[:, 1]) - np.log(shares[:, 0])
        whole = np.full((len(x), self.outcome.classes), np.log(_EPSILON))
        whole[:, np.unique(self.y).astype(int)] = np.log(shares)
        return whole

    def contributions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """SHAP values by permutations (Lundberg & Lee 2017) against rows of the context: additive, not exact."""
        import shap

        drawn = np.random.default_rng(self.seed).permutation(len(self.x))[:_BACKGROUND]
        explainer = shap.PermutationExplainer(self.margin, self.x[drawn], seed=self.seed)
        found: Any = explainer(x, silent=True)
        values = np.asarray(found.values, dtype=float)
        return self.margin(x) - values.sum(axis=1), values

    def save(self, path: Path) -> None:
        """Write the context as JSON; missing numbers are null."""
        document = {
            "kind": "in_context", "network": self.network, "task": self.outcome.kind, "classes": self.outcome.classes,
            "settings": dict(self.settings), "seed": self.seed, "y": self.y.tolist(),
            "x": [[None if v != v else v for v in row] for row in self.x.tolist()],
        }  # fmt: skip
        path.write_text(json.dumps(document), encoding="utf-8")


def missing_package(network: Network) -> str | None:
    """Why this network cannot be used here, or None."""
    if importlib.util.find_spec(network.casefold()) is not None:
        return None
    return f"{network} is an extra: the package {network.casefold()} is not installed."


def parameters(network: Network) -> dict[str, Any]:
    """The makers' defaults on a processor."""
    return {"device": "cpu", "n_estimators": 8 if network == "TabICL" else 4}


def fit(
    network: Network, x: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], outcome: Outcome, seed: int
) -> InContext:
    """Keep the rows as context; refuse where the package is missing or there are too many rows to read."""
    absent = missing_package(network)
    if absent:
        raise ModelRefused(
            absent, where=network,
            to_do=f'Install it with pip install "lexsi-ds[{network.casefold()}]", or leave model_type out.',
        )  # fmt: skip
    if len(y) > MOST_ROWS[network]:
        raise ModelRefused(
            f"{network} reads at most {MOST_ROWS[network]:,} rows here; these are {len(y):,}.", where=network,
            to_do="Train on fewer rows (sample_percentage), or leave model_type out.",
        )  # fmt: skip
    return InContext(network, outcome, settings, seed, x.copy(), y.copy())


def load(path: Path) -> InContext:
    """Read back what ``save`` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    outcome = Outcome(document["task"], document["classes"])
    x = np.array(document["x"], dtype=float)
    return InContext(
        document["network"], outcome, document["settings"], document["seed"], x, np.array(document["y"], dtype=float)
    )


def _machine(network: Network, outcome: Outcome, settings: Mapping[str, Any], seed: int) -> Any:
    package = importlib.import_module(network.casefold())
    kind = "Regressor" if outcome.kind == "regression" else "Classifier"
    maker = getattr(package, f"{network}{kind}", None)
    if maker is None:
        raise ModelRefused(
            f"This version of {network.casefold()} has no {network}{kind}.", where=network,
            to_do="Install a newer version, or leave model_type out.",
        )  # fmt: skip
    return maker(random_state=seed, **settings)


def _no_weights(network: Network, error: Exception) -> ModelRefused:
    return ModelRefused(
        f"{network} could not be opened: {str(error).splitlines()[0][:200] if str(error) else type(error).__name__}.",
        where=network,
        to_do="Its weights are fetched by its package once and need a network or a copy in the package's cache folder; "
        "leave model_type out to train without it.",
    )
