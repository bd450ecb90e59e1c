"""The lint step on small trees: which files, which findings, which exit code, under which names."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from adcore.diagnostics import Report
from adcore.driver import analyse, compile_package
from adcore.lint.check import Checker
from adcore.lint.files import collect
from adcore.lint.formats import Format
from adcore.lint.run import Buffer, Outcome, lint
from adcore.lint.select import UnknownRule, selection
from adcore.options import check_toml

GOOD = "from adcore import autodiff\n\n\n@autodiff\ndef f(x: float) -> float:\n    return x * x\n"
BAD = GOOD.replace("@autodiff", '@autodiff(mode="revers", wrt="z")')
CONFIG = "[tool.adcore]\n"

MODE = 'error[options/unknown-value] `"revers"` is not a value of `mode`; did you mean `"reverse"`?'
WRT = "error[options/unknown-parameter] `z` in `wrt` is not a parameter of the function; its only parameter is `x`"


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*paths: str, format: Format = "concise", buffer: Buffer | None = None, **environ: str) -> Outcome:
    return lint(paths or ["."], analyse, format, environ, buffer)


def lines(outcome: Outcome) -> list[str]:
    return outcome.text.splitlines()


# Files


def test_which_files(tmp_path: Path) -> None:
    kept = ["a.py", "b/c.py", "b/pyproject.toml", "build_tools/x.py", "pkg/build/__init__.py", "pkg/build/y.py"]
    left = [
        ".hidden.py", ".git/a.py", "build/a.py", "dist/a.py", "node_modules/a.py", "__pycache__/a.py",
        "env/lib/site.py", "env/pyvenv.cfg", "venv/a.py", "x.egg-info/a.py", "notes.txt", "other.toml",
    ]  # fmt: skip
    write(tmp_path, dict.fromkeys([*kept, *left], ""))
    assert [found.name for found in collect(["."])] == sorted(kept)


def test_a_named_path_is_always_read(tmp_path: Path) -> None:
    write(tmp_path, {"build/a.py": "", ".hidden.py": ""})
    assert [found.name for found in collect(["build", ".hidden.py"])] == ["build/a.py", ".hidden.py"]


def test_each_file_once(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/a.py": ""})
    assert [found.name for found in collect(["pkg/a.py", ".", str(tmp_path)])] == ["pkg/a.py"]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/a.py": ""})
    os.symlink(tmp_path, tmp_path / "pkg" / "loop")
    assert [found.name for found in collect(["."])] == ["pkg/a.py"]


# Findings and exit codes


def test_clean(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": CONFIG, "m.py": GOOD})
    assert run() == Outcome("", "", 0)
    assert run(format="json").text == "[]"


def test_findings_of_code_give_1(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": CONFIG, "m.py": BAD})
    outcome = run()
    assert lines(outcome) == [f"m.py:4:16: {MODE}", f"m.py:4:30: {WRT}"]
    assert (outcome.code, outcome.count) == (1, "2 errors")


def test_findings_of_the_configuration_give_2(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": '[tool.adcore]\naloc = "warn"\n', "m.py": BAD})
    outcome = run()
    config = "error[config/unknown-key] `aloc` is not an option of `[tool.adcore]`; did you mean `alloc`?"
    assert lines(outcome) == [f"m.py:4:16: {MODE}", f"m.py:4:30: {WRT}", f"pyproject.toml:2:1: {config}"]
    assert outcome.code == 2


def test_the_configuration_above_a_file_is_reported_with_it(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": '[tool.adcore]\naloc = "warn"\n', "pkg/m.py": GOOD, "pkg/other.py": "x = 1\n"})
    assert [line.partition(":")[0] for line in lines(run("pkg/m.py"))] == ["pyproject.toml"]
    assert run("pkg/other.py") == Outcome("", "", 0)


def test_missing_files_give_2_and_hide_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": BAD})
    outcome = run("nowhere", "m.py")
    missing = "error[config/missing-file] `nowhere` cannot be read: no such file or directory"
    assert lines(outcome) == [f"m.py:4:16: {MODE}", f"m.py:4:30: {WRT}", f"nowhere:1:1: {missing}"]
    assert outcome.code == 2


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"# \xff\n")  # says nothing about autodiff
    assert run() == Outcome("", "", 0)
    (tmp_path / "b.py").write_bytes(b"# \xff autodiff\n")
    assert "cannot be read: it is not text in the encoding that it declares" in run().text
    assert run().code == 2


def test_declared_encodings_and_byte_order_marks(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(f"# coding: latin-1\n# é\n{BAD}".encode("latin-1"))
    (tmp_path / "b.py").write_bytes(b"\xef\xbb\xbf" + BAD.encode())
    assert [line[:9] for line in lines(run())] == ["a.py:6:16", "a.py:6:30", "b.py:4:16", "b.py:4:30"]


def test_environment(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": GOOD})
    outcome = run(ADCORE_ALOC="warn", format="full")
    assert "<environment>:1:1: error[config/unknown-key] `ADCORE_ALOC`" in outcome.text
    assert "1 | ADCORE_ALOC=warn" in outcome.text
    assert outcome.code == 2


def test_a_broken_function_hides_nothing(tmp_path: Path) -> None:
    broken = "\n\n@autodiff\ndef g(x: float) -> float:\n    return x *\n"
    write(tmp_path, {"m.py": BAD + broken})
    names = [finding["name"] for finding in json.loads(run(format="json").text)]
    assert names == ["options/unknown-value", "options/unknown-parameter", "syntax/invalid"]


def test_function_tables(tmp_path: Path) -> None:
    tables = '[tool.adcore.functions."pkg.m:{}"]\nwrt = "{}"\n'
    config = "".join(tables.format(*pair) for pair in [("f", "x"), ("g", "z"), ("ff", "x"), ("h", "z"), ("k", "z")])
    more = "\n\n@autodiff\ndef g(x: float) -> float:\n    return x * y\n"
    more += "\n\n@autodiff\ndef h(x: float) -> float:\n    return x *\n"  # half typed: nothing is known of it
    more += "\n\nfrom elsewhere import there\nk = autodiff(there)\n"
    write(tmp_path, {"src/pkg/__init__.py": "", "src/pkg/m.py": GOOD + more, "pyproject.toml": config})
    assert [line.partition(" ")[2] for line in lines(run("pyproject.toml"))] == [
        "error[config/unknown-parameter] `z` in `wrt` is not a parameter of the function; its only parameter is `x`",
        "error[config/unknown-function] `pkg.m:ff` names no differentiated function of this project; "
        "did you mean `pkg.m:f`?",
    ]


def test_no_module_is_executed(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": CONFIG, "m.py": "raise SystemExit(9)\n" + BAD, "setup.py": "1 / 0\n"})
    assert [line[:9] for line in lines(run())] == ["m.py:5:16", "m.py:5:30"]


def test_a_failure_of_the_engine_is_a_finding(tmp_path: Path) -> None:
    def fails(*_: object) -> object:
        raise RecursionError("deep")

    write(tmp_path, {"a.py": GOOD, "b.py": GOOD})
    outcome = lint(["."], fails, "concise", {})  # type: ignore[arg-type]
    reason = "error[compiler/internal] `{}` could not be compiled: adcore failed with RecursionError"
    assert lines(outcome) == [f"a.py:1:1: {reason.format('a')}", f"b.py:1:1: {reason.format('b')}"]


# What is selected


KEEPS = "from adcore import autodiff\n\n\n@autodiff\ndef f(x: float, n: int) -> float:\n    for i in range(n):\n        x = x * x\n    return x\n"
NOTE = "information[alloc/loop-carried] the reverse pass keeps `x` (8*n bytes): it depends on what the loop carries from one iteration to the next"


def chosen(*select: str, ignore: tuple[str, ...] = ()) -> Outcome:
    return lint(["."], analyse, "concise", {}, None, selection(select, ignore))


def test_what_is_off_by_default_is_shown_where_it_is_selected(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": KEEPS})
    assert run() == Outcome("", "", 0)
    for word in ("alloc/loop-carried", "AD512", "alloc", "all"):
        assert chosen("alloc/kept", word) == Outcome(f"m.py:6:5: {NOTE}", "1 note", 0)
    assert chosen("alloc", ignore=("alloc/loop-carried",)) == chosen("options") == Outcome("", "", 0)


def test_what_is_selected_alone_is_shown_and_counts(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": BAD, "n.py": KEEPS})
    outcome = chosen("options/unknown-value")
    assert (lines(outcome), outcome.count, outcome.code) == ([f"m.py:4:16: {MODE}"], "1 error", 1)
    assert outcome.remarks == (
        "1 error not selected; what is wrong with a function hides what else there is to say of it",
    )
    outcome = chosen("alloc")
    assert (lines(outcome), outcome.code) == ([f"n.py:6:5: {NOTE}"], 0)
    assert outcome.remarks == (
        "2 errors not selected; what is wrong with a function hides what else there is to say of it",
    )
    assert lines(chosen("all"))[:2] == lines(run())


def test_what_is_ignored_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": BAD, "n.py": KEEPS})
    assert chosen(ignore=("options",)) == Outcome("", "", 0)
    outcome = chosen(ignore=("options/unknown-value",))
    assert (lines(outcome), outcome.remarks) == ([f"m.py:4:30: {WRT}"], ())


def test_what_cannot_be_looked_at_is_shown_whatever_is_selected(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": "import autodiff (\n", "pyproject.toml": "[tool.adcore\n"})
    names = {line.partition("[")[2].partition("]")[0] for line in lines(chosen("alloc"))}
    assert names == {"syntax/invalid", "config/syntax"}
    assert lint(["nowhere"], analyse, "concise", {}, None, selection(["alloc"])).code == 2
    assert lint(["nowhere"], analyse, "concise", {}, None, selection([], ["config/missing-file"])).code == 0


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("alloc/overwriten", "alloc/overwritten"),
        ("aloc", "alloc"),
        ("ad502", "AD502"),
        ("option", "options"),
        ("xyzzy", None),
    ],
)
def test_words_that_name_no_rule(word: str, near: str | None) -> None:
    for select, ignore in ([word], []), (["all"], [word]):
        with pytest.raises(UnknownRule) as caught:
            selection(select, ignore)
        assert (caught.value.word, caught.value.suggestion) == (word, near)


# Projects of which nothing is compiled

NO_TABLE = "pyproject.toml has no table [tool.adcore], so a build compiles nothing"


def test_a_project_without_a_table(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[project]\nname = 'x'\n", "m.py": GOOD, "n.py": "x = 1\n"})
    assert run() == run("m.py") == Outcome("", "", 0, (NO_TABLE,))
    assert run("n.py") == run("pyproject.toml") == Outcome("", "", 0)
    write(tmp_path, {"pyproject.toml": "[tool.adcore]\n"})
    assert run() == Outcome("", "", 0)


def test_patterns_that_select_nothing(tmp_path: Path) -> None:
    files = {f"pkg/{name}.py": GOOD for name in ("__init__", "a", "b", "c")}
    write(tmp_path, {**files, "pyproject.toml": '[tool.adcore]\ninclude = ["pgk.*"]\n'})
    said = "pyproject.toml selects none of the modules that were checked (`pkg`, `pkg.a`, `pkg.b`, ...) by `include` and `exclude`"
    assert run() == Outcome("", "", 0, (said,))
    write(tmp_path, {"pyproject.toml": '[tool.adcore]\ninclude = ["pkg.a"]\n'})
    assert run() == Outcome("", "", 0)
    assert run("pkg/b.py").remarks == (
        "pyproject.toml selects none of the modules that were checked (`pkg.b`) by `include` and `exclude`",
    )


def test_a_parameter_in_a_table_that_is_not_there_is_said_once(tmp_path: Path) -> None:
    """And no more of it: that nothing is left to differentiate for is its consequence."""
    write(tmp_path, {"m.py": GOOD, "pyproject.toml": '[tool.adcore.functions."m:f"]\nwrt = "z"\n'})
    assert [line.partition(":")[0] for line in lines(run())] == ["pyproject.toml"]
    assert lines(run("m.py")) == lines(run())


@pytest.mark.parametrize("wrt", ['"z"', '["x", "z"]'])
def test_a_build_says_it_as_well(tmp_path: Path, wrt: str) -> None:
    """Where tables are not compared with the project's functions too, as in development."""
    write(tmp_path, {"m.py": GOOD})
    report = Report()
    options = check_toml(f'[tool.adcore.functions."m:f"]\nwrt = {wrt}\n', "pyproject.toml", report)
    assert options is not None
    assert compile_package(tmp_path, {"m": Path("m.py")}, None, options, report) is None
    assert [d.rule for d in report] == ["config/unknown-parameter"]


