"""Calls of builtins, of `math`, and of array methods; dispatch to NumPy's functions and to functions of the project.

Arguments arrive as abstract values, evaluated in order; the syntax tree serves for places and words only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from adcore.edits import Fix
from adcore.frontend import arith, arrays, library, numpy_calls, remedies, signatures
from adcore.frontend.context import Context
from adcore.frontend.errors import Reject
from adcore.frontend.fixes import near_keyword, numpy_function
from adcore.frontend.functions import call_function
from adcore.frontend.joins import choose
from adcore.frontend.loops import make_range, range_length
from adcore.frontend.shapes import NumberShape, convert, join_shapes, shape_of
from adcore.frontend.values import (
    Abstract,
    ArrayRef,
    FunctionRef,
    Iteration,
    LibraryRef,
    MethodRef,
    ModuleRef,
    Number,
    RangeOf,
    TupleOf,
    describe,
)  # fmt: skip
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Scalar
from adcore.suggest import suggest


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call with its arguments evaluated."""

    node: ast.Call
    name: str
    args: Sequence[Abstract]
    keywords: Mapping[str, Abstract]


def lower_call(
    ctx: Context, node: ast.Call, callee: Abstract, args: Sequence[Abstract], keywords: Mapping[str, Abstract]
) -> Abstract:
    match callee:
        case FunctionRef():
            return call_function(ctx, callee, args, keywords, node)
        case MethodRef():
            return numpy_calls.call_method(ctx, node, callee, args, keywords)
        case LibraryRef(module="builtins"):
            return _builtin(ctx, Call(node, callee.name, args, keywords))
        case LibraryRef(module="math"):
            return _math(ctx, Call(node, callee.name, args, keywords))
        case LibraryRef(module="numpy"):
            return numpy_calls.call_numpy(ctx, node, callee.name, args, keywords)
        case LibraryRef():
            refuse(ctx, node, "adcore has no rule for it yet")
        case ModuleRef():
            refuse(ctx, node, "it is a module")
        case _:
            ctx.mismatch(node, f"`{ctx.text(node.func)}`", f"it is {describe(callee, True)} and cannot be called")


def refuse(
    ctx: Context, node: ast.Call, reason: str, suggestion: str | None = None, hint: str | None = None
) -> NoReturn:
    raise Reject(
        "language/unsupported-call", ctx.span(node.func), suggestion, hint, callee=ctx.text(node.func), reason=reason
    )


def wrong(ctx: Context, call: Call, reason: str, fixes: tuple[Fix, ...] = ()) -> NoReturn:
    ctx.reject("calls/wrong-arguments", call.node, fixes=fixes, callee=ctx.text(call.node.func), reason=reason)


def take(ctx: Context, call: Call, least: int, most: int, *allowed: str) -> None:
    """Check the number of arguments and the names of keywords."""
    for name in call.keywords:
        if name not in allowed:
            if not name:
                refuse(ctx, call.node, "adcore does not take it with `**`")
            if signatures.python_may_take(call.name, name):
                refuse(ctx, call.node, f"its argument `{name}` is not compiled yet")
            near = suggest(name, allowed)
            reason = f"it has no argument `{name}`" + (f"; did you mean `{near}`?" if near else "")
            wrong(ctx, call, reason, near_keyword(ctx, call.node, name, near))
    if not least <= len(call.args) <= most:
        if len(call.args) > most and signatures.python_may_take_positions(call.name, len(call.args)):
            refuse(ctx, call.node, f"its argument number {most + 1} is not compiled yet")
        count = f"{least}" if least == most else f"{least} to {most}"
        wrong(ctx, call, f"it takes {count} argument{'' if most == 1 else 's'}, not {len(call.args)}")


