"""Predicted allocations equal measured ones: count, bytes, order, frees, peak, and how far each block is written.

The comparisons run in processes of their own, since the counter must be loaded before everything else (`counted`).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import adcore.ops  # noqa: F401 (fills the registry)

pytest.importorskip("llvmlite")

TESTS = Path(__file__).parent
TOTALS = re.compile(
    r"(\d+) functions, (\d+) calls .*?, (\d+) blocks of (\d+) bytes predicted and measured, (\d+) canaries, (\d+) blocks written"
    r".*?; (\d+) too slow; (\d+) differences"
)


def counted(*options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    command = [sys.executable, "-m", "counted", *options]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=TESTS)


@pytest.mark.parametrize(
    ("options", "functions", "blocks"),
    [
        (("programs",), 80, 1000),
        (("cases",), 30, 300),
        (("texts",), 50, 2000),
        (("frontend", "--no-canaries"), 180, 5000),
        (("--fuzz", "30", "--seed", "730"), 25, 300),
    ],
    ids=lambda o: "-".join(o) if isinstance(o, tuple) else "",
)
def test_predicted_equals_measured(options: tuple[str, ...], functions: int, blocks: int) -> None:
    done = counted(*options)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    found = TOTALS.search(done.stdout)
    assert found is not None, done.stdout
    made, _, measured, _, canaries, full, slow, wrong = map(int, found.groups())
    assert wrong == slow == 0
    assert made >= functions
    assert measured >= blocks
    assert "--no-canaries" in options or full >= 0.9 * canaries > 0
