"""``map``: a loop nest without order, which LLVM may vectorise.

The innermost loop runs along the last axis; a nest over contiguous arrays that does not look at its indices is one
flat loop. Reductions are carried through the nest in scalars, with ``reassoc`` on their own operation and on nothing
else. A body without effects is declared parallel, so that LLVM needs no overlap checks between the arrays.
"""

from __future__ import annotations

from collections.abc import Callable

from adcore.codegen.context import Context
from adcore.codegen.control import Lower
from adcore.codegen.layout import ArrayRef, Unsupported, address, load, register_type, store
from adcore.codegen.memory import fresh, loop_metadata
from adcore.codegen.outline import Outlined, stands_alone
from adcore.codegen.text import Block, Phi, double
from adcore.ir.core import Op, Value
from adcore.ir.opdef import REGISTRY, Effect
from adcore.ir.types import BOOL, F64, I64, Array, Type

Combine = Callable[[Context, str, str], str]


def _binary(text: str) -> Combine:
    return lambda c, a, b: c.w.value(f"{text} {a}, {b}")


def _reassociated(op: str) -> Combine:
    def combine(c: Context, a: str, b: str) -> str:
        flags = " ".join(sorted({*c.flags.split(), "reassoc"}))
        return c.w.value(f"{op} {flags} double {a}, {b}")

    return combine


def _intrinsic(name: str, type: str) -> Combine:
    def combine(c: Context, a: str, b: str) -> str:
        c.text.declare(name, f"declare {type} @{name}({type}, {type})")
        return c.w.value(f"call {type} @{name}({type} {a}, {type} {b})")

    return combine


# (kind, type) -> value of an empty box, combination. llvm.maximum is np.max: NaN if any element is.
REDUCTIONS: dict[tuple[str, Type], tuple[str, Combine]] = {
    ("add", F64): (double(0.0), _reassociated("fadd")),
    ("mul", F64): (double(1.0), _reassociated("fmul")),
    ("max", F64): (double(float("-inf")), _intrinsic("llvm.maximum.f64", "double")),
    ("min", F64): (double(float("inf")), _intrinsic("llvm.minimum.f64", "double")),
    ("add", I64): ("0", _binary("add i64")),
    ("mul", I64): ("1", _binary("mul i64")),
    ("max", I64): (str(-(2**63)), _intrinsic("llvm.smax.i64", "i64")),
    ("min", I64): (str(2**63 - 1), _intrinsic("llvm.smin.i64", "i64")),
    ("max", BOOL): ("false", _binary("or i1")),
    ("min", BOOL): ("true", _binary("and i1")),
}


def lower_map(c: Context, op: Op, lower: Lower) -> None:
    rank = op.attrs["rank"]
    dims = [c.scalar(v) for v in op.operands[:rank]]
    refs = [c.array(v) for v in op.operands[rank:]]
    kinds: tuple[str, ...] = op.attrs["kinds"]
    made: dict[int, ArrayRef] = {}
    for k, (kind, result) in enumerate(zip(kinds, op.results, strict=True)):
        if kind == "elem":
            assert isinstance(result.type, Array)
            made[k] = fresh(c, c.ledger.values[result], result.type.dtype, dims)
            c.env[result] = made[k]
    if _flat(c, op, refs):
        dims, refs = _flattened(c, dims, refs)
        made = {k: ArrayRef(r.dtype, r.data, tuple(dims), None) for k, r in made.items()}
    if c.long and stands_alone(op):
        outlined = Outlined.open(c, dims, [*refs, *made.values()], op, _is_independent(op))
        totals = outlined.close(_lower_nest(outlined.inner, op, lower, dims, refs, made))
    else:
        totals = _lower_nest(c, op, lower, dims, refs, made)
    c.env.update(totals)