def numbers(ctx: Context, call: Call) -> list[Number]:
    for arg, text in zip(call.args, call.node.args, strict=False):
        if not isinstance(arg, Number):
            hint = remedies.to_number(arg)
            made: tuple[Fix, ...] = ()
            if isinstance(arg, ArrayRef) and call.name in library.ELEMENTWISE:
                hint = f"NumPy's function takes arrays: `np.{call.name}`."
                made = numpy_function(ctx, call.node, call.name)
            reason = f"it takes numbers, not {describe(arg, True)}"
            ctx.mismatch(text, f"`{ctx.text(call.node.func)}`", reason, hint, made)
    return [arg for arg in call.args if isinstance(arg, Number)]


# math


def _math(ctx: Context, call: Call) -> Abstract:
    name = call.name
    if name in library.MATH:
        rule = library.MATH[name]
        take(ctx, call, rule.arity, rule.arity)
        return library.apply_math(ctx, rule, numbers(ctx, call))
    if name in library.MATH_SPECIAL:
        special = library.MATH_SPECIAL[name]
        take(ctx, call, special.least, special.most)
        return special.function(ctx, numbers(ctx, call))
    if name == "isclose":
        return _isclose(ctx, call)
    if name in library.MATH_REFUSED:
        refuse(ctx, call.node, library.MATH_REFUSED[name])
    known = [*library.MATH, *library.MATH_SPECIAL, "isclose"]
    unknown_in(ctx, call.node, name, "math", known)


def unknown_in(ctx: Context, node: ast.Call, name: str, module: str, known: Sequence[str]) -> NoReturn:
    near = suggest(name, known)
    suggestion = None
    if near is not None:
        base = ctx.text(node.func.value, 200) + "." if isinstance(node.func, ast.Attribute) else ""
        suggestion = base + near if base else None
    reason = f"`{module}` has no function `{name}` that adcore knows" + (f"; did you mean `{near}`?" if near else "")
    refuse(ctx, node, reason, suggestion)


def _isclose(ctx: Context, call: Call) -> Number:
    take(ctx, call, 2, 2, "rel_tol", "abs_tol")
    defaults = {"rel_tol": 1e-9, "abs_tol": 0.0}
    extra = []
    for name, default in defaults.items():
        value = call.keywords.get(name, None)
        extra.append(value if isinstance(value, Number) else ctx.number(default))
    return library.isclose(ctx, [*numbers(ctx, call), *extra])


# builtins


def _builtin(ctx: Context, call: Call) -> Abstract:
    if call.name in _BUILTIN:
        return _BUILTIN[call.name](ctx, call)
    reasons = {
        "print": "compiled code has no output; print the result outside",
        "any": "write a loop, or `np.any`", "all": "write a loop, or `np.all`",
        "sorted": "it is not compiled yet", "list": "lists are not compiled; make an array with `np.array`",
        "map": "write a loop", "filter": "write a loop", "open": "compiled code reads no files", "input": "compiled code reads no input",
    }  # fmt: skip
    refuse(ctx, call.node, reasons.get(call.name, "adcore has no rule for it"))


def _abs(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 1, 1)
    if isinstance(call.args[0], ArrayRef):
        return arrays.elementwise(ctx, lambda xs: library.ELEMENTWISE["abs"].rule(ctx, xs), [call.args[0]])
    (x,) = numbers(ctx, call)
    if x.kind is F64:
        return Number(ctx.b.fabs(x.value), F64, x.numpy)
    whole = arith.as_int(ctx, x)
    if whole.low is not None and whole.low >= 0:
        return whole
    negative = arith.int_binary(ctx, "-", ctx.number(0), whole, whole.numpy)
    return Number(ctx.b.imax(whole.value, negative.value), I64, whole.numpy, None, 0, None)


