"""What two abstract values have in common where control flow joins, and how each is brought into that common form.

A shape is the type level of an abstract value: how many SSA values carry it and of which types. `join_shapes` is
associative and only ever widens, so the fixpoint over a loop's carried variables ends. Numbers join with equal kinds, bool
widens to int, and a literal int widens to float where it is exact; provenance becomes dynamic where the two sides differ. What has no
common form becomes a union of at most `LARGEST_UNION` parts; with more it is a conflict, which may not be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from adcore.frontend.values import (
    Abstract,
    ArrayRef,
    Binding,
    Broken,
    Conflict,
    FunctionRef,
    LibraryRef,
    ModuleRef,
    NoneValue,
    Number,
    Origin,
    Text,
    TupleOf,
    UnionOf,
    describe,
)
from adcore.ir.build import Builder
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Array, Scalar, Type
from adcore.ir.types import join as join_types

LARGEST_EXACT = 2**53
LARGEST_UNION = 4
_GUARDED = (
    Origin.FRESH,
    Origin.PARAMETER,
    Origin.CALLER,
    Origin.VIEW,
    Origin.CONSTANT,
)  # what may be stored into it: ever less


@dataclass(frozen=True, slots=True)
class NumberShape:
    """`numpy` None: known at run time only. `literal`: an int constant that a float can replace."""

    kind: Scalar
    numpy: bool | None = False
    literal: bool = False


@dataclass(frozen=True, slots=True)
class ArrayShape:
    type: Array
    origin: Origin
    name: str = ""


@dataclass(frozen=True, slots=True)
class TupleShape:
    items: tuple[Shape, ...]
    display: str = "tuple"


@dataclass(frozen=True, slots=True)
class StaticShape:
    """A value that exists at compile time only; it joins with itself."""

    value: Abstract


@dataclass(frozen=True, slots=True)
class ConflictShape:
    value: Conflict


@dataclass(frozen=True, slots=True)
class UnionShape:
    """Parts of which no two have a common form, in the order of `_rank`."""

    parts: tuple[Shape, ...]


Shape: TypeAlias = NumberShape | ArrayShape | TupleShape | StaticShape | ConflictShape | UnionShape


@dataclass(frozen=True, slots=True)
class BindingShape:
    """`value` None: not bound yet. `defined` None: known at run time only."""

    value: Shape | None
    defined: bool | None


def shape_of(value: Abstract) -> Shape:
    match value:
        case Number():
            literal = value.kind is I64 and (
                value.literal or (isinstance(value.const, int) and abs(value.const) <= LARGEST_EXACT)
            )
            if value.kind is BOOL:  # the class of a bool is never worth a bit of its own
                return NumberShape(BOOL, value.numpy is not False)
            return NumberShape(value.kind, value.numpy if isinstance(value.numpy, bool) else None, literal)
        case ArrayRef():
            assert isinstance(value.value.type, Array)
            return ArrayShape(value.value.type, value.origin, value.name)
        case TupleOf():
            return TupleShape(tuple(shape_of(item) for item in value.items), value.display)
        case UnionOf():
            return UnionShape(tuple(shape for shape, _ in value.parts))
        case Conflict():
            return ConflictShape(value)
        case _:
            return StaticShape(value)


def join_shapes(a: Shape, b: Shape) -> Shape:
    """What holds values of both: their common form, else their union."""
    match a, b:
        case (ConflictShape(), _):
            return a
        case (_, ConflictShape()):
            return b
        case (StaticShape(Broken()), _) | (_, StaticShape(Broken())):
            return StaticShape(Broken())
        case _:
            return common_form(a, b) or _union([*_parts(a), *_parts(b)])


def _parts(shape: Shape) -> Sequence[Shape]:
    return shape.parts if isinstance(shape, UnionShape) else (shape,)


def _union(shapes: Sequence[Shape]) -> Shape:
    parts: list[Shape] = []
    for shape in shapes:
        for k, part in enumerate(parts):
            common = common_form(part, shape)
            if common is not None:
                parts[k] = common
                break
        else:
            parts.append(shape)
    if len(parts) == 1:
        return parts[0]
    if len(parts) > LARGEST_UNION or not all(map(_taggable, parts)):
        return ConflictShape(Conflict(describe_shape(parts[0]), describe_shape(parts[1])))
    return UnionShape(tuple(sorted(parts, key=_rank)))


def _taggable(shape: Shape) -> bool:
    """All of the value is in its SSA values or in its shape: ranges and methods hold SSA values that their shape does not name."""
    match shape:
        case StaticShape(value):
            return isinstance(value, NoneValue | Text | LibraryRef | ModuleRef) or (
                isinstance(value, FunctionRef) and value.outer is None
            )
        case TupleShape(items):
            return all(map(_taggable, items))
        case _:
            return True


def _rank(shape: Shape) -> tuple[int, str]:
    """The order of parts: the same for equal unions, however they came about."""
    match shape:
        case StaticShape(FunctionRef() as f):
            return 0, f"{f.scope.name}.{f.name}"
        case StaticShape(value):
            return 0, repr(value)
        case NumberShape(kind):
            return 1, str(kind)
        case ArrayShape(type):
            return 2, f"{type.rank} {type.dtype}"
        case _:
            return 3, describe_shape(shape)


def common_form(a: Shape, b: Shape) -> Shape | None:
    """The form without a tag that holds values of both."""
    match a, b:
        case NumberShape(), NumberShape():
            return _join_numbers(a, b)
        case ArrayShape(), ArrayShape():
            joined = join_types(a.type, b.type)
            if isinstance(joined, Array):
                first = a if _GUARDED.index(a.origin) >= _GUARDED.index(b.origin) else b
                return ArrayShape(joined, first.origin, first.name or a.name or b.name)
        case TupleShape(), TupleShape():
            if len(a.items) == len(b.items):
                return TupleShape(tuple(join_shapes(x, y) for x, y in zip(a.items, b.items, strict=True)), a.display)
        case StaticShape(), StaticShape():
            return a if a == b else None
        case _:
            pass
    return None


def _join_numbers(a: NumberShape, b: NumberShape) -> Shape | None:
    numpy = a.numpy if a.numpy is b.numpy else None
    if a.kind == b.kind == BOOL:
        return NumberShape(BOOL, a.numpy is not False or b.numpy is not False)
    if a.kind == b.kind:
        return NumberShape(a.kind, numpy, a.literal and b.literal)
    kinds = {a.kind, b.kind}
    if kinds == {I64, F64}:
        whole = a if a.kind is I64 else b
        if whole.literal:
            return NumberShape(F64, numpy)
    elif kinds == {I64, BOOL} and a.numpy is False and b.numpy is False:
        return NumberShape(I64, False)
    return None


def join_bindings(a: BindingShape, b: BindingShape) -> BindingShape:
    if a.value is None or b.value is None:
        value = a.value or b.value
        return BindingShape(value, None if value is not None else False)
    return BindingShape(join_shapes(a.value, b.value), True if a.defined and b.defined else None)


def binding_shape(binding: Binding | None) -> BindingShape:
    if binding is None:
        return BindingShape(None, False)
    return BindingShape(shape_of(binding.value), True if binding.defined is True else None)


def describe_shape(shape: Shape) -> str:
    match shape:
        case NumberShape():
            return describe(Number(Value(shape.kind), shape.kind, bool(shape.numpy)))
        case ArrayShape():
            sizes = tuple(Number(Value(I64), I64) for _ in range(shape.type.rank))
            return describe(ArrayRef(Value(shape.type), shape.type.dtype, sizes))
        case TupleShape():
            return f"{shape.display} of {len(shape.items)}"
        case StaticShape():
            return describe(shape.value)
        case ConflictShape():
            return describe(shape.value)
        case UnionShape(parts):
            return " or ".join(describe_shape(part) for part in parts)


# From values to the SSA values of a shape and back


def leaf_types(shape: Shape | None) -> list[Type]:
    """The types of the SSA values that carry a shape."""
    match shape:
        case NumberShape():
            return [shape.kind, BOOL] if shape.numpy is None else [shape.kind]
        case ArrayShape():
            return [shape.type]
        case TupleShape():
            return [t for item in shape.items for t in leaf_types(item)]
        case UnionShape(parts):
            return [*[BOOL] * (len(parts) - 1), *(t for part in parts for t in leaf_types(part))]
        case _:
            return []


def coerce(b: Builder, value: Abstract, shape: Shape) -> list[Value]:
    """The SSA values of `value` in the form of `shape`, which joins the value's own shape; conversions go to `b`."""
    match shape, value:
        case NumberShape(), Number():
            out = [convert(b, value, shape.kind)]
            if shape.numpy is None:
                out.append(b.const(value.numpy) if isinstance(value.numpy, bool) else value.numpy)
            return out
        case ArrayShape(), ArrayRef():
            return [value.value]
        case TupleShape(), TupleOf():
            return [v for item, s in zip(value.items, shape.items, strict=True) for v in coerce(b, item, s)]
        case UnionShape(), _:
            return _tagged(b, value, shape)
        case _:
            return []


