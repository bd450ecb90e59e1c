"""The door to code generation: an IR module and its entries become object code.

    compile_module(module, entries, module_name="_adcore", meta="{...}") -> bytes
    emit(module, entries, stage="llvm") -> str

LLVM runs in a child process: where it dies, the function it dies of is looked for and ``CompilerCrash`` names it.
Equal input gives equal bytes; the code generated for one function does not depend on its neighbours.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from adcore.codegen import worker
from adcore.codegen.checking import Checking
from adcore.codegen.layout import Unsupported
from adcore.codegen.module import bare_text, module_text
from adcore.ir.core import Module
from adcore.ir.signature import Entry

__all__ = ["CodegenOptions", "CompilerCrash", "LlvmMissing", "Unsupported", "compile_module", "emit"]


@dataclass(frozen=True, slots=True)
class CodegenOptions:
    """``cpu`` and ``features`` in LLVM's words; the default runs on every x86-64; ``native`` is this machine.

    ``debug`` keeps line tables; ``checking`` makes a build that is watched.
    """

    cpu: str = "x86-64"
    features: str = ""
    debug: bool = True
    checking: Checking = Checking.NOTHING


class CompilerCrash(Exception):
    """LLVM failed. ``function`` is the IR function whose code alone makes it fail, where one does."""

    def __init__(self, message: str, function: str | None = None) -> None:
        super().__init__(f"LLVM failed{f' in {function}' if function else ''}: {message}")
        self.function = function


class LlvmMissing(Exception):
    """llvmlite is not installed (the extra ``build`` brings it)."""


def compile_module(
    module: Module,
    entries: Sequence[Entry],
    *,
    module_name: str = "_adcore",
    meta: str = "{}",
    options: CodegenOptions = CodegenOptions(),
) -> bytes:
    """The object file of the extension ``module_name``."""
    text = module_text(module, entries, module_name, meta, options.debug, options.checking)
    try:
        return run_llvm(text, "obj", options)
    except CompilerCrash as crash:
        raise _located(module, crash, options) from None


def emit(
    module: Module, entries: Sequence[Entry] = (), stage: str = "llvm", options: CodegenOptions = CodegenOptions()
) -> str:
    """What to show: ``text`` (as printed here), ``llvm`` (after optimisation), ``asm``.

    With entries the whole extension, else the kernels.
    """
    text = module_text(module, entries, "_adcore", "{}") if entries else bare_text(module)
    return text if stage == "text" else run_llvm(text, stage, options).decode()


def run_llvm(text: str, stage: str, options: CodegenOptions) -> bytes:
    header = {"stage": stage, "cpu": options.cpu, "features": options.features, "path": _llvmlite_path()}
    command = [sys.executable, "-I", "-S", os.fspath(Path(worker.__file__).resolve())]
    job = json.dumps(header).encode() + b"\n" + text.encode()
    done = subprocess.run(command, input=job, capture_output=True, check=False)
    if done.returncode == 0:
        return done.stdout
    last = done.stderr.decode(errors="replace").strip()
    if done.returncode == worker.REPORTED:
        raise CompilerCrash(last)
    raise CompilerCrash(f"the compiler process ended with status {done.returncode}: {last[-400:]}")


def _llvmlite_path() -> str:
    """The folder that holds llvmlite, found without importing it."""
    spec = importlib.util.find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise LlvmMissing("llvmlite is not installed")
    return os.fspath(Path(spec.origin).resolve().parent.parent)


def _located(module: Module, crash: CompilerCrash, options: CodegenOptions) -> CompilerCrash:
    """Compile each kernel with what it calls; the first that fails alone is the one."""
    for name in module.functions:
        try:
            run_llvm(bare_text(_closure(module, name)), "obj", options)
        except CompilerCrash as alone:
            return CompilerCrash(str(alone).partition(": ")[2], name)
    return crash


def _closure(module: Module, name: str) -> Module:
    wanted, work = {name}, [name]
    while work:
        for op in module.functions[work.pop()].body.walk():
            callee = op.attrs.get("callee") if op.name == "call" else None
            if callee is not None and callee not in wanted:
                wanted.add(callee)
                work.append(callee)
    return Module({n: f for n, f in module.functions.items() if n in wanted}, module.constants)
