"""The IR's text, verifier and interpreter."""

from __future__ import annotations

import numpy as np
import pytest

import adcore.ops  # noqa: F401 (fills the registry)
from adcore.ir.build import Builder
from adcore.ir.core import Function, Module, Region, Value, free_values
from adcore.ir.interp import InterpreterError, Raised, Trace, run
from adcore.ir.parser import ParseError, parse_module
from adcore.ir.printer import print_module
from adcore.ir.types import F64, I64, NONE, Array, Record, Tuple, Union, is_differentiable, join, vector
from adcore.ir.verify import VerifyError, verify
from adcore.source import Span

EVERYTHING = """
constant @table = f64 (3,) (1.0, 2.5, -inf,)
func @g(%a: f64, %k: i64) -> (f64, i64) {
  %r = fmul %a, %a : f64
  return %r, %k
} @"m.py":3:1-3:6
func @f(%x: array<f64, [n], c>, %y: array<f64, [?], strided>, %n: i64) -> (f64) {inline = False} {
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %z = const {value = 0.0} : f64
  %t = constarray {name = "table"} : array<f64, [3], c>
  %yes = const {value = True} : bool
  guard %yes {error = "ValueError", message = "say \\"no\\""}
  %s, %c = for %zero, %n, %one, %z {exits = True} : f64, i64 (%i: i64, %acc: f64) {
    %e = load %x, %i : f64
    %go = flt %e, %acc : bool
    %more = fadd %acc, %e : f64
    %keep = not_ %go : bool
    yield %keep, %more
  }
  %w, %count = while %s : f64, i64 (%u: f64) {
    %half = const {value = 0.5} : f64
    %v = fmul %u, %half : f64
    %big = fgt %v, %half : bool
    yield %big, %v
  } @"m.py":7:3-8:11
  %p, %q = call %w, %c {callee = "g"} : f64, i64
  %m = dim %y {axis = 0} : i64
  %buf = alloc %m {dtype = !f64, fill = None} : array<f64, [?], c>
  assign %buf, %y {mode = "set"}
  %part = slice %buf, %zero, %one, %one : array<f64, [?], strided>
  %wide = broadcast %part, %m : array<f64, [?], strided>
  %d, %sum, %top = map %m, %buf, %wide {rank = 1, kinds = ("elem", "add", "max",)} : array<f64, [?], c>, f64, f64 (%j: i64, %b: f64, %h: f64) {
    %bh = fmul %b, %h : f64
    yield %bh, %bh, %b
  }
  store %d, %zero, %top
  accum %d, %zero, %p
  push %sum, %d
  %back, %dd = pop : f64, array<f64, [?], c>
  %first = load %dd, %zero : f64
  %cond = flt %first, %back : bool
  %out = if %cond : f64 {
    yield %first
  } {
    %nothing = poison : f64
    yield %back
  }
  return %out
}
"""


def test_text_is_a_fixpoint() -> None:
    module = parse_module(EVERYTHING)
    text = print_module(module, spans=True)
    assert print_module(parse_module(text), spans=True) == text
    assert '@"m.py":7:3-8:11' in text
    without = print_module(module)
    assert print_module(parse_module(without)) == without
    assert "m.py" not in without


def test_everything_verifies_and_runs() -> None:
    module = parse_module(EVERYTHING)
    verify(module)
    x, y = np.array([3.0, 2.0, 9.0]), np.array([2.0, 5.0, 1.0, 4.0])[::2]
    trace = Trace()
    # loop: acc 0 -> 3 (3 < 0 false: go on) -> 5 (2 < 3: stop), two iterations; while: 5 -> 2.5 -> 1.25 -> 0.625 -> 0.3125
    # g squares; y is (2, 1): d = (4, 2), sum 6, top 2; d[0] = 2 + 0.3125**2; the smaller of d[0] and 6
    assert run(module, "f", [x, y, 3], trace) == [2.0 + 0.3125**2]
    assert trace.ops["for"] == 1
    assert trace.ops["load"] == 3
    assert trace.tape_peak == 1


