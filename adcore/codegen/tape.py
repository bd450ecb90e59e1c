"""``push`` and ``pop``: records on the arena of the entry, last in, first out.

A record is its scalars packed one after the other (no padding, so the bytes are those of the plan); arrays follow as
dims, contents, and the size of the whole record at its end. The arena's pointers live in variables of the frame, so
that loops keep them in registers; they are written back before anything that uses the context's.
"""

from __future__ import annotations

from adcore.codegen.context import Context
from adcore.codegen.layout import SIZE, ArrayRef, element_count, load, register_type, size_of, store
from adcore.codegen.memory import copy, fresh
from adcore.codegen.support import BASE, CUR, END
from adcore.ir.core import Op, Value
from adcore.ir.types import I64, Array, Scalar

FIELDS = {"base": BASE, "cur": CUR, "end": END}


def open_arena(c: Context) -> None:
    """Called before the body is written where the function itself pushes or pops."""
    for name in FIELDS:
        c.arena[name] = c.w.alloca("ptr")
    reload_arena(c)


def reload_arena(c: Context) -> None:
    for name, variable in c.arena.items():
        value = c.w.value(f"load ptr, ptr {_field(c, name)}")
        c.w.line(f"store ptr {value}, ptr {variable}")


def save_arena(c: Context) -> None:
    if c.arena:
        c.w.line(f"store ptr {_get(c, 'cur')}, ptr {_field(c, 'cur')}")


def _field(c: Context, name: str) -> str:
    return c.w.value(f"getelementptr %Ctx, ptr %ctx, i32 0, i32 {FIELDS[name]}")


def _get(c: Context, name: str) -> str:
    return c.w.value(f"load ptr, ptr {c.arena[name]}")


def _move(c: Context, pointer: str, by: str) -> str:
    return pointer if by == "0" else c.w.value(f"getelementptr i8, ptr {pointer}, i64 {by}")


def _scalars(values: list[Value]) -> list[tuple[Value, Scalar, int]]:
    """The scalar fields of a record with their offsets, in order."""
    fields, offset = [], 0
    for v in values:
        if isinstance(v.type, Scalar):
            register_type(v.type)
            fields.append((v, v.type, offset))
            offset += SIZE[v.type]
    return fields


def _scalar_bytes(values: list[Value]) -> int:
    return sum(SIZE[type] for _, type, _ in _scalars(values))


def lower_push(c: Context, op: Op) -> None:
    w = c.w
    refs = [c.array(v) for v in op.operands if isinstance(v.type, Array)]
    fixed = _scalar_bytes(op.operands)
    size = str(fixed)
    if refs:
        size = str(fixed + 8 + 8 * sum(len(r.dims) for r in refs))
        for ref in refs:
            size = w.add(size, w.mul(element_count(w, ref), str(ref.size)))
    record = _reserve(c, size)
    for v, type, offset in _scalars(op.operands):
        store(w, _move(c, record, str(offset)), type, c.scalar(v), align=1)
    at = _move(c, record, str(fixed))
    for ref in refs:
        at = _write_array(c, at, ref)
    if refs:
        store(w, at, I64, size, align=1)


def _reserve(c: Context, size: str) -> str:
    """Advance ``cur`` by the record's size, into the next chunk where it does not fit."""
    w = c.w
    grow, ready = w.block("grow"), w.block("ready")
    cur, end = _get(c, "cur"), _get(c, "end")
    room = w.value(f"sub i64 {w.value(f'ptrtoint ptr {end} to i64')}, {w.value(f'ptrtoint ptr {cur} to i64')}")
    w.branch(w.value(f"icmp uge i64 {room}, {size}"), ready, grow, c.text.node('!{!"branch_weights", i32 1000, i32 1}'))
    w.place(grow)
    save_arena(c)
    status = w.value(f"call i32 @rt.grow(ptr %ctx, i64 {size})")
    c.check(w.value(f"icmp eq i32 {status}, 0"), None)
    reload_arena(c)
    w.br(ready)
    w.place(ready)
    record = _get(c, "cur")
    w.line(f"store ptr {_move(c, record, size)}, ptr {c.arena['cur']}")
    return record


def _write_array(c: Context, at: str, ref: ArrayRef) -> str:
    for dim in ref.dims:
        store(c.w, at, I64, dim, align=1)
        at = _move(c, at, "8")
    flat = ArrayRef(ref.dtype, at, ref.dims, None)
    copy(c, flat, ref, unaligned=True)
    return _move(c, at, c.w.mul(element_count(c.w, ref), str(ref.size)))


def lower_pop(c: Context, op: Op) -> None:
    """Scalars are read; arrays are copied out, since the next push may overwrite the record."""
    w = c.w
    has_arrays = any(isinstance(v.type, Array) for v in op.results)
    back, ready = w.block("back"), w.block("ready")
    full = w.value(f"icmp ne ptr {_get(c, 'cur')}, {_get(c, 'base')}")
    w.branch(full, ready, back, c.text.node('!{!"branch_weights", i32 1000, i32 1}'))
    w.place(back)
    w.line("call void @rt.back(ptr %ctx)")
    reload_arena(c)
    w.br(ready)
    w.place(ready)
    cur, fixed = _get(c, "cur"), _scalar_bytes(op.results)
    size = load(w, _move(c, cur, "-8"), I64, align=1) if has_arrays else str(fixed)
    record = _move(c, cur, w.mul(size, "-1"))
    w.line(f"store ptr {record}, ptr {c.arena['cur']}")
    for v, type, offset in _scalars(op.results):
        c.env[v] = load(w, _move(c, record, str(offset)), type, align=1)
    at = _move(c, record, str(fixed))
    for v in op.results:
        if isinstance(v.type, Array):
            at = _read_array(c, at, v, v.type)


def _read_array(c: Context, at: str, value: Value, type: Array) -> str:
    dims = []
    for _ in range(type.rank):
        dims.append(load(c.w, at, I64, align=1))
        at = _move(c, at, "8")
    size_of(type.dtype)
    ref = fresh(c, c.ledger.values[value], type.dtype, dims)
    copy(c, ref, ArrayRef(type.dtype, at, tuple(dims), None), unaligned=True)
    c.env[value] = ref
    return _move(c, at, c.w.mul(element_count(c.w, ref), str(ref.size)))
