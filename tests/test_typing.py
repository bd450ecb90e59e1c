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
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

import adcore

ROOT = Path(adcore.__file__).parent.parent
SAMPLE = Path(__file__).parent / "typing_sample.py"
Checker: TypeAlias = "Callable[[Path, Path], list[tuple[str, int, str]]]"


def marked() -> set[int]:
    return {n for n, line in enumerate(SAMPLE.read_text().splitlines(), 1) if line.endswith("  # error")}


def missing(reason: str) -> None:
    complain = pytest.fail if os.environ.get("CI") else pytest.skip
    complain(reason)


def mypy(folder: Path, path: Path) -> list[tuple[str, int, str]]:
    """File, line and words of what `mypy --strict` says of a file or a package."""
    if importlib.util.find_spec("mypy") is None:
        missing("mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version=3.11", "--no-error-summary"]
    command += ["--config-file=", f"--cache-dir={folder}", str(path)]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    found = re.findall(r"^(.*?):(\d+): error: (.*)", done.stdout, re.MULTILINE)
    return [(Path(file).name, int(line), words) for file, line, words in found]


def pyright(folder: Path, path: Path) -> list[tuple[str, int, str]]:
    """The same of pyright in strict mode, run on a copy."""
    if importlib.util.find_spec("pyright") is None or shutil.which("node") is None:
        missing("pyright or node is not installed")
    if path.is_dir():
        shutil.copytree(path, folder / path.name)
    else:
        shutil.copy(path, folder)
    config = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, "--project", str(folder)], capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)["generalDiagnostics"]
    except ValueError:
        missing(f"pyright did not run: {done.stdout}{done.stderr}")
    errors = [item for item in report if item["severity"] == "error"]
    return [(Path(item["file"]).name, item["range"]["start"]["line"] + 1, item["message"]) for item in errors]


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_the_sample(checker: Checker, tmp_path: Path) -> None:
    findings = checker(tmp_path, SAMPLE)
    assert {file for file, _, _ in findings} <= {SAMPLE.name}
    assert {line for _, line, _ in findings} == marked(), findings


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_the_example(checker: Checker, tmp_path: Path) -> None:
    assert checker(tmp_path, ROOT / "examples/hare_lynx/src/hare_lynx") == []


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "adcore/py.typed").exists()
