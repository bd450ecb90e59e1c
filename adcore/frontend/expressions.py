"""Expressions: from syntax to abstract values, in Python's order of evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NoReturn

from adcore.frontend import arith, arrays, fixes, gather, indexing, library, remedies, ufunc_calls
from adcore.frontend.calls import lower_call
from adcore.frontend.context import Context
from adcore.frontend.joins import cheap, choose, choose_arms, valued_arm
from adcore.frontend.numpy_calls import METHODS
from adcore.frontend.products import product
from adcore.frontend.unions import decide, resolved_value
from adcore.frontend.values import (
    Abstract,
    ArrayRef,
    Conflict,
    LibraryRef,
    MethodRef,
    ModuleRef,
    NoneValue,
    Number,
    TupleOf,
    describe,
)  # fmt: skip
from adcore.ir.types import BOOL, F64, I64
from adcore.suggest import suggest

DEEPEST = 150

_REFUSED: dict[type[ast.expr], tuple[str, str, str | None]] = {
    ast.JoinedStr: ("an f-string", "compiled code works with numbers and arrays", None),
    ast.ListComp: ("a list comprehension", "lists are not compiled yet", "Fill an array in a loop."),
    ast.SetComp: ("a set comprehension", "sets are not compiled", "Fill an array in a loop."),
    ast.DictComp: ("a dict comprehension", "dicts are not compiled", "Use variables or arrays."),
    ast.GeneratorExp: ("a generator expression", "generators are not compiled", "Write a loop."),
    ast.Dict: ("a dict", "numbers are kept in variables and arrays", "Use variables or arrays."),
    ast.Set: ("a set", "numbers are kept in variables and arrays", "Use variables or arrays."),
    ast.Await: ("`await`", "compiled code runs without an event loop", None),
    ast.Yield: ("`yield`", "generators are not compiled", "Return an array."),
    ast.YieldFrom: ("`yield from`", "generators are not compiled", "Return an array."),
    ast.NamedExpr: (
        "an assignment inside an expression",
        "assignments are statements in compiled code",
        "Assign in a statement of its own.",
    ),
    ast.Starred: ("unpacking with `*`", "the number of items must be known", "Write the items one by one."),
    ast.Slice: ("a slice", "it stands outside an index", None),
}


def lower(ctx: Context, node: ast.expr) -> Abstract:
    """The value of an expression, of one type."""
    return decide(ctx, lower_any(ctx, node), node)


def lower_any(ctx: Context, node: ast.expr) -> Abstract:
    """The value of an expression, whose type may still be in doubt: for what passes it on."""
    memo = ctx.memo
    if memo is not None and node in memo:
        return memo[node]
    ctx.depth += 1
    try:
        if ctx.depth > DEEPEST:
            ctx.expression(node, "this expression", "it is nested too deeply", "Split it with variables.")
        with ctx.at(node):
            value = _lower(ctx, node)
    finally:
        ctx.depth -= 1
    if memo is not None:
        memo[node] = value
    return value


def _lower(ctx: Context, node: ast.expr) -> Abstract:
    match node:
        case ast.Constant():
            return _constant(ctx, node)
        case ast.Name():
            return ctx.lookup(node)
        case ast.Attribute():
            return _attribute(ctx, node)
        case ast.UnaryOp():
            return _unary(ctx, node)
        case ast.BinOp():
            return binary(ctx, arith.SYMBOLS[type(node.op)], lower(ctx, node.left), lower(ctx, node.right), node)
        case ast.Compare():
            return _compare(ctx, node)
        case ast.BoolOp():
            return _bool_op(ctx, node.op, node.values)
        case ast.IfExp():
            return _conditional(ctx, node)
        case ast.Tuple() | ast.List():
            items = tuple(lower_any(ctx, item) for item in node.elts)
            return TupleOf(items, "tuple" if isinstance(node, ast.Tuple) else "list")
        case ast.Subscript():
            return _subscript(ctx, node)
        case ast.Call():
            return _call(ctx, node)
        case ast.Lambda():
            return ctx.inner_function(node)
        case _:
            refuse(ctx, node)


def refuse(ctx: Context, node: ast.expr) -> NoReturn:
    construct, reason, hint = _REFUSED.get(type(node), ("this expression", "adcore has no rule for it", None))
    ctx.expression(node, construct, reason, hint)


def _constant(ctx: Context, node: ast.Constant) -> Abstract:
    if isinstance(node.value, complex):
        ctx.expression(node, "a complex number", "complex numbers are not compiled yet")
    if isinstance(node.value, bytes) or node.value is ...:
        ctx.expression(node, f"`{ctx.text(node)}`", "compiled code works with numbers and arrays")
    return ctx.literal(node, node.value)


# Names with dots


def _attribute(ctx: Context, node: ast.Attribute) -> Abstract:
    base = lower(ctx, node.value)
    match base:
        case ModuleRef():
            return ctx.from_meaning(node, ctx.session.resolver.attribute(base.name, node.attr, ctx.use))
        case ArrayRef():
            return _array_attribute(ctx, node, base)
        case LibraryRef("numpy", name) if ufunc_calls.is_method(f"{name}.{node.attr}"):
            return LibraryRef("numpy", f"{name}.{node.attr}")
        case LibraryRef():
            ctx.expression(node, f"`{ctx.text(node)}`", "adcore has no rule for it")
        case _:
            ctx.expression(
                node, f"the attribute `{node.attr}`", f"{describe(base, True)} has no attributes in compiled code"
            )


def constant_of(ctx: Context, value: Abstract) -> Abstract:
    """`math.pi` and the like as numbers."""
    if isinstance(value, LibraryRef):
        table = {"math": library.MATH_CONSTANTS, "numpy": library.NUMPY_CONSTANTS}.get(value.module, {})
        if value.name in table:
            return ctx.number(table[value.name])
    return value


def _array_attribute(ctx: Context, node: ast.Attribute, array: ArrayRef) -> Abstract:
    match node.attr:
        case "shape":
            return TupleOf(tuple(array.sizes))
        case "size":
            return arrays.count_of(ctx, array)
        case "ndim":
            return ctx.number(array.rank)
        case "itemsize" | "nbytes":
            each = ctx.number(array.dtype.bytes)
            count = arrays.count_of(ctx, array)
            return each if node.attr == "itemsize" else arith.int_binary(ctx, "*", count, each, False)
        case "T":
            return indexing.transposed(ctx, array)
        case "dtype":
            return LibraryRef("numpy", {"f64": "float64", "i64": "int64", "bool": "bool_"}[array.dtype.name])
        case name if name in METHODS:
            return MethodRef(array, name)
        case name:
            near = suggest(name, ["shape", "size", "ndim", "T", "dtype", "itemsize", "nbytes", *METHODS])
            suggestion = f"{ctx.text(node.value, 200)}.{near}" if near else None
            remedy = f"; did you mean `{near}`?" if near else ""
            reason = f"arrays have no such attribute in compiled code{remedy}"
            ctx.reject(
                "language/unsupported-expression", node, suggestion, construct=f"the attribute `{name}`", reason=reason
            )


# Operators


def _unary(ctx: Context, node: ast.UnaryOp) -> Abstract:
    value = lower_value(ctx, node.operand)
    if isinstance(node.op, ast.Not):
        result = truth(ctx, value, node.operand)
        return arith.unary(ctx, node.op, result, node)
    match value:
        case Number():
            return arith.unary(ctx, node.op, value, node)
        case ArrayRef():
            return arrays.elementwise(ctx, lambda xs: arith.unary(ctx, node.op, xs[0], node), [value])
        case _:
            ctx.mismatch(
                node, "the sign", f"it takes numbers and arrays, not {describe(value, True)}", remedies.to_number(value)
            )


def lower_value(ctx: Context, node: ast.expr) -> Abstract:
    """The value of an expression that must be one: a library's constant is a number here."""
    return constant_of(ctx, lower(ctx, node))


