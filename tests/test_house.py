"""What holds for the whole tree: current docs, resolved versions, no refused construct, arrows that point down."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from scripts.write_docs import DOCS, PAGES

REPO = Path(__file__).resolve().parent.parent
CODE = [
    *(REPO / "lexsi_ds").rglob("*.py"),
    *(REPO / "components").rglob("*.py"),
    *(REPO / "pages").glob("*.py"),
    REPO / "app.py",
]


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run: make docs"


def test_every_cache_key_is_documented() -> None:
    page = (DOCS / "cache_keys.md").read_text(encoding="utf-8")
    written: set[str] = set()
    for path in (REPO / "lexsi_ds" / "agent").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        written |= set(re.findall(r'cache(?:\.get|\.setdefault)?[\[(]\s*f?"([\w:]+)', text))
        for block in re.findall(r"ctx\.cache \|= \{(.*?)\n    \}", text, re.S):
            written |= set(re.findall(r'"([a-z_]+)":', block)) - {
                "task_type",
                "target_column",
                "entity_column",
                "pred",
                "prob",
                "entity",
            }
    keys = {re.sub(r":$", ":<", key) for key in written}
    missing = sorted(k for k in keys if f"`{k}" not in page)
    assert not missing, missing
    assert len(keys) > 20


@pytest.mark.parametrize(
    ("package", "least", "below"),
    [
        ("streamlit", "1.67", "2"),
        ("duckdb", "1.5.5", "1.5.6"),
        ("duckdb-extension-sqlite-scanner", "1.5.5", "1.5.6"),
        ("pandas", "3.0", "4"),
        ("plotly", "7.0", "8"),
        ("shap", "0.51", "1"),
        ("openai", "3.0", "4"),
        ("sqlglot", "30", "31"),
        ("sqlalchemy", "2.1", "3"),
        ("alembic", "1.18", "2"),
        ("scikit-learn", "1.8", "2"),
        ("pydantic", "2.12", "3"),
        ("pyarrow", "22", "27"),
    ],
)
def test_the_resolved_versions_are_the_meant_ones(package: str, least: str, below: str) -> None:
    found = Version(importlib.metadata.version(package))
    assert Version(least) <= found < Version(below), found


def test_one_xgboost_is_installed_and_it_is_recent() -> None:
    found = [d for d in ("xgboost", "xgboost-cpu") if _installed(d)]
    assert len(found) == 1 and Version(importlib.metadata.version(found[0])) >= Version("3.2")


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


@pytest.mark.parametrize(
    "pattern",
    [
        r"unsafe_allow_html\s*=\s*True",
        r"\bpickle\b\.load",
        r"joblib\.load",
        r"(?<![\w.])eval\(",
        r"(?<![\w.])exec\(",
        r"st\.navigation\(",
    ],
)
def test_refused_constructs_are_absent(pattern: str) -> None:
    hits = [str(p.relative_to(REPO)) for p in CODE if p.exists() and re.search(pattern, p.read_text(encoding="utf-8"))]
    assert not hits


def test_only_settings_reads_the_environment() -> None:
    allowed = {"settings.py", "limits.py", "process.py"}  # a worker's environment is made from the server's, less its secrets
    hits = [
        p.name
        for p in (REPO / "lexsi_ds").rglob("*.py")
        if p.name not in allowed and re.search(r"os\.(environ|getenv)", p.read_text(encoding="utf-8"))
    ]
    assert not hits


def test_the_core_does_not_load_streamlit() -> None:
    code = "import sys; sys.modules['streamlit'] = None; import lexsi_ds.application, lexsi_ds.__main__"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPO, timeout=120)


def test_arrows_point_down_only() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports"],
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_theme_and_charts_share_their_colours() -> None:
    import tomllib

    from components import plotly_template

    theme = tomllib.loads((REPO / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    for mode in ("light", "dark"):
        palette = plotly_template.palette(mode)
        assert list(palette.categorical) == theme[mode]["chartCategoricalColors"]
        assert list(palette.sequential) == theme[mode]["chartSequentialColors"]
        assert palette.surface == theme[mode]["backgroundColor"] and palette.text == theme[mode]["textColor"]
