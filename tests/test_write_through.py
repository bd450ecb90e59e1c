"""Maps that store where their elements were only to be assigned: when they do, when they must not, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import adcore.ops  # noqa: F401 (fills the registry)
from adcore import passes
from adcore.ir.core import Function
from adcore.ir.interp import run
from adcore.ir.parser import parse_module
from adcore.ir.verify import verify
from adcore.passes.write_through import write_through

HEAD = """
func @f(%x: array<f64, [?], c>, %y: array<f64, [?], c>) -> () {{
  %n = dim %x {{axis = 0}} : i64
  %z = const {{value = 0}} : i64
  %one = const {{value = 1}} : i64
  %m = isub %n, %one : i64
  %low = slice %x, %z, %m, %one : array<f64, [?], strided>
  %high = slice %x, %one, %m, %one : array<f64, [?], strided>
  %part = slice %y, %z, %m, %one : array<f64, [?], strided>
{}
  return
}}"""
CHEAP = """  %a, %b = map %m, %part {rank = 1, kinds = ("elem", "elem",)} : array<f64, [?], c>, array<f64, [?], c> (%i: i64, %e: f64) {
    %t = fmul %e, %e : f64
    %u = fadd %t, %e : f64
    yield %t, %u
  }"""
COSTLY = CHEAP.replace("fmul %e, %e", "exp %e")


def assign(target: str, source: str, mode: str = "add") -> str:
    return f'  assign {target}, {source} {{mode = "{mode}"}}'


def through(body: str) -> tuple[Function, list[str]]:
    """The function after the pass, which leaves its meaning alone, and the names of its ops."""
    module = parse_module(HEAD.format(body))
    verify(module)
    changed = passes.run(module, passes=(write_through,), check=True)
    for size in (1, 2, 5):
        x, y = np.linspace(0.5, 2.0, size), np.linspace(-1.0, 1.5, size)
        before, after = [x.copy(), y.copy()], [x.copy(), y.copy()]
        run(module, "f", before)
        run(changed, "f", after)
        for one, other in zip(before, after, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-15)
    function = changed.functions["f"]
    return function, [op.name for op in function.body.walk()]


def test_a_map_adds_its_elements_itself() -> None:
    function, names = through("\n".join([CHEAP, assign("%low", "%b")]))
    assert names.count("map") == 1
    assert "assign" not in names
    (made,) = [op for op in function.body.ops if op.name == "map"]
    assert made.attrs["apart"] is True
    assert made.attrs["kinds"] == ("elem",), "a is still an array"


@pytest.mark.parametrize("mode", ["add", "set"])
def test_what_is_only_assigned_is_no_array(mode: str) -> None:
    one = CHEAP.replace("%a, %b = map", "%b = map").replace('("elem", "elem",)', '("elem",)')
    one = one.replace(" : array<f64, [?], c>, array<f64, [?], c> (", " : array<f64, [?], c> (").replace("%t, %u", "%u")
    function, names = through("\n".join([one, assign("%high", "%b", mode)]))
    (made,) = [op for op in function.body.ops if op.name == "map"]
    assert made.results == []
    assert names.count("accum" if mode == "add" else "store") == 1


def test_views_of_one_array_get_a_map_each() -> None:
    function, names = through("\n".join([CHEAP, assign("%low", "%a"), assign("%high", "%b")]))
    assert names.count("map") == 2
    assert "assign" not in names
    first, second = [op for op in function.body.ops if op.name == "map"]
    assert [op.name for op in first.regions[0].ops] == ["fmul", "accum", "yield"], "nothing that only the other needs"
    assert [op.name for op in second.regions[0].ops] == ["fmul", "fadd", "accum", "yield"]


def test_what_is_costly_is_computed_once() -> None:
    _, names = through("\n".join([COSTLY, assign("%low", "%a"), assign("%high", "%b")]))
    assert names.count("exp") == 1
    assert names.count("assign") == 1, "the other is stored by the map that makes it"
    _, names = through("\n".join([COSTLY, assign("%high", "%b")]))
    assert "assign" not in names


def test_the_order_of_what_replaces_and_what_adds_is_kept() -> None:
    _, names = through("\n".join([CHEAP, assign("%low", "%a"), assign("%high", "%b", "set")]))
    assert names.count("assign") == 1
    _, names = through("\n".join([CHEAP, assign("%low", "%a", "set"), assign("%low", "%b")]))
    assert names.count("assign") == 1


@pytest.mark.parametrize(
    "body",
    [
        "\n".join([CHEAP.replace("%m, %part", "%m, %low"), assign("%high", "%b", "set")]),
        "\n".join([CHEAP, assign("%part", "%b")]),
        "\n".join([CHEAP, '  guard %q {error = "ValueError", message = "no"}', assign("%low", "%b")]),
        "\n".join([CHEAP, "  %w = load %b, %z : f64", "  store %x, %z, %w", assign("%low", "%b")]),
    ],
    ids=["it reads the target", "it reads a view of the target", "an error between", "its elements are used otherwise"],
)
def test_what_stays_an_array(body: str) -> None:
    if "%q" in body:
        body = "  %q = ilt %z, %one : bool\n" + body
    if "load" in body:
        body = body.replace("%b, %z : f64", "%b, %z : f64")
        module = parse_module(HEAD.format(body))
        changed = passes.run(module, passes=(write_through,), check=True)
        assert "assign" in [op.name for op in changed.functions["f"].body.walk()]
        return
    _, names = through(body)
    assert names.count("assign") == 1


def test_a_broadcast_target_is_left_alone() -> None:
    wide = "  %w = alloc %one {dtype = !f64, fill = 0.0} : array<f64, [?], c>\n  %v = broadcast %w, %m : array<f64, [?], strided>"
    _, names = through("\n".join([wide, CHEAP, assign("%v", "%b")]))
    assert names.count("assign") == 1


TWICE = """
func @h(%x: array<f64, [?], c>, %y: array<f64, [?], c>, %w: array<f64, [?], c>) -> () {{
  %n = dim %x {{axis = 0}} : i64
  %z = const {{value = 0}} : i64
  %one = const {{value = 1}} : i64
  %m = isub %n, %one : i64
  %low = slice %x, %z, %m, %one : array<f64, [?], strided>
  %high = slice %y, %one, %m, %one : array<f64, [?], strided>
  %part = slice %w, %z, %m, %one : array<f64, [?], strided>
{}
  return
}}
func @f(%a: array<f64, [?], c>, %b: array<f64, [?], c>) -> () {{
  {}
  return
}}"""


@pytest.mark.parametrize(
    "assigns",
    [[assign("%low", "%a", "set")], [assign("%low", "%a"), assign("%high", "%b")]],
    ids=["it reads what it may write", "it writes to two that may be one"],
)
def test_parameters_of_a_function_that_is_called_may_be_one_array(assigns: list[str]) -> None:
    """An entry point has checked that they are not; another function may give an array twice."""
    body = "\n".join([CHEAP, *assigns])
    for call, kept in (('call %b, %b, %b {callee = "h"}', len(assigns)), ("%n = dim %a {axis = 0} : i64", 0)):
        module = parse_module(TWICE.format(body, call))
        verify(module)
        changed = passes.run(module, ["h"], (write_through,), check=True).functions["h"]
        assert [op.name for op in changed.body.walk()].count("assign") == kept
