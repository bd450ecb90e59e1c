"""The child process: isolation, crashes with the name of the function, debug info."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from adcore.codegen import compile as compiler
from adcore.codegen import scalar
from adcore.codegen.compile import CodegenOptions, CompilerCrash, compile_module, emit
from adcore.ir.parser import parse_module
from tests.codegen_helper import Compiled, entry_of

pytest.importorskip("llvmlite")

TWO = """
func @good(%x: f64) -> (f64) {
  %y = sin %x : f64 @"pkg/model.py":7:5-7:9
  return %y
} @"pkg/model.py":6:1-6:4
func @bad(%x: f64) -> (f64) {
  %y = cos %x : f64 @"pkg/model.py":12:5-12:9
  %z = fadd %y, %x : f64 @"pkg/model.py":13:5-13:9
  return %z
} @"pkg/model.py":11:1-11:4
"""


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ('call void asm sideeffect "nonsense {0}", "r"(double {0})', "status"),  # LLVM ends the process
        ("%broken = fadd double {0}, nonsense", "expected value token"),  # LLVM reports
    ],
)
def test_a_failure_of_llvm_names_the_function(monkeypatch: pytest.MonkeyPatch, broken: str, words: str) -> None:
    original = scalar.apply_rule

    def broken_cosine(c, rule, operands, result):  # type: ignore[no-untyped-def]
        if rule == "call cos":
            c.w.line(broken.format(c.scalar(operands[0])))
        return original(c, rule, operands, result)

    monkeypatch.setattr(scalar, "apply_rule", broken_cosine)
    module = parse_module(TWO)
    with pytest.raises(CompilerCrash, match=words) as caught:
        compile_module(module, [entry_of(module, n) for n in module.functions])
    assert caught.value.function == "bad"


def test_modules_of_the_user_do_not_shadow_the_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ctypes", "json", "numbers", "llvmlite"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('shadowed')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert compiler.run_llvm('target triple = "x86_64-unknown-linux-gnu"\n', "obj", CodegenOptions())[:4] == b"\x7fELF"


def test_code_for_other_processors() -> None:
    module = parse_module(TWO)
    for cpu in ("x86-64-v3", "x86-64-v4", "native"):
        code = compile_module(module, [entry_of(module, "good")], options=CodegenOptions(cpu=cpu))
        assert code[:4] == b"\x7fELF"


def test_stages_can_be_shown() -> None:
    module = parse_module(TWO)
    assert 'define i32 @"k.good"' in emit(module, stage="text")
    assert "define noundef i32 @k.good" in emit(module, stage="llvm")
    assert re.search(r"^k\.good:", emit(module, stage="asm"), re.M)


@pytest.mark.skipif(shutil.which("addr2line") is None, reason="needs binutils")
def test_addresses_lead_to_lines_of_the_users_file(tmp_path: Path) -> None:
    compiled = Compiled(parse_module(TWO))
    path = compiled.extension.__file__
    assert path is not None
    symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    found = re.search(r"^(\w+) t k\.bad$", symbols, re.M)
    assert found is not None
    start = int(found[1], 16)
    command = ["addr2line", "-f", "-e", path, *(hex(start + k) for k in range(0, 60, 4))]
    places = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "pkg/model.py:12" in places
    assert "pkg/model.py:13" in places