def _extremum(ctx: Context, call: Call) -> Abstract:
    """Python's `max` and `min`: the first of equal arguments, with its class."""
    if call.keywords:
        refuse(ctx, call.node, "its keyword arguments are not compiled yet")
    args = call.args
    if not args:
        wrong(ctx, call, "it takes at least one argument")
    if len(args) == 1:
        if isinstance(args[0], ArrayRef):
            refuse(ctx, call.node, f"of an array it is NumPy's; write `np.{call.name}(...)`")
        if not isinstance(args[0], TupleOf) or not args[0].items:
            wrong(ctx, call, "it takes several numbers")
        args = args[0].items
    if len(args) == 2 and isinstance(args[0], Number) and isinstance(args[1], Number):
        first, second = args[0], args[1]
        if not isinstance(join_shapes(shape_of(first), shape_of(second)), NumberShape):  # an int or a float
            later = arith.compare(ctx, "gt" if call.name == "max" else "lt", second, first)
            return choose(ctx, later.value, lambda: second, lambda: first)
    best = args[0]
    for other in args[1:]:
        best = _better(ctx, call, best, other)
    if not isinstance(best, Number):
        ctx.mismatch(
            call.node, f"`{call.name}`", f"it takes numbers, not {describe(best, True)}", remedies.to_number(best)
        )
    return best


def _better(ctx: Context, call: Call, a: Abstract, b: Abstract) -> Number:
    for value in (a, b):
        if not isinstance(value, Number):
            ctx.mismatch(
                call.node, f"`{call.name}`", f"it takes numbers, not {describe(value, True)}", remedies.to_number(value)
            )
    assert isinstance(a, Number)
    assert isinstance(b, Number)
    shape = join_shapes(shape_of(a), shape_of(b))
    if not isinstance(shape, NumberShape):
        reason = f"it would give {describe(a, True)} or {describe(b, True)}; convert one of them, for instance with `float(...)`"
        ctx.mismatch(call.node, f"`{call.name}`", reason)
    x, y = convert(ctx.b, a, shape.kind), convert(ctx.b, b, shape.kind)
    if shape.kind is not F64:
        low, high = _int_bounds(call.name, a, b)
        if shape.kind is BOOL:
            x, y = ctx.b.btoi(x), ctx.b.btoi(y)
        return Number(
            ctx.b.emit("imax" if call.name == "max" else "imin", [x, y]), I64, bool(shape.numpy), None, low, high
        )
    best = ctx.b.emit("py" + call.name, [x, y])
    if shape.numpy is not None:
        return Number(best, F64, shape.numpy)
    picked = ctx.b.emit("fgt" if call.name == "max" else "flt", [y, x])
    flags = [ctx.b.const(n.numpy) if isinstance(n.numpy, bool) else n.numpy for n in (b, a)]
    return Number(best, F64, ctx.b.select(picked, flags[0], flags[1]))


def _int_bounds(name: str, a: Number, b: Number) -> tuple[int | None, int | None]:
    pick = max if name == "max" else min
    lows = [x for x in (a.low, b.low) if x is not None]
    highs = [x for x in (a.high, b.high) if x is not None]
    if name == "max":
        return (max(lows) if lows else None), (pick(highs) if len(highs) == 2 else None)
    return (pick(lows) if len(lows) == 2 else None), (min(highs) if highs else None)


def _round(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 1, 2, "ndigits")
    if len(call.args) == 2 or call.keywords:
        refuse(ctx, call.node, "rounding to digits is not compiled; `round(x)` is")
    return arith.to_int(ctx, numbers(ctx, call)[0], "rint")


def _int(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 0, 1)
    return arith.to_int(ctx, numbers(ctx, call)[0]) if call.args else ctx.number(0)


def _float(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 0, 1)
    if not call.args:
        return ctx.number(0.0)
    if isinstance(call.args[0], ArrayRef):
        ctx.mismatch(
            call.node,
            "`float`",
            "it takes a number, not an array",
            "Index the array, or reduce it, for instance with `np.sum`.",
        )
    (x,) = numbers(ctx, call)
    made = arith.as_float(ctx, x)
    return Number(made.value, F64, False, made.const)


