"""Passes: golden text for each, equal meaning by the interpreter, and work that grows linearly."""

from __future__ import annotations

import numpy as np
import pytest

import adcore.ops  # noqa: F401 (fills the registry)
from adcore import passes
from adcore.ir.core import Module
from adcore.ir.interp import Raised, run
from adcore.ir.parser import parse_module
from adcore.ir.printer import print_function
from adcore.ir.verify import verify
from adcore.passes.cse import cse
from adcore.passes.dce import dce
from adcore.passes.expand import expand
from adcore.passes.fold import _Folder, fold
from adcore.passes.fuse import fuse
from adcore.passes.inline import inline
from adcore.passes.licm import licm
from adcore.passes.ranges import ranges


def apply(text: str, *steps: passes.Pass, name: str = "f") -> str:
    module = parse_module(text)
    verify(module)
    return print_function(passes.run(module, [name], steps, check=True).functions[name])


def ops(text: str) -> list[str]:
    (function,) = parse_module(text).functions.values()
    return [op.name for op in function.body.walk() if op.name not in ("yield", "return")]


def test_fold_computes_constants_and_keeps_ieee() -> None:
    text = """
func @f(%x: f64) -> (f64, f64, f64, f64, i64) {
  %a = const {value = 2.0} : f64
  %b = const {value = 0.5} : f64
  %one = const {value = 1.0} : f64
  %zero = const {value = 0.0} : f64
  %c = fmul %a, %b : f64
  %d = sin %c : f64
  %e = fmul %x, %one : f64
  %g = fadd %e, %zero : f64
  %h = fmul %x, %zero : f64
  %k = const {value = 9223372036854775807} : i64
  %l = const {value = 1} : i64
  %m = iadd %k, %l : i64
  return %d, %e, %g, %h, %m
}"""
    out = apply(text, fold, dce)
    assert "sin" not in out
    assert "0.8414709848078965" in out
    assert "-9223372036854775808" in out
    assert ops(out).count("fadd") == 1, "x + 0.0 is not x for -0.0"
    assert ops(out).count("fmul") == 1, "x * 0.0 is not 0 for inf and NaN"


def test_fold_takes_decided_branches_and_guards() -> None:
    text = """
func @f(%x: f64) -> (f64) {
  %t = const {value = True} : bool
  guard %t {error = "ValueError", message = "no"}
  %y = if %t : f64 {
    %s = sin %x : f64
    yield %s
  } {
    yield %x
  }
  return %y
}"""
    assert ops(apply(text, fold, dce)) == ["sin"]


def test_fold_traces_sizes_through_loops() -> None:
    text = """
func @f(%x: array<f64, [?], c>, %t: i64) -> (i64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = for %zero, %t, %one, %x {exits = False} : array<f64, [?], c> (%i: i64, %u: array<f64, [?], c>) {
    %n = dim %u {axis = 0} : i64
    %v = map %n, %u {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%j: i64, %e: f64) {
      %s = sin %e : f64
      yield %s
    }
    yield %v
  }
  %m = dim %z {axis = 0} : i64
  return %m
}"""
    assert ops(apply(text, fold, dce)) == ["dim"], "the loop is dead once the size is known to be x's"


def test_fold_drops_values_carried_unchanged() -> None:
    text = """
func @f(%x: f64, %n: i64) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %a, %b = for %zero, %n, %one, %x, %x {exits = False} : f64, f64 (%i: i64, %p: f64, %q: f64) {
    %r = fmul %p, %q : f64
    yield %r, %q
  }
  %s = fadd %a, %b : f64
  return %s
}"""
    out = apply(text, fold, dce)
    assert "for %3, %n, %4, %x {exits" in out or out.count("yield") == 1
    assert next(line for line in out.splitlines() if "yield" in line).count("%") == 1


