"""Broken text through lint: a few hundred of what `make fuzz-lint` runs by the ten thousand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lint_fuzz import EXAMPLE, HEADER, edits, examine, tokens, truncations

from adcore.lint.check import Checker


def test_truncations_of_the_example() -> None:
    assert [failure for run in truncations(step=61, offset=3) if (failure := run())] == []


@pytest.mark.parametrize("seed", [7, 8])
def test_random_edits(seed: int) -> None:
    assert [failure for run in edits(120, seed) if (failure := run())] == []


def test_the_command_on_broken_files(tmp_path: Path) -> None:
    text = (EXAMPLE / "src" / "hare_lynx" / "model.py").read_text(encoding="utf-8")
    for end in (40, 700, 1211, 2000):
        (tmp_path / f"cut_{end}.py").write_text(text[:end], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "adcore", "lint", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stdout + done.stderr
    assert "compiler/internal" not in done.stdout + done.stderr


def test_tokens_join_to_the_text() -> None:
    text = HEADER + 'def f(x):\n    """é"""\n    return x \\\n        + 1  # end\n'
    assert "".join(tokens(text)) == text
    assert "".join(tokens(text[:-30])) == text[:-30]


def test_an_engine_that_fails_is_seen() -> None:
    def broken(*_: object) -> object:
        raise KeyError("x")

    (found,) = Checker(broken).check("/nowhere/a.py", HEADER)  # type: ignore[arg-type]
    assert found.name == "compiler/internal", "the name that `examine` looks for"
    assert examine("whole", HEADER, "/nowhere/a.py") is None


@pytest.mark.parametrize(
    "call",
    [
        "min()",
        "max()",
        "sum()",
        "abs()",
        "len()",
        "range()",
        "zip()",
        "np.sum()",
        "np.stack()",
        "np.eye()",
        "x.sum(1, 2, 3)",
    ],
)
def test_calls_without_their_arguments(call: str) -> None:
    assert (
        examine(call, f"{HEADER}@autodiff\ndef f(x: Vector) -> float:\n    y = {call}\n    return y\n", "/nowhere/a.py")
        is None
    )
