"""Entry points: arguments read, results boxed, errors raised, references kept, from one file for every Python."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcore.codegen.compile import compile_module
from adcore.ir.parser import parse_module
from adcore.ir.signature import Leaf, Parameter, TupleResult
from adcore.ir.types import BOOL, F64, I64
from buildplug.link import link
from tests.codegen_helper import Compiled, entry_of

pytest.importorskip("llvmlite")

SOURCE = """
func @rosen(%x: array<f64, [n], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %z = const {value = 0.0} : f64
  %hundred = const {value = 100.0} : f64
  %fone = const {value = 1.0} : f64
  %hi = isub %n, %one : i64
  %t = for %zero, %hi, %one, %z {exits = False} : f64 (%i: i64, %acc: f64) {
    %i1 = iadd %i, %one : i64
    %a = load %x, %i1 : f64
    %b = load %x, %i : f64
    %b2 = powi %b {n = 2} : f64
    %d = fsub %a, %b2 : f64
    %d2 = powi %d {n = 2} : f64
    %p = fmul %hundred, %d2 : f64
    %e = fsub %fone, %b : f64
    %e2 = powi %e {n = 2} : f64
    %q = fadd %p, %e2 : f64
    %s = fadd %acc, %q : f64
    yield %s
  }
  return %t
}
func @rosen_vg(%x: array<f64, [n], c>) -> (f64, array<f64, [n], c>) {
  %v = call %x {callee = "rosen"} : f64
  %one = const {value = 1.0} : f64
  %g = call %x, %one {callee = "rosen_adjoint"} : array<f64, [n], c>
  return %v, %g
}
func @rosen_adjoint(%x: array<f64, [n], c>, %ct: f64) -> (array<f64, [n], c>) {
  %n = dim %x {axis = 0} : i64
  %g = alloc %n {dtype = !f64, fill = 0.0} : array<f64, [n], c>
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %k200 = const {value = 200.0} : f64
  %k400 = const {value = 400.0} : f64
  %two = const {value = 2.0} : f64
  %fone = const {value = 1.0} : f64
  %hi = isub %n, %one : i64
  for %zero, %hi, %one {exits = False} (%i: i64) {
    %i1 = iadd %i, %one : i64
    %a = load %x, %i1 : f64
    %b = load %x, %i : f64
    %b2 = powi %b {n = 2} : f64
    %d = fsub %a, %b2 : f64
    %da = fmul %k200, %d : f64
    %ga = fmul %da, %ct : f64
    accum %g, %i1, %ga
    %db = fmul %k400, %d : f64
    %db2 = fmul %db, %b : f64
    %e = fsub %fone, %b : f64
    %e2 = fmul %two, %e : f64
    %sum = fadd %db2, %e2 : f64
    %neg = fneg %sum : f64
    %gb = fmul %neg, %ct : f64
    accum %g, %i, %gb
    yield
  }
  return %g
}
func @rosen_vjp(%x: array<f64, [n], c>, %ct: f64) -> (f64, array<f64, [n], c>) {
  %v = call %x {callee = "rosen"} : f64
  %g = call %x, %ct {callee = "rosen_adjoint"} : array<f64, [n], c>
  return %v, %g
}
func @product(%x: f64, %y: array<f64, [n], c>) -> (f64) {
  %n = dim %y {axis = 0} : i64
  %s = map %n, %y {rank = 1, kinds = ("add",)} : f64 (%i: i64, %e: f64) {
    %p = fmul %e, %x : f64
    yield %p
  }
  return %s
}
func @product_vg(%x: f64, %y: array<f64, [n], c>) -> (f64, f64, array<f64, [n], c>) {
  %n = dim %y {axis = 0} : i64
  %s, %dx, %dy = map %n, %y {rank = 1, kinds = ("add", "add", "elem")} : f64, f64, array<f64, [n], c>
      (%i: i64, %e: f64) {
    %p = fmul %e, %x : f64
    yield %p, %e, %x
  }
  return %s, %dx, %dy
}
func @pair(%x: array<f64, [n], c>, %y: array<f64, [n], c>) -> (f64) {
  %n = dim %y {axis = 0} : i64
  %s = map %n, %x, %y {rank = 1, kinds = ("add",)} : f64 (%i: i64, %a: f64, %b: f64) {
    %p = fmul %a, %b : f64
    yield %p
  }
  return %s
}
func @pair_vg(%x: array<f64, [n], c>, %y: array<f64, [n], c>) -> (f64, array<f64, [n], c>, array<f64, [n], c>) {
  %n = dim %y {axis = 0} : i64
  %s, %dx, %dy = map %n, %x, %y {rank = 1, kinds = ("add", "elem", "elem")} :
      f64, array<f64, [n], c>, array<f64, [n], c> (%i: i64, %a: f64, %b: f64) {
    %p = fmul %a, %b : f64
    yield %p, %b, %a
  }
  return %s, %dx, %dy
}
func @kinds(%f: f64, %i: i64, %b: bool) -> (f64, i64, bool, f64) {
  return %f, %i, %b, %f
}
func @same(%a: array<f64, [n], c>, %b: array<f64, [n, 3], c>) -> (i64) {
  %n = dim %b {axis = 0} : i64
  return %n
}
func @ints(%a: array<i64, [?], c>, %b: array<bool, [?], c>) -> (array<i64, [?], c>, array<bool, [?], c>) {
  return %a, %b
}
func @set0(%a: array<f64, [?], c>, %b: array<f64, [?], c>) -> () {
  %zero = const {value = 0} : i64
  %v = load %b, %zero : f64
  store %a, %zero, %v
  return
}
func @sqrt(%x: f64) -> (f64) {
  %zero = const {value = 0.0} : f64
  %ok = fge %x, %zero : bool
  guard %ok {error = "ValueError", message = "math domain error"}
  %y = sqrt %x : f64
  return %y
}
func @fails(%x: array<f64, [n], c>, %kind: i64) -> (array<f64, [n], c>, array<f64, [?], c>, f64) {
  %n = dim %x {axis = 0} : i64
  %y = alloc %n {dtype = !f64, fill = 1.0} : array<f64, [n], c>
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %two = const {value = 2} : i64
  %three = const {value = 3} : i64
  %many = const {value = 2000} : i64
  %w = for %zero, %many, %one, %y {exits = False} : array<f64, [?], c> (%i: i64, %v: array<f64, [?], c>) {
    push %v, %i
    %d = dim %v {axis = 0} : i64
    %u = map %d, %v {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%j: i64, %e: f64) {
      yield %e
    }
    yield %u
  }
  %k0 = ine %kind, %zero : bool
  guard %k0 {error = "IndexError", message = "index out of range"}
  %k1 = ine %kind, %one : bool
  guard %k1 {error = "ZeroDivisionError", message = "float division by zero"}
  %k2 = ine %kind, %two : bool
  guard %k2 {error = "OverflowError", message = "too large"}
  %k3 = ine %kind, %three : bool
  guard %k3 {error = "UnboundLocalError", message = "cannot access local variable 'y'"}
  %huge = const {value = 1000000000000000} : i64
  %big = alloc %huge {dtype = !f64, fill = None} : array<f64, [?], c>
  %q = load %big, %zero : f64
  for %zero, %many, %one {exits = False} (%k: i64) {
    %t, %ti = pop : array<f64, [?], c>, i64
    yield
  }
  return %y, %w, %q
}
func @spins(%n: i64) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %half = const {value = 0.5} : f64
  %some = const {value = 1000} : i64
  %r = for %zero, %n, %one, %half {exits = False} : f64 (%i: i64, %v: f64) {
    %w = for %zero, %some, %one, %v {exits = False} : f64 (%j: i64, %u: f64) {
      %s = sin %u : f64
      %t = fadd %s, %half : f64
      yield %t
    }
    yield %w
  }
  return %r
}
func @spin(%n: i64) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %half = const {value = 0.5} : f64
  %r = for %zero, %n, %one, %half {exits = False} : f64 (%i: i64, %v: f64) {
    %s = sin %v : f64
    %t = fadd %s, %half : f64
    yield %t
  }
  return %r
}
"""


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return Compiled(parse_module(SOURCE), entries())


def entries() -> list[Any]:
    module = parse_module(SOURCE)
    members = ("primal", "grad", "value_and_grad", "vjp")
    kernels = {"primal": "rosen", "value_and_grad": "rosen_vg", "vjp": "rosen_vjp"}
    floats = (Leaf(F64, "float"), Leaf(F64, "np.float64"))
    nested = TupleResult((floats[1], TupleResult((Leaf(I64, "int"), Leaf(BOOL, "bool"))), floats[0]))
    y = module.functions["product"].params[1].type
    product = entry_of(
        module,
        "product",
        members=members,
        wrt=(0, 1),
        bare=False,
        parameters=(Parameter("x", F64), Parameter("y", y)),
        kernels={"primal": "product", "value_and_grad": "product_vg"},
    )
    pair = entry_of(
        module, "pair", members=members, wrt=(0, 1), bare=False, kernels={"primal": "pair", "value_and_grad": "pair_vg"}
    )
    plain = [entry_of(module, name) for name in ("same", "ints", "set0", "sqrt", "fails", "spin", "spins")]
    return [
        entry_of(module, "rosen", members=members, wrt=(0,), kernels=kernels),
        product,
        pair,
        entry_of(module, "kinds", result=nested),
        *plain,
    ]


def rosen(x: Any) -> float:
    x = np.asarray(x, float)
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def rosen_grad(x: Any) -> Any:
    x = np.asarray(x, float)
    g = np.zeros_like(x)
    d = x[1:] - x[:-1] ** 2
    g[1:] += 200.0 * d
    g[:-1] -= 400.0 * d * x[:-1] + 2.0 * (1.0 - x[:-1])
    return g


X = np.linspace(-1.0, 2.0, 10)


# --- results
def test_results_have_their_class_and_structure(compiled: Compiled) -> None:
    got = compiled("kinds", 1.5, 7, True)
    assert got == (1.5, (7, True), 1.5)
    assert [type(v) for v in (got[0], got[1][0], got[1][1], got[2])] == [np.float64, int, bool, float]
    assert compiled("set0", np.zeros(2), np.ones(2)) is None


def test_gradients(compiled: Compiled) -> None:
    np.testing.assert_allclose(compiled.member("rosen", "grad")(X), rosen_grad(X), rtol=1e-12)
    value, gradient = compiled.member("rosen", "value_and_grad")(X)
    assert (type(value), type(gradient), gradient.dtype) == (float, np.ndarray, np.float64)
    assert value == pytest.approx(rosen(X), rel=1e-14)
    assert gradient.flags.owndata
    assert gradient.flags.writeable
    value, gradient = compiled.member("rosen", "vjp")((X,), 2.0)
    assert value == pytest.approx(rosen(X), rel=1e-14)
    np.testing.assert_allclose(gradient, 2 * rosen_grad(X), rtol=1e-12)


def test_a_tuple_of_gradients_with_a_float(compiled: Compiled) -> None:
    dx, dy = compiled.member("product", "grad")(2.0, [1.0, 2.0])
    assert type(dx) is float
    assert dx == 3.0
    assert dy.tolist() == [2.0, 2.0]
    value, (dx, dy) = compiled.member("product", "value_and_grad")(2.0, [1.0, 2.0])
    assert value == 6.0


def test_out_receives_the_gradient(compiled: Compiled) -> None:
    grad, both = compiled.member("rosen", "grad"), compiled.member("rosen", "value_and_grad")
    out = np.full(10, 7.0)
    assert grad(X, out=out) is out
    np.testing.assert_allclose(out, rosen_grad(X), rtol=1e-12)
    assert both(X, out=out)[1] is out
    for bad, error in (
        (np.zeros(9), ValueError),
        (np.zeros(10, np.float32), TypeError),
        (np.zeros(20)[::2], ValueError),
        ([0.0] * 10, TypeError),
        (X, ValueError),
        (None, TypeError),
    ):
        with pytest.raises(error, match=r"rosen\.grad\(\)"):
            grad(X, out=bad)
    read_only = np.zeros(10)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        grad(X, out=read_only)
    with pytest.raises(ValueError, match=r"out= for 'x' shares memory with parameter 'x'"):
        grad(out, out=out)
    with pytest.raises(ValueError, match=r"out= for '\w+' shares memory with out= for '\w+'"):
        compiled.member("pair", "grad")([1.0, 2.0], [3.0, 4.0], out=(out[:2], out[1:3]))
    assert compiled.member("pair", "grad")([1.0, 2.0], [3.0, 4.0], out=(out[:2], out[2:4]))[1].tolist() == [1.0, 2.0]
    two = (None, np.zeros(2))
    assert compiled.member("product", "grad")(2.0, [1.0, 2.0], out=two)[1] is two[1]
    with pytest.raises(TypeError, match="tuple of 2"):
        compiled.member("product", "grad")(2.0, [1.0, 2.0], out=two[1])


# --- arguments
@pytest.mark.parametrize(
    "convert",
    [
        list,
        tuple,
        lambda x: np.repeat(x, 2)[::2],
        lambda x: x[::-1].copy()[::-1],
        lambda x: x.astype(">f8"),
        np.asfortranarray,
        lambda x: x.view(type("Sub", (np.ndarray,), {})),
        lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64),
        lambda x: _read_only(x),
        lambda x: memoryview(x),
    ],
)
def test_read_parameters_take_what_casts_safely(compiled: Compiled, convert: Callable[[Any], Any]) -> None:
    assert compiled("rosen", convert(X)) == compiled("rosen", X)


def _read_only(x: Any) -> Any:
    x = x.copy()
    x.flags.writeable = False
    return x


def test_integer_and_float32_arrays_are_cast(compiled: Compiled) -> None:
    for dtype in (np.int64, np.int32, np.uint8, np.float32, np.bool_):
        x = np.array([0, 1, 1, 0]).astype(dtype)
        assert compiled("rosen", x) == rosen(x)
    assert compiled("rosen", [1, 2, 3]) == rosen([1, 2, 3])
    assert compiled("rosen", []) == 0.0


@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        (None, TypeError, "expected a 1-D float64 array, got None"),
        (np.zeros((2, 2)), TypeError, "got a 2-D float64 array"),
        (1.5, TypeError, "got a float"),
        ("abc", TypeError, "got a str"),
        (np.zeros(3, complex), TypeError, "complex128"),
        (np.array([None]), TypeError, "object"),
        ([[1.0], [1.0, 2.0]], ValueError, "not rectangular"),
        ({1: 2}, TypeError, "got a dict"),
        (np.ma.masked_array([1.0], [True]), TypeError, "got a masked array, whose mask compiled code would not see"),
    ],
)
def test_arrays_that_do_not_fit_are_named(compiled: Compiled, bad: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=r"rosen\(\) parameter 'x'.*" + words.replace("(", r"\(")):
        compiled("rosen", bad)


def test_scalar_arguments(compiled: Compiled) -> None:
    for x in (4, 4.0, np.float64(4), np.float32(4), np.int64(4), np.array(4.0), True + 3):
        assert compiled("sqrt", x) == 2.0
    for bad in ("4", None, 4j, [4.0], np.zeros(1), np.complex128(4)):
        with pytest.raises(TypeError, match=r"sqrt\(\) parameter 'x': expected a float, got"):
            compiled("sqrt", bad)
    with pytest.raises(OverflowError, match="too large for a float"):
        compiled("sqrt", 10**400)
    for i in (3, np.int32(3), np.uint8(3), True):
        assert compiled("kinds", 0.0, i, False)[1][0] == int(i)
    for bad in (3.0, None, "3", np.float64(3)):
        with pytest.raises(TypeError, match=r"kinds\(\) parameter 'i': expected an int, got"):
            compiled("kinds", 0.0, bad, False)
    for big in (2**63, -(2**63) - 1, np.uint64(2**63)):
        with pytest.raises(OverflowError, match="'i'"):
            compiled("kinds", 0.0, big, False)
    assert compiled("kinds", 0.0, -1, False)[1][0] == -1
    assert compiled("kinds", 0.0, 1, np.True_)[1][1] is True
    with pytest.raises(TypeError, match="expected a bool, got an int"):
        compiled("kinds", 0.0, 1, 1)


def test_sizes_that_the_annotation_fixes(compiled: Compiled) -> None:
    assert compiled("same", np.zeros(4), np.zeros((4, 3))) == 4
    with pytest.raises(ValueError, match=r"same\(\) parameter 'b': expected size 4 on axis 0, got 5"):
        compiled("same", np.zeros(4), np.zeros((5, 3)))
    with pytest.raises(ValueError, match="expected size 3 on axis 1, got 2"):
        compiled("same", [0.0] * 4, [[0, 1]] * 4)


def test_both_int64_descriptors(compiled: Compiled) -> None:
    a, b = compiled("ints", np.arange(3, dtype=np.longlong), [True, False])
    assert (a.tolist(), a.dtype, b.tolist(), b.dtype) == ([0, 1, 2], np.int64, [True, False], np.bool_)
    assert compiled("ints", [1, 2], np.array([], bool))[0].tolist() == [1, 2]
    with pytest.raises(TypeError, match="expected a 1-D int64 array, got a 1-D float64 array"):
        compiled("ints", [1.5], [True])


def test_written_parameters_are_the_callers_own_memory(compiled: Compiled) -> None:
    a = np.zeros(3)
    compiled("set0", a, [5.0])
    assert a[0] == 5.0
    for bad, error in (
        ([0.0], TypeError),
        (np.zeros(3, np.int64), TypeError),
        (_read_only(a), ValueError),
        (np.zeros(6)[::2], ValueError),
    ):
        with pytest.raises(error, match=r"set0\(\) parameter 'a'"):
            compiled("set0", bad, a)
    with pytest.raises(ValueError, match="shares memory"):
        compiled("set0", a, a[1:])
    m = np.zeros(6)
    compiled("set0", m[:3], m[3:] + 1.0)


# --- calls
def test_arity_and_keywords_go_through_bind(compiled: Compiled) -> None:
    f, g = compiled.member("product"), compiled.member("product", "grad")
    with pytest.raises(TypeError, match=r"product\(\) takes 2 positional arguments but 1 were given"):
        f(1.0)
    seen = []

    def bind(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        seen.append((name, args, kwargs))
        if "z" in kwargs:
            raise TypeError("product() got an unexpected keyword argument 'z'")
        return (*args, *kwargs.values())[:2] if len(args) + len(kwargs) > 1 else (*args, [1.0])

    setattr(compiled.extension, "__adcore_bind__", bind)  # noqa: B010 (a name that no type knows)
    try:
        assert f(2.0, y=[3.0]) == 6.0
        assert f(2.0) == 2.0
        out = (None, np.zeros(1))
        assert g(2.0, y=[3.0], out=out)[1] is out[1]
        assert seen == [
            ("m:product.primal", (2.0,), {"y": [3.0]}),
            ("m:product.primal", (2.0,), {}),
            ("m:product.grad", (2.0,), {"y": [3.0]}),
        ]
        with pytest.raises(TypeError, match="unexpected keyword"):
            f(2.0, z=1)
        with pytest.raises(TypeError):
            compiled.member("rosen", "vjp")((X, X, X), 1.0)
    finally:
        delattr(compiled.extension, "__adcore_bind__")
    with pytest.raises(TypeError, match=r"rosen\.vjp\(\) takes"):
        compiled.member("rosen", "vjp")(X)
    with pytest.raises(TypeError, match="cotangent"):
        compiled.member("rosen", "vjp")((X,), None)


def test_errors_have_pythons_classes(compiled: Compiled) -> None:
    with pytest.raises(ValueError, match=r"^math domain error$"):
        compiled("sqrt", -1.0)
    for kind, error in enumerate((IndexError, ZeroDivisionError, OverflowError, UnboundLocalError, MemoryError)):
        with pytest.raises(error):
            compiled("fails", X, kind)


# --- references and memory
def _rss() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


CALLS: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
    ("rosen", "primal", (X,), {}),
    ("rosen", "grad", (X,), {}),
    ("rosen", "value_and_grad", (X,), {"out": np.zeros(10)}),
    ("rosen", "vjp", ((X,), 1.0), {}),
    ("rosen", "grad", (list(X),), {}),
    ("product", "value_and_grad", (2.0, X), {}),
    ("kinds", "primal", (1e300, 10**15, True), {}),
    ("ints", "primal", (np.arange(1000), np.ones(1000, bool)), {}),
    ("rosen", "primal", (None,), {}),
    ("rosen", "grad", (X,), {"out": np.zeros(3)}),
    ("sqrt", "primal", (-1.0,), {}),
    ("fails", "primal", (X, 0), {}),
    ("fails", "primal", (X, 4), {}),
]


@pytest.mark.parametrize(("name", "member", "args", "kwargs"), CALLS)
def test_calls_leak_nothing(compiled: Compiled, name: str, member: str, args: Any, kwargs: Any) -> None:
    function = compiled.member(name, member)
    flat = [*args, *kwargs.values(), None, True]

    def call() -> None:
        with contextlib.suppress(TypeError, ValueError, IndexError, MemoryError):
            function(*args, **kwargs)

    for _ in range(300):
        call()
    gc.collect()
    counts, memory = [sys.getrefcount(v) for v in flat], _rss()
    for _ in range(300 if name == "fails" else 20_000):
        call()
    gc.collect()
    assert [sys.getrefcount(v) for v in flat][: len(args)] == counts[: len(args)]
    assert abs(sys.getrefcount(None) - counts[-2]) < 100
    assert _rss() - memory < 1_000_000


def test_the_gil_is_released_while_a_loop_runs(compiled: Compiled) -> None:
    ticks = 0
    done = threading.Event()

    def work() -> None:
        compiled("spin", 30_000_000)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    start = time.perf_counter()
    while not done.is_set() and time.perf_counter() - start < 30:
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 20


def test_ctrl_c_ends_a_long_computation(compiled: Compiled) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    start = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            compiled("spins", 10**9)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - start < 5
    assert compiled("spins", 100) != 0.0


def test_threads_share_nothing(compiled: Compiled) -> None:
    wrong = []

    def work(k: int) -> None:
        x = X * k
        want = rosen_grad(x)
        for _ in range(300):
            if not np.allclose(compiled.member("rosen", "grad")(x), want):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


# --- the file
SMOKE = """
import sys, importlib.machinery, importlib.util
import numpy as np
loader = importlib.machinery.ExtensionFileLoader("_adcore", sys.argv[1])
spec = importlib.util.spec_from_file_location("_adcore", sys.argv[1], loader=loader)
m = importlib.util.module_from_spec(spec)
loader.exec_module(m)
x = np.linspace(-1.0, 2.0, 10)
for _ in range(1000):
    v, g = getattr(m, "m:rosen.value_and_grad")(x)
    assert abs(v - float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))) < 1e-9 and g.shape == (10,)
    assert getattr(m, "m:rosen.primal")([1, 2, 3]) == 201.0
    assert getattr(m, "m:set0.primal")(np.zeros(1), [1]) is None
    assert getattr(m, "m:kinds.primal")(1.0, 2, False)[1] == (2, False)
