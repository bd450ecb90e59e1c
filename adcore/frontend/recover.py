"""Parsing that survives a syntax error: the top-level statements around the broken one are still analysed.

Invariants: no text raises; a node's position is its position in the whole text. A text that Python accepts gives exactly
Python's tree; of any other the tree holds the top-level statements that parse on their own.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from adcore.source import SourceText, Span

_TOP_LEVEL = re.compile(r"(?:@|[^\W\d])")
_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b")
_JOINED = 6  # chunks that may belong together (a string or a bracket that goes on at column 1)


@dataclass(frozen=True, slots=True)
class SyntaxFinding:
    span: Span
    reason: str


@dataclass(frozen=True, slots=True)
class Parsed:
    tree: ast.Module
    errors: tuple[SyntaxFinding, ...] = ()


def parse(source: SourceText) -> Parsed:
    """The tree of a text, and why Python does not accept it."""
    problem = _try(source.text, check=True)
    if isinstance(problem, ast.Module):
        return Parsed(problem)
    first = _finding(source, problem)
    body: list[ast.stmt] = []
    found: list[SyntaxFinding] = []
    starts = _starts(source)
    k = 0
    while k < len(starts):
        used, tree, error = _chunk(source, starts, k)
        if tree is not None:
            body += tree.body
        elif error is not None:
            found.append(_finding(source, error))
        k += used
    lines = {f.span.line for f in found}
    return Parsed(ast.Module(body, []), tuple(found) if first.span.line in lines else (first, *found[1:]))


def _starts(source: SourceText) -> list[int]:
    """Line numbers at which a top-level statement seems to start; decorators belong to what follows them."""
    starts: list[int] = []
    decorated = False
    for number, line in enumerate(source.lines, 1):
        if not _TOP_LEVEL.match(line) or _CONTINUES.match(line):
            continue
        if not decorated:
            starts.append(number)
        decorated = line.startswith("@")
    return starts


def _chunk(source: SourceText, starts: list[int], k: int) -> tuple[int, ast.Module | None, Exception | None]:
    """Parse the chunk at `k`, with more of the following ones where it is incomplete: (chunks used, tree, error)."""
    first: Exception | None = None
    for used in range(1, _JOINED + 1):
        if k + used > len(starts):
            break
        end = starts[k + used] - 1 if k + used < len(starts) else len(source.lines)
        text = "\n" * (starts[k] - 1) + "\n".join(source.lines[starts[k] - 1 : end])
        result = _try(text, check=True)
        if isinstance(result, ast.Module):
            return used, result, None
        first = first or result
        if not re.search(r"never closed|unterminated|EOF|parenthes", str(result)):
            break
    return 1, None, first


def _try(text: str, check: bool) -> ast.Module | Exception:
    """`check`: also what only Python's compiler refuses (a `return` outside a function); nothing is executed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
            if check:
                compile(tree, "<text>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError, SystemError) as error:
            return error
        return tree


def _finding(source: SourceText, error: Exception) -> SyntaxFinding:
    if isinstance(error, SyntaxError):
        return SyntaxFinding(source.span_of_syntax_error(error), error.msg or "invalid syntax")
    reason = (
        "it is nested too deeply" if isinstance(error, (RecursionError, MemoryError)) else str(error) or "invalid text"
    )
    return SyntaxFinding(Span(source.path, 1, 1, 1, 2), reason)
