"""The command line as a process: exit codes, one-line mistakes, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = "from adcore import autodiff\n\n\n@autodiff\ndef f(x: float) -> float:\n    return x * x\n"
BAD = GOOD.replace("@autodiff", '@autodiff(mode="revers", wrt="z")')
Done = subprocess.CompletedProcess[str]


def adcore(*arguments: str, cwd: Path, input: bytes = b"", **environ: str) -> Done:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ADCORE_")} | environ
    done = subprocess.run(
        [sys.executable, "-m", "adcore", *arguments], cwd=cwd, input=input, capture_output=True, env=environment
    )
    text = subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in text.stderr, text.stderr
    return text


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    return tmp_path


MISTAKES = [
    ("lnt", "adcore: unknown command `lnt`; did you mean `lint`?"),
    (
        "xyzzy",
        "adcore: unknown command `xyzzy`; there are `lint`, `show`, `explain`, `build`, `status`, `cache`, `lsp`",
    ),
    ("--versoin", "adcore: unknown option `--versoin`; did you mean `--version`?"),
    ("lint --fromat json", "adcore lint: unknown option `--fromat`; did you mean `--format`?"),
    ("lint --fromat=json", "adcore lint: unknown option `--fromat`; did you mean `--format`?"),
    ("lint --format jsn", "adcore lint: argument --format: `jsn` is not a value; did you mean `json`?"),
    ("lint --format", "adcore lint: argument --format: expected one argument"),
    ("lint --stdin-filename a.py", "adcore lint: `--stdin-filename` goes with the path `-`"),
    (
        "lint --select alloc/overwriten",
        "adcore lint: there is no rule `alloc/overwriten`; did you mean `alloc/overwritten`?",
    ),
    ("lint --ignore xyzzy", "adcore lint: there is no rule `xyzzy`; `adcore explain` lists all rules"),
    ("show", "adcore show: the following arguments are required: FILE:FUNCTION"),
    ("show good.py", "adcore show: `good.py` is not FILE:FUNCTION"),
    ("show nowhere.py:f", "adcore show: `nowhere.py` cannot be read: no such file or directory"),
    (
        "show good.py:f --stage deriv",
        "adcore show: argument --stage: `deriv` is not a value; did you mean `derivative`?",
    ),
    ("show good.py:f more", "adcore show: `more` is one argument too many"),
    ("explain options/unknown-valu", "did you mean `options/unknown-value`?"),
    ("lsp --port", "adcore lsp: unknown option `--port`; there are"),
]


@pytest.mark.parametrize(("line", "message"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_mistakes_are_one_line_and_exit_with_2(project: Path, line: str, message: str) -> None:
    done = adcore(*line.split(), cwd=project)
    assert message in done.stderr
    assert (done.stderr.count("\n"), done.stdout, done.returncode) == (1, "", 2)


def test_help_and_version(project: Path) -> None:
    for arguments in (["--help"], ["lint", "--help"], ["show", "-h"]):
        done = adcore(*arguments, cwd=project)
        assert (done.returncode, done.stderr) == (0, "")
        assert "usage: adcore" in done.stdout
    assert adcore("--version", cwd=project).stdout.startswith("adcore 0.")
    assert adcore(cwd=project).returncode == 2


def test_lint(project: Path) -> None:
    done = adcore("lint", "--format", "concise", cwd=project)
    assert [line.partition(": ")[0] for line in done.stdout.splitlines()] == ["bad.py:4:16", "bad.py:4:30"]
    assert (done.stderr, done.returncode) == ("adcore lint: 2 errors\n", 1)
    assert adcore("lint", "good.py", cwd=project).returncode == 0
    assert adcore("lint", "nowhere", "bad.py", cwd=project).returncode == 2


def test_lint_of_selected_rules(project: Path) -> None:
    done = adcore("lint", "--select", "types, options/unknown-value", "--select", "AD101", cwd=project)
    assert done.stdout.startswith("bad.py:4:16: error[options/unknown-value]")
    assert done.stderr.splitlines()[0] == "adcore lint: 1 error"
    assert done.stderr.splitlines()[1].startswith("adcore lint: 1 error not selected;")
    assert done.returncode == 1
    done = adcore("lint", "--ignore", "options", cwd=project)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_json_is_all_there_is(project: Path) -> None:
    done = adcore("lint", "--format", "json", "good.py", cwd=project)
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)


def test_standard_input(project: Path) -> None:
    done = adcore("lint", "-", "--stdin-filename", "good.py", "--format", "concise", cwd=project, input=BAD.encode())
    assert done.stdout.startswith("good.py:4:16: error[options/unknown-value]")
    assert done.returncode == 1
    undecodable = adcore("lint", "-", cwd=project, input=b"autodiff \xff")
    assert "`<stdin>` cannot be read" in undecodable.stdout
    assert undecodable.returncode == 2


def test_names_that_are_no_text(project: Path) -> None:
    (project / os.fsdecode(b"\xff.py")).write_text(BAD)
    done = adcore("lint", "--format", "concise", cwd=project, PYTHONUTF8="1")
    assert "\\udcff.py:4:16" in done.stdout


def test_an_ascii_terminal(project: Path) -> None:
    (project / "bad.py").write_text(BAD.replace("revers", "rivières"), encoding="utf-8")
    done = adcore("lint", cwd=project, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii")
    assert "rivi\\xe8res" in done.stdout


def test_a_reader_that_goes_away(project: Path) -> None:
    for number in range(200):
        (project / f"m{number}.py").write_text(BAD)
    process = subprocess.Popen(
        [sys.executable, "-m", "adcore", "lint"], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    assert process.wait() != 0


@pytest.mark.parametrize("stage", ["ir", "derivative"])
def test_a_reader_of_show_that_goes_away_is_no_error(project: Path, stage: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "adcore", "show", "good.py:f", "--stage", stage],
        cwd=project,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},  # the text is written at once, as a long one is
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait()


SHARES = """
import numpy as np
from adcore.typing import Vector

