"""Stands in for `adcore.driver` in builds that test the packaging alone: an importable extension for any source.

Its extension has one attribute, `digest`, which depends on the sources; a function named `bad` is an error, `odd` is a
warning, and a unit without `@autodiff` has nothing to compile.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adcore.diagnostics import Report
from adcore.frontend.project import Project
from adcore.options import ProjectOptions
from adcore.source import SourceText

IR = """
target triple = "x86_64-unknown-linux-gnu"
@name = internal constant [{size} x i8] c"{name}\\00"
@attribute = internal constant [7 x i8] c"digest\\00"
@digest = internal constant [65 x i8] c"{digest}\\00"
@definition = internal global {{ i64, ptr, ptr, i64, ptr, ptr, ptr, i64, ptr, ptr, ptr, ptr, ptr }}
  {{ i64 1, ptr null, ptr null, i64 0, ptr null, ptr @name, ptr null, i64 -1,
     ptr null, ptr null, ptr null, ptr null, ptr null }}
declare ptr @PyModule_Create2(ptr, i32) nonlazybind
declare i32 @PyModule_AddStringConstant(ptr, ptr, ptr) nonlazybind
define ptr @PyInit_{name}() {{
  %module = call ptr @PyModule_Create2(ptr @definition, i32 3)
  %done = call i32 @PyModule_AddStringConstant(ptr %module, ptr @attribute, ptr @digest)
  ret ptr %module
}}
"""


@dataclass
class Compiled:
    """What the hook expects of the engine."""

    object: bytes
    init: str
    filename: str
    summary: list[str]


def project_of(root: Path, modules: Mapping[str, Path]) -> Project:
    return Project([root])


def compile_package(
    root: Path, modules: Mapping[str, Path], package: str | None, project: ProjectOptions, report: Report
) -> Compiled | None:
    texts = {name: (root / path).read_text() for name, path in modules.items()}
    for name, text in texts.items():
        source = SourceText(str(modules[name]), text)
        for match in re.finditer(r"def (bad|odd)\(", text):
            span = source.span(match.start(1), match.end(1))
            if match[1] == "bad":
                report.add("language/unsupported-statement", span, construct="`bad`", reason="it is bad")
            else:
                report.add("activity/zero-derivative", span, name="x")
    if report.has_errors or not any("@autodiff" in text for text in texts.values()):
        return None
    stem = "_adcore" if package else f"_adcore_{next(iter(modules))}"
    digest = hashlib.sha256(repr((sorted(texts.items()), project.defaults)).encode()).hexdigest()
    return Compiled(compile_ir(stem, digest), f"PyInit_{stem}", f"{stem}.abi3.so", [f"{name}: done" for name in texts])


def compile_ir(name: str, digest: str) -> bytes:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    machine = target.create_target_machine(cpu="x86-64", opt=3, reloc="pic", codemodel="small")
    return bytes(machine.emit_object(llvm.parse_assembly(IR.format(name=name, size=len(name) + 1, digest=digest))))