def _bool(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 0, 1)
    if not call.args:
        return ctx.number(False)
    (x,) = numbers(ctx, call)
    return Number(arith.truth(ctx, x), BOOL, False, None if x.const is None else bool(x.const))


def _len(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 1, 1)
    match call.args[0]:
        case ArrayRef() as array:
            return arrays.length_of(ctx, array)
        case TupleOf() as items:
            return ctx.number(len(items.items))
        case RangeOf() as of:
            return range_length(ctx, of)
        case other:
            ctx.mismatch(call.node, "`len`", f"{describe(other, True)} has no length")


def _isinstance(ctx: Context, call: Call) -> Abstract:
    """Known when the text is lowered, but for numbers whose class depends on the path."""
    take(ctx, call, 2, 2)
    value, asked = call.args
    classes = asked.items if isinstance(asked, TupleOf) else (asked,)
    flags: list[bool | Value] = []
    for cls in classes:
        flag = _is_instance(ctx, value, cls)
        if flag is None:
            reason = f"whether {describe(value, True)} is one is not known; it knows `float`, `int`, `bool`, `tuple`, `np.ndarray`, `np.floating`"
            wrong(ctx, call, reason)
        flags.append(flag)
    if any(flag is True for flag in flags):
        return ctx.number(True)
    open_flags = [flag for flag in flags if isinstance(flag, Value)]
    if not open_flags:
        return ctx.number(False)
    made = open_flags[0]
    for flag in open_flags[1:]:
        made = ctx.b.or_(made, flag)
    return Number(made, BOOL)


def _is_instance(ctx: Context, value: Abstract, cls: Abstract) -> bool | Value | None:
    """None: the class is not known."""
    if cls == LibraryRef("numpy", "ndarray"):
        return isinstance(value, ArrayRef)
    if cls in (LibraryRef("builtins", "tuple"), LibraryRef("builtins", "list")):
        assert isinstance(cls, LibraryRef)
        return isinstance(value, TupleOf) and value.display == cls.name
    if cls not in _CLASSES:
        return None
    if not isinstance(value, Number):
        return False
    kinds, numpy = _CLASSES[cls]
    if value.kind is BOOL and value.numpy is not False and BOOL in kinds:
        return None  # it may be Python's or NumPy's: a bool's class is not kept
    if value.kind not in kinds:
        return False
    if numpy is None:
        return True
    if isinstance(value.numpy, bool):
        return value.numpy is numpy
    return value.numpy if numpy else ctx.b.not_(value.numpy)


# The kinds whose numbers are of a class, and whether as NumPy's scalars, as Python's numbers, or as both
_CLASSES: dict[LibraryRef, tuple[tuple[Scalar, ...], bool | None]] = {
    LibraryRef("builtins", "float"): ((F64,), None),  # np.float64 is one
    LibraryRef("builtins", "int"): ((I64, BOOL), False),
    LibraryRef("builtins", "bool"): ((BOOL,), False),
    LibraryRef("numpy", "float64"): ((F64,), True),
    LibraryRef("numpy", "floating"): ((F64,), True),
    LibraryRef("numpy", "int64"): ((I64,), True),
    LibraryRef("numpy", "integer"): ((I64,), True),
    LibraryRef("numpy", "bool"): ((BOOL,), True),
    LibraryRef("numpy", "bool_"): ((BOOL,), True),
    LibraryRef("numpy", "number"): ((F64, I64), True),
}


def _sum(ctx: Context, call: Call) -> Abstract:
    """Python's `sum`: from the left, starting with the int 0."""
    take(ctx, call, 1, 2, "start")
    start = call.args[1] if len(call.args) == 2 else call.keywords.get("start", ctx.number(0))
    if not isinstance(start, Number):
        ctx.mismatch(
            call.node, "`sum`", f"the start is {describe(start, True)}, not a number", remedies.to_number(start)
        )
    match call.args[0]:
        case TupleOf() as of:
            total: Number = start
            for item in of.items:
                if not isinstance(item, Number):
                    ctx.mismatch(
                        call.node, "`sum`", f"it adds numbers, not {describe(item, True)}", remedies.to_number(item)
                    )
                total = arith.binary(ctx, "+", total, item, call.node)
            return total
        case ArrayRef() as array:
            return _sum_array(ctx, array, start, call)
        case other:
            ctx.mismatch(call.node, "`sum`", f"it adds up arrays and tuples, not {describe(other, True)}")


