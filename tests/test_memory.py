"""The memory checks themselves: they see what they look for. All functions: `make test-memory`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import memory_checks
import numpy as np
import pytest

TESTS = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}


@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (0,), (1,), (513,)], ids=str)
def test_one_byte_too_far_ends_the_process(shape: tuple[int, ...], at_end: bool) -> None:
    text = (
        "import ctypes, memory_checks, numpy as np\n"
        f"guarded = memory_checks.Guarded({at_end})\n"
        f"a = guarded.copy(np.ones({shape}))\n"
        f"assert a.shape == {shape} and a.sum() == a.size\n"
        f"where = a.ctypes.data + (a.nbytes if {at_end} else -1)\n"
        "print('so far', flush=True)\n"
        "ctypes.string_at(where, 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert done.stdout == "so far\n", done.stderr
    assert done.returncode == -11


def test_growth_is_seen() -> None:
    kept: list[bytes] = []
    assert memory_checks._growth(lambda place: kept.append(bytes(1000)), 100) > 90_000
    assert memory_checks._growth(lambda place: place(np.ones(100)), 100) < memory_checks.GROWTH


def test_functions_stay_inside_their_arrays() -> None:
    command = [sys.executable, "-m", "memory_checks", "guard", "--groups", "products"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=TESTS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 groups with errors" in done.stdout