def _tagged(b: Builder, value: Abstract, shape: UnionShape) -> list[Value]:
    """Tags and payload of a value of one type, or of a narrower union."""
    mine = part_flags(b, value) if isinstance(value, UnionOf) else [(True, shape_of(value), value)]
    flags: list[bool | Value] = [False] * len(shape.parts)
    payload = [poison(b, part) for part in shape.parts]
    for flag, form, part in mine:
        k = next(k for k, whole in enumerate(shape.parts) if common_form(whole, form) == whole)
        assert flags[k] is False, f"two parts of {describe(value)} are one of {describe_shape(shape)}"
        flags[k] = flag
        payload[k] = coerce(b, part, shape.parts[k])
    tags = [b.const(flag) if isinstance(flag, bool) else flag for flag in flags[:-1]]
    return [*tags, *(v for leaves in payload for v in leaves)]


def part_flags(b: Builder, union: UnionOf) -> list[tuple[bool | Value, Shape, Abstract]]:
    """For each part: whether the value is it, its shape, and the value if it is it."""
    out: list[tuple[bool | Value, Shape, Abstract]] = []
    others: bool | Value = True  # none of the parts before
    for tag, (shape, leaves) in zip((*union.tags, None), union.parts, strict=True):
        if tag is None:
            tag = others
        else:
            others = _and_not(b, others, tag)
        out.append((tag, shape, rebuild(b, shape, leaves)))
    return out


