"""Structured control flow to blocks and phis: ``for``, ``while``, ``if``, ``guard``, ``call``.

Loops keep the shape that LLVM's loop passes know: one header with the phis, a trip count that is computed before the
loop, one latch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adcore.codegen.context import Context, Slot
from adcore.codegen.layout import SIZE, ArrayRef, assemble, flatten, kernel_arguments, load, out_struct, parts
from adcore.codegen.memory import loop_metadata, use_free_slot
from adcore.codegen.support import POLL_EVERY, POLL_EVERY_SHORT, TICKS
from adcore.codegen.tape import reload_arena, save_arena
from adcore.codegen.text import Block, Phi, is_literal, symbol
from adcore.ir.core import Op, Region, Value
from adcore.ir.types import BOOL, Array

Lower = Callable[[Context, Region], None]  # lowers all ops of a region but its terminator


class Join:
    """Phis for a list of values, one group a value; arrays are descriptors in the layout of the joined type."""

    def __init__(self, c: Context, values: Sequence[Value]) -> None:
        self.c = c
        self.values = list(values)
        self.groups: list[list[Phi]] = [[c.w.phi(t) for t in parts(v.type)] for v in values]

    def add(self, registers: Sequence[Sequence[str]], block: Block) -> None:
        for group, names in zip(self.groups, registers, strict=True):
            for phi, name in zip(group, names, strict=True):
                phi.add(name, block)

    def define(self) -> None:
        for value, names in zip(self.values, self.names, strict=True):
            self.c.env[value] = assemble(names, value.type)

    @property
    def names(self) -> list[list[str]]:
        return [[phi.name for phi in group] for group in self.groups]


def registers(c: Context, sources: Sequence[Value], targets: Sequence[Value]) -> list[list[str]]:
    """Sources brought to the target types, flattened. Emits conversions, so it comes before the branch."""
    return [flatten(c.w, c.env[s], t.type) for s, t in zip(sources, targets, strict=True)]


def trip_count(c: Context, lo: str, hi: str, step: str) -> str:
    """``len(range(lo, hi, step))``; step is not 0. Differences are taken unsigned, where they cannot overflow."""
    w = c.w
    if is_literal(step):
        return _one_way(c, lo, hi, step) if int(step) > 0 else _one_way(c, hi, lo, str(-int(step)))
    up = _one_way(c, lo, hi, step)
    down = _one_way(c, hi, lo, w.value(f"sub i64 0, {step}"))
    return w.value(f"select i1 {w.value(f'icmp sgt i64 {step}, 0')}, i64 {up}, i64 {down}")


def _one_way(c: Context, lo: str, hi: str, step: str) -> str:
    w = c.w
    if is_literal(lo) and is_literal(hi) and is_literal(step):
        return str(len(range(int(lo), int(hi), int(step))))
    some = w.value(f"icmp slt i64 {lo}, {hi}")
    distance = hi if lo == "0" else w.value(f"sub i64 {hi}, {lo}")
    if step != "1":
        last = w.value(f"sub i64 {distance}, 1")
        # a divisor of 0 or below comes only where this way is not taken
        divisor = step if is_literal(step) else w.value(f"call i64 @llvm.umax.i64(i64 {step}, i64 1)")
        distance = w.value(f"add i64 {w.value(f'udiv i64 {last}, {divisor}')}, 1")
    return w.value(f"select i1 {some}, i64 {distance}, i64 0")


def lower_for(c: Context, op: Op, lower: Lower) -> None:
    w, region, exits = c.w, op.regions[0], bool(op.attrs.get("exits"))
    lo, hi, step = (c.scalar(v) for v in op.operands[:3])
    carried = region.params[1:]
    count = trip_count(c, lo, hi, step)
    initial = registers(c, op.operands[3:], carried)
    before, head, body, done = w.current, w.block("for"), w.block("body"), w.block("done")
    w.br(head)
    w.place(head)
    k, join = w.phi("i64"), Join(c, carried)
    k.add("0", before)
    join.add(initial, before)
    join.define()
    w.branch(w.value(f"icmp ult i64 {k.name}, {count}"), body, done)
    w.place(body)
    c.env[region.params[0]] = _loop_index(c, lo, step, k.name)
    lower(c, region)
    yielded = region.terminator.operands
    after = registers(c, yielded[1:] if exits else yielded, carried)
    following = w.value(f"add nuw nsw i64 {k.name}, 1")
    poll(c, op)
    if exits:
        _exit_join(c, op, c.scalar(yielded[0]), (k, join, following, after), head, done)
        return
    join.add(after, w.current)
    k.add(following, w.current)
    w.loop_br(head, loop_metadata(c))
    w.place(done)
    for result, param in zip(op.results, carried, strict=True):
        c.env[result] = assemble(flatten(w, c.env[param], result.type), result.type)


def _loop_index(c: Context, lo: str, step: str, k: str) -> str:
    """``lo + k * step``. The sum is in range; the product is for sure where steps are single or lo is not negative."""
    w = c.w
    if step in ("1", "-1") or (is_literal(lo) and int(lo) >= 0 and is_literal(step) and int(step) > 0):
        return w.add(lo, w.mul(k, step))
    return w.value(f"add i64 {lo}, {w.value(f'mul i64 {k}, {step}')}")


def _exit_join(
    c: Context, op: Op, go_on: str, state: tuple[Phi, Join, str, list[list[str]]], head: Block, done: Block
) -> None:
    """The end of a loop that may leave early: two ways to its results, each through a block of its own."""
    w, (k, join, following, after) = c.w, state
    latch, left, out = w.block("latch"), w.block("left"), w.block("out")
    w.branch(go_on, latch, left)
    w.place(latch)
    k.add(following, latch)
    join.add(after, latch)
    w.loop_br(head, loop_metadata(c))
    *results, executed = op.results
    typed = op.regions[0].params[1:]
    w.place(left)  # values as yielded, brought to the result types
    early = [flatten(w, assemble(r, p.type), v.type) for r, p, v in zip(after, typed, results, strict=True)]
    w.br(out)
    w.place(done)
    late = [flatten(w, c.env[p], v.type) for p, v in zip(typed, results, strict=True)]
    w.br(out)
    w.place(out)
    joined, count = Join(c, results), w.phi("i64")
    joined.add(early, left)
    joined.add(late, done)
    joined.define()
    count.add(following, left)
    count.add(k.name, done)
    c.env[executed] = count.name


def lower_while(c: Context, op: Op, lower: Lower) -> None:
    w, region = c.w, op.regions[0]
    initial = registers(c, op.operands, region.params)
    before, body, done = w.current, w.block("while"), w.block("done")
    w.br(body)
    w.place(body)
    k, join = w.phi("i64"), Join(c, region.params)
    k.add("0", before)
    join.add(initial, before)
    join.define()
    lower(c, region)
    go_on, *yielded = region.terminator.operands
    after = registers(c, yielded, region.params)
    following = w.value(f"add i64 {k.name}, 1")
    poll(c, op)
    join.add(after, w.current)
    k.add(following, w.current)
    w.branch(c.scalar(go_on), body, done)
    w.place(done)
    *results, executed = op.results
    for result, names, param in zip(results, after, region.params, strict=True):
        c.env[result] = assemble(flatten(w, assemble(names, param.type), result.type), result.type)
    c.env[executed] = following


def poll(c: Context, op: Op) -> None:
    """At the end of a turn of an outer loop, or of one that may never end: look at signals now and then, so that Ctrl-C ends it."""
    inner = ("for", "while", "map", "call", "assign", "matmul")
    outer = any(o.name in inner for o in op.regions[0].walk())
    if not outer and op.name != "while":
        return
    every = POLL_EVERY if outer else POLL_EVERY_SHORT
    w = c.w
    counter = w.value(f"getelementptr %Ctx, ptr %ctx, i32 0, i32 {TICKS}")
    ticks = w.value(f"add i64 {w.value(f'load i64, ptr {counter}')}, 1")
    w.line(f"store i64 {ticks}, ptr {counter}")
    due = w.value(f"icmp eq i64 {w.value(f'and i64 {ticks}, {every - 1}')}, 0")
    look, go_on = w.block("poll"), w.block("go_on")
    w.branch(due, look, go_on, c.text.node('!{!"branch_weights", i32 1, i32 1000}'))
    w.place(look)
    status = w.value("call i32 @rt.poll(ptr %ctx)")
    c.check(w.value(f"icmp eq i32 {status}, 0"), None)
    w.br(go_on)
    w.place(go_on)


def lower_if(c: Context, op: Op, lower: Lower) -> None:
    w = c.w
    arms, out = [w.block("then"), w.block("else")], w.block("endif")
    w.branch(c.scalar(op.operands[0]), arms[0], arms[1])
    ends = []
    for block, region in zip(arms, op.regions, strict=True):
        w.place(block)
        lower(c, region)
        values = registers(c, region.terminator.operands, op.results)
        ends.append((values, w.current))
        w.br(out)
    w.place(out)
    join = Join(c, op.results)
    for values, block in ends:
        join.add(values, block)
    join.define()


def lower_guard(c: Context, op: Op) -> None:
    c.check(c.scalar(op.operands[0]), c.error(op.attrs["error"], op.attrs["message"]))


# --- calls
def lower_call(c: Context, op: Op) -> None:
    """Scalar results come back in variables of the frame, arrays in blocks that it adopts, also after an error."""
    w, callee = c.w, c.module.functions[op.attrs["callee"]]
    args = ["ptr %ctx"]
    for operand, param in zip(op.operands, callee.params, strict=True):
        value = c.env[operand]
        args += kernel_arguments(w, value, param.type)
    outs = [_prepare_out(c, result) for result in op.results]
    args += [f"ptr {out}" for out in outs]
    uses_tape = c.summaries[callee.name].tape
    if uses_tape:
        save_arena(c)
    status = w.value(f"call i32 {symbol('k.' + callee.name)}({', '.join(args)})")
    if uses_tape:
        reload_arena(c)
    for result, out in zip(op.results, outs, strict=True):
        if isinstance(result.type, Array):
            _adopt(c, result, out)
    c.check(w.value(f"icmp eq i32 {status}, 0"), None)
    for result, out in zip(op.results, outs, strict=True):
        if not isinstance(result.type, Array):
            c.env[result] = load(w, out, result.type)  # type: ignore[arg-type]  # a scalar: parts() saw to it


def _prepare_out(c: Context, result: Value) -> str:
    w = c.w
    if isinstance(result.type, Array):
        out = w.alloca(out_struct(result.type.rank))
        w.line(f"store ptr inttoptr (i64 1 to ptr), ptr {out}")
        return out
    return w.alloca("i8" if result.type == BOOL else parts(result.type)[0])


def _adopt(c: Context, result: Value, out: str) -> None:
    """Take over the block of an array result; the tag is still there when the callee failed before making it."""
    w, site = c.w, c.ledger.values[result]
    assert isinstance(result.type, Array)
    raw = w.value(f"load ptr, ptr {out}")
    made = w.value(f"icmp ne ptr {raw}, inttoptr (i64 1 to ptr)")
    data = w.value(f"select i1 {made}, ptr {raw}, ptr null")
    dims = []
    for k in range(result.type.rank):
        pointer = w.value(f"getelementptr i8, ptr {out}, i64 {8 + 8 * k}")
        dims.append(w.value(f"load i64, ptr {pointer}"))
    size = str(SIZE[result.type.dtype])
    for dim in dims:
        size = w.mul(size, dim)

    def keep(slot: Slot) -> str:
        if site.in_loop:
            w.line(f"call void @rt.free(ptr {w.value(f'load ptr, ptr {slot.pointer}')})")
        w.line(f"store ptr {data}, ptr {slot.pointer}")
        w.line(f"store i64 {w.value(f'select i1 {made}, i64 {size}, i64 0')}, ptr {slot.capacity}")
        return data

    c.env[result] = ArrayRef(result.type.dtype, use_free_slot(c, site, keep), tuple(dims), None)
