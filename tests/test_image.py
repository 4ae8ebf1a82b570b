"""The image's commands are scripts of this repository, and its start serves the app; no Docker engine is needed to see that."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
LINES = (REPO / "Dockerfile").read_text().splitlines()
pytestmark = pytest.mark.xdist_group("faults")


def test_what_the_image_runs_of_ours_is_there_and_parses() -> None:
    ours = [line.split()[1] for line in LINES if line.startswith("RUN scripts/")]
    ours += json.loads(next(line for line in LINES if line.startswith("CMD "))[4:])
    assert ours == ["scripts/build_image.sh", "scripts/start_app.sh"]
    for script in ours:
        assert os.access(REPO / script, os.X_OK)
        subprocess.run(["sh", "-n", script], cwd=REPO, check=True)
    assert any(line.startswith("USER ") for line in LINES), "the app must not run as root"


def test_the_image_installs_what_the_app_imports() -> None:
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-deps", "--quiet", "-r", "requirements.txt"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr  # everything that the requirements name is what these tests run on


def test_the_start_of_the_image_serves_the_app(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    told = dict(re.findall(r"(\w+)=(\S+)", next(line for line in LINES if line.startswith("ENV "))))
    assert told["PORT"] == next(line for line in LINES if line.startswith("EXPOSE ")).split()[1]
    env = os.environ | {"PYTHON": sys.executable, "PORT": str(port), "ADDRESS": "127.0.0.1"}
    env["LEXSI_DS_HOME"] = str(tmp_path / "home")
    process = subprocess.Popen(["scripts/start_app.sh"], cwd=REPO, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            assert process.poll() is None
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2) as answer:
                assert "content-security-policy" in answer.headers
                break
            time.sleep(0.1)
        else:
            pytest.fail("the app does not answer")
    finally:
        process.terminate()
        process.wait(30)
