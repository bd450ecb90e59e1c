"""Random programs: arrays in all their ways through loops, branches and views, compiled and held against the interpreter."""

from __future__ import annotations

import random

import numpy as np
import pytest

from adcore.ir.build import Builder
from adcore.ir.core import Function, Module, Region, Value
from adcore.ir.types import F64, I64, Array
from tests.codegen_helper import Compiled

pytest.importorskip("llvmlite")

VECTOR, VIEW = Array(F64, (None,), "c"), Array(F64, (None,), "strided")


class Program:
    """``f(x, y, k, s) -> (array, array, scalar)`` of nested loops, branches, maps, views and writes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.params = [Value(VECTOR, "x"), Value(VECTOR, "y"), Value(I64, "k"), Value(F64, "s")]
        self.b = Builder(Region(self.params))
        self.n = self.b.dim(self.params[0], axis=0)
        self.ints = [self.params[2]]
        arrays, scalars = self.block(self.params[:2], [self.params[3]], 0)
        results = [arrays[-1], self.random.choice(arrays), scalars[-1]]
        self.b.op("return", results, {}, [])
        types = tuple(VIEW if isinstance(v.type, Array) else v.type for v in results)
        self.function = Function(f"f{seed}", self.b.region, types)

    def block(self, arrays: list[Value], scalars: list[Value], depth: int) -> tuple[list[Value], list[Value]]:
        """What is in scope at the end of some random statements."""
        arrays, scalars = list(arrays), list(scalars)
        for _ in range(self.random.randint(1, 4)):
            choice = self.random.random()
            if choice < 0.45 or depth >= 3:
                arrays.append(self.array(arrays, scalars))
            elif choice < 0.6:
                scalars.append(self.reduction(self.random.choice(arrays)))
            elif choice < 0.72:
                *more, scalar = self.branch(arrays, scalars, depth)
                arrays, scalars = [*arrays, *more], [*scalars, scalar]
            else:
                *more, scalar = self.loop(arrays, scalars, depth)
                arrays, scalars = [*arrays, *more], [*scalars, scalar]
        return arrays, scalars

    def array(self, arrays: list[Value], scalars: list[Value]) -> Value:
        b, choice = self.b, self.random.random()
        one = self.random.choice(arrays)
        if choice < 0.6:
            two, scale = self.random.choice(arrays), self.random.choice(scalars)

            def body(index: list[Value], elements: list[Value]) -> list[Value]:
                return [b.sin(b.fadd(b.fmul(elements[0], b.f64(0.5)), b.fmul(elements[1], scale)))]

            return b.map_([self.n], [one, two], ["elem"], body)[0]
        if choice < 0.8:
            return self.view(one, b.isub(self.n, b.i64(1)), -1)
        copy = b.op("alloc", [self.n], {"dtype": F64, "fill": 1.25}, [VECTOR]).result
        b.op("assign", [copy, one], {"mode": self.random.choice(["set", "add"])}, [])
        b.op("accum", [copy, b.imod(self.random.choice(self.ints), self.n), self.random.choice(scalars)], {}, [])
        return copy

    def view(self, array: Value, start: Value, step: int) -> Value:
        return self.b.op("slice", [array, start, self.n, self.b.i64(step)], {}, [VIEW]).result

    def pick(self, arrays: list[Value]) -> Value:
        """An array of the type that joins have here."""
        array = self.random.choice(arrays)
        return array if array.type == VIEW else self.view(array, self.b.i64(0), 1)

    def reduction(self, array: Value) -> Value:
        return self.b.sin(self.b.map_([self.n], [array], ["add"], lambda index, elements: elements)[0])

    def branch(self, arrays: list[Value], scalars: list[Value], depth: int) -> list[Value]:
        count = self.random.randint(1, 2)

        def arm() -> list[Value]:
            inner, values = self.block(arrays, scalars, depth + 1)
            return [*(self.pick(inner) for _ in range(count)), self.random.choice(values)]

        return self.b.if_(self.b.fgt(self.random.choice(scalars), self.b.f64(0.1)), arm, arm)

    def loop(self, arrays: list[Value], scalars: list[Value], depth: int) -> list[Value]:
        b, count = self.b, self.random.randint(1, 3)
        inits = [*(self.pick(arrays) for _ in range(count)), self.random.choice(scalars)]

        def body(i: Value, carried: list[Value]) -> list[Value]:
            self.ints.append(i)
            inner, values = self.block([*arrays, *carried[:-1]], [*scalars, carried[-1]], depth + 1)
            self.ints.pop()
            sources = [*inner[-4:], *carried[:-1]]
            return [*(self.pick(sources) for _ in range(count)), b.sin(b.fadd(self.random.choice(values), b.f64(0.3)))]

        end = self.random.choice([self.params[2], b.i64(self.random.randint(0, 4))])
        return b.for_(b.i64(0), end, b.i64(1), inits, body)


@pytest.mark.parametrize("start", [0, 1000])
def test_random_programs_agree_with_the_interpreter(start: int) -> None:
    functions = [Program(start + k).function for k in range(12)]
    compiled = Compiled(Module({f.name: f for f in functions}))
    rng = np.random.default_rng(start)
    x, y = rng.normal(size=3), rng.normal(size=3)
    for function in functions:
        for k in (0, 1, 2, 5):
            compiled.check(function.name, x, y, k, 0.7, rtol=1e-9)