@pytest.mark.parametrize(
    "type",
    [
        F64,
        vector(),
        Array(I64, (3, None), "strided"),
        Tuple((F64, vector(dim="n"))),
        Union((F64, NONE)),
        Record("P", (("a", F64), ("b", I64))),
    ],
    ids=str,
)
def test_types_have_text(type: object) -> None:
    text = f"func @f(%x: {type}) -> ({type}) {{\n  return %x\n}}\n"
    assert print_module(parse_module(text)) == text


def test_joins_and_differentiability() -> None:
    assert join(F64, I64) is None
    assert join(vector(dim="n"), vector(dim=3)) == vector()
    assert join(vector(), vector(layout="strided")) == vector(layout="strided")
    assert is_differentiable(Tuple((I64, F64)))
    assert is_differentiable(Record("P", (("a", F64),)))
    assert not is_differentiable(Array(I64, (None,)))


BAD_TEXT = [
    ("func @f() -> () {\n  return %x\n}", "2:10: %x is not defined"),
    ("func @f(%x: f64, %x: f64) -> () {\n  return\n}", "%x is defined twice"),
    ("func @f(%x: f65) -> () {\n  return\n}", "expected '<'"),
    ("func @f(%x: thing<f64>) -> () {\n  return\n}", "unknown type 'thing'"),
    ("func @f() -> () {\n  %a, %b = const {value = 1} : i64\n  return\n}", "2 results but 1 types"),
    ("func @f() -> () {\n  %a = const {value = what} : i64\n  return\n}", "'what' is no attribute value"),
    ("func @f() -> () { ~ }", "1:19: unexpected character"),
    ("func @f(%x: array<f65, [?], c>) -> () {\n  return\n}", "1:19: 'f65' is no scalar type"),
    ("func @f() -> () {\n  return\n", "expected"),
]


@pytest.mark.parametrize(("text", "message"), BAD_TEXT)
def test_parse_errors_say_where(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_module(text)
    assert message in str(caught.value)


INVALID = [
    ("%x: f64", "f64", "%y = fadd %x, %x : f64", "", "must end in return"),
    ("%x: f64", "f64", "%y = iadd %x, %x : i64\n  return %x", "", "do not fit ii->i"),
    ("%x: f64", "f64", "%y = sin %x : i64\n  return %x", "", "makes (f64), not (i64)"),
    ("%x: f64", "i64", "return %x", "", "where (i64) is due"),
    ("%x: f64", "f64", "%y = nonsense %x : f64\n  return %x", "", "no such op"),
    ("%x: f64", "f64", "%c = flt %x, %x : bool\n  %y = if %c : f64 {\n yield %x\n } {\n yield\n }\n  return %y", "", "where (f64) is due"),
    ("%x: f64", "f64", "%y = call %x {callee = \"h\"} : f64\n  return %y", "", "not in the module"),
    ("%x: array<f64, [?], c>", "f64", "%y = load %x : f64\n  return %y", "", "expected 1 indices"),
    ("%x: array<f64, [?], c>", "i64", "%y = dim %x {axis = 1} : i64\n  return %y", "", "no axis 1"),
    ("%x: f64", "f64", "yield %x\n  return %x", "", "before the end"),
    ("%n: i64", "f64", "%y = for %n, %n, %n, %n {exits = False} : i64 (%i: i64, %c: f64) {\n yield %c\n }\n  return %y", "", "is due"),
]  # fmt: skip


@pytest.mark.parametrize(("params", "result", "body", "unused", "message"), INVALID)
def test_verifier_refuses(params: str, result: str, body: str, unused: str, message: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(parse_module(f"func @f({params}) -> ({result}) {{\n  {body}\n}}"))
    assert message in str(caught.value)


def test_verifier_refuses_a_value_used_out_of_scope() -> None:
    inner = Region()
    b = Builder(inner)
    hidden = b.f64(1.0)
    b.yield_()
    outer = Builder(Region())
    cond = outer.const(True)
    other = Region()
    Builder(other).yield_()
    outer.op("if", [cond], {}, [], [inner, other])
    outer.op("return", [hidden], results=[])
    with pytest.raises(VerifyError, match="not defined here"):
        verify(Module({"f": Function("f", outer.region, (F64,))}))


def test_verifier_refuses_a_second_definition() -> None:
    b = Builder(Region())
    op = b.op("const", attrs={"value": 1.0})
    b.append(op)
    b.op("return", [op.result], results=[])
    with pytest.raises(VerifyError, match="defined twice"):
        verify(Module({"f": Function("f", b.region, (F64,))}))


def body(text: str) -> str:
    return f"func @f(%x: array<f64, [?], c>, %i: i64) -> (f64) {{\n  {text}\n}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (body("%y = load %x, %i : f64\n  return %y"), "outside an axis"),
        (body("%p = poison : f64\n  %y = sin %p : f64\n  return %y"), "poison"),
        (body("%y = load %x, %i : f64\n  push %y\n  return %y"), "outside an axis"),
        (body("%z = slice %x, %i, %i, %i : array<f64, [?], strided>\n  %y = load %z, %i : f64\n  return %y"), "slice"),
        (body("%z = broadcast %x, %i : array<f64, [?], strided>\n  %y = load %z, %i : f64\n  return %y"), "broadcast"),
    ],
)
def test_interpreter_refuses_what_no_valid_program_does(text: str, message: str) -> None:
    with pytest.raises(InterpreterError, match=message):
        run(parse_module(text), "f", [np.array([1.0, 2.0]), 7])


