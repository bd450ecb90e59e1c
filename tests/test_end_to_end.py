"""The whole path on the real engine: text, build, import in a fresh process, staleness, errors in three places with the same words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from adcore import driver
from adcore.diagnostics import Report
from adcore.lint.formats import concise
from adcore.options import check_toml
from buildplug.link import link

TOML = "[tool.adcore]\nbounds-check = true\n"
HELPERS = "GRAVITY = 9.81\n\ndef fall(t):\n    return 0.5 * GRAVITY * t * t\n"
MODEL = """
from adcore import autodiff
from adcore.typing import Vector
from .helpers import fall
import numpy as np

TABLE = np.array([1.0, 2.0, 4.0])
SCALE = 2.0

@autodiff
def height(t: Vector, scale: float = 1.0) -> float:
    total = 0.0
    for i in range(t.shape[0]):
        total += fall(t[i]) * TABLE[i % 3] * SCALE
    return total * scale
"""


class Package:
    """A checkout with a built package; ``run`` executes code in a process that knows only the light part of adcore."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder = folder
        self.package = folder / "falling"
        self.package.mkdir()
        (folder / "pyproject.toml").write_text(TOML)
        for name, text in {"__init__.py": "", **files}.items():
            (self.package / name).write_text(text)

    def build(self) -> Report:
        report = Report()
        options = check_toml((self.folder / "pyproject.toml").read_text(), "pyproject.toml", report)
        assert options is not None
        modules = {
            f"falling.{p.stem}": p.relative_to(self.folder) for p in self.package.glob("*.py") if p.stem != "__init__"
        }
        made = driver.compile_package(self.folder, modules, "falling", options, report)
        if made is not None:
            (self.package / made.filename).write_bytes(link(made.object, export=[made.init]))
        return report

    def run(self, code: str) -> str:
        environment = {
            **os.environ,
            "ADCORE_DEVELOPMENT": "off",
            "PYTHONPATH": os.pathsep.join([str(self.folder), str(Path(driver.__file__).parents[1])]),
        }
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.fixture
def package(tmp_path: Path) -> Package:
    made = Package(tmp_path, {"helpers.py": HELPERS, "model.py": MODEL})
    report = made.build()
    assert not report.has_errors, [d.message for d in report.diagnostics]
    return made


CALL = "import falling.model as m, numpy as np\nprint(m.height.value_and_grad(np.array([1.0, 2.0])))"
REFUSED = """
import falling.model as m, numpy as np
from adcore import NotCompiledError
for call in (m.height, m.height.grad, m.height.value_and_grad):
    try:
        call(np.array([1.0, 2.0]))
    except NotCompiledError as error:
        print(error)
    else:
        print("ran")
"""


def test_a_built_package_runs_with_nothing_heavy(package: Package) -> None:
    code = (
        CALL
        + "\nimport sys\nprint([m for m in ('llvmlite', 'pygls', 'setuptools', 'adcore.driver') if m in sys.modules])"
    )
    value, heavy = package.run(code).splitlines()
    assert heavy == "[]"
    # 9.81 / 2 * 2 * (1 + 4 * 2); d/dt = 9.81 * 2 * (1, 2 * 2); d/dscale = the value
    assert value == "(88.29, (array([19.62, 78.48]), 88.29))"


def test_defaults_and_keywords(package: Package) -> None:
    code = "import falling.model as m, numpy as np\nt = np.array([1.0, 2.0])\nprint(m.height(t, scale=2.0), m.height(scale=2.0, t=t), m.height(t))"
    assert package.run(code) == "176.58 176.58 88.29"


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("falling/helpers.py", "0.5 * GRAVITY", "0.25 * GRAVITY", "fall"),
        ("falling/helpers.py", "9.81", "1.62", "GRAVITY"),
        ("falling/model.py", "[1.0, 2.0, 4.0]", "[1.0, 2.0, 5.0]", "TABLE"),
        ("falling/model.py", "total * scale", "total * scale * scale", "height"),
        ("pyproject.toml", "true", "false", "pyproject.toml"),
    ],
)
def test_an_edit_makes_it_stale(package: Package, file: str, old: str, new: str, says: str) -> None:
    """Every call says why, the import never fails; building again mends it."""
    package.edit(file, old, new)
    lines = package.run(REFUSED).splitlines()
    assert len(lines) == 3
    assert all("changed" in line and (says in line or "its source" in line) for line in lines), lines
    assert not package.build().has_errors
    assert package.run(REFUSED).splitlines() == ["ran"] * 3