def _sum_array(ctx: Context, array: ArrayRef, start: Number, call: Call) -> Number:
    kind = F64 if F64 in (array.dtype, start.kind) else I64
    if array.rank > 1:
        refuse(ctx, call.node, "of a matrix it adds rows; write `np.sum(..., axis=0)`")
    size = arrays.length_of(ctx, array)

    def body(i: Value, carried: list[Value]) -> list[Value]:
        item = Number(ctx.b.load(array.value, i), array.dtype, True)
        return [convert(ctx.b, arith.binary(ctx, "+", Number(carried[0], kind, True), item, call.node), kind)]

    b = ctx.b
    (result,) = b.for_(b.i64(0), size.value, b.i64(1), [convert(b, start, kind)], body)
    if kind is I64 and array.dtype is BOOL:
        return Number(result, I64, True)
    return Number(result, kind, b.igt(size.value, b.i64(0)) if start.numpy is False else True)


def _pow(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 2, 2)
    a, b = numbers(ctx, call)
    return arith.binary(ctx, "**", a, b, call.node)


def _divmod(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 2, 2)
    a, b = numbers(ctx, call)
    return TupleOf((arith.binary(ctx, "//", a, b, call.node), arith.binary(ctx, "%", a, b, call.node)))


def _range(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 1, 3)
    return make_range(ctx, call.args, call.node)


def _enumerate(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 1, 2, "start")
    start = call.args[1] if len(call.args) == 2 else call.keywords.get("start")
    if start is not None and not (isinstance(start, Number) and start.kind is I64):
        wrong(ctx, call, "its start must be an int")
    first = call.args[0]
    if isinstance(first, TupleOf):
        offset = start.const if isinstance(start, Number) else 0
        if not isinstance(offset, int):
            refuse(ctx, call.node, "its start must be a constant here")
        return TupleOf(tuple(TupleOf((ctx.number(offset + k), item)) for k, item in enumerate(first.items)))
    return Iteration("enumerate", (first,), start if isinstance(start, Number) else None)


def _zip(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 1, 20)
    if all(isinstance(arg, TupleOf) for arg in call.args):
        rows = zip(*(arg.items for arg in call.args if isinstance(arg, TupleOf)), strict=False)
        return TupleOf(tuple(TupleOf(row) for row in rows))
    return Iteration("zip", tuple(call.args))


def _reversed(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 1, 1)
    first = call.args[0]
    if isinstance(first, TupleOf):
        return TupleOf(first.items[::-1])
    if isinstance(first, Iteration):
        wrong(ctx, call, f"what `{first.kind}` gives cannot be reversed")
    return Iteration("reversed", (first,))


def _tuple(ctx: Context, call: Call) -> Abstract:
    take(ctx, call, 1, 1)
    if isinstance(call.args[0], TupleOf):
        return TupleOf(call.args[0].items)
    refuse(ctx, call.node, f"the number of items of {describe(call.args[0], True)} is known only when it runs")


_BUILTIN: dict[str, Callable[[Context, Call], Abstract]] = {
    "abs": _abs, "min": _extremum, "max": _extremum, "round": _round, "int": _int, "float": _float, "bool": _bool, "len": _len, "sum": _sum,
    "isinstance": _isinstance, "pow": _pow, "divmod": _divmod, "range": _range, "enumerate": _enumerate, "zip": _zip, "reversed": _reversed, "tuple": _tuple,
}  # fmt: skip
