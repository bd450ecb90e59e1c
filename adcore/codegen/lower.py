"""One IR function to one LLVM function: the kernel.

    i32 k.<name>(ptr ctx, parameters flattened..., ptr out0, ptr out1, ...)

0 means done; 1 means that ``ctx.error`` points to ``{ exception class, message }``. Scalar results are stored to
their ``out``; an array result's ``out`` is ``{ data, dims, byte strides }``, where ``data`` at entry says who
provides the memory: a pointer (the caller, who guarantees the dims), 0 (plain malloc, for NumPy to own), 1 (a block,
for a calling kernel to adopt).
"""

from __future__ import annotations

from collections.abc import Callable

from adcore.allocation.sites import Ledger
from adcore.codegen import control, maps, memory, outline, products, scalar, tape
from adcore.codegen.context import Context
from adcore.codegen.debug import DebugInfo
from adcore.codegen.layout import (
    ArrayRef,
    Unsupported,
    byte_strides,
    element_count,
    kernel_params,
    parts,
    store,
)
from adcore.codegen.support import DEPTH, MAX_DEPTH
from adcore.codegen.text import ModuleText, double, symbol
from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.flow import Flow, Summary
from adcore.ir.opdef import REGISTRY
from adcore.ir.types import BOOL, F64, Array

LOWER: dict[str, Callable[[Context, Op], None]] = {
    "const": scalar.lower_const,
    "constarray": memory.lower_constarray,
    "dim": memory.lower_dim,
    "alloc": memory.lower_alloc,
    "load": memory.lower_load,
    "store": memory.lower_store,
    "accum": memory.lower_accum,
    "slice": memory.lower_slice,
    "broadcast": memory.lower_broadcast,
    "index": memory.lower_index,
    "permute": memory.lower_permute,
    "diagonal": memory.lower_diagonal,
    "reshape": memory.lower_reshape,
    "assign": memory.lower_assign,
    "matmul": products.lower_matmul,
    "guard": control.lower_guard,
    "call": control.lower_call,
    "push": tape.lower_push,
    "pop": tape.lower_pop,
    "for": lambda c, op: control.lower_for(c, op, lower_region),
    "while": lambda c, op: control.lower_while(c, op, lower_region),
    "if": lambda c, op: control.lower_if(c, op, lower_region),
    "map": lambda c, op: maps.lower_map(c, op, lower_region),
    "poison": lambda c, op: lower_poison(c, op),
}


def lower_function(
    module: Module,
    function: Function,
    text: ModuleText,
    debug: DebugInfo,
    flows: dict[str, Flow],
    summaries: dict[str, Summary],
    ledger: Ledger,
    distinct_params: bool,
) -> str:
    """The text of the kernel. ``distinct_params``: no caller passes memory that the function writes under two names."""
    flow, recursive = flows[function.name], summaries[function.name].recursive
    c = Context(module, function, text, flow, summaries, ledger, debug)
    c.distinct_params = distinct_params
    c.long = outline.is_long(function)
    c.flags = "".join(f" {flag}" for flag in function.attrs.get("fastmath", ()))
    c.scope = debug.function(function.name, function.span)
    if c.scope is not None and function.span is not None:
        c.w.location = debug.location(c.scope, function.span)
    params = _open_params(c)
    if any(op.name in ("push", "pop") for op in function.body.walk()):
        tape.open_arena(c)
    if recursive:
        _descend(c)
    lower_region(c, function.body)
    _return(c)
    _close(c, recursive)
    debug_ref = f" !dbg {c.scope}" if c.scope is not None else ""
    name = symbol(f"k.{function.name}")
    kernel = f"define internal i32 {name}({', '.join(params)}) #1{debug_ref} {{\n{c.w.body()}\n}}\n"
    return "".join([*c.nests, kernel])


def lower_region(c: Context, region: Region) -> None:
    """All ops but the terminator."""
    for op in region.ops[:-1]:
        if op.span is not None and c.scope is not None:
            c.w.location = c.debug.location(c.scope, op.span)
        lower_op(c, op)


