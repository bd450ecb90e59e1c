"""What the program generator has found: each program once was wrong, by the essence of why. All stages are compared, as the generator does.

Compiled code as well where the fault was there. ``OPEN`` holds what is known and not yet repaired; such a program is expected to fail.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest
from fuzz.compare import check
from fuzz.generate import HEADER, Program

A = np.array([-0.537, -1.607, 0.547, -1.476, -0.493])
# name: (text, wrt, calls)
FINDS: dict[str, tuple[str, tuple[int, ...], list[tuple[Any, ...]]]] = {
    "work of the second arm stays in it": (
        """
        def f(x: Vector, a: float) -> float:
            if a > 0.0:
                return 3.8
            for k in range(3, 5, 2):
                a = 2.0 * a * x[0]
                break
            return a
        """, (0, 1), [(A, 1.0), (A, -1.0)],
    ),
    "a kept array whose size is a constant of the loop's body": (
        """
        def f(a: float, m: int) -> float:
            for k in range(m, 5, 2):
                y = np.where(np.array([2.0, a]) > 1.0, a, a)
                a = y[1]
            return a
        """, (0,), [(-0.861, 1), (1.933, 0), (-1.347, 4)],
    ),
    "a kept array whose size is a constant, of a module's table": (
        """
        TABLE = np.array([0.5, 1.0, 2.0])
        def f(a: float, m: int) -> float:
            for k in range(1, m):
                y = np.where(3.8 > a, TABLE, 1.0).copy()
                a += np.arctan2(y, a).min()
            return a
        """, (0,), [(0.413, 1), (0.413, 3)],
    ),
    "second order where an arm keeps an array": (
        """
        def f(x: Vector) -> float:
            a = 3.8
            if 0.5 < a <= x[2]:
                for k in range(len(x), 1, 1):
                    a *= np.mean(x)
            return a
        """, (0,), [(A,)],
    ),
    "second order where an arm after a return keeps an array": (
        """
        def f(x: Vector) -> float:
            b = 1.0
            if x.size > 3:
                return 1.0
            for k in range(3, 0, -1):
                b -= np.tanh(np.array([x[2], b]).sum())
            return b
        """, (0,), [(A,), (A[:3],)],
    ),
    "views as arguments of a call that stays one have shadows that are views": (
        """
        def h(p: Vector, q: Vector) -> float:
            s = 0.0
            for k in range(len(p)):
                s += p[k] * np.sin(q[k])
            return s
        def f(x: Vector) -> float:
            return h(x[:2], x) + h(x[::-1], x)
        """, (0,), [(A,)],
    ),
    "standard deviation of a constant array": (
        """
        def f(a: float) -> float:
            return np.std(np.array([a, a])) + a
        """, (0,), [(-0.388,)],
    ),
    "second derivative of a power by base and exponent where the exponent is 0": (
        """
        def f(a: float, b: float) -> float:
            return (1.4 + a) ** b + (2.0 + b) ** a
        """, (0, 1), [(0.0, 0.0), (0.0, 1.0), (0.5, 0.0)],
    ),
    "invariants of a loop over a name that may be unbound": (
        """
        def f(a: float, b: float) -> float:
            if a < -1.0:
                c = b
            for k in range(2, 5, 2):
                a /= c * c
            return a
        """, (0, 1), [(-1.306, -0.325), (0.306, -0.325)],
    ),
    "shadows of an array that is not there, from branch to branch": (
        """
        def f(x: Vector, a: float) -> float:
            u = x if 1.0 < x[1] <= 1.5 else 3.8
            if 3.0 <= x[2]:
                u = 1.0
            return np.mean(u) * a
        """, (0, 1), [(A, 2.0), (np.array([0.5, 1.2, 1.0]), 2.0), (np.array([0.5, 1.2, 3.5]), 2.0), (np.array([0.5, 2.0, 3.5]), 2.0)],
    ),
    "an array that a loop carries and no path makes": (
        """
        def f(x: Vector, a: float, q: bool) -> float:
            for k in range(4):
                if q:
                    pass
                elif q:
                    d = x
            return np.mean(d) * a
        """, (0, 1), [(A, 1.4, False), (A, 1.4, True)],
    ),
    "a kept number of changing type, of the part that it does not have": (
        """
        def f(x: Vector, a: float) -> float:
            for k in range(x.size):
                if a:
                    g = k
                else:
                    g = 1.0
                a = max(g, a)
            return a
        """, (1,), [(A, 1.642), (A, 0.0), (A, 30.0)],
    ),
    "a tangent without a number where the partial is 0": (
        """
        def f(a: float) -> float:
            return min(1.0, np.arcsin(a)) + 0.0 * np.sqrt(a - 1.773)
        """, (0,), [(1.773,)],
    ),
    "a union that takes another array in": (
        """
        def f(x: Vector, y: Vector, m: int, q: bool) -> float:
            d = 1.0 if m else y
            if q:
                d = x
            return np.sum(d * d)
        """, (0, 1), [(A, 2.0 * A, 3, True), (A, 2.0 * A, 0, True), (A, 2.0 * A, 0, False), (A, 2.0 * A, 3, False)],
    ),
    "the size of an array that one arm of a loop does not make": (
        """
        def f(x: Vector) -> float:
            e = x
            for k in range(1, x.shape[0]):
                if x[k] < 1.0:
                    pass
                else:
                    e = 1.0
            return np.mean(e)
        """, (0,), [(A,), (A + 2.0,), (A[:1],)],
    ),
    "the shadow of an array that an earlier iteration gave up": (
        """
        def f(x: Vector) -> float:
            e = x
            for y in x:
                if y:
                    e = 3.8
                z = e * x
            return np.sum(e)
        """, (0,), [(A,), (0.0 * A,)],
    ),
}  # fmt: skip


def program(text: str, wrt: tuple[int, ...], calls: list[tuple[Any, ...]]) -> Program:
    body = textwrap.dedent(text)
    names = body.partition("def f(")[2].partition(")")[0].split(", ")
    chosen = ", ".join(repr(names[k].partition(":")[0]) for k in wrt)
    body = body.replace("def f(", f'@autodiff(mode="both", order=2, wrt=({chosen},))\ndef f(')
    return Program(HEADER + body, tuple(calls), wrt)


OPEN: dict[str, tuple[str, tuple[int, ...], list[tuple[Any, ...]]]] = {}


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.xfail(strict=True)
def test_open(name: str) -> None:
    assert check(program(*OPEN[name])).mismatches == []


@pytest.mark.parametrize("apart", [False, True], ids=["inlined", "apart"])
@pytest.mark.parametrize("name", FINDS)
def test_find(name: str, apart: bool) -> None:
    result = check(program(*FINDS[name]), second=True, apart=apart, verify=True)
    assert result.rejected is None
    assert result.mismatches == []
