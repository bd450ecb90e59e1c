"""Where array values come from and go to: may-roots, what escapes an iteration, what a function writes, puts on the
tape, returns.

Facts are may-facts over one function, from a graph with an edge for each way a reference passes on (views, ``if`` and
loop results, carried values). Calls are summarised per function, to a fixpoint over the call graph: a callee may
write its parameters, but never returns one (array results are fresh), and ``push`` copies, so neither keeps a
reference.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.memory import VIEWS
from adcore.ir.types import Array

LOOPS = frozenset({"for", "while", "map"})


@dataclass(slots=True)
class Flow:
    """The reference graph of one function, and for each fresh root the loop op that immediately encloses it."""

    edges: dict[Value, list[Value]] = field(default_factory=dict)
    loop_of: dict[Value, Op | None] = field(default_factory=dict)
    parent: dict[Op, Op | None] = field(default_factory=dict)  # the loop around a loop
    roots: dict[Value, set[Value]] = field(default_factory=dict)

    def reach(self, root: Value) -> set[Value]:
        """All values that may refer to the root, itself included."""
        seen, work = {root}, [root]
        while work:
            for after in self.edges.get(work.pop(), ()):
                if after not in seen:
                    seen.add(after)
                    work.append(after)
        return seen

    def may_alias(self, a: Value, b: Value) -> bool:
        return not self.roots[a].isdisjoint(self.roots[b])

    def carriers(self, root: Value) -> list[Value]:
        """The carried values of loops around the root through which earlier instances of it may still be seen."""
        reach, loop, found = self.reach(root), self.loop_of[root], []
        while loop is not None:
            found += [p for p in loop.regions[0].params if p in reach]
            loop = self.parent[loop]
        return found


def flow_of(function: Function) -> Flow:
    flow = Flow()
    for p in function.params:
        flow.loop_of[p] = None
    _region(flow, function.body, None)
    for root in list(flow.loop_of):
        for v in flow.reach(root):
            flow.roots.setdefault(v, set()).add(root)
    return flow


def _region(flow: Flow, region: Region, loop: Op | None) -> None:
    for op in region.ops:
        _op(flow, op, loop)
        if op.name in LOOPS:
            flow.parent[op] = loop
        for inner in op.regions:
            _region(flow, inner, op if op.name in LOOPS else loop)


def _op(flow: Flow, op: Op, loop: Op | None) -> None:
    match op.name:
        case name if name in VIEWS:
            _edge(flow, op.operands[0], op.result)
        case "if":
            for region in op.regions:
                _edges(flow, region.terminator.operands, op.results)
        case "for":
            yielded = region_yields(op)
            carried = op.regions[0].params[1:]
            _edges(flow, op.operands[3:], carried)
            _edges(flow, yielded, carried)
            _edges(flow, carried, op.results)
            _edges(flow, yielded, op.results)
        case "while":
            yielded, carried = region_yields(op), op.regions[0].params
            _edges(flow, op.operands, carried)
            _edges(flow, yielded, carried)
            _edges(flow, yielded, op.results)
        case _:
            for result in op.results:
                if isinstance(result.type, Array):
                    flow.loop_of[result] = loop


def region_yields(op: Op) -> list[Value]:
    """The carried values that a loop's region yields, without the continue flag."""
    operands = op.regions[0].terminator.operands
    has_flag = op.name == "while" or bool(op.attrs.get("exits"))
    return operands[1:] if has_flag else operands


def _edges(flow: Flow, sources: list[Value], targets: list[Value]) -> None:
    for a, b in zip(sources, targets, strict=False):
        _edge(flow, a, b)


def _edge(flow: Flow, a: Value, b: Value) -> None:
    if isinstance(a.type, Array):
        flow.edges.setdefault(a, []).append(b)


@dataclass(slots=True)
class Summary:
    """Facts about one function that its callers need. ``recursive``: it may call itself again."""

    writes: set[int] = field(default_factory=set)  # parameters whose memory it may change
    tape: bool = False  # it, or what it calls, uses the tape
    loops: bool = False
    products: bool = False  # it, or what it calls, multiplies matrices
    recursive: bool = False


def summarise(module: Module, flows: dict[str, Flow]) -> dict[str, Summary]:
    summaries = {name: Summary() for name in module.functions}
    callers: dict[str, set[str]] = {name: set() for name in module.functions}
    for name, function in module.functions.items():
        for op in function.body.walk():
            if op.name == "call":
                callers[op.attrs["callee"]].add(name)
    work = list(module.functions)
    while work:
        name = work.pop()
        if _update(module.functions[name], flows[name], summaries):
            work += sorted(callers[name])
    for name, summary in summaries.items():
        summary.recursive = name in _transitive(name, callers)
    return summaries


def _update(function: Function, flow: Flow, summaries: dict[str, Summary]) -> bool:
    mine = summaries[function.name]
    before = (len(mine.writes), mine.tape, mine.loops, mine.products)
    index = {p: k for k, p in enumerate(function.params)}
    for op in function.body.walk():
        mine.tape |= op.name in ("push", "pop")
        mine.loops |= op.name in LOOPS or op.name in ("assign", "matmul")
        mine.products |= op.name == "matmul"
        for v in _written(op, summaries):
            mine.writes.update(index[r] for r in flow.roots[v] if r in index)
        if op.name == "call":
            mine.tape |= summaries[op.attrs["callee"]].tape
            mine.loops |= summaries[op.attrs["callee"]].loops
            mine.products |= summaries[op.attrs["callee"]].products
    return before != (len(mine.writes), mine.tape, mine.loops, mine.products)


def _written(op: Op, summaries: dict[str, Summary]) -> list[Value]:
    if op.name in ("store", "accum", "assign"):
        return [op.operands[0]]
    if op.name == "call":
        return [op.operands[k] for k in sorted(summaries[op.attrs["callee"]].writes)]
    return []


def _transitive(name: str, callers: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    work = list(callers[name])
    while work:
        one = work.pop()
        if one not in seen:
            seen.add(one)
            work += callers[one]
    return seen
