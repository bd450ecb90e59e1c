"""Which constructs of the language a program uses, read from its syntax tree."""

from __future__ import annotations

import ast

from fuzz.scope import LETTERS
from fuzz.unions import UNIONS

_UNIONS = {LETTERS[kind]: row.describe for kind, row in UNIONS.items()}


def features(text: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        found |= _of(node)
    return found


def _of(node: ast.AST) -> set[str]:
    name = type(node).__name__
    match node:
        case ast.BinOp() | ast.AugAssign():
            kind = "" if isinstance(node, ast.BinOp) else "augmented "
            place = {"Subscript": " element"}.get(type(getattr(node, "target", None)).__name__, "")
            return {f"{kind}{type(node.op).__name__}{place}"}
        case ast.UnaryOp() | ast.BoolOp():
            return {type(node.op).__name__}
        case ast.Compare():
            pairs = zip(node.ops, node.comparators, strict=True)
            kinds = {f"{type(op).__name__} None" if _is_none(right) else type(op).__name__ for op, right in pairs}
            return {*kinds, *(["chained comparison"] if len(node.ops) > 1 else [])}
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math" | "np" as library), attr=attr)):
            return {f"{library}.{attr}"}
        case ast.Call(func=ast.Attribute(attr=attr)):
            return {f".{attr}()"}
        case ast.Call(func=ast.Name(id=called)):
            return {f"{called}()" if not called.startswith("h") else "helper call"}
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=args)):
            return {f"for range of {len(args)}", *(["for else"] if node.orelse else [])}
        case ast.For():
            return {f"for over {type(node.iter).__name__}", *(["for else"] if node.orelse else [])}
        case ast.Assign(targets=[target, *more]):
            return {f"assign {type(target).__name__}", *(["chained assignment"] if more else [])}
        case ast.Slice():
            return {"slice", *(["slice with step"] if node.step is not None else [])}
        case (
            ast.Subscript()
            | ast.IfExp()
            | ast.While()
            | ast.If()
            | ast.Break()
            | ast.Continue()
            | ast.Raise()
            | ast.Assert()
            | ast.MatMult()
        ):
            return {name}
        case ast.Constant(value=None):
            return {"None"}
        case ast.Name(id=name) if name[0] in _UNIONS and name[1:].isdigit():
            return {f"{_UNIONS[name[0]]}: {'assigned' if isinstance(node.ctx, ast.Store) else 'used'}"}
        case ast.FunctionDef(name=name, returns=None) if name.startswith("h"):
            return {
                *(["default argument"] if node.args.defaults else []),
                *(["helper that may give None"] if _gives_none(node) else []),
            }
        case _:
            return set()


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _gives_none(function: ast.FunctionDef) -> bool:
    given = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    return any(map(_is_none, given)) or (bool(given) and not isinstance(function.body[-1], ast.Return))