def lower_arm_value(ctx: Context, node: ast.expr) -> Abstract:
    """The value of an expression that is lowered in an arm."""
    return resolved_value(ctx, lambda: constant_of(ctx, lower_any(ctx, node)))


def binary(ctx: Context, symbol: str, left: Abstract, right: Abstract, node: ast.AST) -> Abstract:
    left, right = constant_of(ctx, left), constant_of(ctx, right)
    match left, right:
        case Number(), Number():
            return arith.binary(ctx, symbol, left, right, node)
        case (ArrayRef(), ArrayRef()) if symbol == "@":
            return product(ctx, left, right, "matmul", node)
        case (ArrayRef() | Number(), ArrayRef() | Number()):
            if symbol == "@":
                made = fixes.product_operator(ctx, node)
                ctx.mismatch(node, "`@`", "it takes two arrays", "Multiply an array by a number with `*`.", made)
            return arrays.elementwise(ctx, lambda xs: arith.binary(ctx, symbol, xs[0], xs[1], node), [left, right])
        case TupleOf(), TupleOf() if symbol == "+" and left.display == right.display:
            return TupleOf((*left.items, *right.items), left.display)
        case _:
            reason = f"it is not defined for {describe(left, True)} and {describe(right, True)} in compiled code"
            ctx.mismatch(node, f"`{symbol}`", reason, remedies.of_operands(left, right))


