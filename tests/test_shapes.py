"""Every elementwise function of NumPy on every kind of array: empty, of one element, strided, backwards, broadcast, of ints and bools.

Values and types against NumPy. Gradients against those of the plain vector, element by element, which `test_ops.py` compares with differences:
what a view or a broadcast adds is where they go, and that they add up.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from engine import HEADER, Refused, compile_module

from adcore.frontend.library import ELEMENTWISE

WIDE = HEADER.replace("import Vector", "import Array1, Matrix, Vector")
ONE = """
@autodiff(mode="{mode}")
def {name}_plain(v: Vector) -> Vector:
    return np.{name}(v) * 1.0

@autodiff(mode="{mode}")
def {name}_back(v: Vector) -> Vector:
    return np.{name}(v[::-1]) * 1.0

@autodiff(mode="{mode}")
def {name}_strided(m: Matrix) -> Matrix:
    return np.{name}(m[::2, 1::2].T) * 1.0

@autodiff(mode="none")
def {name}_ints(k: Array1[np.int64]) -> {ints}:
    return np.{name}(k)
"""
TWO = """
@autodiff(mode="{mode}")
def {name}_plain(v: Vector, w: Vector) -> Vector:
    return np.{name}(v, w) * 1.0

@autodiff(mode="{mode}")
def {name}_wide(m: Matrix, w: Vector) -> Matrix:
    return np.{name}(m[:, ::-1], w[::2]) * 1.0

@autodiff(mode="{mode}")
def {name}_outer(v: Vector, w: Vector) -> Matrix:
    return np.{name}(v[:, None], w) * 1.0

@autodiff(mode="{mode}")
def {name}_number(v: Vector, x: float) -> Vector:
    return np.{name}(v, x) * np.{name}(x, v) * 1.0
