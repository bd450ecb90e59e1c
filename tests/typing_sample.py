"""What a user writes, and what type checkers must say about it. `test_typing.py` runs mypy and pyright over this file.

A line that ends in `# error` must be an error for both checkers; any other error, or a missing one, fails the test.
"""

from typing import Any, assert_type

import numpy as np
from jaxtyping import Float64

from adcore import NotCompiledError, autodiff
from adcore.typing import Array0, Array2, Array6, Both2, Compiled, Forward, Matrix, Reverse, Vector


@autodiff
def rosen(x: Vector) -> float:
    return float(np.sum(x))


@autodiff(mode="reverse", wrt="x")
def loss(x: Vector, weight: float = 1.0, *, count: int = 3) -> float:
    return weight * float(x[0]) * count


@autodiff(mode="forward", alloc="forbid")
def push(x: Vector, a: Array2[np.float32]) -> Vector:
    return x


@autodiff(mode="both", order=2, wrt=("x", "y"), checkpoint="sqrt", fastmath=("nsz", "contract"))
def energy(x: Vector, y: Vector) -> tuple[float, Vector]:
    return 0.0, x


@autodiff(mode="none", bounds_check=False)
def plain(x: float) -> float:
    return x


@autodiff
def sized(x: Float64[np.ndarray, "n 3"], w: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    return float(np.sum(x @ w))


def other(x: float, n: int) -> float:
    return x * n


df = autodiff(other, wrt="x")
df2 = autodiff(other, wrt="x", order=2)

x: Vector = np.zeros(3)
m: Matrix = np.zeros((3, 3))

assert_type(rosen(x), float)
assert_type(rosen.value_and_grad(x), tuple[float, Any])
assert_type(rosen.vjp((x,), 1.0), tuple[float, Any])
assert_type(loss(x, count=2), float)
assert_type(loss(x, 2.0, count=2), float)
assert_type(push(x, np.zeros((2, 2), dtype=np.float32)), Vector)
assert_type(push.jvp((x, m), (x, m)), tuple[Vector, Any])
assert_type(energy(x, x), tuple[float, Vector])
assert_type(energy.value_and_grad(x, y=x), tuple[tuple[float, Vector], Any])
assert_type(df(1.0, 2), float)
assert_type(df.value_and_grad(1.0, n=2), tuple[float, Any])

gradient: Vector = rosen.grad(x)
loss.grad(x, out=gradient)
loss.value_and_grad(x, 2.0, out=gradient)
energy.hvp((x, x), (x, x))
energy.hessp(x, x, x)
energy.hessian(x, x)
energy.jvp((x, x), (x, x))
df2.hvp((1.0, 2), 1.0)
push.jacobian(x, np.zeros((2, 2), dtype=np.float32))

a: Reverse[..., float] = rosen
b: Compiled[[float], float] = plain
c: Forward[..., Vector] = push
d: Both2[..., tuple[float, Vector]] = energy
e: Compiled[..., float] = loss
scalar: Array0[np.float64] = np.zeros(())
six: Array6[np.float64] = np.zeros((1, 1, 1, 1, 1, 1))
name: str = rosen.__name__
reason: type[RuntimeError] = NotCompiledError

rosen("x")  # error
rosen()  # error
rosen.grad(1.0)  # error
rosen.grad()  # error
rosen.value_and_grad(x, x)  # error
loss(x, count="3")  # error
loss.grad(x, 1.0, 2)  # error
rosen.jvp((x,), (x,))  # error
push.grad(x, m)  # error
plain.vjp((1.0,), 1.0)  # error
df.hvp((1.0, 2), 1.0)  # error
df("1.0", 2)  # error
wrong: str = rosen(x)  # error
autodiff(other, mode="revers")  # error
autodiff(other, order=3)  # error
autodiff(other, mode="none", order=2)  # error
autodiff(other, alloc="never")  # error
autodiff(other, fastmath=("ffast",))  # error
autodiff(other, with_respect_to="x")  # error
autodiff(alloc=True)  # error