def test_interpreter_refuses_an_unbalanced_tape() -> None:
    with pytest.raises(InterpreterError, match="left on the tape"):
        run(parse_module(body("%y = load %x, %i : f64\n  push %y\n  return %y")), "f", [np.array([1.0, 2.0]), 1])


def test_a_failed_guard_raises_what_it_names() -> None:
    text = 'func @f(%c: bool) -> () {\n  guard %c {error = "IndexError", message = "far"}\n  return\n}'
    with pytest.raises(Raised) as caught:
        run(parse_module(text), "f", [False])
    assert (caught.value.kind, caught.value.message) == ("IndexError", "far")
    assert run(parse_module(text), "f", [True]) == []


def test_free_values_are_the_captures() -> None:
    module = parse_module(EVERYTHING)
    loop = next(op for op in module.functions["f"].body.ops if op.name == "for")
    assert [v.name for v in free_values(loop.regions[0])] == ["x"]


def test_builder_knows_only_the_table() -> None:
    b = Builder(Region())
    with pytest.raises(AttributeError):
        b.nonsense  # noqa: B018
    with pytest.raises(ValueError, match="must be given"):
        b.op("poison")


def test_builder_spans_nest() -> None:
    b = Builder(Region())
    with b.at(Span("f.py", 1, 1, 1, 2)):
        outer = b.op("const", attrs={"value": 1.0})
        with b.at(None):
            inner = b.op("const", attrs={"value": 1.0})
    assert outer.span == inner.span
    assert b.op("const", attrs={"value": 1.0}).span is None


def test_walk_is_in_program_order() -> None:
    module = parse_module(EVERYTHING)
    names = [op.name for op in module.functions["f"].body.walk()]
    assert names[:8] == ["const", "const", "const", "constarray", "const", "guard", "for", "load"]
    assert names[-1] == "return"
    assert (
        len(names)
        == len(
            [
                op
                for line in EVERYTHING.split("func @f")[1].splitlines()
                if (op := line.strip()) and not op.startswith("}")
            ]
        )
        - 1
    )


def test_carry_values_hash_by_identity() -> None:
    a, b = Value(F64), Value(F64)
    assert a != b
    assert len({a, b}) == 2