def lower_op(c: Context, op: Op) -> None:
    handler = LOWER.get(op.name)
    if handler is not None:
        handler(c, op)
    elif op.name in REGISTRY and REGISTRY[op.name].lower is not None:
        scalar.lower_scalar(c, op)
    else:
        raise Unsupported(f"the op {op.name}")


def lower_poison(c: Context, op: Op) -> None:
    """Never read: zero costs nothing, and an empty array touches nothing by mistake."""
    type = op.result.type
    if isinstance(type, Array):
        strides = None if type.layout == "c" else ("0",) * type.rank
        c.env[op.result] = ArrayRef(type.dtype, "null", ("0",) * type.rank, strides)
        return
    parts(type)
    c.env[op.result] = double(0.0) if type == F64 else "false" if type == BOOL else "0"


# --- the frame of a kernel
def _open_params(c: Context) -> list[str]:
    """Parameters of the LLVM function; values of the IR parameters."""
    written = c.summaries[c.function.name].writes
    params = ["ptr noalias nonnull %ctx"]
    for k, p in enumerate(c.function.params):
        attributes = ["noalias" if c.distinct_params or not written else "", "" if k in written else "readonly"]
        text = "".join(f"{a} " for a in attributes if a)
        params += kernel_params(p.type, f"p{k}", text)
        c.env[p] = _param_value(c, p, f"%p{k}")
    params += [f"ptr noalias nonnull %out{k}" for k in range(len(c.function.results))]
    return params


def _param_value(c: Context, p: Value, name: str) -> str | ArrayRef:
    if not isinstance(p.type, Array):
        return c.w.value(f"trunc i8 {name} to i1") if p.type == BOOL else name
    dims = tuple(str(d) if isinstance(d, int) else f"{name}.dim{k}" for k, d in enumerate(p.type.dims))
    strides = None if p.type.layout == "c" else tuple(f"{name}.stride{k}" for k in range(p.type.rank))
    return ArrayRef(p.type.dtype, name, dims, strides)


def _return(c: Context) -> None:
    w = c.w
    for k, (v, type) in enumerate(zip(c.function.body.terminator.operands, c.function.results, strict=True)):
        value = c.env[v]
        if isinstance(value, str):
            assert not isinstance(type, Array)
            store(w, f"%out{k}", v.type, value)  # type: ignore[arg-type]  # a scalar: arrays are ArrayRefs
        else:
            _return_array(c, v, value, k)
    c.failures.append(("0", w.current))
    w.br(c.exit)


def _return_array(c: Context, v: Value, value: ArrayRef, k: int) -> None:
    w = c.w
    if k in c.ledger.returned:
        bytes = w.mul(element_count(w, value), str(value.size))
        target = ArrayRef(value.dtype, memory.result_memory(c, k, bytes), value.dims, None)
        memory.copy(c, target, value)
        value = target
    for j, number in enumerate((*value.dims, *byte_strides(w, value))):
        pointer = w.value(f"getelementptr i8, ptr %out{k}, i64 {8 + 8 * j}")
        w.line(f"store i64 {number}, ptr {pointer}")


def _descend(c: Context) -> None:
    """One level deeper; RecursionError where CPython's default limit is reached."""
    depth = c.w.value(f"load i64, ptr {_depth(c)}")
    c.w.line(f"store i64 {c.w.value(f'add i64 {depth}, 1')}, ptr {_depth(c)}")
    error = c.error("RecursionError", "maximum recursion depth exceeded")
    c.check(c.w.value(f"icmp ult i64 {depth}, {MAX_DEPTH}"), error)


def _depth(c: Context) -> str:
    return c.w.value(f"getelementptr %Ctx, ptr %ctx, i32 0, i32 {DEPTH}")


def _close(c: Context, recursive: bool) -> None:
    """The exit block; then what the entry block must do first, known only now."""
    w = c.w
    w.place(c.exit)
    status = w.phi("i32")
    for value, block in c.failures:
        status.add(value, block)
    memory.free_frame(c)
    tape.save_arena(c)
    if recursive:
        depth = w.value(f"load i64, ptr {_depth(c)}")
        w.line(f"store i64 {w.value(f'sub i64 {depth}, 1')}, ptr {_depth(c)}")
    w.line(f"ret i32 {status.name}")
    w.allocas[:0] = memory.open_frame(c)
