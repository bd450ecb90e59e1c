"""The arguments of NumPy's functions: what stands at a position or under a keyword, as arrays, numbers, element types, axes.

A call of a method has its array as the first argument. What does not fit is rejected here, with the name of the function as it is written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from adcore.edits import Fix
from adcore.frontend import arrays, remedies, signatures
from adcore.frontend.arith import common_kind
from adcore.frontend.context import Context
from adcore.frontend.errors import Reject
from adcore.frontend.fixes import near_keyword
from adcore.frontend.values import Abstract, ArrayRef, LibraryRef, NoneValue, Number, Text, TupleOf, describe
from adcore.ir.types import BOOL, F64, I64, Scalar
from adcore.suggest import suggest


@dataclass(frozen=True, slots=True, eq=False)
class NumpyCall:
    """A call of `np.name`, or of the method `name` with its array as the first argument."""

    node: ast.Call
    name: str
    args: Sequence[Abstract]
    keywords: Mapping[str, Abstract]
    method: bool = False

    def get(self, position: int, keyword: str) -> Abstract | None:
        if position < len(self.args):
            return self.args[position]
        return self.keywords.get(keyword)

    def text_of(self, position: int, keyword: str) -> ast.AST:
        """Where an argument stands; the call where it has no place of its own."""
        at = position - 1 if self.method else position
        if 0 <= at < len(self.node.args):
            return self.node.args[at]
        return next((k.value for k in self.node.keywords if k.arg == keyword), self.node)


def refuse(ctx: Context, node: ast.Call, reason: str, suggestion: str | None = None) -> NoReturn:
    raise Reject(
        "language/unsupported-call", ctx.span(node.func), suggestion, callee=ctx.text(node.func), reason=reason
    )


def wrong(ctx: Context, call: NumpyCall, reason: str, fixes: tuple[Fix, ...] = ()) -> NoReturn:
    ctx.reject("calls/wrong-arguments", call.node, fixes=fixes, callee=ctx.text(call.node.func), reason=reason)


def check(ctx: Context, call: NumpyCall, least: int, most: int, allowed: Sequence[str]) -> None:
    for name in call.keywords:
        if name not in allowed:
            _unknown(ctx, call, name, allowed)
    if not least <= len(call.args) + len(call.keywords) or len(call.args) > most:
        shift = 1 if call.method else 0
        if len(call.args) > most and signatures.numpy_may_take_positions(call.name, len(call.args)):
            refuse(ctx, call.node, f"its argument number {most - shift + 1} is not compiled yet")
        count = f"{least - shift}" if least == most else f"{least - shift} to {most - shift}"
        wrong(ctx, call, f"it takes {count} argument{'' if most - shift == 1 else 's'}, not {len(call.args) - shift}")


def _unknown(ctx: Context, call: NumpyCall, name: str, allowed: Sequence[str]) -> NoReturn:
    if not name:
        refuse(ctx, call.node, "adcore does not take it with `**`")
    if signatures.numpy_may_take(call.name, name):
        refuse(ctx, call.node, f"its argument `{name}` is not compiled yet")
    near = suggest(name, allowed)
    reason = f"it has no argument `{name}`" + (f"; did you mean `{near}`?" if near else "")
    wrong(ctx, call, reason, near_keyword(ctx, call.node, name, near))


def operand(ctx: Context, call: NumpyCall, value: Abstract, position: int) -> Number | ArrayRef:
    if isinstance(value, Number | ArrayRef):
        return value
    node: ast.AST = call.node.args[position] if position < len(call.node.args) else call.node
    if isinstance(value, TupleOf) and value.items:
        return arrays.from_rows(ctx, value, node)
    ctx.mismatch(
        node,
        f"`{ctx.text(call.node.func)}`",
        f"it takes numbers and arrays, not {describe(value, True)}",
        remedies.to_number(value),
    )


def array_argument(ctx: Context, call: NumpyCall, position: int = 0) -> ArrayRef:
    value = call.args[position] if position < len(call.args) else None
    if value is None:
        wrong(ctx, call, "its array is missing")
    given = operand(ctx, call, value, position)
    return given if isinstance(given, ArrayRef) else arrays.from_items(ctx, [given])


def dtype_argument(ctx: Context, call: NumpyCall, position: int, default: Scalar) -> Scalar:
    value = call.get(position, "dtype")
    match value:
        case None | NoneValue():
            return default
        case LibraryRef(module="builtins" | "numpy", name=name) if name in _DTYPES:
            return _DTYPES[name]
        case Text(value=name) if name in _DTYPES:
            return _DTYPES[name]
        case _:
            refuse(ctx, call.node, "arrays of float64, int64 and bool are compiled, other element types are not yet")


_DTYPES: dict[str, Scalar] = {
    "float": F64,
    "float64": F64,
    "double": F64,
    "int": I64,
    "int64": I64,
    "bool": BOOL,
    "bool_": BOOL,
}


def numbers(ctx: Context, call: NumpyCall, values: Sequence[Abstract]) -> list[Number]:
    for value in values:
        if not isinstance(value, Number):
            wrong(ctx, call, f"it takes numbers, not {describe(value, True)}")
    return [value for value in values if isinstance(value, Number)]


def kind_of(*values: Number | ArrayRef) -> Scalar:
    """The common kind of numbers and arrays."""
    return common_kind(*(Number(v.value, v.dtype if isinstance(v, ArrayRef) else v.kind) for v in values))


def axes_argument(ctx: Context, call: NumpyCall, array: ArrayRef) -> list[int]:
    """The axes of a reduction, ascending."""
    axis = call.get(1, "axis")
    if axis is None or isinstance(axis, NoneValue):
        return list(range(array.rank))
    items = axis.items if isinstance(axis, TupleOf) else (axis,)
    if not items:
        refuse(ctx, call.node, "without any `axis` there is nothing to reduce; write `.copy()`")
    found = []
    for item in items:
        if not isinstance(item, Number) or not isinstance(item.const, int):
            refuse(ctx, call.node, "the `axis` must be a constant")
        if not -array.rank <= item.const < array.rank:
            wrong(ctx, call, f"an array of {array.rank} dimension{'s' if array.rank > 1 else ''} has no such `axis`")
        found.append(item.const % array.rank)
    if len(set(found)) != len(found):
        wrong(ctx, call, "an `axis` is named twice")
    return sorted(found)


def int_argument(ctx: Context, call: NumpyCall, position: int, name: str, default: int) -> Number:
    """An argument that is an int."""
    value = call.get(position, name)
    if value is None:
        return ctx.number(default)
    if not isinstance(value, Number) or value.kind is not I64:
        wrong(ctx, call, f"`{name}` must be an int")
    return value


def axis_argument(ctx: Context, call: NumpyCall, position: int, rank: int, default: int, name: str = "axis") -> int:
    """An axis that is known when the text is compiled."""
    value = int_argument(ctx, call, position, name, default).const
    if not isinstance(value, int):
        refuse(ctx, call.node, f"the `{name}` must be a constant")
    if not -rank <= value < rank:
        wrong(ctx, call, f"`{name}` {value} is outside {rank} dimension{'s' if rank > 1 else ''}")
    return value % rank


def constant_axes(ctx: Context, call: NumpyCall, value: Abstract, rank: int, repeat: bool = False) -> list[int]:
    """A constant axis, or a list of them, counted from the front; different ones unless they may repeat."""
    items = value.items if isinstance(value, TupleOf) else (value,)
    found = []
    for item in items:
        if not isinstance(item, Number) or not isinstance(item.const, int):
            refuse(ctx, call.node, "the axes must be constants")
        if not -rank <= item.const < rank:
            wrong(ctx, call, f"an array of {rank} dimension{'s' if rank > 1 else ''} has no axis {item.const}")
        found.append(item.const % rank)
    if len(set(found)) != len(found) and not repeat:
        wrong(ctx, call, "an axis is named twice")
    return found


def flag_argument(ctx: Context, call: NumpyCall, name: str, default: bool = False) -> bool:
    """A keyword that is known from the text; NumPy takes 0 and 1 as well."""
    value = call.keywords.get(name)
    if value is None:
        return default
    if not isinstance(value, Number) or not isinstance(value.const, bool | int):
        refuse(ctx, call.node, f"`{name}` must be True or False")
    return bool(value.const)


Row = tuple[int, int, tuple[str, ...], Callable[[Context, NumpyCall], Abstract]]
"""Least and most arguments, keywords, and what the function means."""