def test_comments_layout_and_other_functions_do_not_make_it_stale(package: Package) -> None:
    package.edit("falling/model.py", "    total = 0.0\n", "    total = 0.0  # a comment\n\n")
    package.edit("falling/helpers.py", "def fall(t):", "def other(t):\n    return t\n\n\ndef fall(t):")
    assert package.run(REFUSED).splitlines() == ["ran"] * 3


def test_without_an_extension_every_call_raises(package: Package) -> None:
    (package.package / "_adcore.abi3.so").unlink()
    lines = package.run(REFUSED).splitlines()
    assert len(lines) == 3
    assert all("there is no extension _adcore" in line for line in lines)


def test_a_module_that_raises_at_import_builds_and_lints(tmp_path: Path) -> None:
    text = "raise SystemExit('never import me')\n" + MODEL.replace(
        "from .helpers import fall", "def fall(t):\n    return t * t"
    )
    package = Package(tmp_path, {"model.py": text})
    assert not package.build().has_errors
    assert (package.package / "_adcore.abi3.so").exists()
    done = lint(package)
    assert (done.returncode, done.stdout) == (0, "")


def lint(package: Package, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(driver.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-m", "adcore", "lint", *arguments], cwd=package.folder, capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip


WRONG = """
from adcore import autodiff
from adcore.typing import Vector


@autodiff(mode="revers", wrt="z")
def f(x: Vector, y: float) -> float:
    return x[0] * y


@autodiff
def g(x: float) -> float:
    with open("f") as h:
        return x * len(h)


@autodiff(wrt="y")
def h(x: float, y: float) -> float:
    return x if y > 0.0 else 2.0 * x
"""


def test_build_and_lint_say_the_same(tmp_path: Path) -> None:
    package = Package(tmp_path, {"model.py": WRONG})
    report = package.build()
    words = [concise(d) for d in report.diagnostics]
    done = lint(package, "--format", "concise")
    assert done.returncode == 1
    assert done.stdout.splitlines() == words
    found = [(d.span.line, d.span.column, d.name, d.suggestion) for d in report.diagnostics]
    assert found[:2] == [(6, 16, "options/unknown-value", '"reverse"'), (6, 30, "options/unknown-parameter", None)]
    assert "`x`" in report.diagnostics[1].message
    assert "`y`" in report.diagnostics[1].message
    assert found[2][:3] == (13, 5, "language/unsupported-statement")
    assert found[3][2] == "activity/zero-derivative"
    assert not (package.package / "_adcore.abi3.so").exists()
    rows = json.loads(lint(package, "--format", "json").stdout)
    assert [(r["line"], r["column"], r["name"], r["suggestion"]) for r in rows] == found


def test_show_prints_every_stage(package: Package) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(driver.__file__).parents[1])}
    for stage, word in (
        ("ir", "func @"), ("optimised", "func @"), ("plan", "stores nothing"), ("derivative", "accum"), ("llvm", "define "), ("asm", ".text"),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "adcore", "show", "falling/model.py:height", "--stage", stage],
            cwd=package.folder, capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert word in done.stdout, stage


