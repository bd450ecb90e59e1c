"""Structured ops, arrays, views, calls and the tape: compiled IR text against the reference interpreter."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from adcore.codegen.compile import emit
from adcore.ir import interp
from adcore.ir.interp import Raised
from adcore.ir.parser import parse_module
from tests.codegen_helper import Compiled

pytest.importorskip("llvmlite")

LOOPS = """
func @count(%lo: i64, %hi: i64, %step: i64) -> (i64, i64, f64) {
  %zero = const {value = 0} : i64
  %z = const {value = 0.5} : f64
  %one = const {value = 1} : i64
  %n, %last, %s = for %lo, %hi, %step, %zero, %zero, %z {exits = False} : i64, i64, f64
      (%i: i64, %n.1: i64, %last.1: i64, %s.1: f64) {
    %n.2 = iadd %n.1, %one : i64
    %f = itof %i : f64
    %s.2 = fadd %s.1, %f : f64
    yield %n.2, %i, %s.2
  }
  return %n, %last, %s
}
func @fixed_down(%lo: i64, %hi: i64) -> (i64, i64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %step = const {value = -3} : i64
  %n, %last = for %lo, %hi, %step, %zero, %zero {exits = False} : i64, i64 (%i: i64, %n.1: i64, %last.1: i64) {
    %n.2 = iadd %n.1, %one : i64
    yield %n.2, %i
  }
  return %n, %last
}
func @fixed_up(%lo: i64, %hi: i64) -> (i64, i64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %step = const {value = 4} : i64
  %n, %last = for %lo, %hi, %step, %zero, %zero {exits = False} : i64, i64 (%i: i64, %n.1: i64, %last.1: i64) {
    %n.2 = iadd %n.1, %one : i64
    yield %n.2, %i
  }
  return %n, %last
}
func @leave(%hi: i64, %limit: f64) -> (f64, i64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = const {value = 0.0} : f64
  %s, %k = for %zero, %hi, %one, %z {exits = True} : f64, i64 (%i: i64, %s.1: f64) {
    %f = itof %i : f64
    %s.2 = fadd %s.1, %f : f64
    %go = flt %s.2, %limit : bool
    yield %go, %s.2
  }
  return %s, %k
}
func @halve(%x: f64) -> (f64, i64) {
  %half = const {value = 0.5} : f64
  %one = const {value = 1.0} : f64
  %y, %k = while %x : f64, i64 (%v: f64) {
    %w = fmul %v, %half : f64
    %go = fgt %w, %one : bool
    yield %go, %w
  }
  return %y, %k
}
func @branch(%x: f64, %c: bool) -> (f64, i64, bool) {
  %one = const {value = 1} : i64
  %two = const {value = 2} : i64
  %no = not_ %c : bool
  %r, %k, %b = if %c : f64, i64, bool {
    %s = sin %x : f64
    yield %s, %one, %no
  } {
    yield %x, %two, %c
  }
  return %r, %k, %b
}
func @nested(%n: i64) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = const {value = 0.0} : f64
  %s = for %zero, %n, %one, %z {exits = False} : f64 (%i: i64, %s.1: f64) {
    %t = for %zero, %i, %one, %s.1 {exits = False} : f64 (%j: i64, %t.1: f64) {
      %even = ieq %i, %j : bool
      %ij = imul %i, %j : i64
      %f = itof %ij : f64
      %u = fadd %t.1, %f : f64
      %lt = ilt %j, %one : bool
      %v = if %lt : f64 {
        yield %t.1
      } {
        yield %u
      }
      yield %v
    }
    yield %t
  }
  return %s
}
"""


@pytest.fixture(scope="module")
def loops() -> Compiled:
    return Compiled(LOOPS)


@pytest.mark.parametrize(
    "args",
    [
        (0, 5, 1),
        (5, 0, 1),
        (5, 0, -1),
        (-3, 10, 4),
        (10, -3, -4),
        (0, 0, 1),
        (2**62, 2**62 + 3, 2),
        (7, 8, 2**62),
        (0, 9, 3),
        (0, 10, 3),
    ],
)
def test_for_iterates_like_range(loops: Compiled, args: tuple[int, int, int]) -> None:
    loops.check("count", *args)
    assert loops("count", *args)[0] == len(range(*args))
    loops.check("fixed_down", *args[:2]) if args[0] - args[1] < 1000 else None
    if args[1] - args[0] < 1000:
        loops.check("fixed_up", *args[:2])


def test_trip_count_of_extreme_bounds_does_not_overflow(loops: Compiled) -> None:
    assert loops("count", -(2**63), 2**63 - 1, 2**62)[0] == len(range(-(2**63), 2**63 - 1, 2**62))
    assert loops("count", 2**63 - 1, -(2**63), -(2**62))[0] == len(range(2**63 - 1, -(2**63), -(2**62)))
    assert loops("count", 0, 2**63 - 1, 2**63 - 1)[0] == 1


@pytest.mark.parametrize("args", [(10, 3.5), (10, 1e9), (0, 1.0), (1, 0.0), (1, 1.0)])
def test_a_loop_with_exits_counts_what_it_executed(loops: Compiled, args: tuple[int, float]) -> None:
    loops.check("leave", *args)


@pytest.mark.parametrize("x", [0.1, 1.0, 77.0, math.nan, math.inf / 2 * 0])
def test_while(loops: Compiled, x: float) -> None:
    loops.check("halve", x)


@pytest.mark.parametrize("c", [True, False])
def test_if(loops: Compiled, c: bool) -> None:
    loops.check("branch", 0.7, c, rtol=1e-15)


def test_nested(loops: Compiled) -> None:
    for n in (0, 1, 2, 7):
        loops.check("nested", n)


ARRAYS = """
constant @table = f64 (3,) (1.5, -0.0, inf,)
constant @flags = bool (2, 2,) (True, False, False, True,)
func @fill(%n: i64, %v: f64) -> (array<f64, [?], c>, array<i64, [?], c>, array<bool, [?], c>) {
  %a = alloc %n {dtype = !f64, fill = 2.5} : array<f64, [?], c>
  %b = alloc %n {dtype = !i64, fill = -3} : array<i64, [?], c>
  %c = alloc %n {dtype = !bool, fill = True} : array<bool, [?], c>
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  for %zero, %n, %one {exits = False} (%i: i64) {
    accum %a, %i, %v
    accum %b, %i, %i
    %odd = iand %i, %one : i64
    %is = ieq %odd, %one : bool
    store %c, %i, %is
    yield
  }
  return %a, %b, %c
}
func @constants(%i: i64) -> (f64, array<f64, [3], c>, array<bool, [2, 2], c>) {
  %t = constarray {name = "table"} : array<f64, [3], c>
  %f = constarray {name = "flags"} : array<bool, [2, 2], c>
  %v = load %t, %i : f64
  return %v, %t, %f
}
func @reverse(%x: array<f64, [n], c>) -> (array<f64, [n], strided>) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %minus = const {value = -1} : i64
  %last = isub %n, %one : i64
  %r = slice %x, %last, %n, %minus : array<f64, [n], strided>
  return %r
}
func @corner(%m: array<f64, [n, k], c>) -> (f64, array<f64, [?, ?], strided>) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %two = const {value = 2} : i64
  %s = slice %m, %one, %two, %one, %zero, %two, %two : array<f64, [?, ?], strided>
  %v = load %s, %one, %one : f64
  return %v, %s
}
func @outer(%x: array<f64, [n], c>, %y: array<f64, [k], c>) -> (array<f64, [n, k], c>, f64, f64, f64, f64) {
  %n = dim %x {axis = 0} : i64
  %k = dim %y {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %xr = broadcast %x, %k, %n : array<f64, [?, ?], strided>
  %col = alloc %n, %one {dtype = !f64, fill = None} : array<f64, [?, 1], c>
  for %zero, %n, %one {exits = False} (%row: i64) {
    %e = load %x, %row : f64
    store %col, %row, %zero, %e
    yield
  }
  %xb = broadcast %col, %n, %k : array<f64, [?, ?], strided>
  %yb = broadcast %y, %n, %k : array<f64, [?, ?], strided>
  %p, %s, %q, %hi, %lo = map %n, %k, %xb, %yb {rank = 2, kinds = ("elem", "add", "mul", "max", "min")}
      : array<f64, [?, ?], c>, f64, f64, f64, f64
      (%i: i64, %j: i64, %a: f64, %b: f64) {
    %ab = fmul %a, %b : f64
    %w = fadd %a, %b : f64
    yield %ab, %ab, %w, %a, %b
  }
  return %p, %s, %q, %hi, %lo
}
func @indices(%n: i64, %k: i64) -> (array<i64, [?, ?], c>, i64, i64, i64, i64) {
  %r, %a, %m, %hi, %lo = map %n, %k {rank = 2, kinds = ("elem", "add", "mul", "max", "min")}
      : array<i64, [?, ?], c>, i64, i64, i64, i64
      (%i: i64, %j: i64) {
    %ten = const {value = 10} : i64
    %t = imul %i, %ten : i64
    %s = iadd %t, %j : i64
    %one = const {value = 1} : i64
    %u = iadd %s, %one : i64
    yield %s, %s, %u, %s, %s
  }
  return %r, %a, %m, %hi, %lo
}
func @flat(%x: array<f64, [n, k], c>) -> (array<f64, [n, k], c>, f64) {
  %n = dim %x {axis = 0} : i64
  %k = dim %x {axis = 1} : i64
  %y, %s = map %n, %k, %x {rank = 2, kinds = ("elem", "add")} : array<f64, [n, k], c>, f64 (%i: i64, %j: i64, %a: f64) {
    %b = fmul %a, %a : f64
    yield %b, %a
  }
  return %y, %s
}
func @shift(%x: array<f64, [n], c>) -> () {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %m = isub %n, %one : i64
  %to = slice %x, %one, %m, %one : array<f64, [?], strided>
  %from = slice %x, %zero, %m, %one : array<f64, [?], strided>
  assign %to, %from {mode = "set"}
  assign %from, %to {mode = "add"}
  return
}
func @copies(%x: array<f64, [n], c>) -> (array<f64, [n], c>) {
  %n = dim %x {axis = 0} : i64
  %y = alloc %n {dtype = !f64, fill = 1.0} : array<f64, [n], c>
  assign %y, %x {mode = "set"}
  assign %y, %x {mode = "add"}
  return %y
}
func @choose(%x: array<f64, [n], c>, %c: bool) -> (f64, array<f64, [?], strided>) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %two = const {value = 2} : i64
  %h = ifloordiv %n, %two : i64
  %r = if %c : array<f64, [?], strided> {
    %s = slice %x, %zero, %h, %two : array<f64, [?], strided>
    yield %s
  } {
    yield %x
  }
  %d = dim %r {axis = 0} : i64
  %t = map %d, %r {rank = 1, kinds = ("add",)} : f64 (%i: i64, %e: f64) {
    yield %e
  }
  return %t, %r
}
"""


@pytest.fixture(scope="module")
def arrays() -> Compiled:
    return Compiled(ARRAYS)


VECTORS = [np.linspace(-2.0, 3.0, n) for n in (0, 1, 2, 3, 8, 33)]


@pytest.mark.parametrize("n", [0, 1, 2, 9, 100])
def test_alloc_fill_and_element_writes(arrays: Compiled, n: int) -> None:
    arrays.check("fill", n, 0.25)


def test_constants(arrays: Compiled) -> None:
    for i in range(3):
        arrays.check("constants", i)


@pytest.mark.parametrize("x", VECTORS, ids=len)
def test_views_assignments_and_joins(arrays: Compiled, x: np.ndarray) -> None:
    arrays.check("copies", x)
    arrays.check("choose", x, True, rtol=1e-14)
    arrays.check("choose", x, False, rtol=1e-14)
    if len(x):
        arrays.check("reverse", x)
        arrays.check("shift", x)


def test_matrices(arrays: Compiled) -> None:
    m = np.arange(20.0).reshape(5, 4)
    arrays.check("corner", m)
    arrays.check("flat", m, rtol=1e-14)
    arrays.check("flat", np.empty((0, 3)))
    arrays.check("flat", np.empty((3, 0)))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (2, 3), (5, 9)])
def test_map_with_every_reduction(arrays: Compiled, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    arrays.check("outer", rng.normal(size=shape[0]), rng.normal(size=shape[1]), rtol=1e-12)
    if 0 not in shape and shape[0] < 5:  # integer products that stay within int64
        arrays.check("indices", *shape)


def test_reductions_propagate_nan(arrays: Compiled) -> None:
    for x in ([math.nan, 1.0, 2.0], [1.0, math.nan, 2.0], [1.0, 2.0, math.nan]):
        _, total, product, high, low = arrays("outer", x, x)
        assert all(map(math.isnan, (total, product, high, low)))


CALLS = """
func @square(%x: f64, %b: bool) -> (f64, bool) {
  %zero = const {value = 0.0} : f64
  %ok = fge %x, %zero : bool
  guard %ok {error = "ValueError", message = "math domain error"}
  %y = fmul %x, %x : f64
  %c = not_ %b : bool
  return %y, %c
}
func @twice(%x: array<f64, [?], strided>) -> (array<f64, [?], c>) {
  %n = dim %x {axis = 0} : i64
  %y = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i: i64, %e: f64) {
    %zero = const {value = 0.0} : f64
    %ok = fge %e, %zero : bool
    guard %ok {error = "IndexError", message = "negative"}
    %s = fadd %e, %e : f64
    yield %s
  }
  return %y
}
func @many(%x: array<f64, [n], c>, %k: i64) -> (f64, array<f64, [?], c>) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = const {value = 0.0} : f64
  %s, %u = for %zero, %k, %one, %z, %x {exits = False} : f64, array<f64, [?], c>
      (%i: i64, %acc: f64, %v: array<f64, [?], c>) {
    %w = call %x {callee = "twice"} : array<f64, [?], c>
    %a = load %w, %zero : f64
    %t = fadd %acc, %a : f64
    %next = call %v {callee = "twice"} : array<f64, [?], c>
    yield %t, %next
  }
  return %s, %u
}
func @fact(%n: i64) -> (i64) {
  %one = const {value = 1} : i64
  %base = ile %n, %one : bool
  %r = if %base : i64 {
    yield %one
  } {
    %m = isub %n, %one : i64
    %f = call %m {callee = "fact"} : i64
    %p = imul %n, %f : i64
    yield %p
  }
  return %r
}
func @uses(%x: f64, %b: bool) -> (f64, bool) {
  %y, %c = call %x, %b {callee = "square"} : f64, bool
  return %y, %c
}
func @bump(%x: array<f64, [?], c>) -> () {
  %zero = const {value = 0} : i64
  %v = const {value = 1.5} : f64
  accum %x, %zero, %v
  return
}
func @bumps(%x: array<f64, [?], c>) -> (f64) {
  call %x {callee = "bump"}
  call %x {callee = "bump"}
  %zero = const {value = 0} : i64
  %r = load %x, %zero : f64
  return %r
}
"""


@pytest.fixture(scope="module")
def calls() -> Compiled:
    return Compiled(CALLS)


def test_calls(calls: Compiled) -> None:
    calls.check("uses", 3.0, True)
    calls.check("fact", 10)
    calls.check("bumps", np.ones(3))
    for k in (0, 1, 5):
        calls.check("many", np.array([0.5, 2.0, 0.0]), k)


def test_errors_of_callees_come_out(calls: Compiled) -> None:
    with pytest.raises(ValueError, match=r"^math domain error$"):
        calls("uses", -1.0, True)
    with pytest.raises(IndexError, match=r"^negative$"):
        calls("many", [1.0, -2.0], 3)
    with pytest.raises(Raised, match="math domain error"):
        interp.run(calls.module, "uses", [-1.0, True])


TAPE = """
func @tape(%n: i64) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = const {value = 0.0} : f64
  for %zero, %n, %one {exits = False} (%j: i64) {
    %jf = itof %j : f64
    %odd = iand %j, %one : i64
    %is = ieq %odd, %one : bool
    push %is, %jf, %j
    yield
  }
  %s = for %zero, %n, %one, %z {exits = False} : f64 (%i: i64, %acc: f64) {
    %b, %f, %k = pop : bool, f64, i64
    %kf = itof %k : f64
    %p = fmul %f, %kf : f64
    %v = select %b, %p, %z : f64
    %t = fadd %acc, %v : f64
    push %t
    %u = pop : f64
    %two = const {value = 0.75} : f64
    %w = fmul %u, %two : f64
    yield %w
  }
  return %s
}
func @deep(%x: array<f64, [?], c>, %n: i64) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = const {value = 0.0} : f64
  %y = for %zero, %n, %one, %x {exits = False} : array<f64, [?], c> (%m: i64, %u: array<f64, [?], c>) {
    %d = dim %u {axis = 0} : i64
    %h = map %d, %u {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%j: i64, %e: f64) {
      %c = const {value = 1.0} : f64
      %ec = fadd %e, %c : f64
      yield %ec
    }
    %mf = itof %m : f64
    push %h, %mf, %u
    yield %h
  }
  %s = for %zero, %n, %one, %z {exits = False} : f64 (%i: i64, %acc: f64) {
    %w, %f, %v = pop : array<f64, [?], c>, f64, array<f64, [?], c>
    push %f
    call {callee = "noise"}
    %a = load %w, %zero : f64
    %b = load %v, %zero : f64
    %g = pop : f64
    %p = fmul %a, %b : f64
    %q = fmul %p, %g : f64
    %t = fadd %acc, %q : f64
    yield %t
  }
  return %s
}
func @noise() -> () {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %n = const {value = 1000} : i64
  for %zero, %n, %one {exits = False} (%i: i64) {
    push %i
    yield
  }
  for %zero, %n, %one {exits = False} (%j: i64) {
    %k = pop : i64
    yield
  }
  return
}
"""


@pytest.fixture(scope="module")
def tape() -> Compiled:
    return Compiled(TAPE)


@pytest.mark.parametrize("n", [0, 1, 239, 240, 241, 1000, 100_000])
def test_records_come_back_last_first(tape: Compiled, n: int) -> None:
    tape.check("tape", n)


@pytest.mark.parametrize("n", [0, 1, 2, 50])
@pytest.mark.parametrize("size", [1, 3, 700])
def test_arrays_on_the_tape_are_snapshots(tape: Compiled, n: int, size: int) -> None:
    tape.check("deep", np.linspace(0.5, 1.0, size), n)


def kernel_of(text: str, name: str) -> str:
    found = re.search(rf'^define [^\n]*@"?k\.{name}"?\(.*?^}}', text, re.M | re.S)
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    ("source", "name", "forbidden"),
    [
        (LOOPS, "nested", "alloca|rt\\.(?!poll)"),
        (LOOPS, "leave", "alloca|rt\\."),
        (ARRAYS, "reverse", "rt\\.alloc|alloca"),
        (ARRAYS, "flat", "rt\\.alloc|alloca"),
    ],
)
def test_code_without_need_allocates_nothing(source: str, name: str, forbidden: str) -> None:
    text = kernel_of(emit(parse_module(source)), name)
    assert not re.search(forbidden, text), text


def test_a_contiguous_sum_and_map_are_vectorised() -> None:
    text = kernel_of(emit(parse_module(ARRAYS)), "flat")
    assert "fadd reassoc <2 x double>" in text
    assert "fmul <2 x double>" in text


def test_text_is_the_same_twice_and_next_to_other_functions() -> None:
    alone = emit(parse_module(ARRAYS.split("func @constants")[0]), stage="asm")
    together = emit(parse_module(ARRAYS), stage="asm")
    assert emit(parse_module(ARRAYS), stage="asm") == together
    assert lines_of("fill", alone) == lines_of("fill", together)


def lines_of(name: str, assembly: str) -> list[str]:
    """The instructions of a kernel; labels are numbered through the module."""
    start = assembly.index(f"k.{name}:")
    return re.sub(r"\.L\w+", ".L", assembly[start : assembly.index(".cfi_endproc", start)]).splitlines()
