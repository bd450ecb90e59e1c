"""The members that the options give, on compiled functions: reverse, forward, both, second order; shapes that nest; refusals."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from engine import HEADER, compile_module

TEXT = (
    HEADER
    + """
@autodiff(mode="both", order=2)
def rosen(x: Vector) -> float:
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total

@autodiff(mode="both", order=2, wrt=("a", "x"))
def mixed(a: float, x: Vector, n: int) -> float:
    return float(np.sum(np.sin(a * x) ** 2)) * n

@autodiff(mode="forward")
def vector(x: Vector, s: float) -> Vector:
    return np.exp(x * s)

@autodiff(mode="both")
def pair(x: Vector, s: float) -> tuple[Vector, float]:
    return np.exp(x * s), float(np.sum(x)) * s

def square_of_sine(x: float) -> float:
    return math.sin(x) ** 2

second = autodiff(square_of_sine, order=2)
reverse = autodiff(square_of_sine)
none = autodiff(square_of_sine, mode="none")

@autodiff(mode="both", wrt=("x",))
def tupled(x: Vector, s: float) -> float:
    return float(np.sum(x)) * s
"""
)


@pytest.fixture(scope="module")
def m(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return compile_module(tmp_path_factory.mktemp("members"), TEXT)


X = np.linspace(-1.0, 1.5, 6)


def test_second_order_against_scipy(m: ModuleType) -> None:
    from scipy.optimize import rosen_der, rosen_hess, rosen_hess_prod

    v = np.arange(6.0)
    np.testing.assert_allclose(m.rosen.grad(X), rosen_der(X), rtol=1e-14)
    np.testing.assert_allclose(m.rosen.hessian(X), rosen_hess(X), rtol=1e-14)
    np.testing.assert_allclose(m.rosen.hvp((X,), v), rosen_hess_prod(X, v), rtol=1e-14)
    np.testing.assert_allclose(m.rosen.hessp(X, v), rosen_hess_prod(X, v), rtol=1e-14)
    value, tangent = m.rosen.jvp((X,), v)
    assert value == m.rosen(X)
    assert tangent == pytest.approx(rosen_der(X) @ v, rel=1e-14)
    np.testing.assert_allclose(m.rosen.jacobian(X), rosen_der(X), rtol=1e-14)


def test_hessian_of_sine_squared_at_zero(m: ModuleType) -> None:
    """The zero test of the zero rule never applies to the tangent of a cotangent."""
    assert m.second.hessian(0.0) == 2.0
    assert m.second.hvp((0.0,), 3.0) == 6.0


def test_hessian_blocks_nest_as_the_parameters(m: ModuleType) -> None:
    a, x, n = 0.7, X[:3], 3
    (aa, ax), (xa, xx) = m.mixed.hessian(a, x, n)
    u = a * x
    # f = n * sum(sin(a x)^2): second derivatives in closed form
    assert aa == pytest.approx(n * np.sum(2 * x * x * np.cos(2 * u)), rel=1e-13)
    want = n * (np.sin(2 * u) + u * 2 * np.cos(2 * u))
    np.testing.assert_allclose(ax, want, rtol=1e-13)
    np.testing.assert_allclose(xa, want, rtol=1e-13)
    np.testing.assert_allclose(xx, np.diag(2 * n * a * a * np.cos(2 * u)), rtol=1e-13)
    assert type(aa) is float


def test_jacobians_nest_as_the_outputs_then_the_parameters(m: ModuleType) -> None:
    x, s = X[:2], 2.0
    for f, outputs in ((m.vector, 1), (m.pair, 2)):
        blocks = f.jacobian(x, s) if outputs == 2 else (f.jacobian(x, s),)
        np.testing.assert_allclose(blocks[0][0], np.diag(s * np.exp(x * s)), rtol=1e-14)
        np.testing.assert_allclose(blocks[0][1], x * np.exp(x * s), rtol=1e-14)
    np.testing.assert_allclose(blocks[1][0], [2.0, 2.0])
    assert blocks[1][1] == pytest.approx(x.sum())
    (block,) = m.tupled.jacobian(x, s)
    np.testing.assert_allclose(block, [s, s])


def test_reverse_and_forward_agree_on_several_outputs(m: ModuleType) -> None:
    rng = np.random.default_rng(5)
    x, s = X[:4], 0.8
    dx, ds = rng.normal(size=4), 0.3
    ct, cs = rng.normal(size=4), -1.2
    value, (gx, gs) = m.pair.vjp((x, s), (ct, cs))
    same, (ty, ts) = m.pair.jvp((x, s), (dx, ds))
    np.testing.assert_array_equal(value[0], same[0])
    assert gx @ dx + gs * ds == pytest.approx(ct @ ty + cs * ts, rel=1e-13)


def test_shapes_of_cotangents_and_tangents_are_checked_before_anything_is_read(m: ModuleType) -> None:
    for call in (
        lambda: m.pair.vjp((X, 2.0), (X[:3], 1.0)),
        lambda: m.rosen.jvp((X,), X[:2]),
        lambda: m.rosen.hvp((X,), X[:2]),
    ):
        with pytest.raises(ValueError, match="another shape"):
            call()
    with pytest.raises(TypeError, match=r"\(\) the tangent of 'x': expected"):
        m.rosen.jvp((X,), "no")


def test_members_that_were_not_asked_for(m: ModuleType) -> None:
    for f, member, option in (
        (m.reverse, "jvp", "mode"), (m.reverse, "hvp", "order"), (m.vector, "vjp", "mode"), (m.none, "grad", "mode"), (m.rosen, "nothing", ""),
    ):  # fmt: skip
        with pytest.raises(AttributeError) as caught:
            getattr(f, member)
        assert option in str(caught.value)
    assert m.none(0.5) == np.sin(0.5) ** 2
    with pytest.raises(AttributeError, match="vjp"):
        m.pair.grad  # noqa: B018


def test_derivative_calls_leave_their_arguments_alone_and_repeat_exactly(m: ModuleType) -> None:
    x, v = X.copy(), np.arange(6.0)
    first = (m.rosen.grad(x), m.rosen.hvp((x,), v), m.rosen.jvp((x,), v)[1])
    second = (m.rosen.grad(x), m.rosen.hvp((x,), v), m.rosen.jvp((x,), v)[1])
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(v, np.arange(6.0))


def test_eight_threads_give_the_serial_results(m: ModuleType) -> None:
    from concurrent.futures import ThreadPoolExecutor

    points = [np.random.default_rng(k).normal(size=500) for k in range(40)]
    serial = [m.rosen.value_and_grad(p) for p in points]
    with ThreadPoolExecutor(8) as pool:
        for (value, gradient), (v, g) in zip(serial, pool.map(m.rosen.value_and_grad, points), strict=True):
            assert value == v
            np.testing.assert_array_equal(gradient, g)
