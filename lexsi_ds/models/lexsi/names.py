"""The words of the platform beside ours: model types, compute, and names that its query strings carry unharmed.

The SDK builds its addresses without escaping, so a name is made of ASCII letters and digits alone. Must never: send a name
that came from data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lexsi_ds.errors import BadInput

CLASSIC = (
    "XGBoost",
    "LGBoost",
    "CatBoost",
    "RandomForest",
    "SGD",
    "LogisticRegression",
    "LinearRegression",
    "GaussianNaiveBayes",
)
FOUNDATION = (
    "TabPFN", "TabICL", "TabDPT", "OrionMSP", "OrionBix", "Mitra", "ContextTab", "TabPFNv26", "TabICLv2", "OrionMSPv1.5",
    "Limix", "TabPFNv3", "TabFM", "EXAONETabular", "ILTM", "XRFM",
)  # fmt: skip
DEFAULT = "XGBoost"
_OURS = {
    "lightgbm": "LGBoost", "lgbm": "LGBoost", "logistic": "LogisticRegression", "linear": "LinearRegression",
    "random forest": "RandomForest", "naive bayes": "GaussianNaiveBayes",
}  # fmt: skip
_UNFIT = {"regression": ("LogisticRegression", "GaussianNaiveBayes"), "classification": ("LinearRegression",)}


@dataclass(frozen=True)
class PlatformModel:
    """A model type as the platform calls it."""

    name: str
    foundation: bool


def platform_model(model_type: str | None, task_type: str = "classification") -> PlatformModel:
    """The platform's name of a model type, whatever the case; XGBoost when none is asked for."""
    asked = (model_type or "").strip() or DEFAULT
    name = _OURS.get(asked.casefold(), asked)
    for known in (*CLASSIC, *FOUNDATION):
        if known.casefold() == name.casefold():
            if known in _UNFIT.get(task_type, ()):
                raise BadInput(f"{known} does not fit a {task_type}.", where="model_type", to_do=f"Use {DEFAULT}.")
            return PlatformModel(known, known in FOUNDATION)
    raise BadInput(
        f'The Lexsi platform has no model type "{asked[:40]}".',
        where="model_type",
        to_do=f"Use one of {', '.join((*CLASSIC, *FOUNDATION))}, or leave it out for {DEFAULT}.",
    )


def alphanumeric(text: str) -> str:
    """ASCII letters and digits of a text, in order."""
    return re.sub(r"[^A-Za-z0-9]", "", text)


def project_name(task_type: str, run_id: str, attempt: int = 1) -> str:
    """Name of a run's project: ``agent``, five letters of the task, the last eight characters of the run's id."""
    return f"agent{task_type[:5]}{alphanumeric(run_id)[-8:]}{'' if attempt == 1 else attempt}"


def tag_name(kind: str, run_id: str, number: int = 0) -> str:
    """Name of an uploaded split. Letters and digits only: a tag goes into a query string as it is."""
    return f"agent{kind}{alphanumeric(run_id)[-12:]}{number or ''}"


def wire_names(names: tuple[str, ...], taken: tuple[str, ...]) -> dict[str, str]:
    """A plain, unique name for each column: letters, digits and underscores; what is taken stays taken."""
    used = {name.casefold() for name in taken}
    made: dict[str, str] = {}
    for name in names:
        base = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:60] or "column"
        wire, number = base, 2
        while wire.casefold() in used:
            wire, number = f"{base}_{number}", number + 1
        used.add(wire.casefold())
        made[name] = wire
    return made
