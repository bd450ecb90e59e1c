"""The functions of `frontend_cases` and of `test_cases`, compiled with every derivative that they can have.

`functions(module)` gives each with the arguments of its table. What a function can have is asked of the compiler itself: `order=2` needs
one float, `mode` a float parameter that an output depends on. What it refuses for another reason is in `refusals`.
"""

from __future__ import annotations

import ast
import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from engine import analyse, compile_package
from test_cases import CASES as SHARED
from test_cases import source
from test_frontend import CASES, arguments, python_module

LEVELS = ("mode='both', order=2", "mode='both'", "mode='none'")
UNFIT = ("activity/nothing-active", "activity/not-scalar-output", "activity/integer-wrt")


@dataclass(frozen=True)
class Subject:
    """A compiled function, the Python function that it was, and arguments."""

    name: str
    compiled: Any
    plain: Any
    args: tuple[Any, ...]
    order: int  # how often it can be differentiated
    wrt: tuple[int, ...]  # the active parameters

    def fresh(self) -> list[Any]:
        return arguments(self.args)


@dataclass(frozen=True)
class Compiled:
    module: ModuleType
    order: dict[str, int]
    wrt: dict[str, tuple[int, ...]]
    refusals: dict[str, str]  # function -> rule


def _decorated(text: str) -> tuple[ast.Module, dict[str, ast.FunctionDef]]:
    """The module without the table of arguments, and its entry points."""
    tree = ast.parse(text)
    entries = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [d for d in node.decorator_list if not ast.unparse(d).startswith("args(")]
            if node.decorator_list:
                entries[node.name] = node
    return tree, entries


def _folder() -> Path:
    """Lives as long as the process, as the extension does."""
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="adcore-corpus-"))
    return Path(_FOLDERS[-1].name)


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def compiled(name: str) -> Compiled:
    """Each function at the highest of `LEVELS` that the compiler accepts."""
    tree, entries = _decorated((CASES / f"{name}.py").read_text())
    level, refusals = dict.fromkeys(entries, 0), {}
    while True:
        for entry, node in entries.items():
            node.decorator_list = [ast.parse(f"autodiff({LEVELS[level[entry]]})", mode="eval").body]
        text = ast.unparse(tree)
        spans = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
        found = {}
        analysis = analyse(text, f"frontend_cases.{name}", CASES.parent)
        for d in analysis.diagnostics:
            if d.severity == "error":
                entry = next(
                    n for n, node in spans.items()
                    if node.decorator_list and node.decorator_list[0].lineno <= d.span.line <= (node.end_lineno or 0)
                )  # fmt: skip
                found[entry] = d.name
        if not found:
            break
        for entry, rule in found.items():
            level[entry] += 1
            if rule not in UNFIT:
                refusals[entry] = rule
    others = {n: (CASES / f"{n}.py").read_text() for n in ("reexport", "library")} if name == "helpers" else {}
    made = compile_package(_folder(), {name: text, **others})
    wrt = {e.qualname: tuple(e.wrt) for e in analysis.entries}
    return Compiled(made[name], {entry: 2 - k for entry, k in level.items()}, wrt, refusals)


def functions(name: str) -> list[Subject]:
    """Everything in a module that has a derivative, once for each set of arguments."""
    made, plain = compiled(name), python_module(name)
    return [
        Subject(entry, getattr(made.module, entry), getattr(plain, entry), args, made.order[entry], made.wrt[entry])
        for entry, sets in plain.ARGS.items()
        for args in sets
        if made.order.get(entry, 0) > 0
    ]


def shared() -> list[Subject]:
    """The cases of `test_cases` that compile, singular points among them."""
    cases = [case for case in SHARED if not case.refused]
    texts = {}
    for case in cases:
        text = source(case)
        texts[case.name] = text.replace("@autodiff\n", "@autodiff()\n").replace(
            "@autodiff(", f"@autodiff({LEVELS[0]}, "
        )
    made = compile_package(_folder(), texts)
    found = []
    for case in cases:
        f = made[case.name].f
        (entry,) = analyse(texts[case.name]).entries
        found.append(Subject(case.name, f, f.__wrapped__, case.args, 2, tuple(entry.wrt)))
    return found
