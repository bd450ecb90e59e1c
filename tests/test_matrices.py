"""Arrays of several dimensions through the whole path: values, and gradients against differences and forward mode."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from codegen_helper import Compiled
from engine import compile_module

HEAD = """import numpy as np
from adcore import autodiff
from adcore.typing import Array1, Array3, Matrix, Vector

"""
# one line each: name, parameters, body; results are floats
# ruff: noqa: E501
BODIES = {
    "elements": ("a: Matrix, i: int", "return a[i, 1] * a[i][0] + a[0, -1] ** 2"),
    "rows": ("a: Matrix, v: Vector", "return float(np.sum(a[0] * v + a[1, :] * a[-1]))"),
    "columns": ("a: Matrix, w: Vector", "return float(np.sum(a[:, 0] * w * a.T[1]))"),
    "blocks": ("s: Matrix", "return float(np.sum(s[0:2, 1:] * s[-2:, ::-1][:, :2] * s[::-1, :-1][:2]))"),
    "loops": ("a: Matrix, w: Vector", "t = 0.0\nfor i in range(a.shape[0]):\n    for j in range(a.shape[1]):\n        t += w[i] * np.sin(a[i, j]) * a[i, j - 1]\nreturn t"),
    "bias": ("a: Matrix, v: Vector", "return float(np.sum(np.tanh(a * v + v)))"),
    "column_bias": ("a: Matrix, w: Vector", "return float(np.sum(np.exp(a * 0.1 + w[:, None]) * w[:, np.newaxis]))"),
    "unknown": ("a: Matrix, b: Matrix", "return float(np.sum((a + b) * b * np.cos(a)))"),
    "powers": ("x: Matrix, y: Vector", "return float(np.sum(x**y))"),
    "outer": ("v: Vector, w: Vector", "return float(np.sum(np.outer(v, w) ** 2 + v[:, None] * w[None, :]))"),
    "reductions": ("a: Matrix", "return np.sum(a * a) + a.mean() * np.max(a) - a.min() * np.std(a) + np.prod(a)"),
    "along": ("a: Matrix, v: Vector", "return np.sum(np.sum(a * a, axis=0) * v) + np.exp(a.sum(axis=1))[1] + np.sum(a.mean(axis=0) ** 2)"),
    "matrix_vector": ("a: Matrix, v: Vector, w: Vector", "return float(w @ (a @ v) + np.sum(np.sin(a.T @ w)) + (w @ a) @ v)"),
    "matrix_matrix": ("a: Matrix, s: Matrix", "return float(np.sum((a @ s) ** 2) + np.sum(a @ a.T))"),
    "stores": ("s: Matrix, v: Vector", "b = s.copy()\nb[0] = v * v\nb[1, 1:] = s[0, :-1] * b[0, 0]\nb[:, 2] *= v\nb[1:, :2] += b[:2, 1:]\nb[-1, -1] *= b[0, 0]\nreturn float(np.sum(b * b))"),
    "transposed_store": ("s: Matrix, v: Vector", "b = np.zeros_like(s)\nb.T[1] = v * v\nb.T[:, 0] = v\nreturn float(np.sum(b * s * b))"),
    "iterated": ("a: Matrix", "t = 0.0\nfor i, row in enumerate(a):\n    t += row @ row * (i + 1)\n    for x in row:\n        t += x**3\nreturn t"),
    "shapes": ("a: Matrix", "n, m = a.shape\nb = a.reshape(m, n) * np.reshape(a, (3, -1))\nreturn float(np.sum(b.ravel() * a.flatten()))"),
    "displays": ("v: Vector", "a = np.array([[1.0, v[0], 2], [v[1], 3, v[2]]])\nb = np.array([v, v * v])\nreturn float(np.sum(a * b))"),
    "row_swap": ("s: Matrix", "b = s.copy()\nb[[1, 2]] = b[[2, 1]]\nreturn float(np.sum(b * np.array([[0.0], [1.0], [2.0]]) * s))"),
    "stacked": ("a: Matrix", "return float(np.sum(np.concatenate([a, a[:1] * a[1:], a[::-1]]) ** 2))"),
    "view_or_all": ("v: Vector, k: int", "x = v\nif k:\n    x = x[1:]\nreturn float(np.sum(x * x))"),
    "three": ("c: Array3[np.float64], k: int", "x = c[0]\nif k:\n    x = x[1:]\nreturn float(np.sum(x * x)) + c[1, 0, 1] * c[..., 0].sum() + c[:, 1].mean() * c[1][0][1]"),
    "picked": ("a: Matrix, p: Array1[np.int64]", "t = 0.0\nfor i in range(len(p)):\n    t += a[p[i], i] ** 2\nreturn t"),
    "smooth": ("s: Matrix, k: int", "u = s.copy()\nfor _ in range(k):\n    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] * u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])\n    u[0] = u[-1]\nreturn float(np.sum(u * u))"),
    "swapped": ("s: Matrix, k: int", "u = s.copy()\nv = np.zeros_like(u)\nfor _ in range(k):\n    v[1:-1, 1:-1] = u[:-2, 1:-1] * u[1:-1, 2:]\n    u, v = v, u\nreturn float(np.sum(u + 2.0 * v))"),
    "temporaries": ("s: Matrix, v: Vector, k: int", "x = v.copy()\nfor _ in range(k):\n    x[:] = np.tanh(s @ x) + v\nreturn float(x @ x)"),
    "row_reassigned": ("a: Matrix", "r = a[0]\nt = 0.0\nfor i in range(a.shape[0]):\n    t += r @ a[i]\n    r = a[i]\nreturn t"),
}  # fmt: skip
VALUES: dict[str, Any] = {
    "a": np.array([[0.3, 1.2, -0.7], [0.9, -0.4, 0.6]]), "b": np.array([[0.8], [1.3]]), "v": np.array([0.5, -1.1, 0.7]), "w": np.array([1.4, 0.6]),
    "s": np.array([[1.1, 0.4, -0.3], [0.2, 0.9, 0.5], [-0.6, 0.7, 1.3]]), "x": np.array([[1.5], [2.5]]), "y": np.array([1.0, 2.0, 3.0]),
    "c": np.arange(1.0, 13.0).reshape(2, 2, 3) / 7, "p": np.array([1, 0, 1]), "i": 1, "k": 2,
}  # fmt: skip


def names(parameters: str) -> list[str]:
    return [part.partition(":")[0].strip() for part in parameters.split(", ")]


def text() -> str:
    functions = []
    for name, (parameters, body) in BODIES.items():
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        functions.append(f'@autodiff(mode="both", order=2)\ndef {name}({parameters}) -> float:\n{lines}\n')
    return HEAD + "".join(functions)


@pytest.fixture(scope="module")
def m(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return compile_module(tmp_path_factory.mktemp("matrices"), text())


def arguments(name: str) -> list[Any]:
    return [VALUES[p].copy() if isinstance(VALUES[p], np.ndarray) else VALUES[p] for p in names(BODIES[name][0])]


def real(args: list[Any]) -> list[int]:
    return [k for k, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype == float]


def difference(f: Any, args: list[Any], k: int, direction: Any, h: float = 1e-6) -> Any:
    up, down = ([*args[:k], args[k] + s * h * direction, *args[k + 1 :]] for s in (1.0, -1.0))
    return (f(*up) - f(*down)) / (2 * h)


@pytest.mark.parametrize("name", BODIES)
def test_values_and_derivatives(m: ModuleType, name: str) -> None:
    f, args, rng = getattr(m, name), arguments(name), np.random.default_rng(3)
    value, gradients = f.value_and_grad(*args)
    assert value == pytest.approx(f.__wrapped__(*args), rel=1e-13)
    assert f(*args) == value
    wrt = real(args)
    gradients = (gradients,) if len(wrt) == 1 else gradients
    directions = [rng.normal(size=args[k].shape) for k in wrt]
    for k, gradient, direction in zip(wrt, gradients, directions, strict=True):
        assert gradient.shape == args[k].shape
        want = difference(f.__wrapped__, args, k, direction)
        assert float(np.sum(gradient * direction)) == pytest.approx(want, rel=1e-7, abs=1e-8)
    tangents = directions[0] if len(wrt) == 1 else tuple(directions)
    _, moved = f.jvp(tuple(args), tangents)
    total = sum(float(np.sum(g * d)) for g, d in zip(gradients, directions, strict=True))
    assert moved == pytest.approx(total, rel=1e-12)
    for a, b in zip(args, arguments(name), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", BODIES)
def test_second_order_against_differences_of_gradients(m: ModuleType, name: str) -> None:
    f, args, rng = getattr(m, name), arguments(name), np.random.default_rng(4)
    wrt = real(args)
    directions = [rng.normal(size=args[k].shape) for k in wrt]
    products = f.hvp(tuple(args), directions[0] if len(wrt) == 1 else tuple(directions))
    products = (products,) if len(wrt) == 1 else products

    def gradient(step: float) -> Any:
        moved = list(args)
        for k, d in zip(wrt, directions, strict=True):
            moved[k] = moved[k] + step * d
        made = f.grad(*moved)
        return (made,) if len(wrt) == 1 else made

    h = 1e-5
    for got, up, down in zip(products, gradient(h), gradient(-h), strict=True):
        np.testing.assert_allclose(got, (up - down) / (2 * h), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (2, 3)])
def test_repetitions_that_are_known_when_it_runs(m: ModuleType, shape: tuple[int, int]) -> None:
    a, b = VALUES["a"], np.random.default_rng(5).normal(size=shape)
    for args in ((a, b), (b, a)):
        for k, gradient in enumerate(m.unknown.grad(*args)):
            direction = np.random.default_rng(6).normal(size=args[k].shape)
            want = difference(m.unknown.__wrapped__, list(args), k, direction)
            assert float(np.sum(gradient * direction)) == pytest.approx(want, rel=1e-7)
    with pytest.raises(ValueError, match="broadcast"):
        m.unknown(a, np.ones((3, 3)))
    with pytest.raises(IndexError):
        m.elements(a, 2)
    assert m.reductions(np.asfortranarray(a)) == m.reductions(a)


VIEWS = """
func @views(%x: array<f64, [?, ?, ?], c>, %i: i64, %j: i64) -> (array<f64, [?, ?], c>, array<f64, [?, ?], c>, f64) {
  %a = index %x, %i {axis = 0} : array<f64, [?, ?], c>
  %b = index %x, %j {axis = 1} : array<f64, [?, ?], strided>
  %t = permute %x {axes = (2, 0, 1)} : array<f64, [?, ?, ?], strided>
  %c = index %t, %i {axis = 1} : array<f64, [?, ?], strided>
  %n = dim %a {axis = 0} : i64
  %m = dim %a {axis = 1} : i64
  %r = reshape %a, %m, %n : array<f64, [?, ?], c>
  %e = load %r, %j, %i : f64
  %z = dim %x {axis = 0} : i64
  %y = alloc %z, %m {dtype = !f64, fill = 0.0} : array<f64, [?, ?], c>
  assign %y, %b {mode = "set"}
  store %b, %i, %j, %e
  %w = alloc %m, %n {dtype = !f64, fill = 0.0} : array<f64, [?, ?], c>
  assign %w, %c {mode = "add"}
  return %y, %w, %e
}
"""


def test_views_that_drop_reorder_and_reshape_axes() -> None:
    """Code against the interpreter, stores through views included."""
    compiled = Compiled(VIEWS)
    x = np.arange(24.0).reshape(2, 3, 4)
    for i in range(2):
        for j in range(3):
            compiled.check("views", x.copy(), i, j)


def test_covariances_of_one_row_are_no_number_here(tmp_path: Path) -> None:
    """NumPy drops the axes of a single variable; how many there are is known at run time alone."""
    f = compile_module(tmp_path, HEAD + "@autodiff\ndef f(a: Matrix) -> Matrix:\n    return np.cov(a)\n").f
    a = np.array([[1.0, 2.0, 4.0], [0.0, 1.0, -1.0]])
    np.testing.assert_allclose(f(a), np.cov(a), rtol=1e-15)
    with pytest.raises(ValueError, match="matrix with one row is a number in NumPy"):
        f(a[:1])
