"""Evaluates module constants and default arguments from their text: numbers, strings, tuples, small arrays.

Nothing of the module runs: the evaluator knows literals, operators, names of other constants, and the pure functions listed
here, which it applies to values it has computed itself. Values are Python and NumPy objects, so a constant keeps its class (float or
np.float64). Bounds on sizes keep every evaluation short.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adcore.frontend.scope import Constant, Missing, Resolver, Scope
from adcore.frontend.values import FunctionRef, LibraryRef, ModuleRef

LARGEST = 1_000_000  # elements of an array, bits of an int
DEEPEST = 60

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip

_BUILTINS: dict[str, Callable[..., Any]] = {
    "abs": abs, "min": min, "max": max, "round": round, "int": int, "float": float, "bool": bool, "len": len, "sum": sum, "pow": pow,
    "tuple": tuple, "list": list, "range": lambda *a: _bounded_range(*a),
}  # fmt: skip
_MATH = frozenset(
    [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "degrees",
        "erf",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "fabs",
        "floor",
        "fmod",
        "gamma",
        "hypot",
        "isclose",
        "isfinite",
        "isinf",
        "isnan",
        "lgamma",
        "log",
        "log10",
        "log1p",
        "log2",
        "pow",
        "radians",
        "remainder",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "trunc",
        "fsum",
        "prod",
        "comb",
        "factorial",
        "gcd",
        "lcm",
    ]
)
_NUMPY = frozenset(
    [
        "abs",
        "absolute",
        "arccos",
        "arccosh",
        "arcsin",
        "arcsinh",
        "arctan",
        "arctan2",
        "arctanh",
        "ceil",
        "clip",
        "concatenate",
        "cos",
        "cosh",
        "cumsum",
        "cumprod",
        "deg2rad",
        "diff",
        "dot",
        "exp",
        "exp2",
        "expm1",
        "fabs",
        "float64",
        "floor",
        "hypot",
        "int64",
        "log",
        "log10",
        "log1p",
        "log2",
        "max",
        "maximum",
        "mean",
        "min",
        "minimum",
        "ones_like",
        "power",
        "prod",
        "rad2deg",
        "rint",
        "round",
        "sign",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "sum",
        "tan",
        "tanh",
        "trunc",
        "zeros_like",
        "outer",
    ]
)
_CREATORS = frozenset({"array", "asarray", "zeros", "ones", "full", "arange", "linspace", "eye", "identity"})
_NUMBER_CONSTANTS = frozenset({"pi", "e", "tau", "inf", "nan", "euler_gamma"})
_METHODS = frozenset(
    {"sum", "mean", "min", "max", "prod", "copy", "reshape", "ravel", "astype", "dot", "cumsum", "tolist", "item"}
)
_ATTRIBUTES = frozenset({"shape", "size", "ndim", "T"})
_DTYPES: dict[str, Any] = {
    "float64": np.float64,
    "int64": np.int64,
    "bool_": np.bool_,
    "bool": np.bool_,
    "float32": np.float32,
    "int32": np.int32,
}


class NotConstant(Exception):
    """`node` has no value that is known from the text, because of `reason`."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