def _lower_nest(
    c: Context, op: Op, lower: Lower, dims: list[str], refs: list[ArrayRef], made: dict[int, ArrayRef]
) -> dict[Value, str]:
    """The loops, from what they read (``refs``) to what they make; the values of the reductions."""
    w, region, rank = c.w, op.regions[0], op.attrs["rank"]
    reductions = _reductions(op)
    nest = _Nest(c, dims, {k: (op.results[k].type, start) for k, (start, _) in reductions.items()})
    outer_access = c.access
    group = _access_group(c, op)
    index = nest.open()
    for param, i in zip(region.params, ["0"] * (rank - len(index)) + index, strict=False):  # flat: the last counts all
        c.env[param] = i
    for param, ref in zip(region.params[rank:], refs, strict=True):
        c.env[param] = load(w, address(w, ref, index), ref.dtype, c.tbaa(ref.dtype.name))
    lower(c, region)
    values = [c.scalar(v) for v in region.terminator.operands]
    for k, ref in made.items():
        store(w, address(w, ref, index), ref.dtype, values[k], c.tbaa(ref.dtype.name))
    totals = {k: combine(c, nest.inner[k], values[k]) for k, (_, combine) in reductions.items()}
    c.access = outer_access
    return {op.results[k]: total for k, total in nest.close(totals, group).items()}


def _reductions(op: Op) -> dict[int, tuple[str, Combine]]:
    """Of each result that is none of the elements: how it starts and how it goes on."""
    found = {}
    for k, (kind, result) in enumerate(zip(op.attrs["kinds"], op.results, strict=True)):
        if kind == "elem":
            continue
        if (kind, result.type) not in REDUCTIONS:
            raise Unsupported(f"the reduction {kind} of {result.type}")
        found[k] = REDUCTIONS[kind, result.type]
    return found


def _flat(c: Context, op: Op, refs: list[ArrayRef]) -> bool:
    """One loop is enough: all arrays contiguous, and the body uses its indices only to store at them."""
    rank = op.attrs["rank"]
    if rank < 2 or any(r.strides is not None for r in refs):
        return False
    indices = op.regions[0].params[:rank]
    for inner in op.regions[0].walk():
        if inner.name in ("store", "accum") and inner.operands[1:-1] == indices:
            if c.array(inner.operands[0]).strides is not None:
                return False
        elif set(indices) & set(inner.operands):
            return False
    return True


def _flattened(c: Context, dims: list[str], refs: list[ArrayRef]) -> tuple[list[str], list[ArrayRef]]:
    count = "1"
    for dim in dims:
        count = c.w.mul(count, dim)
    return [count], [ArrayRef(r.dtype, r.data, (count,), None) for r in refs]


def _access_group(c: Context, op: Op) -> str | None:
    """Mark the accesses of a body without effects as independent of other iterations."""
    if not _is_independent(op):
        return None
    group = c.text.node("distinct !{}")
    c.access = f", !llvm.access.group {group}"
    return group


def _is_independent(op: Op) -> bool:
    """What an iteration writes no other reads or writes: the nest's own arrays, and elements that a pass has vouched for."""
    return op.attrs.get("apart", False) or not any(
        REGISTRY[o.name].effect is Effect.WRITE and o.name != "guard" for o in op.regions[0].walk()
    )


class _Nest:
    """Loops over the box with the reductions carried through every level."""

    def __init__(self, c: Context, dims: list[str], reductions: dict[int, tuple[Type, str]]) -> None:
        self.c = c
        self.dims = dims
        self.reductions = reductions
        self.levels: list[tuple[Block, Block, Phi, dict[int, Phi]]] = []
        self.inner = {k: start for k, (_, start) in reductions.items()}

    def open(self) -> list[str]:
        w = self.c.w
        for dim in self.dims:
            before, head, body, done = w.current, w.block("map"), w.block("body"), w.block("done")
            w.br(head)
            w.place(head)
            i = w.phi("i64")
            i.add("0", before)
            sums = {k: w.phi(register_type(type)) for k, (type, _) in self.reductions.items()}
            for k, phi in sums.items():
                phi.add(self.inner[k], before)
                self.inner[k] = phi.name
            w.branch(w.value(f"icmp slt i64 {i.name}, {dim}"), body, done)
            w.place(body)
            self.levels.append((head, done, i, sums))
        return [i.name for _, _, i, _ in self.levels]

    def close(self, totals: dict[int, str], group: str | None) -> dict[int, str]:
        w = self.c.w
        extra = [] if group is None else [self.c.text.node(f'!{{!"llvm.loop.parallel_accesses", {group}}}')]
        for head, done, i, sums in reversed(self.levels):
            i.add(w.value(f"add nuw nsw i64 {i.name}, 1"), w.current)
            for k, phi in sums.items():
                phi.add(totals[k], w.current)
            w.loop_br(head, loop_metadata(self.c, *extra))
            w.place(done)
            totals = {k: phi.name for k, phi in sums.items()}
        return totals
