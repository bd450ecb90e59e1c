"""Functions that write into their parameters: value, mutation, derivatives against differences of CPython, arguments left alone."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from engine import HEADER, compile_module

TEXT = (
    HEADER
    + """
@autodiff(mode="both")
def scale(out: Vector, x: Vector, a: float) -> None:
    for i in range(x.shape[0]):
        out[i] = a * np.sin(x[i])

@autodiff(mode="both")
def smooth(u: Vector, n: int) -> None:
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            u[i] = 0.5 * u[i] + 0.25 * (u[i - 1] * u[i + 1])

@autodiff(mode="both")
def swapped(a: Vector, b: Vector) -> float:
    for i in range(len(a)):
        a[i], b[i] = b[i] * b[i], a[i]
    return float(a[0] * b[-1])

@autodiff(mode="both")
def slices(x: Vector, w: Vector) -> float:
    x[1:] = x[:-1] + w[1:]
    x[::2] *= 3.0
    x[-1] += x[0] * w[0]
    return float(np.sum(x * x))

def axpy(alpha, x, y):
    for i in range(len(x)):
        y[i] += alpha * x[i]

@autodiff(mode="both")
def through_helpers(alpha: float, x: Vector, y: Vector) -> None:
    axpy(alpha, x, y)
    axpy(alpha * alpha, y, y)

@autodiff(mode="both")
def alias(x: Vector, s: float) -> float:
    y = x
    z = y[1:]
    z[0] = x[0] * s
    y *= 2.0
    return float(np.sum(x * x))

@autodiff(mode="both")
def either(a: Vector, b: Vector, t: float) -> float:
    c = a if t > 0.0 else b
    c[0] = t * a[1]
    return float(a[0] + 2.0 * b[0])

@autodiff(mode="both")
def stopped(x: Vector, limit: float) -> int:
    for i in range(len(x)):
        if x[i] > limit:
            return i
        x[i] = x[i] * x[i]
    return -1

@autodiff(mode="both")
def rotated(u: Vector, v: Vector, n: int) -> None:
    for _ in range(n):
        for i in range(len(u)):
            v[i] = u[i] * u[i - 1]
        u, v = v, u

@autodiff(mode="both")
def pair(x: Vector) -> tuple[float, Vector]:
    first = float(x[0] * x[1])
    x[0] = first
    return first, x[1:] * x[0]

@autodiff
def overwritten(out: Vector, x: Vector) -> None:
    out[:] = 0.0
    for i in range(len(x)):
        out[i] += x[i] * x[i]

@autodiff
def reads_first(x: Vector, k: int) -> None:
    for i in range(len(x)):
        assert x[i] < 100.0, "too large"
        x[i] = 2.0 * x[i]
