"""Reverse mode on IR programs: gradients against central differences of the interpreter, at every stage; plans; refusals."""

from __future__ import annotations

import numpy as np
import pytest
from ad_programs import CALLS, PROGRAMS

import adcore.ops  # noqa: F401 (fills the registry)
from adcore import ad, passes
from adcore.ad.mincut import INFINITE, FlowGraph
from adcore.ir.core import Module
from adcore.ir.interp import Trace, run
from adcore.ir.parser import parse_module
from adcore.ir.verify import verify

POINTS = [np.array([1.2, 0.7, -0.4, 1.9]), np.array([0.5, 0.45, 0.6]), np.array([0.9, -1.1, 0.35, 0.2, 1.4, -0.6])]
# What the reverse pass keeps: (name, formula, place), in order.
PLANS = {
    "rosen": [],
    "prod": [("acc", "8*len(x)", "heap")],
    "map": [],
    "buf": [("the result of load", "8*(len(x) - 1)", "heap")],
    "carry": [("u", "8*T*len(x)", "heap")],
    "while": [("u", "8*iterations", "tape")],
    "slices": [],
    "broadcast": [],
    "nested": [
        ("uu", "8*len(range(0, len(x), 2))*3", "heap"),
        ("vv", "8*len(range(0, len(x), 2))*3", "heap"),
        ("p", "8*len(range(0, len(x), 2))", "heap"),
        ("q", "8*len(range(0, len(x), 2))", "heap"),
    ],
    "local": [
        ("u", "8*len(x)", "heap"),
        ("the result of load", "8*len(x)", "heap"),
        ("the result of map", "8*len(x)*len(x)", "heap"),
    ],
}


def extra(name: str) -> list[int]:
    return [3] if name == "carry" else []


def differences(module: Module, x: np.ndarray, rest: list[int]) -> np.ndarray:
    gradient = np.zeros_like(x)
    for k in range(len(x)):
        h = 1e-5
        values = []
        for s in (2, 1, -1, -2):
            y = x.copy()
            y[k] += s * h
            values.append(run(module, "f", [y, *rest])[0])
        gradient[k] = (-values[0] + 8 * values[1] - 8 * values[2] + values[3]) / (12 * h)
    return gradient


