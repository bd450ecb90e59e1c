"""The edits that end a finding of the front end, where one answer is sure enough to be offered.

Invariants: what an edit makes of the text has the meaning that the title says, whatever the module calls its imports; where a name that the
edit needs stands for something else, nothing is offered.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from adcore.edits import Edit, Fix, fix, import_name, insert, new_import, replace, wrapped
from adcore.frontend.scope import Constant, Imported, Scope
from adcore.frontend.values import Abstract, ArrayRef, NoneValue, Number, TupleOf
from adcore.ir.types import F64, Scalar

if TYPE_CHECKING:
    from adcore.frontend.context import Context

TYPING = "adcore.typing"
_CLASSES = {"f64": "float", "i64": "int", "bool": "bool"}
_ELEMENTS = {"f64": "float64", "i64": "int64", "bool": "bool_"}
_IMPORTS = {"np": "import numpy as np", "numpy": "import numpy", "math": "import math"}
_MODULES = {"np": "numpy", "numpy": "numpy", "math": "math"}
_OFFERED_RANKS = range(1, 4)


# Names


def name_of_module(scope: Scope, module: str) -> str | None:
    """What the module calls an imported module."""
    return next((name for name, meaning in scope.names.items() if meaning == Imported(module, None)), None)


def missing_import(scope: Scope, name: str) -> tuple[str, tuple[Fix, ...]] | None:
    """For a name under which everybody imports a module: what is missing, and the edit that adds it."""
    if name not in _IMPORTS:
        return None
    known = name_of_module(scope, _MODULES[name])
    if known is not None:
        return f"; the module is imported as `{known}`", ()
    statement = _IMPORTS[name]
    edit = new_import(scope.source, scope.module.parsed.tree, statement)
    return f"; `{statement}` is missing", fix(f"Add `{statement}`", edit)


def typing_name(scope: Scope, name: str) -> tuple[str, Edit | None] | None:
    """How a name of `adcore.typing` is written in a module, and the import that it needs; None: the name is taken."""
    for own, meaning in scope.names.items():
        if meaning == Imported(TYPING, name):
            return own, None
    if name in scope.names:
        return None
    return name, import_name(scope.source, scope.module.parsed.tree, TYPING, name)


def numpy_function(ctx: Context, call: ast.Call, name: str) -> tuple[Fix, ...]:
    """NumPy's function of the same name, for the call of one that takes numbers only."""
    scope, span = ctx.scope, ctx.span(call.func)
    known = name_of_module(scope, "numpy")
    if known is not None and known not in ctx.frame.locals:
        return fix(f"Write `{known}.{name}`", replace(span, f"{known}.{name}"))
    if known is not None or "np" in scope.names or "np" in ctx.frame.locals:
        return ()
    edit = new_import(scope.source, scope.module.parsed.tree, _IMPORTS["np"])
    return fix(f"Write `np.{name}` and import NumPy", edit, replace(span, f"np.{name}"))


def near_keyword(ctx: Context, call: ast.Call, name: str, near: str | None) -> tuple[Fix, ...]:
    """The name of an argument that was meant."""
    keyword = next((k for k in call.keywords if k.arg == name), None)
    if near is None or keyword is None or near in [k.arg for k in call.keywords]:
        return ()
    span = ctx.span(keyword)
    start = ctx.scope.source.offset(span.line, span.column)
    if not ctx.scope.source.text.startswith(name, start):
        return ()
    return fix(f"Write `{near}`", replace(ctx.scope.source.span(start, start + len(name)), near))


def literal_of(scope: Scope, name: str) -> str | None:
    """The literal that a constant of the module is defined as, as it is written."""
    definition = scope.names.get(name)
    if not isinstance(definition, Constant):
        return None
    items = definition.node.elts if isinstance(definition.node, ast.Tuple) else [definition.node]
    if not all(isinstance(item, ast.Constant) for item in items):
        return None
    return scope.source.segment(scope.source.span_of_node(definition.node))


