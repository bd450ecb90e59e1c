"""Dead code: what no result, no effect and no check needs is dropped, down to single carried values, ``if`` results and ``map`` results.

A write lives only if its memory is read by something live or belongs to a parameter. Works backwards with a worklist: each op is marked once.
"""

from __future__ import annotations

from collections.abc import Callable

from adcore.ir.core import Function, Module, Op, Region, Value, carried_ends, carried_inits, carried_params, has_exit
from adcore.ir.memory import WRITES, Memory, analyse, reads
from adcore.ir.rewrite import Rewriter


def dce(function: Function, module: Module) -> Function:
    liveness = _Liveness(function, analyse(function))
    liveness.run()
    return _Sweeper(liveness).function(function)


class _Liveness:
    def __init__(self, function: Function, memory: Memory) -> None:
        self.function = function
        self.memory = memory
        self.values: set[Value] = set()
        self.ops: set[Op] = set()
        self.parent: dict[Op, Op | None] = {}
        self.writers: dict[Value, list[Op]] = {}  # root -> ops that write it
        self.observed: set[Value] = set()
        self.on_live: dict[Value, list[Callable[[], None]]] = {}  # region parameters: what a live one makes live
        self.work: list[Callable[[], None]] = []

    def run(self) -> None:
        self.index(self.function.body, None)
        for root in self.function.params:
            self.observe({root} & set(self.memory.roots))
        for op in self.parent:
            if op.name in ("return", "guard", "push", "pop", "call") or op.name == "while":
                self.mark_op(op)
        while self.work:
            self.work.pop()()

    def index(self, region: Region, owner: Op | None) -> None:
        for op in region.ops:
            self.parent[op] = owner
            if op.name in WRITES:
                for root in self.memory.roots[op.operands[0]]:
                    self.writers.setdefault(root, []).append(op)
            for inner in op.regions:
                self.index(inner, op)
            self.link(op)

    def link(self, op: Op) -> None:
        """What the liveness of a region parameter means for the values that flow into it."""
        if op.name in ("for", "while"):
            inits, ends = carried_inits(op), carried_ends(op)
            for k, param in enumerate(carried_params(op)):
                result = op.results[k]
                flow = [inits[k], ends[k], param, result]
                for v in (param, result):
                    self.on_live.setdefault(v, []).append(lambda flow=flow: self.mark_all(flow))  # type: ignore[misc]
        elif op.name == "if":
            for k, result in enumerate(op.results):
                ends = [r.terminator.operands[k] for r in op.regions]
                self.on_live.setdefault(result, []).append(lambda ends=ends: self.mark_all(ends))  # type: ignore[misc]
        elif op.name == "map":
            rank = op.attrs["rank"]
            region = op.regions[0]
            for k, result in enumerate(op.results):
                end = region.terminator.operands[k]
                self.on_live.setdefault(result, []).append(lambda end=end: self.mark(end))  # type: ignore[misc]
            for k, param in enumerate(region.params[rank:]):
                array = op.operands[rank + k]
                self.on_live.setdefault(param, []).append(lambda op=op, k=rank + k, a=array: self.mark_read(op, k, a))  # type: ignore[misc]

    def mark_all(self, values: list[Value]) -> None:
        for v in values:
            self.mark(v)

    def mark_read(self, op: Op, k: int, array: Value) -> None:
        self.mark(array)
        self.observe(self.memory.roots[array])

    def mark(self, v: Value) -> None:
        if v in self.values:
            return
        self.values.add(v)
        self.work.extend(self.on_live.get(v, ()))
        if v.owner is not None:
            self.mark_op(v.owner)

    def observe(self, roots: frozenset[Value] | set[Value]) -> None:
        for root in roots - self.observed:
            self.observed.add(root)
            for op in self.writers.get(root, ()):
                self.mark_op(op)

    def mark_op(self, op: Op) -> None:
        if op in self.ops:
            return
        self.ops.add(op)
        parent = self.parent[op]
        if parent is not None:
            self.mark_op(parent)
        if op.name == "map":
            operands = op.operands[: op.attrs["rank"]]
        elif op.name in ("for", "while"):
            operands = op.operands[:3] if op.name == "for" else []
            if has_exit(op):
                operands = [*operands, op.regions[0].terminator.operands[0]]
        elif op.name == "yield":
            operands = []
        else:
            operands = op.operands
            for k in reads(op):
                self.work.append(lambda v=op.operands[k]: self.observe(self.memory.roots[v]))  # type: ignore[misc]
            if op.name in ("return", "call", "push"):
                for v in operands:
                    self.work.append(lambda v=v: self.observe(self.memory.roots.get(v, frozenset())))  # type: ignore[misc]
        for v in operands:
            self.work.append(lambda v=v: self.mark(v))  # type: ignore[misc]


