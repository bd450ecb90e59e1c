"""Products of matrices: every layout against NumPy, with BLAS and without, the zero rule, threads, and who looks for BLAS at all."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from engine import HEADER, compile_module

LAYOUTS = [
    "::1, ::1",
    "1::1, ::1",
    "::1, 2::1",
    "::2, ::1",
    "::1, ::2",
    "1::3, 1::2",
    "::-1, ::1",
    "::1, ::-1",
    "-1::-2, -2::-1",
]
FUNCTIONS = """
@autodiff(mode="both")
def product{k}(a: Matrix, b: Matrix) -> Matrix:
    return a[{i}, {j}] @ b[{j}, {i}]


@autodiff(mode="both")
def turned{k}(a: Matrix, b: Matrix) -> Matrix:
    return a[{i}, {j}].T @ b[{j}, {i}].T
"""
TEXT = (
    HEADER.replace("import Vector", "import Matrix, Vector")
    + """
@autodiff(mode="both", order=2)
def curved(a: Matrix, b: Matrix) -> float:
    return float(np.sum(np.sin(a @ b) * (b.T @ a.T).T))


@autodiff
def none(v: Vector) -> float:
    return float(np.sum(v))
"""
)
for number, layout in enumerate(LAYOUTS):
    TEXT += FUNCTIONS.format(k=number, i=layout.partition(", ")[0], j=layout.partition(", ")[2])


@pytest.fixture(scope="module")
def m(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return compile_module(tmp_path_factory.mktemp("products"), TEXT)


def close(got: Any, want: Any, k: int) -> None:
    """Within what another order of the same sum may give."""
    np.testing.assert_allclose(
        got, want, rtol=0, atol=4e-16 * max(k, 1) * max(1.0, float(np.max(np.abs(want), initial=0.0)))
    )


SIZES = [(12, 12), (1, 12), (12, 1), (2, 2), (40, 37), (0, 5), (5, 0), (1, 1)]


def part(array: Any, rows: str, columns: str) -> Any:
    return eval(f"array[{rows}, {columns}]", {"array": array})


@pytest.mark.parametrize("number", range(len(LAYOUTS)), ids=LAYOUTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_layout(m: ModuleType, size: tuple[int, int], number: int) -> None:
    rng = np.random.default_rng(7)
    rows, _, columns = LAYOUTS[number].partition(", ")
    a, b = rng.standard_normal(size), rng.standard_normal(size[::-1])
    own_a, own_b = part(a, rows, columns), part(b, columns, rows)
    for name, want in (("product", own_a @ own_b), ("turned", own_a.T @ own_b.T)):
        function = getattr(m, f"{name}{number}")
        close(function(a, b), want, max(size))
        w = rng.standard_normal(want.shape)
        value, (for_a, for_b) = function.vjp((a, b), w)
        close(value, want, max(size))
        want_a, want_b = np.zeros_like(a), np.zeros_like(b)
        if name == "product":
            part(want_a, rows, columns)[...] = w @ own_b.T
            part(want_b, columns, rows)[...] = own_a.T @ w
        else:
            part(want_a, rows, columns)[...] = (w @ own_b).T
            part(want_b, columns, rows)[...] = (own_a @ w).T
        close(for_a, want_a, 4 * max(size))
        close(for_b, want_b, 4 * max(size))
        da, db = rng.standard_normal(a.shape), rng.standard_normal(b.shape)
        _, tangent = function.jvp((a, b), (da, db))
        assert np.sum(tangent * w) == pytest.approx(np.sum(for_a * da) + np.sum(for_b * db), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("n", [2, 8])
def test_a_zero_cotangent_is_zero_whatever_it_meets(m: ModuleType, bad: float, n: int) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    a[0, 1] = b[1, 0] = bad
    w = np.zeros((n, n))
    _, gradients = m.product0.vjp((a, b), w)
    assert all(np.array_equal(g, np.zeros((n, n))) for g in gradients)
    w[1, 1] = 2.0  # of rows and columns that are finite
    _, (for_a, for_b) = m.product0.vjp((a, b), w)
    close(for_a[1], 2.0 * b[:, 1], n)
    close(for_b[:, 1], 2.0 * a[1], n)
    assert not for_a[0].any()
    assert not for_b[:, 0].any()
    _, tangent = m.product0.jvp((a, b), (np.zeros((n, n)), np.zeros((n, n))))
    assert not tangent.any()


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("number", range(len(LAYOUTS)), ids=LAYOUTS)
def test_what_is_not_finite_is_found_wherever_it_stands(m: ModuleType, number: int, bad: float) -> None:
    """With no cotangent its row gets nothing from it, be it among the first, in a vector or left over."""
    rng = np.random.default_rng(8)
    for name in ("product", "turned"):
        function = getattr(m, f"{name}{number}")
        for i, j in ((0, 0), (3, 7), (8, 3), (10, 12), (12, 10)):
            a, b = rng.standard_normal((13, 13)), rng.standard_normal((13, 13))
            b[i, j] = bad
            with np.errstate(invalid="ignore"):
                _, gradients = function.vjp((a, b), np.zeros_like(function(a, b)))
            assert not any(g.any() for g in gradients)


def test_what_is_not_finite_is_in_the_product_as_in_numpy(m: ModuleType) -> None:
    a, b = np.ones((8, 8)), np.ones((8, 8))
    a[0, 0], b[1, 1] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        assert np.array_equal(m.product0(a, b), a @ b, equal_nan=True)


def test_calls_repeat_exactly_and_in_threads(m: ModuleType) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((60, 50)), rng.standard_normal((50, 60))
    first = m.curved.value_and_grad(a, b)

    def again(_: int) -> bool:
        value, gradients = m.curved.value_and_grad(a, b)
        return bool(value == first[0]) and all(map(np.array_equal, gradients, first[1]))

    assert again(0)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(again, range(32)))


def test_hessians_are_symmetric(m: ModuleType) -> None:
    rng = np.random.default_rng(6)
    a, b, da, db, ea, eb = (rng.standard_normal((6, 6)) for _ in range(6))
    hd, he = m.curved.hvp((a, b), (da, db)), m.curved.hvp((a, b), (ea, eb))
    left = sum(np.sum(x * y) for x, y in zip(hd, (ea, eb), strict=True))
    right = sum(np.sum(x * y) for x, y in zip(he, (da, db), strict=True))
    assert left == pytest.approx(right, rel=1e-10)
    step = 1e-6
    ends = [m.curved.grad(a + h * da, b + h * db) for h in (step, -step)]
    for got, high, low in zip(hd, *ends, strict=True):
        np.testing.assert_allclose(got, (high - low) / (2 * step), rtol=1e-6, atol=1e-6)


SCRIPT = """
import sys
{before}
import numpy as np
sys.path.insert(0, {folder!r})
from {package} import m
assert "scipy" not in sys.modules or sys.modules["scipy"] is None, "an import looks for nothing"
m.none(np.ones(3))
assert "scipy.linalg" not in sys.modules, "who multiplies no matrices looks for nothing"
rng = np.random.default_rng(1)
for n in (1, 3, 8, 33):
    a, b = rng.standard_normal((n, n + 1)), rng.standard_normal((n + 1, n))
    assert np.allclose(m.product0(a, b), a @ b, rtol=1e-14, atol=1e-13)
    value, (for_a, for_b) = m.product0.vjp((a, b), np.ones((n, n)))
    assert np.allclose(for_a, np.ones((n, n)) @ b.T, rtol=1e-13)
    assert np.allclose(for_b, a.T @ np.ones((n, n)), rtol=1e-13)