def test_fold_of_a_loop_that_never_runs() -> None:
    text = """
func @f(%x: f64) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %a = for %zero, %zero, %one, %x {exits = False} : f64 (%i: i64, %p: f64) {
    %r = fmul %p, %p : f64
    yield %r
  }
  return %a
}"""
    assert ops(apply(text, fold, dce)) == []


def test_cse_shares_pure_ops_and_loads_of_one_version() -> None:
    text = """
func @f(%x: array<f64, [?], c>, %i: i64) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %b = alloc %n {dtype = !f64, fill = 0.0} : array<f64, [?], c>
  %p = load %b, %i : f64
  %q = load %b, %i : f64
  store %b, %i, %p
  %r = load %b, %i : f64
  %s = fmul %p, %q : f64
  %t = fmul %q, %p : f64
  %u = fadd %s, %t : f64
  %v = fadd %u, %r : f64
  return %v
}"""
    out = ops(apply(text, cse))
    assert out.count("load") == 2
    assert out.count("fmul") == 1


def test_cse_does_not_reach_into_the_other_arm() -> None:
    text = """
func @f(%x: f64, %c: bool) -> (f64) {
  %y = if %c : f64 {
    %s = sin %x : f64
    yield %s
  } {
    %s2 = sin %x : f64
    yield %s2
  }
  %z = sin %x : f64
  %w = fadd %y, %z : f64
  return %w
}"""
    assert ops(apply(text, cse)).count("sin") == 3


def test_cse_across_iterations_sees_the_writes_of_the_loop() -> None:
    text = """
func @f(%n: i64) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = const {value = 1.0} : f64
  %b = alloc %n {dtype = !f64, fill = 1.0} : array<f64, [?], c>
  %first = load %b, %zero : f64
  %r = for %zero, %n, %one, %first {exits = False} : f64 (%i: i64, %a: f64) {
    %v = load %b, %zero : f64
    %w = fadd %v, %v : f64
    store %b, %zero, %w
    %s = fadd %a, %v : f64
    yield %s
  }
  return %r
}"""
    module = parse_module(text)
    out = passes.run(module, passes=[cse], check=True)
    assert run(module, "f", [3]) == run(out, "f", [3]) == [1.0 + 1.0 + 2.0 + 4.0]


def test_licm_moves_invariants_but_not_out_of_arms_and_not_loads() -> None:
    text = """
func @f(%x: array<f64, [?], c>, %y: f64, %n: i64, %c: bool) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %r = for %zero, %n, %one, %y {exits = False} : f64 (%i: i64, %a: f64) {
    %s = sin %y : f64
    %l = load %x, %zero : f64
    %q = if %c : f64 {
      %e = exp %y : f64
      yield %e
    } {
      %k = cos %y : f64
      %m = fmul %k, %l : f64
      yield %m
    }
    %t = fadd %s, %q : f64
    %u = fadd %a, %t : f64
    yield %u
  }
  return %r
}"""
    out = apply(text, licm).splitlines()
    depth = {
        name: next(len(line) - len(line.lstrip()) for line in out if f"= {name} " in line)
        for name in ("sin", "load", "exp", "cos")
    }
    assert depth == {"sin": 2, "load": 4, "exp": 6, "cos": 6}


def test_dce_prunes_results_carried_values_and_unread_writes() -> None:
    text = """
func @f(%x: array<f64, [?], c>, %n: i64) -> (f64) {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = const {value = 0.0} : f64
  %unread = alloc %n {dtype = !f64, fill = 0.0} : array<f64, [?], c>
  %a, %b = for %zero, %n, %one, %z, %z {exits = False} : f64, f64 (%i: i64, %p: f64, %q: f64) {
    %l = load %x, %i : f64
    store %unread, %i, %l
    %p2 = fadd %p, %l : f64
    %q2 = fmul %q, %l : f64
    yield %p2, %q2
  }
  %m, %s, %t = map %n, %x {rank = 1, kinds = ("elem", "add", "mul",)} : array<f64, [?], c>, f64, f64 (%k: i64, %e: f64) {
    %g = sin %e : f64
    yield %g, %e, %g
  }
  %w = fadd %a, %s : f64
  return %w
}"""
    out = apply(text, dce)
    assert "alloc" not in out
    assert "store" not in out
    assert "fmul" not in out
    assert "sin" not in out
    assert 'kinds = ("add",)' in out


