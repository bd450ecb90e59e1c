"""Annotations to types: which of them name a type of compiled code, resolved through the module's imports.

Handles what stands in the source: names, `np.ndarray[...]`, strings, aliases at module level, `tuple[...]` for results.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TypeAlias

from adcore.edits import Fix
from adcore.frontend import jaxtyping
from adcore.frontend.errors import Reject
from adcore.frontend.fixes import ranks, typing_import
from adcore.frontend.scope import Constant, Resolver, Scope
from adcore.frontend.values import LibraryRef, ModuleRef
from adcore.ir.signature import Leaf, Result, TupleResult
from adcore.ir.types import BOOL, F64, I64, Array, Dim, Scalar, Type
from adcore.source import Span
from adcore.suggest import suggest


@dataclass(frozen=True, slots=True)
class Annotated:
    """A scalar or array type of an annotation: `boxed` is the Python class."""

    kind: Scalar
    rank: int | None  # None: a scalar
    boxed: str
    numpy: bool = False
    """A NumPy scalar: what it does at a division by zero differs from Python's numbers."""
    dims: tuple[Dim, ...] = ()
    """Of an array whose annotation names its sizes; those of a parameter are checked when it comes."""


@dataclass(frozen=True, slots=True)
class AnnotatedTuple:
    items: tuple[Meant, ...]


Meant: TypeAlias = Annotated | AnnotatedTuple | None  # None: the annotation `None`

_PLAIN = {
    "float": Annotated(F64, None, "float"),
    "int": Annotated(I64, None, "int"),
    "bool": Annotated(BOOL, None, "bool"),
}
_NUMPY = {
    "float64": Annotated(F64, None, "np.float64", True), "double": Annotated(F64, None, "np.float64", True),
    "int64": Annotated(I64, None, "int", True), "bool": Annotated(BOOL, None, "bool", True), "bool_": Annotated(BOOL, None, "bool", True),
}  # fmt: skip
_ARRAYS = ("Vector", "Matrix", "Array0", "Array1", "Array2", "Array3", "Array4", "Array5", "Array6")
_ELEMENTS = "; arrays of float64, int64 and bool are compiled, other element types are not yet"
_LATER = "; arrays of 1 to 6 dimensions are compiled"
_POSSIBLE = "; possible are `float`, `int`, `bool`, `np.float64`, `Vector`, `Matrix` and `Array1[...]` to `Array6[...]`"