for k in range({layouts}):
    for size in {sizes}:
        rows, _, columns = {texts}[k].partition(", ")
        a, b = rng.standard_normal(size), rng.standard_normal(size[::-1])
        own_a, own_b = eval(f"a[{{rows}}, {{columns}}]"), eval(f"b[{{columns}}, {{rows}}]")
        assert np.allclose(getattr(m, f"product{{k}}")(a, b), own_a @ own_b, rtol=0, atol=1e-13), (k, size)
        assert np.allclose(getattr(m, f"turned{{k}}")(a, b), own_a.T @ own_b.T, rtol=0, atol=1e-13), (k, size)
        da, db, w = rng.standard_normal(a.shape), rng.standard_normal(b.shape), rng.standard_normal((own_a @ own_b).shape)
        _, (for_a, for_b) = getattr(m, f"product{{k}}").vjp((a, b), w)
        _, tangent = getattr(m, f"product{{k}}").jvp((a, b), (da, db))
        assert np.isclose(np.sum(tangent * w), np.sum(for_a * da) + np.sum(for_b * db), rtol=1e-11, atol=1e-11), (k, size)
print("scipy.linalg.cython_blas" in sys.modules)
"""


@pytest.mark.parametrize(
    ("before", "found"),
    [("", "True"), ('sys.modules["scipy"] = None', "False")],
    ids=["with SciPy", "without"],
)
def test_with_and_without_scipy(m: ModuleType, before: str, found: str) -> None:
    sizes, layouts = str([*SIZES, (11, 6), (7, 13), (5, 9)]), str(len(LAYOUTS))
    assert done_by(m, SCRIPT, before=before, sizes=sizes, layouts=layouts, texts=str(LAYOUTS)) == found


def done_by(m: ModuleType, script: str, **words: str) -> str:
    """What a script prints in a process of its own."""
    assert m.__file__ is not None
    package = Path(m.__file__).parent
    text = script.format(folder=str(package.parent), package=package.name, **words)
    root = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


FIRST = """
import sys, threading
import numpy as np
sys.path.insert(0, {folder!r})
from {package} import m
a, b = np.random.default_rng(1).standard_normal((2, 60, 60))
results, gate = [None] * 8, threading.Barrier(8)
def call(k):
    gate.wait()
    results[k] = m.product0(a, b)
