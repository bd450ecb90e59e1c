"""Calls of NumPy's elementwise functions: with `out=` and `where=`, and their methods `reduce`, `accumulate`, `outer` and `at`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from adcore.frontend import arith, arrays, axes, gather, library, numpy_reductions, rearrange
from adcore.frontend import ufunc_rules as rules
from adcore.frontend.context import Context
from adcore.frontend.indexing import Item, Marker, Sliced, view
from adcore.frontend.numpy_arguments import (
    NumpyCall,
    Row,
    array_argument,
    axis_argument,
    check,
    dtype_argument,
    kind_of,
    operand,
    refuse,
    wrong,
)
from adcore.frontend.ufunc_rules import chosen
from adcore.frontend.values import NONE, Abstract, ArrayRef, NoneValue, Number, TupleOf, describe
from adcore.ir.types import BOOL, F64


def call_elementwise(ctx: Context, call: NumpyCall) -> Abstract:
    """`np.name(x, y, ..., out=None, where=True, dtype=None)`."""
    ufunc = library.ELEMENTWISE[call.name]
    is_ufunc = isinstance(getattr(np, call.name), np.ufunc)
    most = ufunc.arity + is_ufunc
    check(ctx, call, ufunc.arity, most, ("out", "where", "dtype") if is_ufunc else ())
    if len(call.args) < ufunc.arity:
        count = "1 argument" if ufunc.arity == 1 else f"{ufunc.arity} arguments"
        wrong(ctx, call, f"it takes {count}, not {len(call.args)}")
    operands = [operand(ctx, call, arg, k) for k, arg in enumerate(call.args[: ufunc.arity])]
    if "dtype" in call.keywords:
        operands = _converted(ctx, call, operands)
    made = arrays.elementwise(ctx, lambda xs: ufunc.rule(ctx, xs), operands)
    return into_out(ctx, call, made, ufunc.arity)


def _converted(ctx: Context, call: NumpyCall, operands: list[Number | ArrayRef]) -> list[Number | ArrayRef]:
    """`dtype=float`: the operands are floats."""
    if isinstance(call.keywords["dtype"], NoneValue):
        return operands
    if dtype_argument(ctx, call, len(call.args), F64) is not F64:
        refuse(ctx, call.node, "the only `dtype` that it is compiled for is float64")
    return [arrays.copy(ctx, x, F64) if isinstance(x, ArrayRef) else arith.as_float(ctx, x) for x in operands]


def into_out(ctx: Context, call: NumpyCall, made: Number | ArrayRef, position: int) -> Abstract:
    """What a function gives, stored into `out` where there is one, as far as `where` says."""
    out, mask = call.get(position, "out"), call.keywords.get("where")
    if isinstance(out, TupleOf) and len(out.items) == 1:
        out = out.items[0]
    if isinstance(mask, Number) and mask.const is True:
        mask = None
    if out is None or isinstance(out, NoneValue):
        if mask is not None:
            refuse(ctx, call.node, "without `out`, what `where` leaves out has no value")
        return made
    if not isinstance(out, ArrayRef):
        wrong(ctx, call, f"`out` is an array, not {describe(out, True)}")
    if isinstance(made, ArrayRef) and made.rank > out.rank:
        wrong(ctx, call, f"its result has {made.rank} dimensions and `out` has {out.rank}")
    if mask is not None:
        given = operand(ctx, call, mask, 0)
        if kind_of(given) is not BOOL:
            wrong(ctx, call, "`where` must be of bools")
        kind = kind_of(made, out)
        made = arrays.elementwise(ctx, lambda xs: chosen(ctx, xs[0], xs[1], xs[2], kind), [given, made, out])
    arrays.store_all(ctx, out, made, call.node)
    return out


# Methods


def call_method(ctx: Context, call: NumpyCall) -> Abstract:
    """`np.name.method(...)`."""
    name, _, method = call.name.partition(".")
    least, most, allowed, function = METHODS[method]
    check(ctx, call, least, most, allowed)
    return function(ctx, replace(call, name=name))


REDUCING: dict[str, str] = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "fmax": "nanmax", "fmin": "nanmin", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
ACCUMULATING: dict[str, str] = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


def _none_of(ctx: Context, call: NumpyCall, method: str, known: Mapping[str, str]) -> None:
    if call.name not in known:
        names = ", ".join(f"`np.{name}`" for name in known)
        refuse(ctx, call.node, f"`{method}` is compiled for {names}")


def _reduce(ctx: Context, call: NumpyCall) -> Abstract:
    """Along the first axis, unless another is named."""
    _none_of(ctx, call, "reduce", REDUCING)
    args = list(call.args)
    keywords = dict(call.keywords)
    if len(args) == 1 and "axis" not in keywords:
        keywords["axis"] = ctx.number(0)
    name = REDUCING[call.name]
    least, most, allowed, function = {**numpy_reductions.REDUCTIONS, **numpy_reductions.MORE_REDUCTIONS}[name]
    inner = replace(call, name=name, args=args, keywords=keywords)
    check(ctx, inner, least, most, allowed)
    return function(ctx, inner)


def _accumulate(ctx: Context, call: NumpyCall) -> Abstract:
    _none_of(ctx, call, "accumulate", ACCUMULATING)
    array = array_argument(ctx, call)
    return rearrange.running(ctx, array, axis_argument(ctx, call, 1, array.rank, 0), ACCUMULATING[call.name])


def _outer(ctx: Context, call: NumpyCall) -> Abstract:
    """Every element of the first with every element of the second."""
    ufunc = library.ELEMENTWISE[call.name]
    if ufunc.arity != 2:
        wrong(ctx, call, f"`np.{call.name}` takes one operand")
    a, b = (operand(ctx, call, arg, k) for k, arg in enumerate(call.args))
    if isinstance(a, ArrayRef) and isinstance(b, ArrayRef):
        if a.rank + b.rank > arrays.LARGEST_RANK:
            refuse(ctx, call.node, f"arrays have at most {arrays.LARGEST_RANK} dimensions")
        items: list[Sliced | Marker] = [*[Sliced()] * a.rank, *[Marker.NEW] * b.rank]
        a = view(ctx, a, items, call.node)
    return arrays.elementwise(ctx, lambda xs: ufunc.rule(ctx, xs), [a, b])


def _at(ctx: Context, call: NumpyCall) -> Abstract:
    """`np.add.at(array, indices, values)`: an index that occurs twice counts twice."""
    ufunc = library.ELEMENTWISE[call.name]
    array, index = call.args[0], call.args[1]
    if not isinstance(array, ArrayRef):
        wrong(ctx, call, f"it works on an array, not on {describe(array, True)}")
    if len(call.args) != ufunc.arity + 1:
        wrong(ctx, call, f"it takes an array, indices{', and values' if ufunc.arity == 2 else ''}")
    values = operand(ctx, call, call.args[2], 2) if ufunc.arity == 2 else None
    items: list[Item] = list(index.items) if isinstance(index, TupleOf) and index.display == "tuple" else [index]

    def update(old: Number, new: Number | None) -> Number:
        return ufunc.rule(ctx, [old] if new is None else [old, new])

    gather.update(ctx, array, items, values, update, call.node)
    return NONE


METHODS: dict[str, Row] = {
    "reduce": (1, 3, ("axis", "dtype", "keepdims", "initial", "where"), _reduce), "accumulate": (1, 2, ("axis",), _accumulate),
    "outer": (2, 2, (), _outer), "at": (2, 3, (), _at),
}  # fmt: skip


def is_method(name: str) -> bool:
    """Whether `name` is that of a method of an elementwise function: "add.reduce"."""
    base, _, method = name.partition(".")
    return method in METHODS and base in library.ELEMENTWISE and isinstance(getattr(np, base), np.ufunc)


# Elementwise functions with options, or with two results


def _clip(ctx: Context, call: NumpyCall) -> Abstract:
    bounds: list[Number | ArrayRef | None] = []
    for position, names in ((1, ("a_min", "min")), (2, ("a_max", "max"))):
        given = call.get(position, names[0]) or call.keywords.get(names[1])
        bounds.append(None if isinstance(given, None | NoneValue) else operand(ctx, call, given, position))
    low, high = bounds
    x = operand(ctx, call, call.args[0], 0)
    rule: library.Rule
    operands: list[Number | ArrayRef]
    if low is not None and high is not None:
        rule, operands = library.clip, [x, low, high]
    elif low is not None:
        rule, operands = library.ELEMENTWISE["maximum"].rule, [x, low]
    elif high is not None:
        rule, operands = library.ELEMENTWISE["minimum"].rule, [x, high]
    else:
        rule, operands = library.ELEMENTWISE["positive"].rule, [x]
    made = arrays.elementwise(ctx, lambda xs: rule(ctx, xs), operands)
    if made is x:
        made = arrays.copy(ctx, x) if isinstance(x, ArrayRef) else x
    return into_out(ctx, call, made, 3)


def _round(ctx: Context, call: NumpyCall) -> Abstract:
    digits = call.get(1, "decimals")
    number = 0 if digits is None else digits.const if isinstance(digits, Number) and digits.kind is not F64 else None
    if number is None:
        refuse(ctx, call.node, "its number of decimals must be a constant")
    x = operand(ctx, call, call.args[0], 0)
    made = arrays.elementwise(ctx, lambda xs: rules.rounded(ctx, xs[0], int(number)), [x])
    return into_out(ctx, call, made, 2)


def _number(ctx: Context, call: NumpyCall, position: int, name: str, default: float) -> Number:
    value = call.get(position, name)
    if value is None or isinstance(value, NoneValue):
        return ctx.number(default)
    if not isinstance(value, Number):
        wrong(ctx, call, f"`{name}` is a number")
    return value


def _nan_to_num(ctx: Context, call: NumpyCall) -> Abstract:
    largest = rules.LARGEST
    fills = [
        _number(ctx, call, 2, "nan", 0.0),
        _number(ctx, call, 3, "posinf", largest),
        _number(ctx, call, 4, "neginf", -largest),
    ]
    x = operand(ctx, call, call.args[0], 0)
    made = arrays.elementwise(ctx, lambda xs: rules.without_nan(ctx, *xs), [x, *fills])
    copy = call.get(1, "copy")
    if copy is None or (isinstance(copy, Number) and copy.const is True):
        return made
    if not (isinstance(copy, Number) and copy.const is False):
        refuse(ctx, call.node, "`copy` must be True or False")
    if not isinstance(x, ArrayRef):
        return made
    arrays.store_all(ctx, x, made, call.node)
    return x


def _isclose(ctx: Context, call: NumpyCall) -> Number | ArrayRef:
    x, y = (operand(ctx, call, arg, k) for k, arg in enumerate(call.args[:2]))
    tolerances = [_number(ctx, call, 2, "rtol", 1e-05), _number(ctx, call, 3, "atol", 1e-08)]
    equal_nan = call.get(4, "equal_nan")
    if equal_nan is not None and not (isinstance(equal_nan, Number) and isinstance(equal_nan.const, bool)):
        refuse(ctx, call.node, "`equal_nan` must be True or False")
    equal = isinstance(equal_nan, Number) and equal_nan.const is True
    return arrays.elementwise(ctx, lambda xs: rules.close(ctx, xs[0], xs[1], xs[2], xs[3], equal), [x, y, *tolerances])


def _allclose(ctx: Context, call: NumpyCall) -> Abstract:
    made = _isclose(ctx, call)
    flag = axes.all_(ctx, made, call.node) if isinstance(made, ArrayRef) else made
    return Number(flag.value, BOOL, False)


def _divmod(ctx: Context, call: NumpyCall) -> Abstract:
    x, y = (operand(ctx, call, arg, k) for k, arg in enumerate(call.args))

    def part(symbol: str) -> Abstract:
        return arrays.elementwise(ctx, lambda xs: arith.binary(ctx, symbol, xs[0], xs[1], call.node), [x, y])

    return TupleOf((part("//"), part("%")))


def _modf(ctx: Context, call: NumpyCall) -> Abstract:
    """The fraction, whose slope is 1, and the whole part, whose slope is 0."""
    b = ctx.b

    def fraction(xs: Sequence[Number]) -> Number:
        x = arith.as_float(ctx, xs[0]).value
        return Number(b.select(b.isinf(x), b.f64(0.0), b.fsub(x, b.trunc(x))), F64, True)

    def whole(xs: Sequence[Number]) -> Number:
        return Number(b.trunc(arith.as_float(ctx, xs[0]).value), F64, True)

    x = operand(ctx, call, call.args[0], 0)
    return TupleOf(tuple(arrays.elementwise(ctx, part, [x]) for part in (fraction, whole)))


OPTIONED: dict[str, Row] = {
    "clip": (1, 4, ("a_min", "a_max", "min", "max", "out"), _clip), "round": (1, 3, ("decimals", "out"), _round), "around": (1, 3, ("decimals", "out"), _round),
    "nan_to_num": (1, 5, ("copy", "nan", "posinf", "neginf"), _nan_to_num), "isclose": (2, 5, ("rtol", "atol", "equal_nan"), _isclose),
    "allclose": (2, 5, ("rtol", "atol", "equal_nan"), _allclose), "divmod": (2, 2, (), _divmod), "modf": (1, 1, (), _modf),
}  # fmt: skip

OPTIONED_METHODS: dict[str, Row] = {"clip": (1, 4, ("min", "max", "out"), _clip), "round": OPTIONED["round"]}