def test_the_reverse_pass_without_tape_has_no_allocation_in_its_loops(package: Package) -> None:
    """On the emitted code: the only allocation is the gradient's, outside of the loop."""
    from adcore.codegen.compile import emit
    from adcore.frontend.project import Project
    from adcore.ir.core import Module
    from adcore.passes import LOWERING
    from adcore.passes import run as run_passes
    from adcore.source import SourceText

    source = SourceText("falling/model.py", (package.package / "model.py").read_text())
    analysis = driver.analyse(Project([package.folder]), source, "falling.model")
    module = driver.derive(analysis)
    kernel = analysis.entries[0].kernels["value_and_grad"]
    text = emit(run_passes(Module({kernel: module.functions[kernel]}, module.constants), passes=LOWERING), stage="llvm")
    body = text[text.index("define ") :]
    calls = [line for line in body.splitlines() if "alloc" in line and "call" in line and "declare" not in line]
    assert len([c for c in calls if "@malloc" in c or "@calloc" in c]) <= 1, calls
    assert "alloca" not in body


LOOP = """
from adcore import autodiff
from adcore.typing import Vector
import math

@autodiff
def f(x: Vector) -> float:
    p = 0.5
    for v in x:
        p = math.sin(v * p)
    return p

@autodiff(alloc="allow")
def g(x: Vector) -> float:
    p = 0.5
    for v in x:
        p = math.sin(v * p)
    return p
"""


@pytest.mark.parametrize(
    ("toml", "environment", "lines"),
    [
        ("", {}, []),
        ('alloc = "forbid"\n', {}, [9]),
        ('[tool.adcore.functions."falling.model:f"]\nalloc = "warn"\n', {}, [9]),
        ('alloc = "forbid"\n[tool.adcore.functions."falling.model:f"]\nalloc = "allow"\n', {}, []),
        ("", {"ADCORE_ALLOC": "forbid"}, [9]),
        ('[tool.adcore.functions."falling.model:f"]\nalloc = "allow"\n', {"ADCORE_ALLOC": "forbid"}, [9]),
        ('alloc = "forbid"\n', {"ADCORE_ALLOC": "allow"}, []),
    ],
)
def test_options_of_the_project_hold_by_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toml: str, environment: dict[str, str], lines: list[int]
) -> None:
    """Decorator over environment over the function's table over the project's default."""
    package = Package(tmp_path, {"model.py": LOOP})
    (tmp_path / "pyproject.toml").write_text("[tool.adcore]\n" + toml)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    rows = json.loads(lint(package, "--format", "json").stdout)
    assert [row["line"] for row in rows] == lines


def test_a_table_for_a_function_that_is_not_there_stops_the_build(tmp_path: Path) -> None:
    """The build says what lint says."""
    from buildplug.engine import BuildError, compile_units
    from buildplug.project import Unit

    package = Package(tmp_path, {"model.py": LOOP})
    (tmp_path / "pyproject.toml").write_text('[tool.adcore.functions."falling.model:h"]\nalloc = "allow"\n')
    unit = Unit("falling", package.package, {"falling.model": Path("falling/model.py")})
    with pytest.raises(BuildError) as caught:
        compile_units(tmp_path, [unit])
    assert "pyproject.toml:1:" in str(caught.value)
    assert "config/unknown-function" in lint(package, "--format", "concise").stdout


def test_excluded_modules_are_left_alone(tmp_path: Path) -> None:
    package = Package(
        tmp_path, {"model.py": LOOP, "old.py": "from adcore import autodiff\n@autodiff\ndef f(x):\n    return x\n"}
    )
    (tmp_path / "pyproject.toml").write_text('[tool.adcore]\nexclude = ["*.old"]\n')
    assert not package.build().has_errors
    (tmp_path / "pyproject.toml").write_text('[tool.adcore]\ninclude = ["falling.*"]\n')
    assert package.build().has_errors


def test_line_tables_are_kept_on_request(tmp_path: Path) -> None:
    sizes = {}
    for debug in ("false", "true"):
        folder = tmp_path / debug
        folder.mkdir()
        package = Package(folder, {"model.py": LOOP})
        (folder / "pyproject.toml").write_text(f"[tool.adcore]\ndebug = {debug}\n")
        assert not package.build().has_errors
        data = (package.package / "_adcore.abi3.so").read_bytes()
        sizes[debug] = (b".debug_line" in data, len(data))
    assert sizes["false"][0] is False
    assert sizes["true"][0] is True
