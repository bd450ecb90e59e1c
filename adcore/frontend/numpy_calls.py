"""NumPy's functions and array methods: creation, reductions, shapes; elementwise functions come from the table in `library`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from adcore.frontend import arith, arrays, einsum, library, rearrange, ufunc_calls
from adcore.frontend.context import Context
from adcore.frontend.covariance import COVARIANCE
from adcore.frontend.loops import range_length
from adcore.frontend.numpy_arguments import (
    NumpyCall,
    Row,
    array_argument,
    check,
    dtype_argument,
    numbers,
    operand,
    refuse,
    wrong,
)
from adcore.frontend.numpy_building import BUILDING
from adcore.frontend.numpy_ordering import ORDERING, ORDERING_METHODS
from adcore.frontend.numpy_places import PLACE_METHODS, PLACES
from adcore.frontend.numpy_reductions import MORE_REDUCTIONS, REDUCTIONS
from adcore.frontend.numpy_shapes import SHAPING, SHAPING_METHODS
from adcore.frontend.products import outer, product
from adcore.frontend.sequences import SEQUENCES
from adcore.frontend.shapes import convert, size_number
from adcore.frontend.values import (
    NONE,
    Abstract,
    ArrayRef,
    MethodRef,
    Number,
    RangeOf,
    TupleOf,
    describe,
)
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Array, Scalar
from adcore.suggest import suggest


def call_numpy(
    ctx: Context, node: ast.Call, name: str, args: Sequence[Abstract], keywords: Mapping[str, Abstract]
) -> Abstract:
    call = NumpyCall(node, name, args, keywords)
    if name in FUNCTIONS:
        least, most, allowed, function = FUNCTIONS[name]
        check(ctx, call, least, most, allowed)
        return function(ctx, call)
    if name in library.ELEMENTWISE:
        return ufunc_calls.call_elementwise(ctx, call)
    if ufunc_calls.is_method(name):
        return ufunc_calls.call_method(ctx, call)
    near = suggest(name, [*FUNCTIONS, *library.ELEMENTWISE])
    if hasattr(np, name):
        refuse(ctx, node, "adcore has no rule for it yet")
    base = ctx.text(node.func.value, 200) + "." if isinstance(node.func, ast.Attribute) else None
    reason = f"NumPy has no function `{name}`" + (f"; did you mean `{near}`?" if near else "")
    refuse(ctx, node, reason, base + near if base and near else None)


def call_method(
    ctx: Context, node: ast.Call, method: MethodRef, args: Sequence[Abstract], keywords: Mapping[str, Abstract]
) -> Abstract:
    call = NumpyCall(node, method.name, [method.array, *args], keywords, True)
    least, most, allowed, function = METHODS[method.name]
    check(ctx, call, least, most, allowed)
    return function(ctx, call)


# Creation


def _array(ctx: Context, call: NumpyCall) -> Abstract:
    value = call.args[0]
    match value:
        case TupleOf():
            made = arrays.from_rows(ctx, value, call.node)
            kind = dtype_argument(ctx, call, 1, made.dtype)
            return made if kind is made.dtype else arrays.copy(ctx, made, kind)
        case ArrayRef():
            kind = dtype_argument(ctx, call, 1, value.dtype)
            _no_truncation(ctx, call, value.dtype, kind)
            if call.name == "asarray" and kind is value.dtype:
                return value
            return arrays.copy(ctx, value, kind)
        case _:
            refuse(
                ctx,
                call.node,
                f"of {describe(value, True)} it makes an array without dimensions, which is not compiled yet",
            )


def _no_truncation(ctx: Context, call: NumpyCall, have: Scalar, want: Scalar) -> None:
    if (have is F64 and want is not F64) or (want is BOOL and have is not BOOL):
        refuse(ctx, call.node, "arrays of floats are not converted to integers or bools yet")


def _filled_with(fill: float | None) -> Callable[[Context, NumpyCall], Abstract]:
    def make(ctx: Context, call: NumpyCall) -> Abstract:
        shape = call.get(0, "shape")
        if shape is None:
            wrong(ctx, call, "its size is missing")
        kind = dtype_argument(ctx, call, 1, F64)
        place = call.node.args[0] if call.node.args else call.node
        sizes = arrays.shape_from(ctx, shape, place, f"`{ctx.text(call.node.func)}`")
        return arrays.allocate(ctx, sizes, kind, _fill(fill, kind))

    return make


def _fill(fill: float | None, kind: Scalar) -> float | int | bool | None:
    if fill is None:
        return None
    return fill if kind is F64 else int(fill) if kind is I64 else bool(fill)


def _like(fill: float | None) -> Callable[[Context, NumpyCall], Abstract]:
    def make(ctx: Context, call: NumpyCall) -> Abstract:
        array = array_argument(ctx, call)
        kind = dtype_argument(ctx, call, 1, array.dtype)
        return arrays.allocate(ctx, array.sizes, kind, _fill(fill, kind))

    return make


def _full(ctx: Context, call: NumpyCall) -> Abstract:
    shape, value = call.get(0, "shape"), call.get(1, "fill_value")
    if shape is None or not isinstance(value, Number):
        wrong(ctx, call, "it takes a size and a number")
    kind = dtype_argument(ctx, call, 2, value.kind)
    _no_truncation(ctx, call, value.kind, kind)
    sizes = arrays.shape_from(ctx, shape, call.node, f"`{ctx.text(call.node.func)}`")
    return arrays.filled(ctx, sizes, value, kind)


def _full_like(ctx: Context, call: NumpyCall) -> Abstract:
    array, value = array_argument(ctx, call), call.get(1, "fill_value")
    if not isinstance(value, Number):
        wrong(ctx, call, "it takes an array and a number")
    _no_truncation(ctx, call, value.kind, array.dtype)
    return arrays.filled(ctx, array.sizes, value, array.dtype)


def _arange(ctx: Context, call: NumpyCall) -> Abstract:
    parts = numbers(ctx, call, call.args)
    low = ctx.number(0) if len(parts) == 1 else parts[0]
    high = parts[0] if len(parts) == 1 else parts[1]
    step = parts[2] if len(parts) == 3 else ctx.number(1)
    kind = arith.common_kind(low, high, step)
    wanted = dtype_argument(ctx, call, 3, F64 if kind is F64 else I64)
    made = (
        _float_arange(ctx, low, high, step)
        if kind is F64
        else _int_arange(ctx, *(arith.as_int(ctx, p) for p in (low, high, step)))
    )
    _no_truncation(ctx, call, made.dtype, wanted)
    return made if wanted is made.dtype else arrays.copy(ctx, made, wanted)


def _int_arange(ctx: Context, low: Number, high: Number, step: Number) -> ArrayRef:
    _nonzero_step(ctx, step)
    size = range_length(ctx, RangeOf(low, high, step))

    def body(index: list[Value], _: list[Value]) -> list[Value]:
        return [ctx.b.iadd(low.value, ctx.b.imul(index[0], step.value))]

    (value,) = ctx.b.map_([size.value], [], ["elem"], body)
    return ArrayRef(value, I64, (Number(size.value, I64, False, size.const, 0, 2**60, size.linear),))


def _nonzero_step(ctx: Context, step: Number) -> None:
    if step.const is None:
        ok = ctx.b.ine(step.value, ctx.b.i64(0)) if step.kind is I64 else ctx.b.fne(step.value, ctx.b.f64(0.0))
        ctx.guard(ok, "ZeroDivisionError", "division by zero")
    elif step.const == 0:
        ctx.guard(False, "ZeroDivisionError", "division by zero")


def _float_arange(ctx: Context, low: Number, high: Number, step: Number) -> ArrayRef:
    """NumPy: ceil((high - low) / step) elements, low + k * ((low + step) - low)."""
    b = ctx.b
    lo, hi, by = (arith.as_float(ctx, x).value for x in (low, high, step))
    _nonzero_step(ctx, arith.as_float(ctx, step))
    count = b.ceil(b.fdiv(b.fsub(hi, lo), by))
    ctx.guard(b.flt(count, b.f64(2.0**60)), "ValueError", "Maximum allowed size exceeded")
    size = b.ftoi(b.fmax(count, b.f64(0.0)))
    delta = b.fsub(b.fadd(lo, by), lo)

    def body(index: list[Value], _: list[Value]) -> list[Value]:
        k = index[0]
        return [b.select(b.ieq(k, b.i64(1)), b.fadd(lo, by), b.fadd(lo, b.fmul(b.itof(k), delta)))]

    (value,) = b.map_([size], [], ["elem"], body)
    return ArrayRef(value, F64, (size_number(size),))


# Products


def _dot(ctx: Context, call: NumpyCall) -> Abstract:
    a, b = (operand(ctx, call, arg, k) for k, arg in enumerate(call.args[:2]))
    if isinstance(a, ArrayRef) and isinstance(b, ArrayRef):
        if call.name == "vdot":
            a, b = rearrange.flat(ctx, a), rearrange.flat(ctx, b)
        if max(a.rank, b.rank) > 2 and call.name in ("dot", "inner"):
            return _many_dots(ctx, call, a, b)
        return product(ctx, a, b, call.name, call.node)
    if call.name in ("matmul", "vdot"):
        wrong(ctx, call, "it takes two arrays")
    return arrays.elementwise(ctx, lambda xs: arith.binary(ctx, "*", xs[0], xs[1], call.node), [a, b])


def _many_dots(ctx: Context, call: NumpyCall, a: ArrayRef, b: ArrayRef) -> Abstract:
    """The last axis of the first with the last but one (`np.inner`: the last) of the second."""
    left, right = [f"a{k}" for k in range(a.rank)], [f"b{k}" for k in range(b.rank)]
    at = -1 if call.name == "inner" or b.rank == 1 else -2
    arrays.require_sizes(ctx, a.sizes[-1:], (b.sizes[at],), "shapes not aligned")
    left[-1] = right[at] = "sum"
    output = [label for label in (*left, *right) if label != "sum"]
    if len(output) > arrays.LARGEST_RANK:
        refuse(ctx, call.node, f"arrays have at most {arrays.LARGEST_RANK} dimensions")
    pair = [einsum.Labelled(a, tuple(left)), einsum.Labelled(b, tuple(right))]
    return einsum.contracted(ctx, pair, output, call.node)


# Shapes


def _copy(ctx: Context, call: NumpyCall) -> Abstract:
    return arrays.copy(ctx, array_argument(ctx, call))


def _flatten(ctx: Context, call: NumpyCall) -> Abstract:
    array = arrays.copy(ctx, array_argument(ctx, call))
    return array if array.rank == 1 else rearrange.reshaped(ctx, array, (arrays.count_of(ctx, array),))


def _ravel(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    _contiguous(ctx, call, array)
    return array if array.rank == 1 else rearrange.reshaped(ctx, array, (arrays.count_of(ctx, array),))


def _contiguous(ctx: Context, call: NumpyCall, array: ArrayRef) -> None:
    if isinstance(array.value.type, Array) and array.value.type.layout != "c":
        refuse(ctx, call.node, "whether it copies a slice depends on the slice; write `.copy()` before it")


def _reshape(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    parts = call.args[1:]
    if len(parts) == 1 and isinstance(parts[0], TupleOf):
        parts = parts[0].items
    dims = numbers(ctx, call, parts)
    if any(d.kind is not I64 for d in dims) or not 1 <= len(dims) <= arrays.LARGEST_RANK:
        wrong(ctx, call, "it takes the sizes of the new shape")
    if len(dims) == array.rank == 1:
        return _same_vector(ctx, array, dims[0])
    _contiguous(ctx, call, array)
    b, count = ctx.b, arrays.count_of(ctx, array)
    open_ = [k for k, d in enumerate(dims) if d.const == -1]
    if len(open_) > 1:
        wrong(ctx, call, "one size may be -1")
    known = b.i64(1)
    for k, d in enumerate(dims):
        if k not in open_:
            ctx.guard(b.ige(d.value, b.i64(0)), "ValueError", "cannot reshape the array")
            known = b.imul(known, d.value)
    sizes = [size_number(d.value, d.linear) for d in dims]
    if open_:
        ctx.guard(b.igt(known, b.i64(0)), "ValueError", "cannot reshape the array")
        sizes[open_[0]] = size_number(b.ifloordiv(count.value, known))
        known = b.imul(known, sizes[open_[0]].value)
    ctx.guard(b.ieq(known, count.value), "ValueError", "cannot reshape the array")
    return rearrange.reshaped(ctx, array, tuple(sizes))


def _same_vector(ctx: Context, array: ArrayRef, wanted: Number) -> ArrayRef:
    (size,) = array.sizes
    if wanted.const != -1 and not arrays.same_size(wanted, size):
        ok = ctx.b.or_(ctx.b.ieq(wanted.value, size.value), ctx.b.ieq(wanted.value, ctx.b.i64(-1)))
        ctx.guard(ok, "ValueError", "cannot reshape the array")
    return array


def _outer(ctx: Context, call: NumpyCall) -> Abstract:
    a, b = (rearrange.flat(ctx, array_argument(ctx, call, k)) for k in (0, 1))
    return outer(ctx, a, b, call.node)


def _size(ctx: Context, call: NumpyCall) -> Abstract:
    return arrays.count_of(ctx, array_argument(ctx, call))


def _shape(ctx: Context, call: NumpyCall) -> Abstract:
    return TupleOf(array_argument(ctx, call).sizes)


def _scalar_type(ctx: Context, call: NumpyCall) -> Abstract:
    (x,) = numbers(ctx, call, call.args)
    if call.name in ("float64", "double"):
        return Number(convert(ctx.b, x, F64), F64, True, None if x.const is None else float(x.const))
    whole = arith.to_int(ctx, x)
    return Number(whole.value, I64, True, whole.const, whole.low, whole.high)


def _astype(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    kind = dtype_argument(ctx, call, 1, array.dtype)
    _no_truncation(ctx, call, array.dtype, kind)
    return arrays.copy(ctx, array, kind)


def _fill_method(ctx: Context, call: NumpyCall) -> Abstract:
    arrays.store_all(ctx, array_argument(ctx, call), call.args[1], call.node)
    return NONE


FUNCTIONS: dict[str, Row] = {
    **REDUCTIONS, **MORE_REDUCTIONS, **SHAPING, **BUILDING, **ORDERING, **PLACES, **SEQUENCES, **COVARIANCE, **ufunc_calls.OPTIONED,
    "array": (1, 2, ("dtype",), _array), "asarray": (1, 2, ("dtype",), _array),
    "zeros": (1, 2, ("shape", "dtype"), _filled_with(0.0)), "ones": (1, 2, ("shape", "dtype"), _filled_with(1.0)),
    "empty": (1, 2, ("shape", "dtype"), _filled_with(None)), "full": (2, 3, ("shape", "fill_value", "dtype"), _full),
    "zeros_like": (1, 2, ("dtype",), _like(0.0)), "ones_like": (1, 2, ("dtype",), _like(1.0)), "empty_like": (1, 2, ("dtype",), _like(None)),
    "full_like": (2, 2, ("fill_value",), _full_like),
    "arange": (1, 4, ("dtype",), _arange),
    "dot": (2, 2, (), _dot), "vdot": (2, 2, (), _dot), "inner": (2, 2, (), _dot), "matmul": (2, 2, (), _dot),
    "copy": (1, 1, (), _copy), "ravel": (1, 1, (), _ravel), "reshape": (2, 2, (), _reshape),
    "outer": (2, 2, (), _outer),
    "size": (1, 1, (), _size), "shape": (1, 1, (), _shape),
    "float64": (1, 1, (), _scalar_type), "double": (1, 1, (), _scalar_type), "int64": (1, 1, (), _scalar_type),
}  # fmt: skip

METHODS: dict[str, Row] = {
    **REDUCTIONS, **SHAPING_METHODS, **ORDERING_METHODS, **PLACE_METHODS, **ufunc_calls.OPTIONED_METHODS,
    "dot": (2, 2, (), _dot), "copy": (1, 1, (), _copy), "flatten": (1, 1, (), _flatten), "ravel": (1, 1, (), _ravel),
    "reshape": (2, 7, (), _reshape), "astype": (2, 2, ("dtype",), _astype), "fill": (2, 2, (), _fill_method),
}  # fmt: skip
