"""Builder: appends ops to a region, inferring result types from the op table.

``b.sin(x)`` and ``b.emit("sin", [x])`` are the same. Every op gets the builder's current ``span``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adcore.ir.core import Op, Region, Value
from adcore.ir.opdef import REGISTRY
from adcore.ir.types import BOOL, F64, I64, Scalar, Type

if TYPE_CHECKING:
    from adcore.source import Span


class Builder:
    def __init__(self, region: Region, span: Span | None = None) -> None:
        self.region = region
        self.span = span

    def append(self, op: Op) -> Op:
        self.region.ops.append(op)
        return op

    def op(
        self,
        name: str,
        operands: Sequence[Value] = (),
        attrs: dict[str, Any] | None = None,
        results: Sequence[Type] | None = None,
        regions: Sequence[Region] = (),
    ) -> Op:
        """Append an op; result types come from its row unless they are given."""
        if results is None:
            infer = REGISTRY[name].infer
            if infer is None:
                raise ValueError(f"the result types of {name!r} must be given")
            results = infer([v.type for v in operands], attrs or {})
        return self.append(Op(name, operands, results, attrs, regions, self.span))

    def emit(self, name: str, operands: Sequence[Value] = (), **attrs: Any) -> Value:
        return self.op(name, operands, attrs).result

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name not in REGISTRY:
            raise AttributeError(name)
        return lambda *operands, **attrs: self.emit(name, operands, **attrs)

    def const(self, value: float | int | bool, type: Scalar | None = None) -> Value:
        if type is None:
            type = BOOL if isinstance(value, bool) else I64 if isinstance(value, int) else F64
        return self.op("const", attrs={"value": value}, results=[type]).result

    def f64(self, value: float) -> Value:
        return self.const(float(value), F64)

    def i64(self, value: int) -> Value:
        return self.const(int(value), I64)

    def guard(self, ok: Value, error: str, message: str) -> Op:
        """Raise ``error(message)`` unless ``ok``."""
        return self.op("guard", [ok], {"error": error, "message": message}, [])

    def yield_(self, *values: Value) -> Op:
        return self.op("yield", values, results=[])

    @contextmanager
    def inside(self, region: Region) -> Iterator[Builder]:
        """Build in ``region`` for the length of the with-block."""
        outer, self.region = self.region, region
        try:
            yield self
        finally:
            self.region = outer

    @contextmanager
    def at(self, span: Span | None) -> Iterator[None]:
        outer = self.span
        self.span = span if span is not None else outer
        try:
            yield
        finally:
            self.span = outer

    def for_(
        self,
        lo: Value,
        hi: Value,
        step: Value,
        inits: Sequence[Value],
        body: Callable[[Value, list[Value]], list[Value]],
    ) -> list[Value]:
        """A counted loop; ``body(i, carried)`` returns what it yields."""
        region = Region([Value(I64, "i"), *(Value(v.type, v.name) for v in inits)])
        with self.inside(region):
            self.yield_(*body(region.params[0], region.params[1:]))
        op = self.op("for", [lo, hi, step, *inits], {"exits": False}, [v.type for v in inits], [region])
        return op.results

    def if_(
        self, cond: Value, then: Callable[[], Sequence[Value]], otherwise: Callable[[], Sequence[Value]] = lambda: ()
    ) -> list[Value]:
        """``then`` and ``otherwise`` build the arms and return what they yield (same types)."""
        arms = [Region(), Region()]
        types: list[Type] = []
        for region, fill in zip(arms, (then, otherwise), strict=True):
            with self.inside(region):
                values = list(fill())
                self.yield_(*values)
            types = [v.type for v in values]
        return self.op("if", [cond], {}, types, arms).results

    def map_(
        self,
        dims: Sequence[Value],
        arrays: Sequence[Value],
        kinds: Sequence[str],
        body: Callable[[list[Value], list[Value]], Sequence[Value]],
    ) -> list[Value]:
        """A loop nest without order over the box of ``dims``; ``body(indices, elements)`` returns one value per kind."""
        region = Region([Value(I64, "i") for _ in dims])
        region.params += [Value(getattr(a.type, "dtype"), a.name) for a in arrays]  # noqa: B009 (an array type, by contract)
        rank = len(dims)
        with self.inside(region):
            values = list(body(region.params[:rank], region.params[rank:]))
            self.yield_(*values)
        attrs = {"rank": rank, "kinds": tuple(kinds)}
        infer = REGISTRY["map"].infer
        assert infer is not None
        types = infer([v.type for v in [*dims, *arrays]], {**attrs, "yields": tuple(v.type for v in values)})
        return self.op("map", [*dims, *arrays], attrs, types, [region]).results
