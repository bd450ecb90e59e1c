"""Checks the invariants of ``ir.core`` and the type rules of the op table. Runs between all passes in tests."""

from __future__ import annotations

from adcore.ir.core import TERMINATORS, Function, Module, Op, Region, Value
from adcore.ir.opdef import REGISTRY
from adcore.ir.printer import print_function
from adcore.ir.types import BOOL, I64, Array, Type


class VerifyError(Exception):
    """Invalid IR: says what, in which function, at which op."""


def verify(module: Module) -> None:
    for function in module.functions.values():
        verify_function(function, module)


def verify_function(function: Function, module: Module | None = None) -> None:
    try:
        _Verifier(function, module).run()
    except VerifyError as error:
        raise VerifyError(f"@{function.name}: {error}\n{print_function(function)}") from None


def compatible(have: Type, want: Type) -> bool:
    """Equal, or arrays that differ only in what is known of dims; a contiguous array may stand where any strides may."""
    if isinstance(have, Array) and isinstance(want, Array):
        known = all(
            x == y or x is None or y is None or isinstance(x, str) or isinstance(y, str)
            for x, y in zip(have.dims, want.dims, strict=False)
        )
        return (
            (have.dtype, have.rank) == (want.dtype, want.rank)
            and known
            and (have.layout == want.layout or want.layout == "strided")
        )
    return have == want


class _Verifier:
    def __init__(self, function: Function, module: Module | None) -> None:
        self.function = function
        self.module = module
        self.defined: set[Value] = set()

    def run(self) -> None:
        self.region(self.function.body, "return", list(self.function.results))

    def fail(self, op: Op | None, message: str) -> None:
        raise VerifyError(f"{op.name}: {message}" if op else message)

    def define(self, op: Op | None, values: list[Value]) -> None:
        for v in values:
            if v in self.defined:
                self.fail(op, f"{v!r} is defined twice")
            self.defined.add(v)

    def region(self, region: Region, terminator: str, results: list[Type] | None) -> None:
        """Values defined inside go out of scope at the end."""
        before = set(self.defined)
        self.define(None, region.params)
        if not region.ops or region.terminator.name != terminator:
            self.fail(None, f"a region must end in {terminator}")
        for op in region.ops:
            if op.name in TERMINATORS and op is not region.terminator:
                self.fail(op, "stands before the end of its region")
            for v in op.operands:
                if v not in self.defined:
                    self.fail(op, f"uses {v!r}, which is not defined here")
            self.op(op)
            self.define(op, op.results)
        if results is not None:
            self.types(region.terminator, region.terminator.operands, results)
        self.defined = before

    def types(self, op: Op, values: list[Value], want: list[Type]) -> None:
        have = [v.type for v in values]
        if len(have) != len(want) or not all(compatible(h, w) for h, w in zip(have, want, strict=True)):
            self.fail(op, f"has ({', '.join(map(str, have))}) where ({', '.join(map(str, want))}) is due")

    def op(self, op: Op) -> None:
        row = REGISTRY.get(op.name)
        if row is None:
            self.fail(op, "no such op")
            return
        if row.infer is not None and op.name != "map":
            try:
                types = row.infer([v.type for v in op.operands], op.attrs)
            except (TypeError, KeyError, ValueError, AssertionError, IndexError) as error:
                self.fail(op, f"{error}")
                return
            if not (
                len(types) == len(op.results)
                and all(compatible(t, r.type) for t, r in zip(types, op.results, strict=True))
            ):
                self.fail(
                    op, f"makes ({', '.join(map(str, types))}), not ({', '.join(str(r.type) for r in op.results)})"
                )
        check = getattr(self, "op_" + op.name, None)
        if check is not None:
            check(op)
        elif op.regions:
            self.fail(op, "owns no regions")

    def regions(self, op: Op, count: int) -> list[Region]:
        if len(op.regions) != count:
            self.fail(op, f"owns {len(op.regions)} regions, not {count}")
        return op.regions

    def op_for(self, op: Op) -> None:
        (region,) = self.regions(op, 1)
        self.types(op, op.operands[:3], [I64, I64, I64])
        exits = op.attrs.get("exits", False)
        carried = [p.type for p in region.params[1:]]
        self.types(op, op.operands[3:], carried)
        self.types(op, [Value(r.type) for r in op.results], [*carried, I64] if exits else carried)
        if not region.params or region.params[0].type != I64:
            self.fail(op, "its region's first parameter is the index")
        self.region(region, "yield", [BOOL, *carried] if exits else carried)

    def op_while(self, op: Op) -> None:
        (region,) = self.regions(op, 1)
        carried = [p.type for p in region.params]
        self.types(op, op.operands, carried)
        self.types(op, [Value(r.type) for r in op.results], [*carried, I64])
        self.region(region, "yield", [BOOL, *carried])

    def op_if(self, op: Op) -> None:
        self.types(op, op.operands, [BOOL])
        for region in self.regions(op, 2):
            if region.params:
                self.fail(op, "its arms take no parameters")
            self.region(region, "yield", [r.type for r in op.results])

    def op_map(self, op: Op) -> None:
        (region,) = self.regions(op, 1)
        rank, kinds = op.attrs["rank"], op.attrs["kinds"]
        self.types(op, op.operands[:rank], [I64] * rank)
        elements: list[Type] = []
        for v in op.operands[rank:]:
            if not isinstance(v.type, Array) or v.type.rank != rank:
                self.fail(op, f"{v!r} is no array of rank {rank}")
                return
            elements.append(v.type.dtype)
        self.types(op, region.params, [*[I64] * rank, *elements])
        if not len(kinds) == len(op.results) == len(region.terminator.operands):
            self.fail(op, "kinds, results and yielded values differ in number")
        infer = REGISTRY["map"].infer
        assert infer is not None
        types = infer([], {**op.attrs, "yields": tuple(v.type for v in region.terminator.operands)})
        self.types(op, [Value(t) for t in types], [r.type for r in op.results])
        self.region(region, "yield", None)

    def op_call(self, op: Op) -> None:
        if self.module is None:
            return
        callee = self.module.functions.get(op.attrs["callee"])
        if callee is None:
            self.fail(op, f"calls @{op.attrs['callee']}, which is not in the module")
            return
        self.types(op, op.operands, [p.type for p in callee.params])
        self.types(op, [Value(t) for t in callee.results], [r.type for r in op.results])