@autodiff
def shares(x: Vector, q: bool) -> float:
    m = np.outer(x, x)
    row = m[1] if q else m[0]
    s = np.sum(row * row)
    m[1, 0] = 2.0
    m[0] += row[1]
    return s + np.sum(row * m[0])
"""


def test_show_of_a_function_beside_one_that_has_no_derivative(project: Path) -> None:
    (project / "two.py").write_text(GOOD + SHARES)
    done = adcore("show", "two.py:f", "--stage", "derivative", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    done = adcore("show", "two.py:shares", "--stage", "derivative", cwd=project)
    assert "error[activity/cannot-reverse]" in done.stderr
    assert done.stderr.endswith("adcore show: the stage `derivative` cannot be made\n")
    assert (done.returncode, done.stdout) == (2, "")


def test_explain(project: Path) -> None:
    by_name = adcore("explain", "options/unknown-value", cwd=project)
    assert by_name.stdout.startswith("options/unknown-value (AD102, error): ")
    assert adcore("explain", "ad102", cwd=project).stdout == by_name.stdout
    assert "AD102  options/unknown-value" in adcore("explain", cwd=project).stdout


def test_show(project: Path) -> None:
    for stage in ("ir", "optimised", "plan", "derivative"):
        done = adcore("show", "good.py:f", "--stage", stage, cwd=project)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.strip()


def test_show_of_what_is_not_compiled(project: Path) -> None:
    (project / "area.py").write_text(GOOD.replace("f(", "area("))
    done = adcore("show", "area.py:aera", cwd=project)
    assert done.stderr == "adcore show: no function `aera` of `area.py` was compiled; did you mean `area`?\n"
    done = adcore("show", "bad.py:f", cwd=project)
    assert "bad.py:4:16: error[options/unknown-value]" in done.stderr
    assert done.returncode == 2


EXTRAS = [("pygls", "lsp", "lsp"), ("llvmlite", "build", "show good.py:f --stage llvm")]


@pytest.mark.parametrize(("module", "extra", "line"), EXTRAS)
def test_missing_extras(project: Path, module: str, extra: str, line: str) -> None:
    code = (
        "import importlib.util, sys; from adcore.cli import main; find = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *more: None if name == {module!r} else find(name, *more)\n"
        f"sys.exit(main({line.split()!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True)
    assert done.stderr.strip().endswith(f"needs {module}, which is not installed: pip install 'adcore[{extra}]'")
    assert (done.stderr.count("\n"), done.returncode) == (1, 2)
