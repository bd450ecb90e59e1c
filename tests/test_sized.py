"""Sizes that jaxtyping's annotations name: checked when an argument comes, known when the body is compiled."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from engine import Refused, analyse, compile_module

HEAD = (
    "import jaxtyping as jt\nimport numpy as np\nfrom adcore import autodiff\n"
    "from jaxtyping import Bool, Float, Float32, Float64, Int64\nfrom numpy.typing import NDArray\n\n"
)
TEXT = (
    HEAD
    + """
@autodiff(mode="both", order=2)
def energy(x: Float64[np.ndarray, "n 3"], m: jt.Float64[np.ndarray, "n"], k: Int64[np.ndarray, "_"]) -> float:
    total = 0.0
    for i in range(m.shape[0]):
        total += m[i] * np.sum(x[i] ** 2) * k[0]
    return total + np.sum(x * m[:, None] * np.sin(x))


@autodiff
def square(x: "Float64[np.ndarray, 'rows=2 n']", y: Float64[NDArray, "n _m"]) -> Float64[np.ndarray, "a b"]:
    return x @ y


@autodiff
def scaled(x: Float64[np.ndarray, "n"], b: Bool[np.ndarray, " n "], a: float) -> None:
    for i in range(len(b)):
        x[i] *= a if b[i] else 1.0
"""
)


@pytest.fixture(scope="module")
def m(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return compile_module(tmp_path_factory.mktemp("sized"), TEXT)


X = np.array([[0.5, -1.0, 2.0], [0.25, 3.0, -0.75]])
M, K = np.array([1.5, -0.5]), np.array([2])


def test_values_and_derivatives(m: ModuleType) -> None:
    def plain(x: np.ndarray, w: np.ndarray) -> float:
        return float(np.sum(w[:, None] * x**2) * 2 + np.sum(x * w[:, None] * np.sin(x)))

    assert m.energy(X, M, K) == pytest.approx(plain(X, M), rel=1e-14)
    for_x, for_m = m.energy.grad(X, M, K)
    np.testing.assert_allclose(for_x, M[:, None] * (4 * X + np.sin(X) + X * np.cos(X)), rtol=1e-14)
    np.testing.assert_allclose(for_m, np.sum(2 * X**2 + X * np.sin(X), axis=1), rtol=1e-14)
    dx, dm = np.cos(X), np.sin(M)
    _, tangent = m.energy.jvp((X, M, K), (dx, dm))
    assert tangent == pytest.approx(np.sum(for_x * dx) + np.sum(for_m * dm), rel=1e-13)
    hx, hm = m.energy.hvp((X, M, K), (dx, dm))
    step = 1e-6
    ends = [m.energy.grad(X + h * dx, M + h * dm, K) for h in (step, -step)]
    for got, high, low in zip((hx, hm), *ends, strict=True):
        np.testing.assert_allclose(got, (high - low) / (2 * step), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(m.square(X, X.T), X @ X.T, rtol=1e-15)
    x = np.array([1.0, 2.0])
    assert m.scaled(x, np.array([True, False]), 3.0) is None
    assert x.tolist() == [3.0, 2.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: m.energy(X[:, :2], M, K), r"energy\(\) parameter 'x': expected size 3 on axis 1, got 2"),
        (lambda m: m.energy(X, [1.0], K), r"energy\(\) parameter 'm': expected size 2 on axis 0, got 1"),
        (
            lambda m: m.energy.grad(X, np.ones(3), K),
            r"energy\.grad\(\) parameter 'm': expected size 2 on axis 0, got 3",
        ),
        (lambda m: m.square(X, X), r"square\(\) parameter 'y': expected size 3 on axis 0, got 2"),
        (lambda m: m.square(X[:1], X.T), r"square\(\) parameter 'x': expected size 2 on axis 0, got 1"),
        (lambda m: m.scaled(np.ones(2), np.ones(3, bool), 1.0), r"scaled\(\) parameter 'b': expected size 2 .* got 3"),
        (lambda m: m.energy.jvp((X, M, K), (X[:1], M)), "the tangent of x has another shape than x"),
    ],
)
def test_sizes_that_do_not_fit_are_named(m: ModuleType, call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=words):
        call(m)


def test_what_is_known_is_not_asked_again() -> None:
    text = HEAD + "@autodiff\ndef f(x: {0}, y: {0}) -> float:\n    return np.sum(x * y)\n"
    for annotation, checked in (('Float64[np.ndarray, "n m"]', False), ('Float64[np.ndarray, "_ _"]', True)):
        module = analyse(text.format(annotation)).module
        (function,) = module.functions.values()
        names = {op.name for op in function.body.walk()}
        assert ("guard" in names) == checked
        assert ("broadcast" in names) == checked


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        ('Float[np.ndarray, "n"]', ": it leaves the element type open; write `Float64`"),
        ('Float32[np.ndarray, "n"]', "; arrays of float64, int64 and bool are compiled, other element types are not yet"),
        ('Float64[list, "n"]', "; compiled functions take `np.ndarray`"),
        ("Float64[np.ndarray, 3]", '; its sizes are a string, as in `Float64[np.ndarray, "n 3"]`'),
        ('Float64[np.ndarray, "... n"]', ": `...` leaves the number of dimensions open; name each of them"),
        ('Float64[np.ndarray, "*batch n"]', ": `*batch` leaves the number of dimensions open; name each of them"),
        ('Float64[np.ndarray, "#n"]', ": `#n` may be 1 or the size of that name; write a name of its own, or `_`"),
        ('Float64[np.ndarray, "n-1"]', ": `n-1` is no size that is compiled; write a number, a name, or `_` for any size"),
        ('Float64[np.ndarray, ""]', "; arrays of 1 to 6 dimensions are compiled"),
        ('Float64[np.ndarray, "a b c d e f g"]', "; arrays of 1 to 6 dimensions are compiled"),
    ],
)  # fmt: skip
def test_what_is_not_compiled_says_what_to_write(annotation: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        compile_module(tmp_path, HEAD + f"@autodiff\ndef f(x: {annotation}) -> float:\n    return 0.0\n")
    (finding,) = refused.value.diagnostics
    assert finding.name == "language/unsupported-annotation"
    assert finding.message.endswith(words)
