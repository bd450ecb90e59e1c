"""What CPython makes of a program: values or the class of the exception, slopes by differences, and how much rounding matters."""

from __future__ import annotations

import ast
import itertools
import math
import random
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.generate import Program

STEPS = (2e-2, 6e-3, 2e-3, 4e-4, 5e-5)
EPSILON = 2.0**-52


@dataclass(frozen=True, slots=True)
class Outcome:
    """Either the items of the result, or the name of the exception class."""

    leaves: tuple[Any, ...] = ()
    error: str | None = None
    message: str = ""


def copied(args: Sequence[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


class Reference:
    """``f`` of a program as CPython runs it, with a decorator that does nothing."""

    def __init__(self, program: Program) -> None:
        text = program.text.replace("from adcore import autodiff\n", "").replace(
            "from adcore.typing import Vector\n", ""
        )
        tree = ast.fix_missing_locations(_Powers().visit(ast.parse(text)))
        self.code = compile(tree, f"<program {program.seed}>", "exec")
        self.function = self.load({})

    def load(self, modules: dict[str, Any]) -> Callable[..., Any]:
        scope: dict[str, Any] = {
            "autodiff": _plain,
            "Vector": np.ndarray,
            "pow": _power,
            "_power": _power,
            "__builtins__": _builtins(modules),
        }
        exec(self.code, scope)
        found: Callable[..., Any] = scope["f"]
        return found

    def call(self, args: Sequence[Any], function: Callable[..., Any] | None = None) -> Outcome:
        with np.errstate(all="ignore"):
            try:
                value = (function or self.function)(*copied(args))
            except Exception as error:
                return Outcome((), type(error).__name__, str(error))
        return Outcome(value if isinstance(value, tuple) else (value,))

    def noise(self, args: Sequence[Any], runs: int = 6) -> list[float]:
        """Per leaf, how far results move when library results and arguments move by a few units in the last place."""
        want = self.call(args).leaves
        spread = [0.0] * len(want)
        for seed in range(runs):
            rng = random.Random(seed)
            shaken = self.load({"math": _Shaken(math, rng), "numpy": _Shaken(np, rng)})
            got = self.call([_shake(a, rng) if not isinstance(a, int) else a for a in args], shaken)
            if got.error is not None or len(got.leaves) != len(want):
                return [math.inf] * len(want)
            for k, (g, w) in enumerate(zip(got.leaves, want, strict=True)):
                if np.shape(g) != np.shape(w):
                    return [math.inf] * len(want)
                with np.errstate(all="ignore"):
                    gap = np.abs(np.asarray(g, float) - np.asarray(w, float))
                if gap.size:
                    worst = float(np.max(gap))
                    spread[k] = math.inf if math.isnan(worst) else max(spread[k], worst)
        return spread


class _Powers(ast.NodeTransformer):
    """Writes ``a ** b`` as a call: where Python's class of the result depends on the values, compiled code raises ValueError by contract."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.Call(ast.Name("_power", ast.Load()), [node.left, node.right], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow) or not isinstance(node.target, ast.Name):
            return node
        value = ast.Call(ast.Name("_power", ast.Load()), [ast.Name(node.target.id, ast.Load()), node.value], [])
        return ast.Assign([node.target], value)


def _power(a: Any, b: Any) -> Any:
    value = a**b
    if isinstance(value, complex):
        raise ValueError("a negative number to a fractional power")
    return value


def _plain(function: Any = None, **options: Any) -> Any:
    return function if function is not None else (lambda f: f)


def _builtins(modules: dict[str, Any]) -> Any:
    import builtins

    if not modules:
        return builtins
    made = types.ModuleType("builtins")
    made.__dict__.update(vars(builtins))

    def load(name: str, *rest: Any) -> Any:
        return modules.get(name) or builtins.__import__(name, *rest)

    made.__dict__["__import__"] = load
    return made


class _Shaken:
    """A library whose results are off by a few units in the last place."""

    def __init__(self, library: Any, rng: random.Random) -> None:
        self.library, self.rng = library, rng

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.library, name)
        if (
            not callable(found)
            or isinstance(found, type)
            or name in ("zeros", "ones", "array", "arange", "copy", "where", "full")
        ):
            return found
        return lambda *args, **keywords: _shake(found(*args, **keywords), self.rng)


def _shake(value: Any, rng: random.Random) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value * (1.0 + EPSILON * np.array([rng.randint(-3, 3) for _ in range(value.size)]).reshape(value.shape))
    if isinstance(value, float):
        return type(value)(value * (1.0 + EPSILON * rng.randint(-3, 3)))
    return value


@dataclass(frozen=True, slots=True)
class Slope:
    value: float
    error: float


def slope(along: Callable[[float], float | None]) -> Slope | None:
    """The derivative of ``along`` at 0 by differences, or None where there is a kink, a jump, an exception or too little smoothness.

    Fourth order, at several steps; the pair of steps that agrees best says how good it is.
    """
    middle = along(0.0)
    rows: list[tuple[float, float, float]] = []  # estimate, rounding, gap of the one-sided slopes
    if middle is None:
        return None
    for h in STEPS:
        around = [along(s * h) for s in (-2, -1, 1, 2)]
        if any(v is None for v in around):
            rows.append((math.nan, math.inf, math.inf))
            continue
        a, b, c, d = (float(v) for v in around if v is not None)
        size = max(abs(a), abs(b), abs(c), abs(d), abs(middle))
        rows.append(
            ((a - 8 * b + 8 * c - d) / (12 * h), 8 * EPSILON * size / h, abs((c - middle) / h - (middle - b) / h))
        )
    pairs = [(abs(p[0] - q[0]) + q[1], q[0]) for p, q in itertools.pairwise(rows) if not math.isnan(p[0] - q[0])]
    if not pairs or math.isnan(rows[-1][0]):
        return None
    error, value = min(pairs)
    (_, rounding, gap), (_, _, wider) = rows[-1], rows[-2]
    scale = abs(value) + 1.0
    if gap > 4 * rounding + 1e-7 * scale and gap > 0.4 * wider:
        return None  # the one-sided slopes stay apart: a kink
    return None if error > 1e-4 * scale else Slope(value, error)


SMALL_STEPS = (1e-7, 1e-8, 1e-9, 1e-10, 1e-11)


def between_jumps(along: Callable[[float], float | None], value: float) -> bool:
    """Jumps next to 0 mislead the differences of ``slope``; those of two of the smallest steps, which fit between them, confirm ``value``."""

    def confirms(h: float) -> bool:
        low, high = along(-h), along(h)
        if low is None or high is None:
            return False
        rounding = 8 * EPSILON * max(1.0, abs(low), abs(high)) / h  # the terms of a small value may be larger
        return abs((high - low) / (2 * h) - value) <= rounding + 1e-6 * abs(value) and rounding <= 1e-3 * abs(value)

    return any(confirms(wider) and confirms(step) for wider, step in itertools.pairwise(SMALL_STEPS))


def moved(args: Sequence[Any], wrt: Sequence[int], direction: Sequence[Any], t: float) -> list[Any]:
    out = copied(args)
    for k, d in zip(wrt, direction, strict=True):
        out[k] = out[k] + t * d
    return out