class Evaluator:
    """Evaluates in the scope of one module. `used` is told which constants a value was made from."""

    def __init__(self, resolver: Resolver, scope: Scope, used: Callable[[Scope, str], None], depth: int = 0) -> None:
        self.resolver = resolver
        self.scope = scope
        self.used = used
        self.depth = depth

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression. Raises NotConstant and nothing else."""
        if self.depth > DEEPEST:
            raise NotConstant(node, "its definition is too deep, or refers to itself")
        self.depth += 1
        try:
            with np.errstate(all="ignore"):
                return _check_size(node, self._evaluate(node))
        except (
            ArithmeticError,
            ValueError,
            TypeError,
            IndexError,
            KeyError,
            AttributeError,
            MemoryError,
            RecursionError,
        ) as error:
            raise NotConstant(node, f"evaluating it fails: {error}") from None
        finally:
            self.depth -= 1

    def _evaluate(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.Name():
                return self._meaning(node, self.resolver.resolve(self.scope, node.id, self.used))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Tuple():
                return tuple(self.evaluate(item) for item in node.elts)
            case ast.List():
                return [self.evaluate(item) for item in node.elts]
            case ast.UnaryOp():
                return _UNARY[type(node.op)](self.evaluate(node.operand))
            case ast.BinOp():
                return _apply_binary(node, type(node.op), self.evaluate(node.left), self.evaluate(node.right))
            case ast.Compare(ops=[op]) if type(op) in _COMPARE:
                return _COMPARE[type(op)](self.evaluate(node.left), self.evaluate(node.comparators[0]))
            case ast.BoolOp():
                values = [self.evaluate(value) for value in node.values]
                return all(values) if isinstance(node.op, ast.And) else any(values)
            case ast.IfExp():
                return self.evaluate(node.body if self.evaluate(node.test) else node.orelse)
            case ast.Subscript():
                return self.evaluate(node.value)[self._index(node.slice)]
            case ast.Call():
                return self._call(node)
            case _:
                raise NotConstant(node, "it is not a constant expression")

    def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if part is None else self.evaluate(part) for part in parts))
        return self.evaluate(node)

    def _meaning(self, node: ast.expr, meaning: object) -> Any:
        match meaning:
            case Constant():
                return Evaluator(self.resolver, meaning.scope, self.used, self.depth).evaluate(meaning.node)
            case LibraryRef(module="math" | "numpy", name=name) if name in _NUMBER_CONSTANTS:
                return getattr(math if meaning.module == "math" else np, name)
            case LibraryRef(module="numpy", name="newaxis"):
                return None
            case Missing():
                raise NotConstant(node, f"`{ast.unparse(node)}` is not defined")
            case _:
                raise NotConstant(node, f"`{ast.unparse(node)}` is not a constant")

    def _attribute(self, node: ast.Attribute) -> Any:
        meaning = self.static(node)
        if meaning is not None:
            return self._meaning(node, meaning)
        value = self.evaluate(node.value)
        if isinstance(value, np.ndarray) and node.attr in _ATTRIBUTES:
            return getattr(value, node.attr)
        raise NotConstant(node, f"the attribute `{node.attr}` is not a constant")

    def static(self, node: ast.expr) -> object | None:
        """What a dotted name means, if it starts at a module."""
        if isinstance(node, ast.Name):
            return self.resolver.resolve(self.scope, node.id, self.used)
        if isinstance(node, ast.Attribute):
            base = self.static(node.value)
            if isinstance(base, ModuleRef):
                return self.resolver.attribute(base.name, node.attr, self.used)
        return None

    def _call(self, node: ast.Call) -> Any:
        args = [self.evaluate(arg) for arg in node.args]
        meaning = self.static(node.func)
        if meaning is None and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            owner = self.evaluate(node.func.value)
            if isinstance(owner, np.ndarray):
                keywords = {k.arg: self._keyword(k.value) for k in node.keywords if k.arg}
                return getattr(owner, node.func.attr)(*args, **keywords)
        keywords = {k.arg: self._keyword(k.value) for k in node.keywords if k.arg is not None}
        match meaning:
            case Missing(name=str(name)) if name in _BUILTINS and meaning.module == self.scope.name:
                return _BUILTINS[name](*args, **keywords)
            case LibraryRef(module="math", name=name) if name in _MATH:
                return _bounded_math(node, name, args)(*args, **keywords)
            case LibraryRef(module="numpy", name=name) if name in _CREATORS:
                return _create(node, name, args, keywords)
            case LibraryRef(module="numpy", name=name) if name in _NUMPY:
                return getattr(np, name)(*args, **keywords)
            case FunctionRef():
                raise NotConstant(node, f"`{meaning.name}` is not run while compiling")
            case _:
                raise NotConstant(node, "this call is not a constant expression")

    def _keyword(self, node: ast.expr) -> Any:
        meaning = self.static(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if isinstance(meaning, LibraryRef) and meaning.name in _DTYPES:
            return _DTYPES[meaning.name]
        if isinstance(meaning, Missing) and meaning.name in ("float", "int", "bool"):
            return {"float": np.float64, "int": np.int64, "bool": np.bool_}[meaning.name]
        return self.evaluate(node)


def _check_size(node: ast.expr, value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.size > LARGEST:
        raise NotConstant(node, "it is too large")
    return value


def _bounded_range(*args: int) -> range:
    made = range(*args)
    if len(made) > LARGEST:
        raise ValueError("the range is too long")
    return made


def _apply_binary(node: ast.BinOp, op: type[ast.operator], x: Any, y: Any) -> Any:
    if op not in _BINARY:
        raise NotConstant(node, "this operator is not a constant expression")
    if isinstance(x, int) and isinstance(y, int):
        bits = max(abs(x).bit_length(), 1)
        if (
            (op is ast.Pow and bits * max(y, 1) > LARGEST)
            or (op is ast.LShift and bits + y > LARGEST)
            or bits > LARGEST
        ):
            raise NotConstant(node, "the number is too large")
    if op is ast.Mult:
        for sequence, count in ((x, y), (y, x)):
            if isinstance(sequence, list | tuple | str) and isinstance(count, int) and len(sequence) * count > LARGEST:
                raise NotConstant(node, "it is too large")
    return _BINARY[op](x, y)


def _bounded_math(node: ast.Call, name: str, args: list[Any]) -> Callable[..., Any]:
    if name in ("factorial", "comb") and any(isinstance(a, int) and a > 2000 for a in args):
        raise NotConstant(node, "the number is too large")
    function: Callable[..., Any] = getattr(math, name)
    return function


def _create(node: ast.Call, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
    count = 0
    if name in ("zeros", "ones", "full") and args:
        count = math.prod(args[0]) if isinstance(args[0], tuple | list) else int(args[0])
    elif name in ("eye", "identity") and args:
        count = int(args[0]) ** 2
    elif name == "linspace":
        count = int(args[2]) if len(args) > 2 else int(keywords.get("num", 50))
    elif name == "arange" and args:
        low, high = (0, args[0]) if len(args) == 1 else args[:2]
        count = int(abs((high - low) / (args[2] if len(args) > 2 else keywords.get("step", 1)))) + 1
    if count > LARGEST:
        raise NotConstant(node, "it is too large")
    made = getattr(np, name)(*args, **keywords)
    if made.dtype == object:
        raise NotConstant(node, "its elements are not numbers")
    return made


def constant_value(resolver: Resolver, scope: Scope, node: ast.expr, used: Callable[[Scope, str], None]) -> Any:
    return Evaluator(resolver, scope, used).evaluate(node)
