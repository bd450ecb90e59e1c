"""mypy and pyright in strict mode agree with the errors that are marked in `typing_sample.py`.

Both are development dependencies. Where one cannot run its test is skipped, but fails when `CI` is set.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import adcore

ROOT = Path(adcore.__file__).parent.parent
SAMPLE = Path(__file__).parent / "typing_sample.py"


def marked() -> set[int]:
    return {n for n, line in enumerate(SAMPLE.read_text().splitlines(), 1) if line.endswith("  # error")}


def missing(reason: str) -> None:
    complain = pytest.fail if os.environ.get("CI") else pytest.skip
    complain(reason)


def test_mypy_strict(tmp_path: Path) -> None:
    if importlib.util.find_spec("mypy") is None:
        missing("mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version=3.11", "--no-error-summary"]
    command += ["--config-file=", f"--cache-dir={tmp_path}", str(SAMPLE)]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True
    )
    errors = re.findall(r"^(.*?):(\d+): error: (.*)", done.stdout, re.MULTILINE)
    assert done.returncode in (0, 1), done.stderr
    assert {file for file, _, _ in errors} <= {os.path.relpath(SAMPLE, tmp_path), str(SAMPLE)}, done.stdout
    assert {int(line) for _, line, _ in errors} == marked(), done.stdout


def test_pyright_strict(tmp_path: Path) -> None:
    if importlib.util.find_spec("pyright") is None or shutil.which("node") is None:
        missing("pyright or node is not installed")
    (tmp_path / SAMPLE.name).write_text(SAMPLE.read_text())
    config = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "--project",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)["generalDiagnostics"]
    except ValueError:
        missing(f"pyright did not run: {done.stdout}{done.stderr}")
    findings = [(item["range"]["start"]["line"] + 1, item["message"]) for item in report if item["severity"] == "error"]
    assert {line for line, _ in findings} == marked(), findings


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "adcore/py.typed").exists()