def test_dce_keeps_writes_to_parameters_guards_and_endless_loops() -> None:
    text = """
func @f(%x: array<f64, [?], c>, %c: bool, %v: f64) -> () {
  %zero = const {value = 0} : i64
  guard %c {error = "ValueError", message = "no"}
  store %x, %zero, %v
  %w, %k = while %v : f64, i64 (%u: f64) {
    yield %c, %u
  }
  return
}"""
    assert ops(apply(text, dce)) == ["const", "guard", "store", "while"]


def test_inline_calls_except_recursive_and_refused_ones() -> None:
    text = """
func @g(%x: f64) -> (f64) {
  %y = sin %x : f64
  return %y
}
func @h(%x: f64) -> (f64) {inline = False} {
  return %x
}
func @r(%x: f64) -> (f64) {
  %y = call %x {callee = "r"} : f64
  return %y
}
func @f(%x: f64) -> (f64) {
  %a = call %x {callee = "g"} : f64
  %b = call %a {callee = "g"} : f64
  %c = call %b {callee = "h"} : f64
  %d = call %c {callee = "r"} : f64
  return %d
}"""
    out = apply(text, inline)
    assert out.count("sin") == 2
    assert 'callee = "h"' in out
    assert 'callee = "r"' in out


def test_expand_writes_zmul_as_select_or_product() -> None:
    text = """
func @f(%ct: f64, %d: f64) -> (f64, f64) {
  %two = const {value = 2.0} : f64
  %a = zmul %ct, %d : f64
  %b = zmul %ct, %two : f64
  return %a, %b
}"""
    left = [name for name in ops(apply(text, expand)) if name != "const"]
    assert sorted(left) == ["feq", "fmul", "fmul", "select"]


FUSE = """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %a = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i: i64, %e: f64) {
    %s = sin %e : f64
    yield %s
  }
  %b = map %n, %x, %a {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i2: i64, %e2: f64, %g2: f64) {
    %t = fmul %e2, %g2 : f64
    yield %t
  }
  %r = map %n, %b {rank = 1, kinds = ("add",)} : f64 (%i3: i64, %e3: f64) {
    yield %e3
  }
  return %r
}"""


def test_fuse_leaves_one_loop_and_no_array() -> None:
    out = apply(FUSE, fuse, dce)
    assert ops(out) == ["dim", "map", "sin", "fmul"]
    x = np.array([0.3, -1.0, 2.0])
    assert run(parse_module(out), "f", [x])[0] == pytest.approx(np.sum(x * np.sin(x)), rel=1e-15)


def test_fuse_respects_reductions_and_writes_between() -> None:
    text = """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %b = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i: i64, %e: f64) {
    yield %e
  }
  %s = map %n, %b {rank = 1, kinds = ("add",)} : f64 (%i2: i64, %e2: f64) {
    yield %e2
  }
  %c = map %n, %b {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i3: i64, %e3: f64) {
    %t = fmul %e3, %s : f64
    yield %t
  }
  store %b, %zero, %s
  %d = map %n, %b, %c {rank = 1, kinds = ("add",)} : f64 (%i4: i64, %e4: f64, %g4: f64) {
    %u = fmul %e4, %g4 : f64
    yield %u
  }
  return %d
}"""
    module = parse_module(text)
    x = np.array([1.0, 2.0, 4.0])
    want = run(module, "f", [x])
    out = passes.run(module, passes=[fuse, cse, dce], check=True)
    assert run(out, "f", [x]) == want == [7.0 * 7.0 + 2.0 * 14.0 + 4.0 * 28.0]


