"""Makes a failing program small: statements and expressions are deleted from its syntax tree as long as it still fails in the same way."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.compare import Mismatch
from fuzz.generate import Program
from fuzz.limit import TimeLimit, at_most

Fails = Callable[[Program], Mismatch | None]
SECONDS = 120.0
CHECK_SECONDS = 4.0  # an edit may make a loop endless


def shrink(program: Program, fails: Fails, seconds: float = SECONDS) -> Program:
    """The smallest program found that still fails with a mismatch of the first one's kind. ``fails`` checks one program."""
    first = fails(program)
    if first is None:
        return program
    end = time.monotonic() + seconds
    if first.args:
        only = replace(program, calls=(first.args,))
        program = only if _same(fails, only, first) else program
    while time.monotonic() < end:
        smaller = _smaller(program, lambda p: _same(fails, p, first), end)
        if smaller is None:
            break
        program = smaller
    return program


def _same(fails: Fails, program: Program, first: Mismatch) -> bool:
    try:
        with at_most(CHECK_SECONDS):
            found = fails(program)
    except TimeLimit:
        return False
    return found is not None and _kind(found) == _kind(first)


def _kind(m: Mismatch) -> str:
    return f"{m.kind} {m.detail.partition(':')[0]}" if m.kind == "crash" else m.kind.partition(" (")[0]


def _smaller(program: Program, keeps: Callable[[Program], bool], end: float) -> Program | None:
    """One round over all edits; None if none of them helped."""
    changed, k = False, 0
    while time.monotonic() < end:
        text = next(_nth(edits(ast.parse(program.text)), k), None)
        if text is None:
            break
        candidate = replace(program, text=text)
        if len(text) < len(program.text) and keeps(candidate):
            program, changed = candidate, True
        else:
            k += 1
    return program if changed else None


def _nth(texts: Iterator[str], k: int) -> Iterator[str]:
    for i, text in enumerate(texts):
        if i == k:
            yield text
            return


def edits(tree: ast.Module) -> Iterator[str]:
    """Texts of the module with one edit each: first those that remove most."""
    for block, name, at in _statements(tree):
        for put in _replacements(getattr(block, name)[at]):
            yield _edited(tree, block, name, at, put)
    for owner, field, k, node in _expressions(tree):
        for smaller in _parts(node):
            yield _edited(tree, owner, field, k, [smaller])


def _edited(tree: ast.Module, owner: ast.AST, field: str, k: int | None, put: list[ast.AST]) -> str:
    """The module's text after ``owner.field[k]`` became the given nodes; the tree itself is left as it was."""
    old = getattr(owner, field)
    setattr(owner, field, put[0] if k is None else [*old[:k], *put, *old[k + 1 :]])
    if k is not None and not getattr(owner, field) and field == "body":
        owner.body = [ast.Pass()]  # type: ignore[attr-defined]  # statements stand in bodies
    try:
        return ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree))) + "\n"
    finally:
        setattr(owner, field, old)


def _statements(tree: ast.Module) -> list[tuple[ast.AST, str, int]]:
    """Places of statements, outer ones and later ones first; imports stay."""
    found = []
    for owner in ast.walk(tree):
        for field in ("body", "orelse"):
            block = getattr(owner, field, None)
            if isinstance(block, list):
                found += [
                    (owner, field, k)
                    for k in reversed(range(len(block)))
                    if not isinstance(block[k], ast.Import | ast.ImportFrom)
                ]
    return found


def _replacements(node: ast.stmt) -> Iterator[list[ast.AST]]:
    if not isinstance(node, ast.Return):
        yield []
    if isinstance(node, ast.If | ast.For | ast.While):
        yield list(node.body)
        if node.orelse:
            yield list(node.orelse)
            kept = copy.copy(node)
            kept.orelse = []
            yield [kept]


def _expressions(tree: ast.Module) -> list[tuple[ast.AST, str, int | None, ast.expr]]:
    found: list[tuple[ast.AST, str, int | None, ast.expr]] = []
    for owner in ast.walk(tree):
        if isinstance(owner, ast.FunctionDef | ast.arguments | ast.arg | ast.Attribute):
            continue
        for field, value in ast.iter_fields(owner):
            if field in ("func", "target", "targets", "iter") and not isinstance(owner, ast.For):
                continue
            if isinstance(value, ast.expr) and field != "target":
                found.append((owner, field, None, value))
            elif isinstance(value, list):
                found += [
                    (owner, field, k, v)
                    for k, v in enumerate(value)
                    if isinstance(v, ast.expr) and field not in ("targets", "decorator_list")
                ]
    return found


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """Its subexpressions, and a constant."""
    if isinstance(node, ast.Constant | ast.Name):
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value not in (0.5, 1.0):
            yield ast.Constant(1.0)
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store):
            yield child
    yield ast.Constant(1.0)