class AnnotationReader:
    """Reads annotations of one module."""

    def __init__(self, resolver: Resolver, scope: Scope) -> None:
        self.resolver = resolver
        self.scope = scope

    def parameter(self, node: ast.expr, subject: str) -> Annotated:
        meant = self._read(node, node, subject, 0)
        if not isinstance(meant, Annotated):
            self._refuse(node, subject, _POSSIBLE)
        assert isinstance(meant, Annotated)
        return meant

    def result(self, node: ast.expr) -> Meant:
        return self._read(node, node, "the result", 0)

    def _span(self, node: ast.expr) -> Span:
        return self.scope.source.span_of_node(node)

    def _refuse(
        self,
        node: ast.expr,
        subject: str,
        remedy: str,
        suggestion: str | None = None,
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        text = " ".join(self.scope.source.segment(self._span(node)).split())
        text = text if len(text) <= 60 else text[:59] + "…"
        raise Reject(
            "language/unsupported-annotation",
            self._span(node),
            suggestion,
            fixes=fixes,
            subject=subject,
            annotation=text,
            remedy=remedy,
        )

    def _read(self, node: ast.expr, whole: ast.expr, subject: str, depth: int) -> Meant:
        if depth > 20:
            self._refuse(whole, subject, _POSSIBLE)
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Constant(value=str(text)):
                return self._read(self._parse(text, whole, subject), whole, subject, depth + 1)
            case ast.Name() | ast.Attribute():
                return self._named(node, whole, subject, depth)
            case ast.Subscript():
                return self._subscript(node, whole, subject, depth)
            case _:
                self._refuse(whole, subject, _POSSIBLE)
        raise AssertionError

    def _parse(self, text: str, whole: ast.expr, subject: str) -> ast.expr:
        try:
            body = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._refuse(whole, subject, _POSSIBLE)
        for node in ast.walk(body):  # findings stand at the string, whose inner places are not known
            if isinstance(node, ast.expr):
                ast.copy_location(node, whole)
        return body

    def _static(self, node: ast.expr) -> object:
        """The meaning of a dotted name; plain builtin types as ("builtins", name)."""
        if isinstance(node, ast.Name):
            if node.id in (*_PLAIN, "tuple", "None") and node.id not in self.scope.names:
                return LibraryRef("builtins", node.id)
            return self.resolver.resolve(self.scope, node.id, lambda *_: None)
        if isinstance(node, ast.Attribute):
            base = self._static(node.value)
            if isinstance(base, ModuleRef):
                return self.resolver.attribute(base.name, node.attr, lambda *_: None)
        return None

    def _named(self, node: ast.expr, whole: ast.expr, subject: str, depth: int) -> Meant:
        match self._static(node):
            case LibraryRef(module="builtins", name=name) if name in _PLAIN:
                return _PLAIN[name]
            case LibraryRef(module="numpy", name=name) if name in _NUMPY:
                return _NUMPY[name]
            case LibraryRef(module="numpy", name="ndarray"):
                remedy = "; write `Vector` from `adcore.typing` for a float64 array of one dimension"
                self._refuse(whole, subject, remedy, fixes=ranks(self.scope, whole, F64, None))
            case LibraryRef(module="adcore.typing", name=name):
                return self._own(name, None, whole, subject)
            case Constant() as constant:
                return AnnotationReader(self.resolver, constant.scope)._alias(constant, self, whole, subject, depth)
            case _:
                self._unknown(node, whole, subject)
        raise AssertionError

    def _alias(self, constant: Constant, user: AnnotationReader, whole: ast.expr, subject: str, depth: int) -> Meant:
        """A type alias of a module; a refusal stands at its use."""
        try:
            return self._read(constant.node, constant.node, subject, depth + 1)
        except Reject:
            user._refuse(whole, subject, _POSSIBLE)
        raise AssertionError

    def _unknown(self, node: ast.expr, whole: ast.expr, subject: str) -> None:
        name = node.id if isinstance(node, ast.Name) else ""
        if name in _ARRAYS and name not in self.scope.names:
            remedy = f"; import `{name}` from `adcore.typing`"
            self._refuse(node, subject, remedy, fixes=typing_import(self.scope, name))
        near = suggest(name, [*_PLAIN, *(n for n in self.scope.names if n in _ARRAYS)]) if name else None
        remedy = f"; did you mean `{near}`?" if near else _POSSIBLE
        self._refuse(node if near else whole, subject, remedy, self._quoted(node, near))

    def _quoted(self, node: ast.expr, near: str | None) -> str | None:
        """What replaces the text of `node`, which may be a string."""
        text = self.scope.source.segment(self._span(node))
        if near is None or text[:1] not in ("'", '"'):
            return near
        return text[0] + near + text[0] if text[1:-1].isidentifier() else None

    def _own(self, name: str, dtype: ast.expr | None, whole: ast.expr, subject: str) -> Annotated:
        if name in ("Vector", "Matrix") and dtype is None:
            return Annotated(F64, 1 if name == "Vector" else 2, "ndarray")
        if name in _ARRAYS and name.startswith("Array"):
            return self._array(dtype, int(name[-1]), whole, subject)
        near = suggest(name, _ARRAYS)
        self._refuse(whole, subject, f"; did you mean `{near}`?" if near else _POSSIBLE)
        raise AssertionError

    def _array(self, dtype: ast.expr | None, rank: int, whole: ast.expr, subject: str) -> Annotated:
        meant = self._element(dtype)
        if meant is None:
            self._refuse(whole, subject, _ELEMENTS)
        if not 1 <= rank <= 6:
            self._refuse(whole, subject, _LATER)
        assert meant is not None
        return Annotated(meant.kind, rank, "ndarray")

    def _element(self, dtype: ast.expr | None) -> Annotated | None:
        """What the elements of an array are."""
        found = self._static(dtype) if dtype is not None else None
        return _NUMPY.get(found.name) if isinstance(found, LibraryRef) else None

    def _subscript(self, node: ast.Subscript, whole: ast.expr, subject: str, depth: int) -> Meant:
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        match self._static(node.value):
            case LibraryRef(module="builtins", name="tuple"):
                if any(isinstance(part, ast.Constant) and part.value is ... for part in parts):
                    self._refuse(whole, subject, "; the number of items must be known, as in `tuple[float, float]`")
                return AnnotatedTuple(tuple(self._read(part, part, subject, depth + 1) for part in parts))
            case LibraryRef(module="numpy", name="ndarray") if len(parts) == 2:
                return self._ndarray(parts[0], parts[1], whole, subject)
            case LibraryRef(module="adcore.typing", name=name):
                return self._own(name, node.slice, whole, subject)
            case LibraryRef(module="jaxtyping", name=name) if len(parts) == 2:
                return self._jaxtyping(name, parts[0], parts[1], whole, subject)
            case LibraryRef(module="numpy.typing", name="NDArray"):
                remedy = (
                    ": it leaves the number of dimensions open; write `Vector` from `adcore.typing` for one dimension"
                )
                meant = self._element(node.slice)
                made = ranks(self.scope, whole, meant.kind, ast.unparse(node.slice)) if meant is not None else ()
                self._refuse(whole, subject, remedy, fixes=made)
            case _:
                self._refuse(whole, subject, _POSSIBLE)
        raise AssertionError

    def _jaxtyping(self, name: str, array: ast.expr, shape: ast.expr, whole: ast.expr, subject: str) -> Annotated:
        """`Float64[np.ndarray, "n 3"]`."""
        if self._static(array) not in (LibraryRef("numpy", "ndarray"), LibraryRef("numpy.typing", "NDArray")):
            self._refuse(whole, subject, "; compiled functions take `np.ndarray`")
        if near := jaxtyping.OPEN.get(name):
            self._refuse(whole, subject, f": it leaves the element type open; write `{near}`")
        if name not in jaxtyping.ELEMENTS:
            self._refuse(whole, subject, _ELEMENTS if name in jaxtyping.NARROW else _POSSIBLE)
        if not isinstance(shape, ast.Constant) or not isinstance(shape.value, str):
            self._refuse(whole, subject, '; its sizes are a string, as in `Float64[np.ndarray, "n 3"]`')
        assert isinstance(shape, ast.Constant)
        assert isinstance(shape.value, str)
        try:
            dims = jaxtyping.shape(shape.value)
        except jaxtyping.ShapeProblem as problem:
            self._refuse(shape if shape is not whole else whole, subject, f": {problem}")
        if not 1 <= len(dims) <= 6:
            self._refuse(whole, subject, _LATER)
        return Annotated(jaxtyping.ELEMENTS[name], len(dims), "ndarray", dims=dims)

    def _ndarray(self, shape: ast.expr, dtype: ast.expr, whole: ast.expr, subject: str) -> Annotated:
        """`np.ndarray[tuple[int, ...], np.dtype[np.float64]]`."""
        if not isinstance(shape, ast.Subscript) or self._static(shape.value) != LibraryRef("builtins", "tuple"):
            self._refuse(whole, subject, "; write its shape as `tuple[int]`")
        assert isinstance(shape, ast.Subscript)
        dims = shape.slice.elts if isinstance(shape.slice, ast.Tuple) else [shape.slice]
        if any(isinstance(d, ast.Constant) and d.value is ... for d in dims):
            self._refuse(whole, subject, "; write its shape as `tuple[int]`, one `int` per dimension")
        inner = (
            dtype.slice
            if isinstance(dtype, ast.Subscript) and self._static(dtype.value) == LibraryRef("numpy", "dtype")
            else None
        )
        return self._array(inner, len(dims), whole, subject)


def ir_type(meant: Annotated) -> Type:
    return meant.kind if meant.rank is None else Array(meant.kind, (None,) * meant.rank)


def parameter_type(meant: Annotated) -> Type:
    """The type with the sizes that the annotation names: what is checked when the argument comes."""
    return Array(meant.kind, meant.dims) if meant.dims else ir_type(meant)


def result_structure(meant: Meant) -> Result:
    """The result structure of a signature."""
    match meant:
        case None:
            return None
        case AnnotatedTuple(items):
            return TupleResult(tuple(result_structure(item) for item in items))
        case Annotated():
            return Leaf(ir_type(meant), meant.boxed)


def describe_meant(meant: Meant) -> str:
    match meant:
        case None:
            return "None"
        case AnnotatedTuple(items):
            return f"tuple[{', '.join(describe_meant(item) for item in items)}]"
        case Annotated(rank=None):
            return meant.boxed
        case Annotated(kind=kind, rank=int(rank)):
            if kind is F64 and rank <= 2:
                return "Vector" if rank == 1 else "Matrix"
            return f"Array{rank}[np.{({'f64': 'float64', 'i64': 'int64', 'bool': 'bool'})[kind.name]}]"
    raise AssertionError(meant)