def _compare(ctx: Context, node: ast.Compare) -> Abstract:
    left = lower_value(ctx, node.left)

    def link(k: int, left: Abstract) -> Abstract:
        """Comparison number k and, where it holds, those after it; each operand is evaluated once."""
        right = lower_value(ctx, node.comparators[k])
        first = _compare_pair(ctx, node, node.ops[k], left, right)
        if k + 1 == len(node.ops):
            return first
        return _both(
            ctx, truth(ctx, first, node), lambda: resolved_value(ctx, lambda: link(k + 1, right)), node, is_and=True
        )

    return link(0, left)


def _compare_pair(ctx: Context, node: ast.Compare, op: ast.cmpop, left: Abstract, right: Abstract) -> Abstract:
    if isinstance(op, ast.Is | ast.IsNot):
        return _identity(ctx, node, op, left, right)
    if type(op) not in arith.COMPARISONS:
        ctx.expression(node, "`in`", "numbers are compared one by one", "Compare with each value, or write a loop.")
    name = arith.COMPARISONS[type(op)]
    match left, right:
        case (NoneValue(), NoneValue() | Number()) | (Number(), NoneValue()) if isinstance(op, ast.Eq | ast.NotEq):
            return ctx.number((left == right) is isinstance(op, ast.Eq))
        case Number(), Number():
            return arith.compare(ctx, name, left, right)
        case (ArrayRef() | Number(), ArrayRef() | Number()):
            return arrays.elementwise(ctx, lambda xs: arith.compare(ctx, name, xs[0], xs[1]), [left, right])
        case _:
            ctx.mismatch(
                node,
                "the comparison",
                f"it is not defined for {describe(left, True)} and {describe(right, True)} in compiled code",
                remedies.of_operands(left, right),
            )


def _identity(ctx: Context, node: ast.Compare, op: ast.cmpop, left: Abstract, right: Abstract) -> Number:
    if isinstance(left, NoneValue) or isinstance(right, NoneValue):
        same = isinstance(left, NoneValue) and isinstance(right, NoneValue)
        return ctx.number(same if isinstance(op, ast.Is) else not same)
    ctx.expression(node, "`is`", "it compares with `None` only", "Compare with `==`.")


def truth(ctx: Context, value: Abstract, node: ast.AST) -> Number:
    """`bool(value)` as a Python bool."""
    match constant_of(ctx, value):
        case Number() as number:
            const = None if number.const is None else bool(number.const)
            return Number(arith.truth(ctx, number), BOOL, False, const)
        case NoneValue():
            return ctx.number(False)
        case TupleOf() as of:
            return ctx.number(bool(of.items))
        case ArrayRef():
            ctx.mismatch(
                node,
                "the condition",
                "an array has no truth value",
                "Reduce it with `np.any` or `np.all`, or test its size.",
            )
        case other:
            ctx.mismatch(node, "the condition", f"{describe(other, True)} has no truth value in compiled code")


def _bool_op(ctx: Context, op: ast.boolop, values: list[ast.expr]) -> Abstract:
    first = lower_value(ctx, values[0])
    for value in values[1:]:
        first = _and_or(ctx, isinstance(op, ast.And), first, value, values[0])
    return first


def _and_or(ctx: Context, is_and: bool, first: Abstract, second: ast.expr, node: ast.AST) -> Abstract:
    """Python's: the operand that decided."""
    cond = truth(ctx, first, node)
    if cond.const is not None:
        return lower_value(ctx, second) if cond.const == is_and else first
    if isinstance(first, Number) and first.kind is BOOL:
        return _both(ctx, first, lambda: lower_arm_value(ctx, second), second, is_and)
    if is_and:
        return choose(ctx, cond.value, lambda: lower_arm_value(ctx, second), lambda: first)
    return choose(ctx, cond.value, lambda: first, lambda: lower_arm_value(ctx, second))


def _both(ctx: Context, first: Number, second: Callable[[], Abstract], node: ast.AST, is_and: bool) -> Abstract:
    """`first and second` of bools: without a branch where the second is cheap and cannot raise."""
    if first.const is not None:
        return second() if first.const == is_and else first
    arm, value = valued_arm(ctx, second, (first.value, is_and))
    if isinstance(value, Number) and value.kind is BOOL and cheap(arm.region) and arm.env == ctx.env:
        ctx.b.region.ops.extend(arm.region.ops)
        op = "and_" if is_and else "or_"
        return Number(
            ctx.b.emit(op, [first.value, value.value]), BOOL, first.numpy is not False or value.numpy is not False
        )
    other = valued_arm(ctx, lambda: first)
    if is_and:
        return choose_arms(ctx, first.value, (arm, value), other)
    return choose_arms(ctx, first.value, other, (arm, value))