threads = [threading.Thread(target=call, args=(k,)) for k in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
later = m.product0(a, b)
assert "scipy.linalg.cython_blas" in sys.modules
print(sum(np.array_equal(result, later) for result in results))
"""

BROKEN_OFF = """
import builtins, sys
import numpy as np
sys.path.insert(0, {folder!r})
from {package} import m
a, b = np.random.default_rng(1).standard_normal((2, 60, 60))
own = builtins.__import__
def interrupted(name, *rest):
    if name.startswith("scipy"):
        raise KeyboardInterrupt
    return own(name, *rest)
builtins.__import__ = interrupted
for _ in range(2):
    try:
        m.product0(a, b)
    except KeyboardInterrupt:
        print("interrupted", end=" ")
builtins.__import__ = own
later = m.product0(a, b)
print("scipy.linalg.cython_blas" in sys.modules, np.array_equal(later, m.product0(a, b)))
"""

BUILDS = """
import sys, types
import numpy as np
sys.path.insert(0, {folder!r})
from {package} import m
class Capsule:
    def __repr__(self):
        return '<capsule object "void (char *, char *, long *, long *, long *, d *)">'
fake = types.ModuleType("scipy.linalg.cython_blas")
fake.__pyx_capi__ = {{"dgemm": Capsule()}}
for name in ("scipy", "scipy.linalg"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["scipy.linalg.cython_blas"] = fake
a, b = np.random.default_rng(1).standard_normal((2, 60, 60))
print(np.allclose(m.product0(a, b), a @ b, rtol=0, atol=1e-13))
"""


@pytest.mark.parametrize(
    ("script", "said"),
    [(FIRST, "8"), (BROKEN_OFF, "interrupted interrupted True True"), (BUILDS, "True")],
    ids=["eight first calls at once", "Ctrl-C while it imports", "64-bit sizes"],
)
def test_the_search_for_blas(m: ModuleType, script: str, said: str) -> None:
    assert done_by(m, script) == said


@pytest.mark.parametrize(
    "call",
    [lambda m, a: m.product0(a, a[:3]), lambda m, a: m.curved.grad(a, a[:3])],
    ids=["value", "gradient"],
)
def test_sizes_that_do_not_fit(m: ModuleType, call: Callable[[ModuleType, Any], Any]) -> None:
    with pytest.raises(ValueError, match="the sizes of the inner axes differ"):
        call(m, np.ones((4, 4)))
