"""Ops on arrays: creation, views, element accesses, whole-array assignment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adcore.allocation.sites import Place, Site, static
from adcore.codegen.context import Context, Slot
from adcore.codegen.layout import ArrayRef, Unsupported, address, byte_strides, element_count, load, size_of, store
from adcore.codegen.text import constant, double, is_literal, symbol
from adcore.ir.core import Op
from adcore.ir.types import BOOL, F64, Array, Scalar

NUMPY_BYTES = {"f64": "<f8", "i64": "<i8", "bool": "|b1"}


# --- creation
def byte_size(c: Context, dims: Sequence[str], dtype: Scalar) -> str:
    """Bytes of a fresh array; the most that 64 bits hold where they are more: nobody gives as many."""
    w, total = c.w, str(size_of(dtype))
    for dim in dims:
        if is_literal(total) and is_literal(dim) and 0 <= int(total) * int(dim) < 2**62:
            total = str(int(total) * int(dim))
            continue
        c.text.declare("umul", "declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)")
        pair = w.value(f"call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 {total}, i64 {dim})")
        product, over = (w.value(f"extractvalue {{ i64, i1 }} {pair}, {k}") for k in (0, 1))
        total = w.value(f"select i1 {over}, i64 -1, i64 {product}")
    return total


def fresh(c: Context, site: Site, dtype: Scalar, dims: Sequence[str]) -> ArrayRef:
    """Memory for a new contiguous array of the given dims, contents unset, where the ledger says."""
    if site.place is Place.STACK:
        data = c.w.alloca(f"[{static(site.bytes)} x i8]", 16)
        return ArrayRef(dtype, data, tuple(dims), None)
    bytes = byte_size(c, dims, dtype)
    if site.place is Place.RESULT:
        data = result_memory(c, site.result, bytes)
    else:
        data = use_free_slot(c, site, lambda slot: _from_slot(c, slot, bytes, site.in_loop))
    return ArrayRef(dtype, data, tuple(dims), None)


def result_memory(c: Context, k: int, bytes: str) -> str:
    """Memory for array result k, known to the caller at once."""
    data = c.w.value(f"call ptr @rt.result(ptr %ctx, ptr %out{k}, i64 {bytes})")
    c.w.line(f"store ptr {data}, ptr %out{k}")
    _check_memory(c, data)
    return data


def _check_memory(c: Context, data: str) -> None:
    c.check(c.w.value(f"icmp ne ptr {data}, null"), None)


def use_free_slot(c: Context, site: Site, use: Callable[[Slot], str]) -> str:
    """The pointer that ``use`` returns for a slot whose block no carried value points into (there is always one)."""
    w, slots = c.w, c.blocks(site)
    if len(slots) == 1:
        return use(slots[0])
    out = w.block("chosen")
    ends = []
    for slot in slots[:-1]:
        mine, following = w.block("free"), w.block("taken")
        w.branch(_in_use(c, slot, site), following, mine)
        w.place(mine)
        ends.append((use(slot), w.current))
        w.br(out)
        w.place(following)
    ends.append((use(slots[-1]), w.current))
    w.br(out)
    w.place(out)
    chosen = w.phi("ptr")
    for data, block in ends:
        chosen.add(data, block)
    return chosen.name


def _in_use(c: Context, slot: Slot, site: Site) -> str:
    """Whether a carried value points into the slot's block."""
    w = c.w
    start = w.value(f"ptrtoint ptr {w.value(f'load ptr, ptr {slot.pointer}')} to i64")
    size = w.value(f"load i64, ptr {slot.capacity}")
    any_inside = "false"
    for value in site.carriers:
        at = w.value(f"ptrtoint ptr {c.array(value).data} to i64")
        inside = w.value(f"icmp ult i64 {w.value(f'sub i64 {at}, {start}')}, {size}")
        any_inside = inside if any_inside == "false" else w.value(f"or i1 {any_inside}, {inside}")
    return any_inside


def _from_slot(c: Context, slot: Slot, bytes: str, in_loop: bool) -> str:
    w = c.w
    if not in_loop:
        data = w.value(f"call ptr @rt.alloc(ptr %ctx, i64 {bytes})")
        _check_memory(c, data)
        w.line(f"store ptr {data}, ptr {slot.pointer}")
        return data
    grow, ready = w.block("grow"), w.block("ready")
    have = w.value(f"load i64, ptr {slot.capacity}")
    w.branch(
        w.value(f"icmp uge i64 {have}, {bytes}"), ready, grow, c.text.node('!{!"branch_weights", i32 1000, i32 1}')
    )
    w.place(grow)
    old = w.value(f"load ptr, ptr {slot.pointer}")
    w.line(f"call void @rt.free(ptr {old})")
    w.line(f"store ptr null, ptr {slot.pointer}")
    w.line(f"store i64 0, ptr {slot.capacity}")
    doubled = w.value(f"shl i64 {have}, 1")
    want = w.value(f"call i64 @llvm.umax.i64(i64 {bytes}, i64 {doubled})")
    data = w.value(f"call ptr @rt.alloc(ptr %ctx, i64 {want})")
    _check_memory(c, data)
    w.line(f"store ptr {data}, ptr {slot.pointer}")
    w.line(f"store i64 {want}, ptr {slot.capacity}")
    w.br(ready)
    w.place(ready)
    return w.value(f"load ptr, ptr {slot.pointer}")


