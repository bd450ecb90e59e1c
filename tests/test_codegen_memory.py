"""Where arrays live: allocations counted from outside, blocks reused in loops, nothing kept, arrays carried in every way."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tests.codegen_helper import Compiled

pytest.importorskip("llvmlite")

PRELUDE = """
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %three = const {value = 3} : i64
  %z = const {value = 0.0} : f64
  %half = const {value = 0.5} : f64
"""


def plus(result: str, a: str, b: str, tag: str) -> str:
    """``result = 0.5 * (a + b)`` elementwise, a fresh array."""
    return f"""
    %{result} = map %n, %{a}, %{b} {{rank = 1, kinds = ("elem",)}} : array<f64, [?], c>
        (%i{tag}: i64, %a{tag}: f64, %b{tag}: f64) {{
      %s{tag} = fadd %a{tag}, %b{tag} : f64
      %h{tag} = fmul %s{tag}, %half : f64
      yield %h{tag}
    }}"""


A = "array<f64, [?], c>"
HEAD = "(%x: array<f64, [?], c>, %k: i64) -> "
SOURCE = f"""
func @step{HEAD}({A}) {{{PRELUDE}
  %u = for %zero, %k, %one, %x {{exits = False}} : {A} (%t: i64, %v: {A}) {{
    {plus("w", "v", "x", "1")}
    yield %w
  }}
  return %u
}}
func @fibonacci{HEAD}({A}, {A}) {{{PRELUDE}
  %p, %q = for %zero, %k, %one, %x, %x {{exits = False}} : {A}, {A} (%t: i64, %a: {A}, %b: {A}) {{
    {plus("c", "a", "b", "1")}
    yield %b, %c
  }}
  return %p, %q
}}
func @best{HEAD}({A}, {A}) {{{PRELUDE}
  %p, %q = for %zero, %k, %one, %x, %x {{exits = False}} : {A}, {A} (%t: i64, %v: {A}, %best: {A}) {{
    {plus("w", "v", "x", "1")}
    %m = imod %t, %three : i64
    %take = ieq %m, %zero : bool
    %kept = if %take : {A} {{
      yield %w
    }} {{
      yield %best
    }}
    yield %w, %kept
  }}
  return %p, %q
}}
func @outer{HEAD}({A}) {{{PRELUDE}
  %u = for %zero, %k, %one, %x {{exits = False}} : {A} (%t: i64, %v: {A}) {{
    %r = for %zero, %t, %one, %v {{exits = False}} : {A} (%j: i64, %w: {A}) {{
      {plus("y", "w", "x", "1")}
      yield %y
    }}
    {plus("s", "r", "v", "2")}
    %m = imod %t, %three : i64
    %take = ieq %m, %zero : bool
    %next = if %take : {A} {{
      yield %r
    }} {{
      yield %s
    }}
    yield %next
  }}
  return %u
}}
func @local{HEAD}(f64) {{{PRELUDE}
  %u = for %zero, %k, %one, %z {{exits = False}} : f64 (%t: i64, %acc: f64) {{
    %d = iadd %t, %one : i64
    %w = alloc %d {{dtype = !f64, fill = 1.5}} : {A}
    %e = load %w, %t : f64
    %s = fadd %acc, %e : f64
    yield %s
  }}
  return %u
}}
func @small{HEAD}(f64) {{{PRELUDE}
  %u = for %zero, %k, %one, %z {{exits = False}} : f64 (%t: i64, %acc: f64) {{
    %w = alloc %three {{dtype = !f64, fill = 1.5}} : array<f64, [3], c>
    %e = load %w, %zero : f64
    %s = fadd %acc, %e : f64
    yield %s
  }}
  return %u
}}
func @half{HEAD}({A}) {{{PRELUDE}
  {plus("w", "x", "x", "1")}
  return %w
}}
func @calls{HEAD}({A}) {{{PRELUDE}
  %u = for %zero, %k, %one, %x {{exits = False}} : {A} (%t: i64, %v: {A}) {{
    %w = call %v, %k {{callee = "half"}} : {A}
    {plus("y", "w", "x", "1")}
    %r = call %y, %k {{callee = "half"}} : {A}
    yield %r
  }}
  return %u
}}
func @deep(%n: i64) -> (f64) {{
  %one = const {{value = 1}} : i64
  %two = const {{value = 2}} : i64
  %w = alloc %two {{dtype = !f64, fill = 1.0}} : array<f64, [2], c>
  %more = igt %n, %one : bool
  %v = load %w, %one : f64
  %r = if %more : f64 {{
    %m = isub %n, %one : i64
    %s = call %m {{callee = "deep"}} : f64
    %t = fadd %s, %v : f64
    yield %t
  }} {{
    yield %v
  }}
  return %r
}}
"""


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return Compiled(SOURCE)


@contextmanager
def counted(compiled: Compiled) -> Iterator[dict[str, int]]:
    """Count the calls through the variables of the extension."""
    assert compiled.extension.__file__ is not None
    library = ctypes.CDLL(compiled.extension.__file__)
    counts = {"malloc": 0, "free": 0}
    malloc_type, free_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t), ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    cells = {name: ctypes.c_void_p.in_dll(library, f"adcore_{name}") for name in counts}
    real = {name: cell.value for name, cell in cells.items()}
    real_malloc, real_free = malloc_type(real["malloc"] or 0), free_type(real["free"] or 0)

    def malloc(size: int) -> int | None:
        counts["malloc"] += 1
        return real_malloc(size)

    def free(pointer: int) -> None:
        counts["free"] += 1
        real_free(pointer)

    hooks = {"malloc": malloc_type(malloc), "free": free_type(free)}
    for name, cell in cells.items():
        cell.value = ctypes.cast(hooks[name], ctypes.c_void_p).value
    try:
        yield counts
    finally:
        for name, cell in cells.items():
            cell.value = real[name]


X = np.linspace(-1.0, 2.0, 7)
CARRIED = [("step", 2), ("fibonacci", 3), ("best", 3), ("outer", 5), ("calls", 99)]


@pytest.mark.parametrize("k", [0, 1, 2, 3, 10, 31])
@pytest.mark.parametrize("name", [name for name, _ in CARRIED])
def test_arrays_carried_through_loops_keep_their_contents(compiled: Compiled, name: str, k: int) -> None:
    compiled.check(name, X, k)


@pytest.mark.parametrize(("name", "blocks"), CARRIED[:-1])
def test_carried_arrays_rotate_through_a_fixed_number_of_blocks(compiled: Compiled, name: str, blocks: int) -> None:
    with counted(compiled) as counts:
        compiled(name, X, 200)
    assert 0 < counts["malloc"] <= blocks
    assert counts["free"] == counts["malloc"]


def test_results_of_calls_are_freed_as_they_are_replaced(compiled: Compiled) -> None:
    with counted(compiled) as counts:
        compiled("calls", X, 50)
    assert counts["malloc"] == counts["free"] == 2 * 50 + 1


def test_a_local_array_of_a_loop_reuses_its_block(compiled: Compiled) -> None:
    with counted(compiled) as counts:
        assert compiled("local", X, 100) == 150.0
        assert counts["malloc"] == counts["free"] <= 8
        counts.update(malloc=0, free=0)
        assert compiled("small", X, 100) == 150.0
        assert compiled("half", X, 0).tolist() == X.tolist()
    assert counts == {"malloc": 0, "free": 0}


def test_recursion_ends_in_recursionerror(compiled: Compiled) -> None:
    assert compiled("deep", 900) == 900.0
    for _ in range(3):
        with counted(compiled) as counts, pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            compiled("deep", 10**6)
        assert counts["malloc"] == counts["free"]