"""
)
X = np.array([0.4, -0.7, 1.1, 0.3, 0.9])
Y = np.array([1.2, 0.5, -0.3, 0.8, 0.6])
CALLS: dict[str, tuple[Any, ...]] = {
    "scale": (np.zeros(5), X, 1.3),
    "smooth": (X, 3),
    "swapped": (X, Y),
    "slices": (X, Y),
    "through_helpers": (0.6, X, Y),
    "alias": (X, 0.7),
    "either": (X, Y, -0.5),
    "stopped": (X, 1.0),
    "rotated": (X, Y, 3),
    "pair": (X,),
    "overwritten": (np.full(5, np.nan), X),
    "reads_first": (X, 1),
}
ACTIVE = {name: [k for k, a in enumerate(args) if not isinstance(a, int)] for name, args in CALLS.items()}
ACTIVE |= {"scale": [1, 2], "overwritten": [1], "through_helpers": [0, 1, 2], "stopped": [0, 1]}
WRITTEN = {
    "scale": [0], "smooth": [0], "swapped": [0, 1], "slices": [0], "through_helpers": [2], "alias": [0], "either": [0, 1],
    "stopped": [0], "rotated": [0, 1], "pair": [0], "overwritten": [0], "reads_first": [0],
}  # fmt: skip


@pytest.fixture(scope="module")
def m(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return compile_module(tmp_path_factory.mktemp("written"), TEXT)


def copies(args: tuple[Any, ...]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def outputs(function: Any, name: str, args: tuple[Any, ...]) -> list[Any]:
    """The items of the value, then the written parameters."""
    mine = copies(args)
    value = function(*mine)
    items = [] if value is None else list(value) if isinstance(value, tuple) else [value]
    return [*items, *(mine[k] for k in WRITTEN[name])]


@pytest.mark.parametrize("name", CALLS)
def test_value_and_mutation_are_those_of_cpython(m: ModuleType, name: str) -> None:
    function = getattr(m, name)
    mine, theirs = copies(CALLS[name]), copies(CALLS[name])
    got, want = function(*mine), function.__wrapped__(*theirs)
    assert type(got) is type(want)
    for g, w in zip([got, *mine], [want, *theirs], strict=True):
        for a, b in zip(g if isinstance(g, tuple) else [g], w if isinstance(w, tuple) else [w], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-15) if a is not None else None


def differences(function: Any, name: str, args: tuple[Any, ...], k: int, direction: Any) -> list[Any]:
    h = 1e-6
    sides = [
        outputs(function, name, (*args[:k], args[k] + sign * h * direction, *args[k + 1 :])) for sign in (1.0, -1.0)
    ]
    return [(np.asarray(a, float) - np.asarray(b, float)) / (2 * h) for a, b in zip(*sides, strict=True)]


@pytest.mark.parametrize("name", CALLS)
def test_vjp_against_differences(m: ModuleType, name: str) -> None:
    function, args, rng = getattr(m, name), CALLS[name], np.random.default_rng(1)
    real = [v for v in outputs(function, name, args) if not isinstance(v, int)]
    cts = [rng.normal(size=np.shape(v)) if np.ndim(v) else rng.normal() for v in real]
    before = copies(args)
    value, gradients = function.vjp(args, cts[0] if len(cts) == 1 else tuple(cts))
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)
    items = list(value) if isinstance(value, tuple) else [value]
    for got, want in zip(items, outputs(function.__wrapped__, name, args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-15)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    assert len(gradients) == len(ACTIVE[name])
    for k, gradient in zip(ACTIVE[name], gradients, strict=True):
        direction = rng.normal(size=np.shape(args[k])) if np.ndim(args[k]) else 1.0
        moved = differences(function.__wrapped__, name, args, k, direction)
        moved = [d for d, v in zip(moved, items, strict=True) if not isinstance(v, int)]
        want = sum(float(np.sum(c * d)) for c, d in zip(cts, moved, strict=True))
        assert float(np.sum(gradient * direction)) == pytest.approx(want, rel=2e-7, abs=1e-8)


@pytest.mark.parametrize("name", [n for n in CALLS if n not in ("overwritten", "reads_first")])
def test_forward_and_reverse_agree(m: ModuleType, name: str) -> None:
    function, args, rng = getattr(m, name), CALLS[name], np.random.default_rng(2)
    real = [v for v in outputs(function, name, args) if not isinstance(v, int)]
    cts = [rng.normal(size=np.shape(v)) if np.ndim(v) else rng.normal() for v in real]
    tangents = [rng.normal(size=np.shape(args[k])) if np.ndim(args[k]) else rng.normal() for k in ACTIVE[name]]
    before = copies(args)
    _, gradients = function.vjp(args, cts[0] if len(cts) == 1 else tuple(cts))
    value, moved = function.jvp(args, tangents[0] if len(tangents) == 1 else tuple(tangents))
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)
    for got, want in zip(value if isinstance(value, tuple) else [value], outputs(function, name, args), strict=True):
        np.testing.assert_array_equal(got, want)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    moved = moved if isinstance(moved, tuple) else (moved,)
    left = sum(float(np.sum(g * t)) for g, t in zip(gradients, tangents, strict=True))
    right = sum(float(np.sum(c * t)) for c, t in zip(cts, moved, strict=True))
    assert left == pytest.approx(right, rel=1e-12)


def test_a_written_array_is_an_output_beside_the_result(m: ModuleType) -> None:
    """So there is no single scalar output; a procedure's only output is handed out bare."""
    for name in ("slices", "smooth"):
        with pytest.raises(AttributeError):
            _ = getattr(m, name).grad
    value, _ = m.smooth.vjp((X, 1), np.ones(5))
    assert isinstance(value, np.ndarray)
    value, _ = m.slices.vjp((X, Y), (1.0, np.zeros(5)))
    assert type(value[0]) is float


def test_jacobians_cover_the_written_arrays(m: ModuleType) -> None:
    for function, args in ((m.slices, (X, Y)), (m.smooth, (X, 2))):
        got = function.jacobian(*args)
        name = function.__name__
        for column in range(5):
            unit = np.eye(5)[column]
            for block, want in (
                zip(got, differences(function, name, args, 0, unit), strict=True)
                if name == "slices"
                else [(got, differences(function, name, args, 0, unit)[0])]
            ):
                block = block[0] if isinstance(block, tuple) else block
                np.testing.assert_allclose(block[..., column], want, rtol=1e-6, atol=1e-8)


def test_cotangents_may_share_memory_with_what_is_copied(m: ModuleType) -> None:
    x = X.copy()
    _, got = m.smooth.vjp((x, 2), x)
    _, want = m.smooth.vjp((x, 2), x.copy())
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(x, X)


def test_overlapping_arguments_are_refused_by_name(m: ModuleType) -> None:
    x = X.copy()
    with pytest.raises(ValueError, match=r"through_helpers\(\) parameter 'y' shares memory with parameter 'x'"):
        m.through_helpers(1.0, x, x)
    with pytest.raises(ValueError, match=r"'y' shares memory with parameter 'x'"):
        m.through_helpers.vjp((1.0, x, x), np.ones(5))
    with pytest.raises(ValueError, match=r"swapped\(\) parameter 'a' shares memory with parameter 'b'"):
        m.swapped(x[:3], x[2:])
    m.through_helpers(1.0, x[:2], x[2:4])


def test_what_is_written_must_be_the_callers_own_memory(m: ModuleType) -> None:
    fixed = X.copy()
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        m.smooth(fixed, 1)
    with pytest.raises(TypeError, match="'u'"):
        m.smooth([1.0, 2.0, 3.0], 1)
    value, _ = m.smooth.vjp((fixed, 1), np.ones(5))  # nothing is written here
    assert value.shape == (5,)


def test_writes_up_to_an_exception_stay(m: ModuleType) -> None:
    mine, theirs = np.array([1.0, 2.0, 200.0, 3.0]), np.array([1.0, 2.0, 200.0, 3.0])
    for function, array in ((m.reads_first, mine), (m.reads_first.__wrapped__, theirs)):
        with pytest.raises(AssertionError, match="too large"):
            function(array, 1)
    np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(AssertionError, match="too large"):
        m.reads_first.vjp((np.array([200.0]), 1), np.ones(1))
