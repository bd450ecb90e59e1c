"""Orders: `np.argsort` by merging, `np.sort` as the elements in that order, `np.searchsorted` by halving.

The order of a vector is an array of ints, so the derivative of a sort is that of its loads: the permutation, with equal elements in the
order in which they stand. NaN comes last, as in NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass

from adcore.frontend import arrays, rearrange
from adcore.frontend.context import Context
from adcore.frontend.gather import nest
from adcore.frontend.rearrange import lanes
from adcore.frontend.shapes import convert
from adcore.frontend.values import ArrayRef, Number
from adcore.ir.core import Value
from adcore.ir.types import F64, I64


def less(ctx: Context, x: Number, y: Number) -> Value:
    """x before y in NumPy's order."""
    b = ctx.b
    if F64 not in (x.kind, y.kind):
        return b.ilt(convert(b, x, I64), convert(b, y, I64))
    u, v = convert(b, x, F64), convert(b, y, F64)
    return b.and_(b.not_(b.fle(v, u)), b.not_(b.isnan(u)))


def halvings(ctx: Context, n: Value) -> Value:
    """How often a range of n has to be halved to be of one: the ceiling of log2, 0 for n < 2."""
    b = ctx.b
    return b.ftoi(b.ceil(b.log2(b.itof(b.imax(n, b.i64(1))))))


def order(ctx: Context, array: ArrayRef, axis: int) -> ArrayRef:
    """`np.argsort(array, axis, kind="stable")`: runs of 1, 2, 4, ... elements are merged, elements and their places side by side."""
    b = ctx.b
    size = array.sizes[axis]
    made = arrays.allocate(ctx, array.sizes, I64, None)
    keys = arrays.allocate(ctx, (size,), array.dtype, None)
    spare = _Run(arrays.allocate(ctx, (size,), array.dtype, None), arrays.allocate(ctx, (size,), I64, None))
    passes = halvings(ctx, size.value)

    def lane(views: list[ArrayRef]) -> None:
        source, places = views
        run = _Run(keys, places)
        rearrange.assign(ctx, keys, source)

        def start(i: Value, _: list[Value]) -> list[Value]:
            b.op("store", [places.value, i, i], {}, [])
            return []

        b.for_(b.i64(0), size.value, b.i64(1), [], start)

        def one_pass(p: Value, _: list[Value]) -> list[Value]:
            width = b.ishl(b.i64(1), p)

            def pair(low: Value, _: list[Value]) -> list[Value]:
                _merge(ctx, run, spare, low, width)
                return []

            b.for_(b.i64(0), size.value, b.ishl(width, b.i64(1)), [], pair)
            rearrange.assign(ctx, run.keys, spare.keys)
            rearrange.assign(ctx, run.places, spare.places)
            return []

        b.for_(b.i64(0), passes, b.i64(1), [], one_pass)

    lanes(ctx, [array, made], axis, lane)
    return made


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    keys: ArrayRef
    places: ArrayRef


def _merge(ctx: Context, run: _Run, into: _Run, low: Value, width: Value) -> None:
    """The elements from `low` on, two sorted runs of `width`, in order."""
    b = ctx.b
    n = run.keys.sizes[0].value
    last = b.isub(n, b.i64(1))
    middle = b.imin(b.iadd(low, width), n)
    high = b.imin(b.iadd(middle, width), n)

    def body(k: Value, carried: list[Value]) -> list[Value]:
        i, j = carried
        x, y = (Number(b.load(run.keys.value, b.imin(at, last)), run.keys.dtype, True) for at in (i, j))
        second = b.and_(b.ilt(j, high), b.or_(b.ige(i, middle), less(ctx, y, x)))
        at = b.select(second, j, i)
        for own, other in (
            (run.keys, into.keys),
            (run.places, into.places),
        ):  # loaded anew: to select floats takes a branch
            b.op("store", [other.value, k, b.load(own.value, at)], {}, [])
        step = b.btoi(second)
        return [b.iadd(i, b.isub(b.i64(1), step)), b.iadd(j, step)]

    b.for_(low, high, b.i64(1), [low, middle], body)


def ordered(ctx: Context, array: ArrayRef, axis: int) -> ArrayRef:
    """`np.sort(array, axis)`."""
    return rearrange.taken(ctx, array, order(ctx, array, axis), axis)


# Searching


def place(ctx: Context, array: ArrayRef, x: Number, right: bool) -> Value:
    """`np.searchsorted` of one number: how many elements of a sorted vector stand before it."""
    b = ctx.b
    n = array.sizes[0].value

    def body(_: Value, carried: list[Value]) -> list[Value]:
        low, high = carried
        middle = b.ishr(b.iadd(low, high), b.i64(1))
        item = Number(b.load(array.value, b.imin(middle, b.isub(n, b.i64(1)))), array.dtype, True)
        beyond = b.not_(less(ctx, x, item)) if right else less(ctx, item, x)
        on = b.and_(beyond, b.ilt(low, high))
        return [b.select(on, b.iadd(middle, b.i64(1)), low), b.select(on, high, middle)]

    low, _ = b.for_(b.i64(0), halvings(ctx, b.iadd(n, b.i64(1))), b.i64(1), [b.i64(0), n], body)
    return low


def places(ctx: Context, array: ArrayRef, values: Number | ArrayRef, right: bool) -> Number | ArrayRef:
    """`np.searchsorted(array, values)`."""
    high = array.sizes[0].high
    if isinstance(values, Number):
        return Number(place(ctx, array, values, right), I64, True, None, 0, high)
    b = ctx.b
    made = arrays.allocate(ctx, values.sizes, I64, None)

    def each(at: list[Value]) -> None:
        x = Number(b.load(values.value, *at), values.dtype, True)
        b.op("store", [made.value, *at, place(ctx, array, x, right)], {}, [])

    nest(ctx, values.sizes, each)
    return made


# Medians


def median(ctx: Context, array: ArrayRef) -> Number:
    """Of all elements of a vector: the middle one, or the mean of the two in the middle; NaN if there is one, or none at all."""
    b = ctx.b
    n = array.sizes[0].value
    made = ordered(ctx, array, 0)
    last = b.imax(b.isub(n, b.i64(1)), b.i64(0))

    def at(k: Value) -> Value:
        return convert(b, Number(b.load(made.value, k), made.dtype), F64)

    def middle() -> list[Value]:
        low, high = b.ishr(last, b.i64(1)), b.ishr(n, b.i64(1))
        both = b.fmul(b.fadd(at(low), at(high)), b.f64(0.5))
        value = b.select(b.ieq(low, high), at(high), both)
        return [b.select(b.isnan(at(last)), at(last), value)]

    (value,) = b.if_(b.igt(n, b.i64(0)), middle, lambda: [b.f64(float("nan"))])
    return Number(value, F64, True)