RANGES = [
    # (bounds of the loop, index expression, decided)
    ("%zero, %n, %one", "iadd %i, %zero", True),
    ("%zero, %last, %one", "iadd %i, %one", True),
    ("%one, %n, %one", "isub %i, %one", True),
    ("%zero, %n, %one", "iadd %i, %one", False),
    ("%last, %minus, %minus", "iadd %i, %zero", True),
    ("%zero, %k, %one", "iadd %i, %zero", False),
    ("%zero, %n, %two", "iadd %i, %zero", True),
    ("%zero, %n, %one", "isub %last, %i", True),
]


@pytest.mark.parametrize(("bounds", "index", "decided"), RANGES)
def test_ranges_decide_index_checks(bounds: str, index: str, decided: bool) -> None:
    text = f"""
func @f(%x: array<f64, [?], c>, %k: i64) -> (f64) {{
  %n = dim %x {{axis = 0}} : i64
  %zero = const {{value = 0}} : i64
  %one = const {{value = 1}} : i64
  %two = const {{value = 2}} : i64
  %minus = const {{value = -1}} : i64
  %z = const {{value = 0.0}} : f64
  %last = isub %n, %one : i64
  %r = for {bounds}, %z {{exits = False}} : f64 (%i: i64, %a: f64) {{
    %j = {index} : i64
    %fits = iadd_fits %i, %one : bool
    guard %fits {{error = "OverflowError", message = "big"}}
    %neg = ilt %j, %zero : bool
    %wrapped = iadd %j, %n : i64
    %jj = select %neg, %wrapped, %j : i64
    %lo = ige %jj, %zero : bool
    %hi = ilt %jj, %n : bool
    %ok = and_ %lo, %hi : bool
    guard %ok {{error = "IndexError", message = "index"}}
    %v = load %x, %jj : f64
    %s = fadd %a, %v : f64
    yield %s
  }}
  return %r
}}"""
    out = apply(text, fold, ranges, fold, dce)
    assert ("IndexError" not in out) == decided
    module = parse_module(text)
    x = np.array([1.0, 2.0, 4.0])
    results = []
    for m in (module, passes.run(module, check=True)):
        try:
            results.append(run(m, "f", [x, 5]))
        except Raised as error:
            results.append((error.kind, error.message))
    assert results[0] == results[1]


def test_ranges_learn_from_arms_and_guards() -> None:
    text = """
func @f(%x: array<f64, [?], c>, %k: i64) -> (bool, bool) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %small = ilt %k, %n : bool
  %a = if %small : bool {
    %again = ige %k, %n : bool
    yield %again
  } {
    %other = ilt %k, %n : bool
    yield %other
  }
  %pos = ige %k, %zero : bool
  guard %pos {error = "ValueError", message = "negative"}
  %neg = ilt %k, %zero : bool
  return %a, %neg
}"""
    out = apply(text, ranges, fold, dce)
    assert ops(out).count("ilt") + ops(out).count("ige") == 2, (
        "only the branch's and the guard's own comparisons are left"
    )


def test_ranges_conclude_nothing_from_arithmetic_that_may_wrap() -> None:
    text = """
func @f(%k: i64) -> (bool) {
  %one = const {value = 1} : i64
  %more = iadd %k, %one : i64
  %c = ilt %k, %more : bool
  return %c
}"""
    assert "ilt" in apply(text, ranges, fold)
    module = parse_module(text)
    assert run(passes.run(module), "f", [2**63 - 1]) == [False]


def nest(depth: int, width: int) -> str:
    lines = [
        "func @f(%x: f64, %n: i64) -> (f64) {",
        "  %zero = const {value = 0} : i64",
        "  %one = const {value = 1} : i64",
        "  %v0 = sin %x : f64",
    ]
    k = 0
    for _ in range(depth):
        lines.append(f"  %r{k} = for %zero, %n, %one, %v{k} {{exits = False}} : f64 (%i{k}: i64, %c{k}: f64) {{")
        k += 1
        lines.append(f"  %v{k} = sin %c{k - 1} : f64")
    for _ in range(width):
        lines.append(f"  %v{k + 1} = fmul %v{k}, %v{k} : f64")
        k += 1
    last = f"%v{k}"
    for d in reversed(range(depth)):
        lines += [f"  yield {last}", "  }"]
        last = f"%r{d}"
    return "\n".join([*lines, f"  return {last}", "}"])


