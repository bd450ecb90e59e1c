"""Functions with every member that they can have, compiled twice: as the counter wants it, and with canaries."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from codegen_helper import link_and_load

from adcore import driver, passes
from adcore.allocation.predict import Predictor
from adcore.codegen.checking import Checking
from adcore.codegen.compile import CodegenOptions, compile_module
from adcore.diagnostics import Report
from adcore.frontend.project import Project
from adcore.ir.core import Module
from adcore.ir.signature import Entry
from adcore.source import SourceText

NAME = "_adcore"


@dataclass(frozen=True, slots=True)
class Built:
    """Per way of checking an extension with one builtin per member, and who predicts its allocations."""

    entries: list[Entry]
    extensions: dict[Checking, ModuleType]
    predictors: dict[Checking, Predictor]

    def member(self, entry: Entry, member: str, checking: Checking) -> Any:
        return getattr(self.extensions[checking], f"{entry.name}.{member}")


WAYS = [Checking.COUNT, Checking.CANARIES]  # how everything is compiled


def build(kernels: Module, entries: list[Entry]) -> Built:
    built = Built(entries, {}, {})
    for checking in WAYS:
        options = CodegenOptions(checking=checking, debug=False)
        code = compile_module(kernels, entries, module_name=NAME, options=options)
        built.extensions[checking] = link_and_load(code, NAME)
        built.predictors[checking] = Predictor(kernels, on_stack=checking is Checking.COUNT)
    return built


def from_texts(texts: Mapping[str, str], folder: Path | None = None) -> Built:
    """``texts`` by module name. What has an error of its own is left out, function by function."""
    merged = Module()
    entries: list[Entry] = []
    project = Project([folder] if folder is not None else [])
    for name, text in texts.items():
        path = str(folder / name.replace(".", "/")) + ".py" if folder is not None else f"{name}.py"
        analysis = driver.analyse(project, SourceText(path, text), name)
        analysis.entries = [e for e in analysis.entries if _all_members(analysis, e)]
        driver.merge(merged, driver.derive(analysis), analysis.entries)
        entries += analysis.entries
    return build(passes.run(merged, passes=passes.LOWERING), entries)


def _all_members(analysis: driver.Analysis, entry: Entry) -> bool:
    """Ask for everything; where the derivative is refused, for less."""
    if entry.kernels.get("primal") not in analysis.module.functions:
        return False
    floats = entry.wrt
    asked = (
        [("both", 2 if entry.scalar_output else 1), ("both", 1), ("forward", 1), ("none", 1)]
        if floats
        else [("none", 1)]
    )
    for mode, order in asked:
        report = Report()
        entry.options = dataclasses.replace(entry.options, mode=mode, order=order, alloc="allow")
        entry.members = ("primal",)
        driver.plan(analysis, entry, report)
        if not report.has_errors:
            return True
    return False