try:
    getattr(m, "m:rosen.primal")(None)
except TypeError as e:
    assert "parameter 'x'" in str(e)
print("ok", m.__adcore_abi__)
"""


def other_pythons() -> list[str]:
    """Interpreters with NumPy, from ADCORE_TEST_PYTHONS (paths separated by colons)."""
    return [p for p in os.environ.get("ADCORE_TEST_PYTHONS", "").split(":") if p]


@pytest.mark.parametrize("python", [sys.executable, *other_pythons()])
def test_one_file_for_every_python(tmp_path: Path, python: str) -> None:
    shared = link(compile_module(parse_module(SOURCE), entries(), meta='{"a": "\\u00e4"}'), export={"PyInit__adcore"})
    path = tmp_path / "_adcore.abi3.so"
    path.write_bytes(shared)
    done = subprocess.run([python, "-c", SMOKE, str(path)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "ok 1\n", done.stderr


def test_equal_input_gives_equal_bytes() -> None:
    one = compile_module(parse_module(SOURCE), entries())
    assert one == compile_module(parse_module(SOURCE), entries())


def test_derivatives_take_the_arguments_as_one_tuple(compiled: Compiled) -> None:
    vjp = compiled.member("rosen", "vjp")
    assert vjp((X,), 1.0)[0] == vjp([X], 1.0)[0] == rosen(X)
    for given in (X, np.ones(1), 2.0, "x", {"x": X}, None):
        with pytest.raises(TypeError, match=r"vjp\(\) takes the function's arguments as one tuple, .* `\(x,\)`"):
            vjp(given, 1.0)
    with pytest.raises(TypeError, match=r"vjp\(\) takes two positional arguments: the tuple of the function's"):
        vjp(X)