def _and_not(b: Builder, a: bool | Value, c: bool | Value) -> bool | Value:
    if isinstance(c, bool):
        return False if c else a
    without = b.not_(c)
    if isinstance(a, bool):
        return without if a else False
    return b.and_(a, without)


def convert(b: Builder, value: Number, kind: Scalar) -> Value:
    """The SSA value in another kind: bool to int to float."""
    if value.kind == kind:
        return value.value
    if value.const is not None:
        return b.const(float(value.const) if kind is F64 else int(value.const), kind)
    whole = b.btoi(value.value) if value.kind is BOOL else value.value
    return b.itof(whole) if kind is F64 else whole


def poison(b: Builder, shape: Shape | None) -> list[Value]:
    """SSA values for a shape whose value does not exist here. Integers and bools are zeros, so that joins may convert them."""
    return [_nothing(b, t) for t in leaf_types(shape)]


def _nothing(b: Builder, t: Type) -> Value:
    if t == BOOL:
        return b.const(False)
    return b.i64(0) if t == I64 else b.op("poison", results=[t]).result


def rebuild(b: Builder, shape: Shape, leaves: Sequence[Value]) -> Abstract:
    """The abstract value that `leaves` carry."""
    value, used = _rebuild(b, shape, leaves)
    assert used == len(leaves)
    return value


def _rebuild(b: Builder, shape: Shape, leaves: Sequence[Value]) -> tuple[Abstract, int]:
    match shape:
        case NumberShape():
            if shape.numpy is None:
                return Number(leaves[0], shape.kind, leaves[1], literal=shape.literal), 2
            return Number(leaves[0], shape.kind, shape.numpy, literal=shape.literal), 1
        case ArrayShape():
            return array_ref(b, leaves[0], shape.origin, shape.name), 1
        case TupleShape():
            items, used = [], 0
            for item in shape.items:
                value, n = _rebuild(b, item, leaves[used:])
                items.append(value)
                used += n
            return TupleOf(tuple(items), shape.display), used
        case UnionShape(parts):
            used = len(parts) - 1
            tags = tuple(_known_flag(leaf) for leaf in leaves[:used])
            held = []
            for part in parts:
                n = len(leaf_types(part))
                held.append((part, tuple(leaves[used : used + n])))
                used += n
            return UnionOf(tuple(held), tags, describe_shape(shape)), used
        case StaticShape() | ConflictShape():
            return shape.value, 0


def _known_flag(flag: Value) -> bool | Value:
    if flag.owner is not None and flag.owner.name == "const":
        return bool(flag.owner.attrs["value"])
    return flag


LARGEST_SIZE = 2**60  # NumPy refuses arrays of more than 2**63 bytes


def size_number(value: Value, linear: tuple[Value, int] | None = None) -> Number:
    """The size of an axis as a Python int."""
    return Number(value, I64, low=0, high=LARGEST_SIZE, linear=linear or (value, 0))


def array_ref(b: Builder, value: Value, origin: Origin, name: str = "") -> ArrayRef:
    """An array whose sizes are read from itself."""
    assert isinstance(value.type, Array)
    sizes = tuple(size_number(b.dim(value, axis=k)) for k in range(value.type.rank))
    return ArrayRef(value, value.type.dtype, sizes, origin, name)
