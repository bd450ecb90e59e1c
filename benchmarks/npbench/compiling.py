"""Compiles one kernel by itself, as a build does: what another one needs and the compiler lacks does not stand in the way.

The other decorated functions of the kernel's module are left out of its text, with their lines left empty: findings have
the lines of the module.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from adcore import driver
from adcore.diagnostics import Diagnostic, Report
from adcore.options import ProjectOptions
from benchmarks.npbench.table import Kernel
from buildplug.link import link


class Refused(Exception):
    """The compiler reported errors; the text is the first one."""

    def __init__(self, errors: list[Diagnostic]) -> None:
        first = errors[0]
        super().__init__(f"{Path(first.span.file).name}:{first.span.line}: {first.name}: {first.message}")
        self.errors = errors


def text_of(kernel: Kernel) -> str:
    """The module of a kernel without the other kernels."""
    module = inspect.getmodule(kernel.python)
    assert module is not None
    text = inspect.getsource(module)
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list and node.name != kernel.name:
            first, last = node.decorator_list[0].lineno, node.end_lineno or 0
            lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(lines) + "\n"


def compile_kernel(kernel: Kernel, folder: Path) -> Any:
    """The compiled function, in a package of its own below `folder`. Raises `Refused`."""
    package, module = f"npbench_{kernel.name}", kernel.python.__module__.rpartition(".")[2]
    root = folder / package
    root.mkdir()
    (root / "__init__.py").touch()
    (root / f"{module}.py").write_text(text_of(kernel), encoding="utf-8")
    report = Report()
    paths = {f"{package}.{module}": Path(package) / f"{module}.py"}
    built = driver.compile_package(folder, paths, package, ProjectOptions(), report)
    if report.has_errors:
        raise Refused([finding for finding in report.diagnostics if finding.severity == "error"])
    assert built is not None
    (root / built.filename).write_bytes(link(built.object, export=[built.init]))
    sys.path.insert(0, str(folder))
    try:
        return getattr(importlib.import_module(f"{package}.{module}"), kernel.name)
    finally:
        sys.path.remove(str(folder))
