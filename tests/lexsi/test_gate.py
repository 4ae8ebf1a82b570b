"""The SDK that is missing, of another version, or reports home: told before anything is sent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput
from lexsi_ds.jobs.limits import worker_environment
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.models.lexsi import gate, install
from lexsi_ds.models.lexsi.engine import LexsiEngine, checked_url
from lexsi_ds.settings import Settings
from tests.lexsi.conftest import TOKEN, settings_for
from tests.lexsi.fake_platform import FakePlatform
from tests.lexsi.frames import loan_task, loans

REPO = Path(__file__).resolve().parents[2]


def in_worker(code: str, tmp_path: Path) -> str:
    """What a process with the environment of a worker of this lane prints."""
    environment = worker_environment(Settings(home=tmp_path), tmp_path, lane="lexsi")
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=True, cwd=REPO
    )
    return done.stdout


def test_the_installed_sdk_has_every_call_that_is_made(engine: LexsiEngine) -> None:
    assert engine.check() == install.VERSION


@pytest.mark.parametrize("used", gate.CALLS, ids=lambda used: used.method)
def test_a_call_that_changed_is_named_with_version_and_method(used: gate.Used, tmp_path: Path) -> None:
    def gone(place: str) -> object | None:
        return None

    with pytest.raises(BadInput, match=f"lexsi-sdk 9.9.*{used.method} is not there") as caught:
        gate.check("9.9", gone, (used,))
    assert "pip install" in caught.value.to_do


def test_other_parameters_are_named() -> None:
    def older(self, model_type, compute_type, data_config=None): ...

    def newer(self, compute_type, quota, tag=None, model_name=None): ...

    train, infer = (next(u for u in gate.CALLS if u.method == f"TabularProject.{n}") for n in ("train_model", "model_inference"))
    with pytest.raises(BadInput, match="train_model has no parameter training_strategy, model"):
        gate.check("0.1.53", lambda place: older, (train,))
    with pytest.raises(BadInput, match="model_inference also needs quota"):
        gate.check("0.1.70", lambda place: newer, (infer,))


def test_every_call_of_the_sdk_is_in_the_gate() -> None:
    """What our code calls on an SDK object is checked; a call that is added without its line fails here."""
    import re

    source = "\n".join(p.read_text(encoding="utf-8") for p in (REPO / "lexsi_ds" / "models" / "lexsi").glob("*.py"))
    called = set(re.findall(r"\b(?:lexsi|owner|where|project|_project|case)\.([a-z_]+)\b(?=\(|\)|,)", source))
    called -= {"api_client", "model_dump", "project_name", "get", "place", "name", "partition"}
    assert called and called <= {used.method.rpartition(".")[2] for used in gate.CALLS}, called


def test_a_missing_sdk_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch, pool: Pool, tmp_path: Path) -> None:
    monkeypatch.setattr(install.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match="not installed") as caught:
        LexsiEngine(pool, settings_for(tmp_path, "http://127.0.0.1:9"))
    assert install.COMMAND in caught.value.to_do and "LEXSI_DS_ENGINE=local" in caught.value.to_do
    with pytest.raises(BadInput, match="not installed"):
        Application(settings_for(tmp_path, "http://127.0.0.1:9"), pool)


def test_the_local_engine_needs_no_sdk(tmp_path: Path) -> None:
    code = "import sys; sys.modules['lexsi_sdk'] = None; import lexsi_ds.application, lexsi_ds.models.lexsi.worker; print('fine')"
    assert in_worker(code, tmp_path).strip() == "fine"


def test_the_extra_pins_the_version_that_the_gate_is_written_for() -> None:
    import tomllib

    project = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["lexsi"] == [f"lexsi-sdk=={install.VERSION}"]


def test_importing_the_sdk_leaves_the_environment_and_reports_nowhere(tmp_path: Path) -> None:
    code = """
import json, os, sys
before = dict(os.environ)
from lexsi_ds.models.lexsi import gate
gate.check("x")
loaded = {m.partition(".")[0] for m in sys.modules}
tracers = {"openinference", "opentelemetry", "langchain_core", "autogen_core", "crewai", "grpc"}
print(json.dumps({"changed": {k: os.environ[k] for k in os.environ if before.get(k) != os.environ[k]},
                  "tracers": sorted(loaded & tracers),
                  "disabled": os.environ["OTEL_SDK_DISABLED"], "debug": os.environ["DEBUG"]}))
"""
    found = json.loads(in_worker(code, tmp_path).strip().splitlines()[-1])
    assert found == {"changed": {}, "tracers": [], "disabled": "true", "debug": ""}


def test_the_server_never_imports_the_sdk(engine: LexsiEngine) -> None:
    engine.train(loans(), loan_task(), run_id="run_1")
    assert "lexsi_sdk" not in sys.modules


def test_without_a_token_nothing_is_sent_and_nobody_is_asked(make_engine, platform: FakePlatform) -> None:
    with pytest.raises(BadInput, match="needs an access token") as caught:
        make_engine(token="").train(loans(), loan_task(), run_id="run_1")
    assert caught.value.where == "SDK_ACCESS_TOKEN" and platform.requests == []


@pytest.mark.parametrize(
    "url", ["http://api.lexsi.ai", "ftp://127.0.0.1", "https://ann:pw@api.lexsi.ai", "api.lexsi.ai", "http://10.0.0.1", ""]
)
def test_a_token_travels_only_to_https_or_this_machine(url: str) -> None:
    with pytest.raises(BadInput, match="must be https"):
        checked_url(url)


def test_the_environment_chooses_the_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (("LEXSI_DS_ENGINE", "lexsi"), ("SDK_ACCESS_TOKEN", TOKEN), ("XAI_API_URL", "https://x.example"),
                        ("LEXSI_TRAIN_TIMEOUT_S", "77")):  # fmt: skip
        monkeypatch.setenv(name, value)
    settings = Settings(home=tmp_path)
    assert (settings.engine, settings.lexsi_url, settings.ml_timeout_s) == ("lexsi", "https://x.example", 77)
    assert settings.lexsi_access_token is not None and settings.lexsi_access_token.get_secret_value() == TOKEN
    assert TOKEN not in repr(settings)
    monkeypatch.delenv("LEXSI_DS_ENGINE")
    assert Settings(home=tmp_path).engine == "local"