class _Sweeper(Rewriter):
    def __init__(self, liveness: _Liveness) -> None:
        super().__init__()
        self.live = liveness

    def ops(self, ops: list[Op]) -> None:  # type: ignore[override]
        for op in ops:
            if op not in self.live.ops and op.name != "yield":
                continue
            with self.b.at(op.span):
                self.sweep(op)

    def sweep(self, op: Op) -> None:
        keep = [r in self.live.values for r in op.results]
        match op.name:
            case "yield":
                return  # written by the owner, who knows what is kept
            case "for" | "while":
                self.loop(op, keep)
            case "if":
                self.emit(op, op.operands, keep, [[k for k, alive in enumerate(keep) if alive]] * 2)
            case "map":
                self.map(op, keep)
            case _:
                new = self.copy(op, [self.new(v) for v in op.operands])
                self.env.update(zip(op.results, new, strict=True))

    def loop(self, op: Op, keep: list[bool]) -> None:
        skip, first = (3, 1) if op.name == "for" else (0, 0)
        flags = int(has_exit(op))
        region = op.regions[0]
        carried = [k for k in range(len(region.params) - first) if region.params[first + k] in self.live.values]
        inits = [op.operands[skip + k] for k in carried]
        params = region.params[:first] + [region.params[first + k] for k in carried]
        yields = list(range(flags)) + [flags + k for k in carried]
        kept = [k in carried for k in range(len(region.params) - first)] + [True] * flags
        self.emit(op, [*op.operands[:skip], *inits], kept, [yields], [params])

    def map(self, op: Op, keep: list[bool]) -> None:
        rank = op.attrs["rank"]
        region = op.regions[0]
        used = [k for k in range(len(region.params) - rank) if region.params[rank + k] in self.live.values]
        results = [k for k, alive in enumerate(keep) if alive]
        operands = [*op.operands[:rank], *(op.operands[rank + k] for k in used)]
        params = region.params[:rank] + [region.params[rank + k] for k in used]
        attrs = {**op.attrs, "kinds": tuple(op.attrs["kinds"][k] for k in results)}
        self.emit(op, operands, keep, [results], [params], attrs)

    def emit(
        self,
        op: Op,
        operands: list[Value],
        keep: list[bool],
        yields: list[list[int]],
        params: list[list[Value]] | None = None,
        attrs: dict[str, object] | None = None,
    ) -> None:
        regions = []
        for k, old in enumerate(op.regions):
            chosen = params[k] if params else old.params
            region = Region([Value(p.type, p.name) for p in chosen])
            self.env.update(zip(chosen, region.params, strict=True))
            with self.b.inside(region):
                self.ops(old.ops)
                with self.b.at(old.terminator.span):
                    self.b.yield_(*(self.new(old.terminator.operands[i]) for i in yields[k]))
            regions.append(region)
        olds = [r for r, alive in zip(op.results, keep, strict=True) if alive]
        new = Op(
            op.name, [self.new(v) for v in operands], [r.type for r in olds], attrs or dict(op.attrs), regions, op.span
        )
        self.b.append(new)
        for old_result, result in zip(olds, new.results, strict=True):
            self.env[old_result] = result
            result.name = old_result.name