def free_frame(c: Context) -> None:
    """In the exit block: give back what the frame owns."""
    if c.slots:
        end = c.w.value(f"getelementptr %Held, ptr %frame, i64 {len(c.slots)}")
        c.w.line(f"call void @rt.free_frame(ptr %frame, ptr {end})")


def open_frame(c: Context) -> list[str]:
    """For the top of the entry block: no block yet. How many there will be is known only when the body is written.

    The blocks stay in memory, since the exit hands them on: as variables in registers each would meet all others in
    the exit, from each of the hundreds of places where an error may leave, and LLVM would take minutes over it.
    """
    if not c.slots:
        return []
    frame = f"[{len(c.slots)} x %Held]"
    return [f"%frame = alloca {frame}, align 8", f"store {frame} zeroinitializer, ptr %frame"]


def lower_alloc(c: Context, op: Op) -> None:
    dtype = op.attrs["dtype"]
    ref = fresh(c, c.ledger.values[op.result], dtype, [c.scalar(v) for v in op.operands])
    fill = op.attrs["fill"]
    if fill is not None:
        fill_with(c, ref, fill)
    c.env[op.result] = ref


def fill_with(c: Context, ref: ArrayRef, fill: float | int | bool) -> None:
    w, count = c.w, element_count(c.w, ref)
    zero = double(float(fill)) == double(0.0) if ref.dtype == F64 else not fill
    if zero:
        c.text.declare("memset", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        bytes = w.mul(count, str(ref.size))
        w.line(f"call void @llvm.memset.p0.i64(ptr align 8 {ref.data}, i8 0, i64 {bytes}, i1 false)")
        return
    value = double(float(fill)) if ref.dtype == F64 else str(int(fill)) if ref.dtype != BOOL else "true"
    flat = ArrayRef(ref.dtype, ref.data, (count,), None)
    nest(c, [count], lambda index: store(w, address(w, flat, index), ref.dtype, value))


def lower_constarray(c: Context, op: Op) -> None:
    name = op.attrs["name"]
    array = c.module.constants[name]
    assert isinstance(op.result.type, Array)
    dtype = op.result.type.dtype
    if dtype.name not in NUMPY_BYTES:
        raise Unsupported(f"constant arrays of {dtype}")
    data = array.astype(NUMPY_BYTES[dtype.name], order="C", copy=False).tobytes("C")
    global_name = symbol(f"{c.function.name}.constant.{name}")
    c.text.declare(global_name, constant(global_name, data, align=16))
    c.env[op.result] = ArrayRef(dtype, global_name, tuple(str(n) for n in array.shape), None)


# --- views
def lower_dim(c: Context, op: Op) -> None:
    c.env[op.result] = c.array(op.operands[0]).dims[op.attrs["axis"]]


def lower_slice(c: Context, op: Op) -> None:
    """Per axis start, size, step: data moves by start strides (start is in the array where size > 0)."""
    w, ref = c.w, c.array(op.operands[0])
    numbers = [c.scalar(v) for v in op.operands[1:]]
    old = byte_strides(w, ref)
    strides = [w.mul(s, step) for s, step in zip(old, numbers[2::3], strict=True)]
    offset = "0"
    for start, stride in zip(numbers[0::3], old, strict=True):
        offset = w.add(offset, w.mul(start, stride))
    data = ref.data if offset == "0" else w.value(f"getelementptr i8, ptr {ref.data}, i64 {offset}")
    c.env[op.result] = ArrayRef(ref.dtype, data, tuple(numbers[1::3]), tuple(strides))


def lower_broadcast(c: Context, op: Op) -> None:
    """Stride 0 where the operand has size 1 and for new axes in front."""
    w, ref = c.w, c.array(op.operands[0])
    dims = [c.scalar(v) for v in op.operands[1:]]
    strides = ["0"] * (len(dims) - len(ref.dims))
    for dim, stride, want in zip(ref.dims, byte_strides(w, ref), dims[len(strides) :], strict=True):
        if dim == "1":
            strides.append("0")
        elif is_literal(dim) or dim == want:
            strides.append(stride)
        else:
            one = w.value(f"icmp eq i64 {dim}, 1")
            strides.append(w.value(f"select i1 {one}, i64 0, i64 {stride}"))
    c.env[op.result] = ArrayRef(ref.dtype, ref.data, tuple(dims), tuple(strides))


def lower_index(c: Context, op: Op) -> None:
    """Data moves by index strides of the axis; the first of a contiguous array leaves a contiguous one."""
    w, ref, axis = c.w, c.array(op.operands[0]), op.attrs["axis"]
    strides = byte_strides(w, ref)
    offset = w.mul(c.scalar(op.operands[1]), strides[axis])
    data = ref.data if offset == "0" else w.value(f"getelementptr i8, ptr {ref.data}, i64 {offset}")
    rest = None if axis == 0 and ref.strides is None else strides[:axis] + strides[axis + 1 :]
    c.env[op.result] = ArrayRef(ref.dtype, data, ref.dims[:axis] + ref.dims[axis + 1 :], rest)


def lower_permute(c: Context, op: Op) -> None:
    ref, axes = c.array(op.operands[0]), op.attrs["axes"]
    strides = byte_strides(c.w, ref)
    dims, moved = (tuple(part[k] for k in axes) for part in (ref.dims, strides))
    c.env[op.result] = ArrayRef(ref.dtype, ref.data, dims, moved)


def lower_diagonal(c: Context, op: Op) -> None:
    ref = c.array(op.operands[0])
    *strides, down, right = byte_strides(c.w, ref)
    c.env[op.result] = ArrayRef(ref.dtype, ref.data, ref.dims[:-1], (*strides, c.w.add(down, right)))


def lower_reshape(c: Context, op: Op) -> None:
    ref = c.array(op.operands[0])
    c.env[op.result] = ArrayRef(ref.dtype, ref.data, tuple(c.scalar(v) for v in op.operands[1:]), None)


# --- accesses
def lower_load(c: Context, op: Op) -> None:
    ref = c.array(op.operands[0])
    pointer = address(c.w, ref, [c.scalar(v) for v in op.operands[1:]])
    c.env[op.result] = load(c.w, pointer, ref.dtype, c.tbaa(ref.dtype.name))


def lower_store(c: Context, op: Op) -> None:
    ref = c.array(op.operands[0])
    pointer = address(c.w, ref, [c.scalar(v) for v in op.operands[1:-1]])
    store(c.w, pointer, ref.dtype, c.scalar(op.operands[-1]), c.tbaa(ref.dtype.name))


def lower_accum(c: Context, op: Op) -> None:
    ref = c.array(op.operands[0])
    pointer = address(c.w, ref, [c.scalar(v) for v in op.operands[1:-1]])
    _add_into(c, ref.dtype, pointer, c.scalar(op.operands[-1]))


def _add_into(c: Context, dtype: Scalar, pointer: str, value: str) -> None:
    w, suffix = c.w, c.tbaa(dtype.name)
    have = load(w, pointer, dtype, suffix)
    if dtype == F64:
        total = w.value(f"fadd{c.flags} double {have}, {value}")
    else:
        total = w.value(f"{'or' if dtype == BOOL else 'add'} {'i1' if dtype == BOOL else 'i64'} {have}, {value}")
    store(w, pointer, dtype, total, suffix)


# --- whole arrays
def nest(c: Context, dims: Sequence[str], body: Callable[[list[str]], None]) -> None:
    """A loop nest over the box, last axis innermost."""
    w = c.w
    index: list[str] = []
    open_loops = []
    for dim in dims:
        before, head, inside, done = w.current, w.block("head"), w.block("body"), w.block("done")
        w.br(head)
        w.place(head)
        i = w.phi("i64")
        i.add("0", before)
        w.branch(w.value(f"icmp slt i64 {i.name}, {dim}"), inside, done)
        w.place(inside)
        index.append(i.name)
        open_loops.append((i, head, done))
    body(index)
    for i, head, done in reversed(open_loops):
        i.add(w.value(f"add nuw nsw i64 {i.name}, 1"), w.current)
        w.loop_br(head, loop_metadata(c))
        w.place(done)


def loop_metadata(c: Context, *extra: str) -> str:
    progress = c.text.node('!{!"llvm.loop.mustprogress"}')
    return c.text.node(f"distinct !{{{', '.join(['SELF', progress, *extra])}}}")


def copy(c: Context, target: ArrayRef, source: ArrayRef, add: bool = False, unaligned: bool = False) -> None:
    """``target[...] = source`` by elements; the two are apart, or the same. ``unaligned``: one is on the tape."""
    w, suffix = c.w, "" if unaligned else c.tbaa(target.dtype.name)
    align = 1 if unaligned else None
    if target.strides is None and source.strides is None:
        count = element_count(w, target)
        target = ArrayRef(target.dtype, target.data, (count,), None)
        source = ArrayRef(source.dtype, source.data, (count,), None)

    def element(index: list[str]) -> None:
        value = load(w, address(w, source, index), source.dtype, suffix, align)
        pointer = address(w, target, index)
        if add:
            _add_into(c, target.dtype, pointer, value)
        else:
            store(w, pointer, target.dtype, value, suffix, align)

    nest(c, target.dims, element)


def lower_assign(c: Context, op: Op) -> None:
    """The source is read as it was before: through a temporary where the two may share memory."""
    target, source = c.array(op.operands[0]), c.array(op.operands[1])
    if op in c.ledger.copies:
        temporary = fresh(c, c.ledger.copies[op], source.dtype, source.dims)
        copy(c, temporary, source)
        source = temporary
    copy(c, target, source, add=op.attrs["mode"] == "add")
