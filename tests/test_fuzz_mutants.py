"""The injected faults of `make fuzz-mutants` fit the engine as it is, and the hunt for them finds, misses and counts as it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from fuzz.mutant_table import MUTANTS

TESTS = Path(__file__).parent
SHOWN_AT_ONCE = (
    "the product rule swaps its factors",
    "a load forgets its array",
    "a loop runs back in the order of the primal",
)


def run(*options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    command = [sys.executable, "-m", "fuzz.mutants", *options]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_there_are_enough() -> None:
    assert len(MUTANTS) >= 50


def test_each_applies_and_imports() -> None:
    done = run("--inspect")
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert f"{len(MUTANTS)} injected faults, 0 that do not fit" in done.stdout


def test_some_are_found() -> None:
    done = run("--programs", "40", *(word for name in SHOWN_AT_ONCE for word in ("--only", name)))
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "3 of 3 found within 40 programs" in done.stdout


def test_one_that_too_few_programs_show_survives() -> None:
    done = run("--programs", "1", "--only", "any carried integer grows steadily")
    assert done.returncode == 1
    assert "SURVIVED" in done.stdout
    assert "0 of 1 found within 1 programs" in done.stdout