@pytest.mark.parametrize("optimise", [False, True], ids=["plain", "optimised"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient_at_every_stage(name: str, optimise: bool) -> None:
    module = parse_module(PROGRAMS[name])
    verify(module)
    before = passes.run(module, check=True) if optimise else module
    stages = [before]
    function = before.functions["f"]
    stages[0] = Module(
        {**before.functions, "g": ad.vjp(function, [0], "g", 1.0)[0], "v": ad.vjp(function, [0], "v")[0]},
        before.constants,
    )
    verify(stages[0])
    stages.append(passes.run(stages[0], ["g", "v"], check=True))
    stages.append(passes.run(stages[1], ["g", "v"], passes.LOWERING, check=True))
    for x in POINTS:
        want_value = run(module, "f", [x, *extra(name)])[0]
        want = differences(module, x, extra(name))
        for stage in stages:
            untouched = x.copy()
            value, gradient = run(stage, "g", [x, *extra(name)])
            assert value == pytest.approx(want_value, rel=1e-13, nan_ok=False)
            np.testing.assert_allclose(gradient, want, rtol=2e-7, atol=2e-8)
            np.testing.assert_array_equal(x, untouched)
            value, gradient2 = run(stage, "v", [x, *extra(name), -2.5])
            np.testing.assert_allclose(gradient2, -2.5 * gradient, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", PLANS)
def test_plan(name: str) -> None:
    module = passes.run(parse_module(PROGRAMS[name]))
    plan = ad.analyse(module.functions["f"], [0]).plan
    assert [(s.name, s.bytes, s.place) for s in plan.slots.values()] == PLANS[name]
    assert ("stores nothing" in str(plan)) == (not PLANS[name])


@pytest.mark.parametrize("name", [n for n, slots in PLANS.items() if not slots])
def test_reverse_loops_without_tape_allocate_nothing(name: str) -> None:
    """The only arrays made are gradients and shadows, once, outside of loops."""
    module = passes.run(parse_module(PROGRAMS[name]))
    made, _ = ad.vjp(module.functions["f"], [0], "g", 1.0)
    module = passes.run(Module({**module.functions, "g": made}), ["g"])
    for op in module.functions["g"].body.walk():
        assert op.name not in ("push", "pop")
    for op in module.functions["g"].body.ops:
        if op.name in ("for", "while"):
            assert not [inner for inner in op.regions[0].walk() if inner.name in ("alloc", "push", "call")]


def test_allocations_do_not_grow_with_iterations() -> None:
    module = passes.run(parse_module(PROGRAMS["prod"]))
    made, _ = ad.vjp(module.functions["f"], [0], "g", 1.0)
    module = passes.run(Module({**module.functions, "g": made}), ["g"])
    counts = []
    for n in (4, 40):
        trace = Trace()
        run(module, "g", [np.linspace(0.5, 1.5, n)], trace)
        counts.append(trace.ops["alloc"])
    assert counts[0] == counts[1]


def test_zero_trip_loops_and_empty_arrays() -> None:
    for name in ("rosen", "prod", "map", "tri"):
        module = passes.run(parse_module(PROGRAMS[name]))
        made, _ = ad.vjp(module.functions["f"], [0], "g", 1.0)
        value, gradient = run(Module({**module.functions, "g": made}), "g", [np.zeros(0)])
        assert gradient.shape == (0,)
        assert value == run(module, "f", [np.zeros(0)])[0]


def test_a_parameter_that_does_not_matter_gets_zero_and_says_so() -> None:
    text = """
func @f(%x: f64, %y: array<f64, [?], c>) -> (f64) {
  %n = dim %y {axis = 0} : i64
  %m = itof %n : f64
  %r = fmul %x, %m : f64
  return %r
}"""
    module = parse_module(text)
    assert ad.reaches(module.functions["f"], [0, 1]) == (True, False)
    made, _ = ad.vjp(module.functions["f"], [0, 1], "g", 1.0)
    value, dx, dy = run(Module({"g": made}), "g", [2.0, np.ones(3)])
    assert (value, dx) == (6.0, 3.0)
    np.testing.assert_array_equal(dy, np.zeros(3))


def test_an_active_path_without_rule_is_an_error() -> None:
    text = "func @f(%x: f64) -> (f64) {\n  %y = trigamma %x : f64\n  return %y\n}"
    with pytest.raises(ad.NoRule) as caught:
        ad.analyse(parse_module(text).functions["f"], [0])
    assert caught.value.op.name == "trigamma"


def test_a_deleted_rule_is_an_error_and_never_a_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    from adcore.ir import opdef

    for name in ("sin", "fmul", "fadd", "sqrt"):
        row = opdef.REGISTRY[name]
        monkeypatch.setitem(opdef.REGISTRY, name, dataclasses.replace(row, partials=(), vjp=None, jvp=None))
        operands = "%x, %x" if len(row.points[0]) == 2 else "%x"
        text = f"func @f(%x: f64) -> (f64) {{\n  %y = {name} {operands} : f64\n  return %y\n}}"
        with pytest.raises(ad.NoRule):
            ad.vjp(parse_module(text).functions["f"], [0], "g", 1.0)
        monkeypatch.undo()


def test_references_that_cannot_be_followed_are_refused() -> None:
    text = """
func @f(%x: array<f64, [?], c>, %c: bool) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %w = if %c : array<f64, [?], c> {
    %a = alloc %n {dtype = !f64, fill = 0.0} : array<f64, [?], c>
    yield %a
  } {
    %b = alloc %n {dtype = !f64, fill = 1.0} : array<f64, [?], c>
    yield %b
  }
  %l = load %x, %zero : f64
  store %w, %zero, %l
  %r = load %w, %zero : f64
  return %r
}"""
    with pytest.raises(ad.NotPlannable, match="written in place"):
        ad.analyse(parse_module(text).functions["f"], [0])


def test_minimum_cut_is_nearest_to_the_sink() -> None:
    graph = FlowGraph()
    for a, b in (("source", "a_in"), ("a_out", "b_in"), ("b_out", "c_in"), ("c_out", "sink")):
        graph.edge(a, b, INFINITE)
    for v, c in (("a", 8), ("b", 8), ("c", 9)):
        graph.edge(f"{v}_in", f"{v}_out", c)
    side = graph.cut("source", "sink")
    assert "b_out" in side
    assert "b_in" not in side


def test_an_infinite_cut_is_an_error() -> None:
    graph = FlowGraph()
    graph.edge("source", "sink", INFINITE)
    with pytest.raises(ValueError, match="infinite"):
        graph.cut("source", "sink")


def with_calls() -> Module:
    module = passes.run(parse_module(CALLS), check=True)
    made, _ = ad.vjp(module.functions["f"], [0], "d", 1.0)
    module.functions["d"] = made
    ad.complete(module)
    return module


def test_calls_that_are_not_inlined_are_split() -> None:
    plain, module = parse_module(CALLS), with_calls()
    verify(module)
    assert {"g.fwd", "g.rev", "h.fwd", "h.rev"} <= set(module.functions)
    optimised = passes.run(module, check=True)
    lowered = passes.run(optimised, passes=passes.LOWERING, check=True)
    for x in POINTS:
        want = differences(plain, x, [])
        for stage in (module, optimised, lowered):
            value, gradient = run(stage, "d", [x])
            assert value == pytest.approx(run(plain, "f", [x])[0], rel=1e-13)
            np.testing.assert_allclose(gradient, want, rtol=2e-7, atol=2e-8)


def test_a_map_in_a_loop_over_a_buffer_overwritten_later() -> None:
    """The snapshot is kept: reading the buffer again in the reverse sweep would read its last content."""
    text = """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = const {value = 0.0} : f64
  %y = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i: i64, %e: f64) {
    yield %e
  }
  %r = for %zero, %n, %one, %z {exits = False} : f64 (%k: i64, %acc: f64) {
    %s = map %n, %y {rank = 1, kinds = ("add",)} : f64 (%j: i64, %g: f64) {
      %h = sin %g : f64
      yield %h
    }
    store %y, %k, %s
    %more = fmul %s, %s : f64
    %sum = fadd %acc, %more : f64
    yield %sum
  }
  return %r
}"""
    module = passes.run(parse_module(text), check=True)
    made, plan = ad.vjp(module.functions["f"], [0], "d", 1.0)
    module.functions["d"] = made
    verify(module)
    assert "array-temporary" in {slot.kind for slot in plan.slots.values()}
    for x in POINTS:
        np.testing.assert_allclose(run(module, "d", [x])[1], differences(module, x, []), rtol=2e-7, atol=2e-8)


@pytest.mark.parametrize("name", [*PROGRAMS, "CALLS"])
def test_forward_against_reverse_and_second_order(name: str) -> None:
    """<vjp(g), dx> = <g, jvp(dx)>; hessians symmetric and equal to differences of gradients."""
    text = CALLS if name == "CALLS" else PROGRAMS[name]
    module = passes.run(parse_module(text), check=True)
    module.functions["dv"] = ad.vjp(module.functions["f"], [0], "dv")[0]
    module.functions["dg"] = ad.vjp(module.functions["f"], [0], "dg", 1.0)[0]
    module.functions["dj"] = ad.jvp(module.functions["f"], [0], "dj")
    ad.complete(module)
    module = passes.run(module, [n for n in module.functions if n != "f"], check=True)
    module.functions["dh"] = ad.jvp(module.functions["dg"], [0], "dh", keep=[1])
    ad.complete(module)
    verify(module)
    module = passes.run(module, [n for n in module.functions if n not in ("f", "dg", "dv", "dj")], check=True)
    rng = np.random.default_rng(1)
    for x in POINTS:
        dx, ct = rng.normal(size=x.shape), 1.7
        value, tangent = run(module, "dj", [x, *extra(name), dx])
        assert value == run(module, "f", [x, *extra(name)])[0]
        _, gradient = run(module, "dv", [x, *extra(name), ct])
        assert gradient @ dx == pytest.approx(ct * tangent, rel=1e-12, abs=1e-13)
        hessian = np.array([run(module, "dh", [x, *extra(name), e])[0] for e in np.eye(len(x))])
        scale = np.abs(hessian).max() + 1e-12
        np.testing.assert_allclose(hessian, hessian.T, atol=1e-11 * scale, rtol=0)
        step = 1e-5
        for k in range(len(x)):
            moved = [run(module, "dg", [x + s * step * np.eye(len(x))[k], *extra(name)])[1] for s in (2, 1, -1, -2)]
            column = (-moved[0] + 8 * moved[1] - 8 * moved[2] + moved[3]) / (12 * step)
            np.testing.assert_allclose(hessian[k], column, rtol=1e-6, atol=1e-6 * scale)