# Conversions


def converted(ctx: Context, node: ast.AST, value: Abstract, kind: Scalar, sure: bool = True) -> tuple[Fix, ...]:
    """The class's name around a number."""
    name = _CLASSES[kind.name]
    if not isinstance(node, ast.expr) or not isinstance(value, Number) or not _is_builtin(ctx, name):
        return ()
    divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)  # `//` may be what was meant
    return fix(
        f"Write `{name}(...)` around it", *wrapped(ctx.span(node), f"{name}(", ")"), preferred=sure and not divides
    )


def converted_operands(ctx: Context, node: ast.AST, left: Number, right: Number) -> tuple[Fix, ...]:
    """`int(...)` around each operand that is a float."""
    if not isinstance(node, ast.BinOp) or not _is_builtin(ctx, "int"):
        return ()
    floats = [text for text, value in ((node.left, left), (node.right, right)) if value.kind is F64]
    edits = [edit for text in floats for edit in wrapped(ctx.span(text), "int(", ")")]
    return fix("Write `int(...)` around what is a float", *edits, preferred=False)


def _is_builtin(ctx: Context, name: str) -> bool:
    return name not in ctx.scope.names and name not in ctx.frame.locals


def product_operator(ctx: Context, node: ast.AST) -> tuple[Fix, ...]:
    """`*` in place of `@`."""
    match node:
        case (
            ast.BinOp(left=left, op=ast.MatMult(), right=right)
            | ast.AugAssign(target=left, op=ast.MatMult(), value=right)
        ):
            pass
        case _:
            return ()
    source, first, last = ctx.scope.source, ctx.span(left), ctx.span(right)
    start, end = source.offset(first.end_line, first.end_column), source.offset(last.line, last.column)
    between = source.text[start:end]
    if between.count("@") != 1:
        return ()
    at = start + between.index("@")
    return fix("Multiply with `*`", replace(source.span(at, at + 1), "*"))


# Annotations


def annotation_of(scope: Scope, value: Abstract) -> tuple[str, list[Edit]] | None:
    """How a value's type is annotated, and the imports that this needs."""
    match value:
        case NoneValue():
            return "None", []
        case Number(kind=kind):
            return (_CLASSES[kind.name], []) if _CLASSES[kind.name] not in scope.names else None
        case ArrayRef(dtype=dtype, rank=rank):
            return array_annotation(scope, dtype, rank)
        case TupleOf(items=items, display="tuple") if items and "tuple" not in scope.names:
            parts = [annotation_of(scope, item) for item in items]
            made = [part for part in parts if part is not None]
            edits = list(dict.fromkeys(edit for _, needed in made for edit in needed))
            if len(made) < len(parts) or len(edits) > 1:
                return None
            return f"tuple[{', '.join(text for text, _ in made)}]", edits
    return None


def array_annotation(
    scope: Scope, dtype: Scalar, rank: int, element: str | None = None
) -> tuple[str, list[Edit]] | None:
    """`element` is how the dtype is written already."""
    plain = dtype is F64 and rank <= 2
    name = typing_name(scope, ("Vector", "Matrix")[rank - 1] if plain else f"Array{rank}")
    numpy = name_of_module(scope, "numpy")
    if name is None or (not plain and element is None and numpy is None):
        return None
    written, needed = name
    text = written if plain else f"{written}[{element or f'{numpy}.{_ELEMENTS[dtype.name]}'}]"
    return text, [needed] if needed else []


def ranks(scope: Scope, node: ast.expr, dtype: Scalar, element: str | None) -> tuple[Fix, ...]:
    """One fix for each number of dimensions that an annotation may have meant."""
    span = scope.source.span_of_node(node)
    text = scope.source.segment(span)
    if text[:1] in ("'", '"') and not re.fullmatch(r"[\w.]+(?:\[[\w.]+\])?", text[1:-1]):
        return ()
    found: list[Fix] = []
    for rank in _OFFERED_RANKS:
        made = array_annotation(scope, dtype, rank, element)
        if made is not None:
            words = f"{rank} dimension{'s' if rank > 1 else ''}"
            found += fix(f"Write `{made[0]}`: {words}", replace(span, made[0]), *made[1], preferred=False)
    return tuple(found)