def _conditional(ctx: Context, node: ast.IfExp) -> Abstract:
    cond = truth(ctx, lower_value(ctx, node.test), node.test)
    if cond.const is not None:
        return lower_value(ctx, node.body if cond.const else node.orelse)
    value = choose(ctx, cond.value, lambda: lower_arm_value(ctx, node.body), lambda: lower_arm_value(ctx, node.orelse))
    if isinstance(value, Conflict):
        ctx.mismatch(
            node, "the conditional expression", f"it is {value.first} on one side and {value.second} on the other"
        )
    return value


# Subscripts


def _subscript(ctx: Context, node: ast.Subscript) -> Abstract:
    base = lower(ctx, node.value)
    match base:
        case ArrayRef():
            return index_array(ctx, base, node)
        case TupleOf():
            return _index_tuple(ctx, base, node)
        case _:
            ctx.mismatch(node, "the index", f"{describe(base, True)} cannot be indexed")


def slice_parts(ctx: Context, node: ast.Slice) -> list[Abstract | None]:
    parts: list[Abstract | None] = []
    for part in (node.lower, node.upper, node.step):
        value = None if part is None else lower_value(ctx, part)
        parts.append(None if isinstance(value, NoneValue) else value)
    return parts


def index_items(ctx: Context, index: ast.expr) -> list[indexing.Item]:
    """What stands between the brackets, evaluated."""
    return [_index_item(ctx, item) for item in (index.elts if isinstance(index, ast.Tuple) else [index])]


def _index_item(ctx: Context, node: ast.expr) -> indexing.Item:
    if isinstance(node, ast.Slice):
        parts = slice_parts(ctx, node)
        for text, part in zip((node.lower, node.upper), parts, strict=False):
            if text is not None and isinstance(part, Number) and part.kind is F64:
                reason = f"its bounds must be ints, not {describe(part, True)}"
                ctx.mismatch(text, "the slice", reason, remedies.to_int(part), fixes.converted(ctx, text, part, I64))
        return indexing.Sliced(*parts)
    if isinstance(node, ast.Constant) and node.value is ...:
        return indexing.Marker.REST
    value = lower_value(ctx, node)
    if isinstance(value, NoneValue) or value == LibraryRef("numpy", "newaxis"):
        return indexing.Marker.NEW
    if isinstance(value, Number) and value.kind is F64:
        reason = f"it is {describe(value, True)}; elements are indexed with an int"
        ctx.mismatch(node, "the index", reason, remedies.to_int(value), fixes.converted(ctx, node, value, I64))
    if isinstance(value, ArrayRef) and value.dtype is F64:
        ctx.mismatch(node, "the index", gather.NO_INDICES, gather.MAKE_INDICES)
    return value


def index_array(ctx: Context, array: ArrayRef, node: ast.Subscript) -> Abstract:
    items = index_items(ctx, node.slice)
    if len(items) == 1 and isinstance(items[0], TupleOf) and items[0].display == "tuple":
        items = list(items[0].items)
    return gather.load(ctx, array, items, node)


def _index_tuple(ctx: Context, base: TupleOf, node: ast.Subscript) -> Abstract:
    if isinstance(node.slice, ast.Slice):
        bounds: list[int | None] = []
        for part in slice_parts(ctx, node.slice):
            if part is not None and not (isinstance(part, Number) and isinstance(part.const, int)):
                ctx.expression(node, f"a slice of a {base.display}", "its bounds must be constants")
            bounds.append(int(part.const) if isinstance(part, Number) and isinstance(part.const, int) else None)
        if bounds[2] != 0:
            return TupleOf(base.items[slice(bounds[0], bounds[1], bounds[2])], base.display)
        ctx.expression(node, f"a slice of a {base.display}", "its step must not be zero")
    index = lower_value(ctx, node.slice)
    if not isinstance(index, Number) or index.kind is not I64:
        reason = f"it is {describe(index, True)}; a {base.display} is indexed with an int"
        ctx.mismatch(node.slice, "the index", reason, remedies.to_int(index))
    if not isinstance(index.const, int):
        ctx.expression(
            node,
            f"a {base.display} indexed by a variable",
            "the item's type must be known",
            "Make it an array with `np.array`.",
        )
    if not -len(base.items) <= index.const < len(base.items):
        ctx.mismatch(node, "the index", f"{index.const} is outside the {len(base.items)} items of the {base.display}")
    return base.items[index.const]


# Calls


def _call(ctx: Context, node: ast.Call) -> Abstract:
    callee = lower(ctx, node.func)
    args: list[Abstract] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            unpacked = lower(ctx, arg.value)
            if not isinstance(unpacked, TupleOf):
                refuse(ctx, arg)
            args += unpacked.items
        else:
            args.append(lower_value(ctx, arg))
    keywords: dict[str, Abstract] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            ctx.expression(
                keyword.value, "unpacking with `**`", "the arguments must stand in the text", "Write them one by one."
            )
        keywords[keyword.arg] = lower_value(ctx, keyword.value)
    return lower_call(ctx, node, callee, args, keywords)
