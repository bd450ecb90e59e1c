"""How IR types look in LLVM: registers, memory, and the flattened parameters of kernels.

| IR | register | memory and kernel parameters |
|---|---|---|
| f64, i64 | double, i64 | the same |
| bool | i1 | i8, 0 or 1 |
| array of rank r | ptr data, r dims, r byte strides | the same; layout "c": no strides in registers |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adcore.codegen.text import FunctionText, is_literal
from adcore.ir.types import BOOL, F64, I64, Array, Scalar, Type

REGISTER = {F64: "double", I64: "i64", BOOL: "i1"}
MEMORY = {F64: "double", I64: "i64", BOOL: "i8"}
SIZE = {F64: 8, I64: 8, BOOL: 1}


class Unsupported(Exception):
    """The IR asks for something that code generation does not know yet. Says what."""


def register_type(type: Type) -> str:
    if isinstance(type, Scalar) and type in REGISTER:
        return REGISTER[type]
    raise Unsupported(f"values of type {type}")


def size_of(dtype: Scalar) -> int:
    if dtype in SIZE:
        return SIZE[dtype]
    raise Unsupported(f"arrays of {dtype}")


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """An array value in registers. ``strides`` (bytes) is None for layout "c"."""

    dtype: Scalar
    data: str
    dims: tuple[str, ...]
    strides: tuple[str, ...] | None

    @property
    def item(self) -> str:
        return MEMORY[self.dtype]

    @property
    def size(self) -> int:
        return SIZE[self.dtype]


def parts(type: Type) -> list[str]:
    """Register types of a value of this type, as phis carry them. Dims that the type knows are not carried."""
    if not isinstance(type, Array):
        return [register_type(type)]
    open_dims = sum(not isinstance(d, int) for d in type.dims)
    return ["ptr", *["i64"] * open_dims, *["i64"] * (type.rank if type.layout != "c" else 0)]


def flatten(w: FunctionText, value: str | ArrayRef, type: Type) -> list[str]:
    """The registers that go with ``parts(type)``; an array is brought to the layout of ``type``."""
    if isinstance(value, str):
        return [value]
    assert isinstance(type, Array)
    dims = [have for have, known in zip(value.dims, type.dims, strict=True) if not isinstance(known, int)]
    return [value.data, *dims, *(byte_strides(w, value) if type.layout != "c" else ())]


def assemble(registers: Sequence[str], type: Type) -> str | ArrayRef:
    """The inverse of ``flatten``."""
    if not isinstance(type, Array):
        (one,) = registers
        return one
    rest = list(registers[1:])
    dims = tuple(str(d) if isinstance(d, int) else rest.pop(0) for d in type.dims)
    return ArrayRef(type.dtype, registers[0], dims, None if type.layout == "c" else tuple(rest))


def byte_strides(w: FunctionText, array: ArrayRef) -> tuple[str, ...]:
    if array.strides is not None:
        return array.strides
    strides, step = [], str(array.size)
    for dim in reversed(array.dims):
        strides.append(step)
        step = w.mul(step, dim)
    return tuple(reversed(strides))


def element_count(w: FunctionText, array: ArrayRef) -> str:
    count = "1"
    for dim in array.dims:
        count = w.mul(count, dim)
    return count


def address(w: FunctionText, array: ArrayRef, index: Sequence[str]) -> str:
    """Pointer to an element. A known whole stride of the last axis is counted in elements, so that LLVM sees it."""
    if not index:
        return array.data
    if array.strides is None:
        linear = index[0]
        for i, dim in zip(index[1:], array.dims[1:], strict=True):
            linear = w.add(w.mul(linear, dim), i)
        return _element(w, array, array.data, linear)
    offset = "0"
    for i, stride in zip(index[:-1], array.strides[:-1], strict=True):
        offset = w.add(offset, w.mul(i, stride))
    base = array.data if offset == "0" else w.value(f"getelementptr inbounds i8, ptr {array.data}, i64 {offset}")
    last = array.strides[-1]
    if is_literal(last) and int(last) % array.size == 0:
        return _element(w, array, base, w.mul(index[-1], str(int(last) // array.size)))
    return w.value(f"getelementptr inbounds i8, ptr {base}, i64 {w.mul(index[-1], last)}")


def _element(w: FunctionText, array: ArrayRef, base: str, index: str) -> str:
    if index == "0":
        return base
    return w.value(f"getelementptr inbounds {array.item}, ptr {base}, i64 {index}")


def load(w: FunctionText, pointer: str, dtype: Scalar, suffix: str = "", align: int | None = None) -> str:
    """Read a scalar from memory into a register."""
    size = size_of(dtype) if align is None else align
    got = w.value(f"load {MEMORY[dtype]}, ptr {pointer}, align {size}{suffix}")
    return w.value(f"trunc i8 {got} to i1") if dtype == BOOL else got


def store(w: FunctionText, pointer: str, dtype: Scalar, value: str, suffix: str = "", align: int | None = None) -> None:
    size = size_of(dtype) if align is None else align
    if dtype == BOOL:
        value = w.value(f"zext i1 {value} to i8")
    w.line(f"store {MEMORY[dtype]} {value}, ptr {pointer}, align {size}{suffix}")


def kernel_params(type: Type, name: str, attributes: str = "") -> list[str]:
    """Flattened parameters ``"double %x"`` of one IR parameter."""
    if not isinstance(type, Array):
        return [f"{'i8' if type == BOOL else register_type(type)} %{name}"]
    dims = [f"i64 %{name}.dim{k}" for k in range(type.rank)]
    strides = [f"i64 %{name}.stride{k}" for k in range(type.rank)]
    return [f"ptr {attributes}%{name}", *dims, *strides]


def kernel_arguments(w: FunctionText, value: str | ArrayRef, type: Type) -> list[str]:
    """What a call passes for one IR parameter."""
    if isinstance(value, str):
        if type == BOOL:
            value = w.value(f"zext i1 {value} to i8")
        return [f"{'i8' if type == BOOL else register_type(type)} {value}"]
    return [f"ptr {value.data}", *(f"i64 {d}" for d in value.dims), *(f"i64 {s}" for s in byte_strides(w, value))]


def out_struct(rank: int) -> str:
    """The memory behind ``%out`` of an array result: data, dims, byte strides."""
    return "{ " + ", ".join(["ptr", *["i64"] * (2 * rank)]) + " }"