"""
FLAT = {  # without a derivative: nothing is active
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf", "isfinite", "isneginf", "isposinf", "signbit",
    "logical_and", "logical_or", "logical_not", "logical_xor",
}  # fmt: skip
WHOLE = {name for name in ELEMENTWISE if name.startswith("bitwise") or name.endswith("_shift") or name == "invert"}
REAL = sorted(set(ELEMENTWISE) - WHOLE)
LOW = {"arccosh": 1.1, "acosh": 1.1, "reciprocal": 0.3}


def kind_of_ints(name: str) -> str:
    """What NumPy makes of ints."""
    with np.errstate(all="ignore"):
        dtype = getattr(np, name)(np.array([1, 2])).dtype
    return f"Array1[np.{'bool_' if dtype.kind == 'b' else dtype}]"


def text_of(name: str) -> str:
    mode = "none" if name in FLAT else "both"
    if ELEMENTWISE[name].arity == 1:
        return ONE.format(name=name, mode=mode, ints=kind_of_ints(name))
    return TWO.format(name=name, mode=mode)


@pytest.fixture(scope="module")
def m(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return compile_module(tmp_path_factory.mktemp("shapes"), WIDE + "\n".join(map(text_of, REAL)))


def numbers(name: str, *shape: int, seed: int = 0) -> Any:
    low = LOW.get(name, 0.3)
    return np.random.default_rng(seed).uniform(low, low + 0.6, shape)


def close(got: Any, want: Any) -> None:
    want = np.asarray(want)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=2e-15, atol=1e-16)


def parts(function: Any, args: tuple[Any, ...], w: Any) -> tuple[Any, ...]:
    """The gradients of all parameters."""
    _, gradients = function.vjp(args, w)
    return gradients if isinstance(gradients, tuple) else (gradients,)


@pytest.mark.parametrize("name", [name for name in REAL if ELEMENTWISE[name].arity == 1])
def test_functions_of_one(m: ModuleType, name: str) -> None:
    numpy = getattr(np, name)
    plain, back, strided = (getattr(m, f"{name}_{kind}") for kind in ("plain", "back", "strided"))
    for size in (0, 1, 7):
        v = numbers(name, size)
        close(plain(v), numpy(v) * 1.0)
        close(back(v), numpy(v[::-1]) * 1.0)
    matrix = numbers(name, 5, 8)
    close(strided(matrix), numpy(matrix[::2, 1::2].T) * 1.0)
    k = np.array([1, 3, 2, 0, -1, -4])
    with np.errstate(all="ignore"):
        close(getattr(m, f"{name}_ints")(k), numpy(k))
    if name in FLAT:
        return
    each = parts(plain, (matrix.ravel(),), np.ones(matrix.size))[0].reshape(matrix.shape)
    w = np.arange(12.0).reshape(4, 3)
    want = np.zeros_like(matrix)
    want[::2, 1::2] = w.T
    np.testing.assert_allclose(parts(strided, (matrix,), w)[0], want * each, rtol=1e-14, atol=1e-15)
    v, w = matrix[0], np.arange(8.0)
    np.testing.assert_allclose(parts(back, (v,), w)[0], w[::-1] * each[0], rtol=1e-14, atol=1e-15)
    assert parts(plain, (np.zeros(0),), np.zeros(0))[0].shape == (0,)


@pytest.mark.parametrize("name", [name for name in REAL if ELEMENTWISE[name].arity == 2])
def test_functions_of_two(m: ModuleType, name: str) -> None:
    numpy = getattr(np, name)
    plain, wide, outer, number = (getattr(m, f"{name}_{kind}") for kind in ("plain", "wide", "outer", "number"))
    for size in (0, 1, 6):
        v, w = numbers(name, size), numbers(name, size, seed=1)
        close(plain(v, w), numpy(v, w) * 1.0)
        close(number(v, 0.7), numpy(v, 0.7) * numpy(0.7, v) * 1.0)
    a, b = numbers(name, 3, 4), numbers(name, 7, seed=1)
    close(wide(a, b), numpy(a[:, ::-1], b[::2]) * 1.0)
    close(wide(a, b[:1]), numpy(a[:, ::-1], b[:1]) * 1.0)
    close(outer(a[0], b), numpy(a[0][:, None], b) * 1.0)
    if name in FLAT:
        return

    def flat(x: Any, y: Any, weights: Any) -> tuple[Any, Any]:
        """Gradients of each pair, by the plain vector."""
        x, y = np.broadcast_arrays(x, y)
        made = parts(plain, (x.ravel().copy(), y.ravel().copy()), np.asarray(weights).ravel().copy())
        for_x, for_y = (part.reshape(x.shape) for part in made)
        return for_x, for_y

    w = np.arange(1.0, 13.0).reshape(3, 4)
    for_a, for_b = flat(a[:, ::-1], b[::2], w)
    want_b = np.zeros(7)
    want_b[::2] = for_b.sum(axis=0)
    for got, want in zip(parts(wide, (a, b), w), (for_a[:, ::-1], want_b), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)
    for_a, for_b = flat(a[:, ::-1], b[:1], w)
    for got, want in zip(parts(wide, (a, b[:1]), w), (for_a[:, ::-1], [for_b.sum()]), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)
    w = np.arange(1.0, 29.0).reshape(4, 7)
    for_v, for_w = flat(a[0][:, None], b, w)
    for got, want in zip(parts(outer, (a[0], b), w), (for_v.sum(axis=1), for_w.sum(axis=0)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)


def test_what_takes_whole_numbers_refuses_floats(tmp_path: Any) -> None:
    texts = [
        f"@autodiff(mode='none')\ndef {name}(v: Vector) -> Vector:\n    return np.{name}({', '.join('v' * ELEMENTWISE[name].arity)})\n\n"
        for name in sorted(WHOLE)
    ]
    with pytest.raises(Refused) as refused:
        compile_module(tmp_path, HEADER + "".join(texts))
    assert len(refused.value.diagnostics) == len(WHOLE)
    assert {finding.name for finding in refused.value.diagnostics} == {"types/mismatch"}