# Names of files


def test_names_are_as_given(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/m.py": BAD})
    for given, name in [("pkg", "pkg/m.py"), ("./pkg/m.py", "pkg/m.py"), (f"{tmp_path}/pkg", f"{tmp_path}/pkg/m.py")]:
        assert {finding["file"] for finding in json.loads(run(given, format="json").text)} == {name}


def test_standard_input_stands_for_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": CONFIG, "pkg/m.py": GOOD})
    assert lines(run("-", buffer=Buffer(BAD.encode(), "pkg/m.py")))[0] == f"pkg/m.py:4:16: {MODE}"
    assert lines(run("-", buffer=Buffer(BAD.encode())))[0] == f"<stdin>:4:16: {MODE}"
    config = Buffer(b'[tool.adcore]\nalloc = "forbidden"\n', "pyproject.toml")
    assert "error[config/unknown-value]" in run("-", buffer=config).text


# The same checker, kept over time


def test_the_last_good_options_hold_while_the_configuration_is_broken(tmp_path: Path) -> None:
    seen: list[object] = []

    def record(project: object, source: object, module: object, options: object) -> object:
        seen.append(options)
        return analyse(project, source, module, options)  # type: ignore[arg-type]

    memory: dict[Path, object] = {}
    write(tmp_path, {"m.py": GOOD})
    for text in ('[tool.adcore]\nalloc = "forbid"\n', "[tool.adcore\n"):
        write(tmp_path, {"pyproject.toml": text})
        Checker(record, {}, {}, memory).check(str(tmp_path / "m.py"), GOOD)  # type: ignore[arg-type]
    assert seen[0] == seen[1]
    assert getattr(seen[0], "defaults", None) == {"alloc": "forbid"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_folders(tmp_path: Path) -> None:
    write(tmp_path, {"closed/a.py": BAD, "m.py": BAD})
    (tmp_path / "closed").chmod(0)
    try:
        assert "`closed` cannot be read: permission denied" in run().text
        assert run().code == 2
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_lint_needs_numpy_and_tomli_alone() -> None:
    import subprocess

    code = (
        "import sys; from adcore.cli import main; code = main(['lint', '--format', 'json']);"
        "print([m for m in ('llvmlite', 'pygls', 'setuptools', 'scipy') if m in sys.modules], code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] 0"