@pytest.mark.parametrize("shape", [(1, 200), (30, 5)])
def test_work_is_linear(shape: tuple[int, int]) -> None:
    """Twice the program, at most about twice the ops visited."""

    def visits(scale: int) -> int:
        module = parse_module(nest(shape[0] * scale if shape[0] > 1 else 1, shape[1] * (scale if shape[0] == 1 else 1)))
        folder = _Folder(module)
        folder.function(module.functions["f"])
        return folder.visited

    assert visits(2) <= 2.2 * visits(1)


def test_pipeline_keeps_meaning_on_every_golden_program() -> None:
    module = parse_module(FUSE)
    x = np.linspace(-1, 2, 7)
    assert run(passes.run(module, check=True), "f", [x])[0] == pytest.approx(run(module, "f", [x])[0], rel=1e-14)
    assert isinstance(passes.run(module), Module)


INTERLEAVE = """
func @f(%x: array<f64, [?], c>) -> (f64, array<f64, [?], c>, f64) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %minus = const {value = -1} : i64
  %z = const {value = 0.0} : f64
  %r = for %zero, %n, %one, %z {exits = False} : f64 (%i: i64, %acc: f64) {
    %l = load %x, %i : f64
    %s = sin %l : f64
    %sum = fadd %acc, %s : f64
    yield %sum
  }
  %d = alloc %n {dtype = !f64, fill = 0.0} : array<f64, [?], c>
  %last = iadd %n, %minus : i64
  %q = for %last, %minus, %minus, %z {exits = False} : f64 (%k: i64, %a: f64) {
    %l2 = load %x, %k : f64
    %c = cos %l2 : f64
    accum %d, %k, SCALE
    %more = fadd %a, %c : f64
    yield %more
  }
  return %r, %d, %q
}"""


def test_interleave_joins_forward_and_reverse_loops() -> None:
    from adcore.passes.interleave import interleave

    text = INTERLEAVE.replace("SCALE", "%c")
    out = apply(text, interleave, cse, dce)
    assert ops(out).count("for") == 1
    assert ops(out).count("load") == 1
    x = np.array([0.3, -1.0, 2.0])
    want, got = run(parse_module(text), "f", [x]), run(parse_module(out), "f", [x])
    assert got[0] == want[0]
    np.testing.assert_array_equal(got[1], want[1])
    assert got[2] == pytest.approx(want[2], rel=1e-15)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE", "%r"),  # needs the forward loop's result
        ("%more = fadd %a, %c : f64", "%more = fmul %a, %c : f64"),  # order matters
        ("%l2 = load %x, %k : f64", "%l2 = load %d, %k : f64"),  # reads what it writes
        ("%last = iadd %n, %minus : i64", "%last = iadd %n, %zero : i64"),  # other iterations
        ("    %sum = fadd", "    store %x, %i, %s\n    %sum = fadd"),  # the forward loop writes
        (
            "%d = alloc %n {dtype = !f64, fill = 0.0} : array<f64, [?], c>",
            "%d = slice %x, %zero, %n, %one : array<f64, [?], strided>",
        ),
    ],
)
def test_interleave_refuses(old: str, new: str) -> None:
    from adcore.passes.interleave import interleave

    text = INTERLEAVE.replace(old, new).replace("SCALE", "%c")
    if "slice" in new:
        text = text.replace("-> (f64, array<f64, [?], c>, f64)", "-> (f64, array<f64, [?], strided>, f64)")
    assert ops(apply(text, interleave)).count("for") == 2