def typing_import(scope: Scope, name: str) -> tuple[Fix, ...]:
    """The import of a name of `adcore.typing` that is used without one."""
    found = typing_name(scope, name)
    return fix(f"Import `{name}` from `{TYPING}`", found[1]) if found is not None and found[1] is not None else ()


def default_annotation(scope: Scope, arg: ast.arg, default: ast.expr | None) -> tuple[Fix, ...]:
    """A default of class float or bool says what a parameter is; an int may stand for a float."""
    match default:
        case ast.Constant(value=float()) | ast.UnaryOp(operand=ast.Constant(value=float())):
            name = "float"
        case ast.Constant(value=bool()):
            name = "bool"
        case _:
            return ()
    source = scope.source
    span, start = source.span_of_node(arg), source.span_of_node(default)
    end, begin = source.offset(span.end_line, span.end_column), source.offset(start.line, start.column)
    if name in scope.names or source.text[end:begin].strip() != "=":
        return ()
    title = f"Annotate it as `{name}`, the class of its default"
    return fix(title, replace(source.span(end, begin), f": {name} = "))


def none_annotation(scope: Scope, node: ast.FunctionDef) -> tuple[Fix, ...]:
    """`-> None` for a function that returns nothing."""
    colon = _end_of_head(scope, node)
    return () if colon is None else fix("Write `-> None`", insert(scope.source, colon, " -> None"))


def result_annotation(
    scope: Scope, node: ast.FunctionDef, annotation: ast.expr | None, value: Abstract
) -> tuple[Fix, ...]:
    """The annotation that fits what is returned, where nothing else that is returned speaks against it."""
    made = annotation_of(scope, value)
    if annotation is None or made is None or isinstance(value, NoneValue):
        return ()
    if len(list(_returns(node.body))) > 1 and not (isinstance(value, Number) and value.kind is F64):
        return ()
    span = scope.source.span_of_node(annotation)
    return fix(f"Annotate it as `{made[0]}`", replace(span, made[0]), *made[1], preferred=False)


def _returns(body: Iterable[ast.AST]) -> Iterator[ast.Return]:
    """The function's own `return` statements."""
    for node in body:
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _returns(ast.iter_child_nodes(node))


def _end_of_head(scope: Scope, node: ast.FunctionDef) -> int | None:
    """The offset of the colon that ends a `def` line without `->`."""
    source = scope.source
    lines = iter(f"{line}\n" for line in source.lines[node.lineno - 1 :])
    depth, started = 0, False
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.string in ("(", "[", "{"):
                depth, started = depth + 1, True
            elif token.string in (")", "]", "}"):
                depth -= 1
            elif token.string == ":" and started and depth == 0:
                return source.offset(node.lineno + token.start[0] - 1, token.start[1] + 1)
            elif token.string == "->" and depth == 0:
                return None
    except (tokenize.TokenError, SyntaxError):
        return None
    return None


# Decorators


def nearest_decorator(scope: Scope, node: ast.FunctionDef, decorator: ast.expr) -> tuple[Fix, ...]:
    """`autodiff` on the line directly above the function."""
    source = scope.source
    first, last = decorator.lineno, decorator.end_lineno or decorator.lineno
    others = [other for other in node.decorator_list if other is not decorator]
    shared = any(other.lineno <= last and first <= (other.end_lineno or other.lineno) for other in others)
    if shared or node.lineno <= last or "@" not in source.line(first):
        return ()
    start, end = source.offset(first, 1), source.offset(last + 1, 1)
    target = source.offset(node.lineno, 1)
    edits = replace(source.span(start, end), ""), insert(source, target, source.text[start:end])
    return fix("Put `autodiff` directly above the function", *edits, preferred=False)
