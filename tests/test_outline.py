"""Loop nests in functions of their own do what they do in place: values, gradients, errors, written arguments."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from engine import HEADER, compile_module
from test_frontend import CASES, arguments, python_module

from adcore.codegen import compile as codegen
from adcore.codegen import outline


def built(folder: Path, name: str) -> ModuleType:
    folder.mkdir()
    return compile_module(folder, (CASES / f"{name}.py").read_text())


def outcome(function: Any, args: tuple[Any, ...]) -> Any:
    mine = arguments(args)
    try:
        return function(*mine), mine
    except Exception as error:
        return type(error).__name__, str(error)


def close(got: Any, want: Any) -> None:
    """Sums may be taken in another order."""
    if isinstance(want, tuple | list):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            close(one, other)
    elif isinstance(want, str) or want is None:
        assert got == want
    else:
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", ["gathered"])
def test_the_same_as_in_place(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = built(tmp_path / "inside", name)
    monkeypatch.setattr(outline, "MANY", -1)
    outside = built(tmp_path / "outside", name)
    compared = 0
    for function, sets in python_module(name).ARGS.items():
        for args in sets:
            here, there = getattr(inside, function), getattr(outside, function)
            close(outcome(there, args), outcome(here, args))
            if hasattr(here, "grad"):
                close(outcome(there.grad, args), outcome(here.grad, args))
                compared += 1
    assert compared >= 10


LONG = HEADER + "@autodiff\ndef f(x: Vector, k: int) -> float:\n    s = 0.0\n" + "".join(
    f"    y{i} = np.sin(x * {i}.5)\n    s += np.sum(y{i}[k:] * y{i}[: x.size - k])\n    y{i}[x > {i}] = s\n" for i in range(12)
) + "    return s\n"  # fmt: skip


def test_a_long_function_is_cut_up_and_a_short_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "MANY", 24)
    texts: list[str] = []
    run = codegen.run_llvm
    monkeypatch.setattr(codegen, "run_llvm", lambda text, *rest: (texts.append(text), run(text, *rest))[1])
    f = compile_module(tmp_path / "long", LONG).f
    nests = set(re.findall(r'define internal i32 @"k\.f\.vjp\.nest\d+"', texts[-1]))
    assert len(nests) > outline.MANY
    x = np.linspace(-1.0, 14.0, 30)
    value, gradient = f.value_and_grad(x, 3)
    np.testing.assert_allclose(value, f(x, 3), rtol=1e-14)
    step = 1e-6
    for j in range(x.size):
        e = np.zeros(x.size)
        e[j] = step
        assert gradient[j] == pytest.approx((f(x + e, 3) - f(x - e, 3)) / (2 * step), rel=1e-5, abs=1e-5)
    compile_module(tmp_path / "short", HEADER + "@autodiff\ndef f(x: Vector) -> float:\n    return np.sum(np.sin(x))\n")
    assert "nest" not in texts[-1]
