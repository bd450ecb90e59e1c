"""A small share of what `make fuzz` does: random programs with a fixed seed, every stage of the IR and machine code against CPython."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent


def run(*options: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    command = [sys.executable, "-m", "fuzz", *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "0 programs with mismatches" in done.stdout


def test_random_programs() -> None:
    run("--programs", "120", "--seed", "2026", "--interpreted")


def test_random_programs_through_machine_code() -> None:
    run("--programs", "20", "--seed", "4052", "--compiled")
