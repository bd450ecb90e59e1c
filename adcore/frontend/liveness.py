"""Which local names are still needed after a statement and at the head of a loop: only those go through joins.

A backward pass over the structured syntax tree, a loop to its fixpoint. Invariant: the sets contain at least every name that may be
read before it is assigned again.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Names: TypeAlias = frozenset[str]
NOTHING: Names = frozenset()


@dataclass(slots=True)
class Liveness:
    """By `id` of the statement's node: names needed after it; for loops also those needed at its head."""

    after: dict[int, Names] = field(default_factory=dict)
    head: dict[int, Names] = field(default_factory=dict)
    captured: Names = NOTHING
    """What inner functions read: needed wherever one may be called."""

    def needed_after(self, node: ast.stmt) -> Names:
        return self.after.get(id(node), NOTHING) | self.captured

    def needed_at_head(self, node: ast.stmt) -> Names:
        return self.head.get(id(node), NOTHING) | self.captured


def liveness(function: ast.FunctionDef) -> Liveness:
    inner = [n for n in ast.walk(function) if isinstance(n, ast.FunctionDef | ast.Lambda) and n is not function]
    result = Liveness(captured=frozenset(name for n in inner for name in reads(n)))
    _block(result, function.body, NOTHING, NOTHING, NOTHING)
    return result


def _block(result: Liveness, body: Sequence[ast.stmt], out: Names, on_break: Names, on_continue: Names) -> Names:
    for statement in reversed(body):
        result.after[id(statement)] = result.after.get(id(statement), NOTHING) | out
        out = _statement(result, statement, out, on_break, on_continue)
    return out


def _statement(result: Liveness, node: ast.stmt, out: Names, on_break: Names, on_continue: Names) -> Names:
    match node:
        case ast.If():
            then = _block(result, node.body, out, on_break, on_continue)
            other = _block(result, node.orelse, out, on_break, on_continue)
            return reads(node.test) | then | other
        case ast.For() | ast.AsyncFor():
            bound = stored(node.target)
            after = _block(result, node.orelse, out, on_break, on_continue)
            head = after
            while True:
                inside = reads(node.target) | (_block(result, node.body, head, out, head) - bound)
                if inside <= head:
                    break
                head |= inside
            result.head[id(node)] = head | out
            return head | reads(node.iter)
        case ast.While():
            after = _block(result, node.orelse, out, on_break, on_continue)
            head = after | reads(node.test)
            while True:
                inside = _block(result, node.body, head, out, head)
                if inside <= head:
                    break
                head |= inside
            result.head[id(node)] = head | out
            return head
        case ast.Break():
            return on_break
        case ast.Continue():
            return on_continue
        case ast.Return() | ast.Raise():
            return reads(node)
        case ast.Assign() | ast.AnnAssign():
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            killed = frozenset(n for t in targets for n in stored(t))
            return (out - killed) | reads(node)
        case ast.AugAssign():
            own = frozenset({node.target.id}) if isinstance(node.target, ast.Name) else NOTHING
            return out | reads(node) | own
        case ast.FunctionDef():
            return (out - {node.name}) | reads(node)
        case _:
            # other compound statements are refused; whatever they read stays needed
            return out | reads(node)


def reads(node: ast.AST | None) -> Names:
    if node is None:
        return NOTHING
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load | ast.Del))


def stored(node: ast.AST) -> Names:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def assigned(body: Sequence[ast.stmt]) -> Names:
    """Names that a block binds, nested functions' own variables left out."""
    names: set[str] = set()
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {a.asname or a.name.partition(".")[0] for a in node.names}
        if isinstance(node, ast.Lambda):
            continue
        stack.extend(ast.iter_child_nodes(node))
    return frozenset(names)


@dataclass(frozen=True, slots=True)
class Exits:
    """Which exits a block contains, seen from outside it."""

    returns: bool = False
    breaks: bool = False
    continues: bool = False

    @property
    def any(self) -> bool:
        return self.returns or self.breaks or self.continues


def exits(body: Sequence[ast.stmt]) -> Exits:
    returns = breaks = continues = False
    stack: list[tuple[ast.stmt, bool]] = [(s, False) for s in body]
    while stack:
        node, in_loop = stack.pop()
        if isinstance(node, ast.Return):
            returns = True
        elif isinstance(node, ast.Break):
            breaks = breaks or not in_loop
        elif isinstance(node, ast.Continue):
            continues = continues or not in_loop
        elif isinstance(node, ast.If):
            stack += [(s, in_loop) for s in (*node.body, *node.orelse)]
        elif isinstance(node, ast.For | ast.While):
            stack += [(s, True) for s in node.body]
            stack += [(s, in_loop) for s in node.orelse]
    return Exits(returns, breaks, continues)


def always_exits(body: Sequence[ast.stmt]) -> bool:
    """Control never reaches the end of the block."""
    for node in body:
        if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
            return True
        if isinstance(node, ast.If) and node.orelse and always_exits(node.body) and always_exits(node.orelse):
            return True
    return False
