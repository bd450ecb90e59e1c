"""What the documentation says is what the code does: its examples are compiled and run, its generated pages are current."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from engine import HEADER, analyse, compile_module

from adcore import cli, driver
from adcore.lint.check import Checker
from adcore.rules import RULES, Rule

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")


def rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the table whose first column has this heading, as cells."""
    text = (ROOT / page).read_text(encoding="utf-8")
    table = text[text.index(f"\n| {heading} |") + 1 :].partition("\n\n")[0]
    return [re.split(r"(?<!`) *\| *(?!`$)", line.strip().strip("|").strip()) for line in table.splitlines()[2:]]


def cells(page: str, heading: str) -> list[list[list[str]]]:
    return [[CODE.findall(cell) for cell in row] for row in rows(page, heading)]


# Pages made from tables


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_current() -> None:
    """Otherwise: `python docs/generate.py`."""
    pages = generator().pages()
    assert [name for name, text in pages.items() if (ROOT / "docs" / name).read_text(encoding="utf-8") != text] == []


def examples_of_rules() -> Iterator[tuple[Rule, str, str]]:
    for rule in RULES.values():
        for kind in ("before", "after"):
            if text := getattr(rule, kind):
                yield rule, kind, text


@pytest.mark.parametrize(("rule", "kind", "text"), [(r, k, t) for r, k, t in examples_of_rules()], ids=str)
def test_examples_of_rules(rule: Rule, kind: str, text: str, tmp_path: Path) -> None:
    """`before` has the finding, `after` has none at all."""
    path = tmp_path / ("pyproject.toml" if rule.category == "config" else "example.py")
    path.write_text(text, encoding="utf-8")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").touch()
    (tmp_path / "pkg/model.py").write_text(f"{HEADER}@autodiff\ndef f(x: float) -> float:\n    return x * x\n")
    checker = Checker(driver.analyse, notes=not rule.by_default)
    found = [finding.name for finding in checker.check(str(path), text)]
    assert (rule.name in found) if kind == "before" else found == []


# The language


def function_of(lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines.split("; "))
    return f"{HEADER}@autodiff\ndef f(x: float, v: Vector, n: int) -> float:\n{body}    return x * v[0]\n"


@pytest.mark.parametrize("lines", [row[0][0] for row in cells("docs/language.md", "compiles")])
def test_what_compiles(lines: str) -> None:
    analysis = analyse(function_of(lines))
    assert [finding for finding in analysis.diagnostics if finding.severity == "error"] == []
    assert "vjp" in analysis.entries[0].members


@pytest.mark.parametrize(
    ("lines", "rule"), [(r[0][0], r[1][0]) for r in cells("docs/language.md", "does not compile yet")]
)
def test_what_does_not_compile(lines: str, rule: str) -> None:
    assert rule in [finding.name for finding in analyse(function_of(lines)).diagnostics]


@pytest.mark.parametrize(
    ("function", "points", "gradients"), [row[1:] for row in cells("docs/kinks.md", "point")], ids=str
)
def test_kinks(function: list[str], points: list[str], gradients: list[str], tmp_path: Path) -> None:
    names = [point.partition(" = ")[0] for point in points]
    values = [eval(point.partition(" = ")[2]) for point in points]
    args = [np.array(value) if isinstance(value, list) else value for value in values]
    parameters = ", ".join(f"{name}: {'Vector' if name == 'v' else 'float'}" for name in names)
    header = f"{HEADER}@autodiff(wrt={tuple(names)}, mode='both')\ndef f({parameters}) -> float:\n"
    module = compile_module(tmp_path, f"{header}    return float({function[0]})\n")
    wanted = [eval(text, {"math": math}) for text in gradients]
    for gradient, want in zip(module.f.grad(*args), wanted, strict=True):
        np.testing.assert_array_equal(gradient, want)
    for k, arg in enumerate(args):  # forward mode, along each axis
        for j in range(np.size(arg)):
            along = [np.zeros_like(a) for a in args]
            along[k].reshape(-1)[j] = 1.0
            direction = tuple(d if d.ndim else float(d) for d in along)
            _, slope = module.f.jvp(tuple(args), direction if len(args) > 1 else direction[0])
            np.testing.assert_array_equal(slope, np.ravel(wanted[k])[j])


# Examples in the text


def pages_with_blocks() -> list[Path]:
    pages = [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "examples").rglob("*.md")),
    ]
    return [page for page in pages if page.name != "rules.md"]  # its examples are those of the rules


@pytest.mark.parametrize("page", pages_with_blocks(), ids=lambda page: page.name)
def test_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python is compiled (written to the file that its first line names), sessions run after it, `$ adcore` is called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    namespace: dict[str, object] = {}
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        name = re.match(r"# (\S+\.(?:py|toml))\n", text)
        if name:
            (tmp_path / name[1]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
        match language:
            case "python" if not name:
                namespace = dict(vars(compile_module(tmp_path / "compiled", text)))
            case "pycon":
                run_session(text, namespace)
            case "console":
                run_commands(text)
            case "python" | "toml" | "make" | "text":
                pass
            case _:
                pytest.fail(f"a block in {language} is not tested")


def run_session(text: str, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(text, namespace, "session", None, 0)
    output = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=output.write).failed == 0, output.getvalue()


def run_commands(text: str) -> None:
    """Of the commands only `adcore` ones are run; what stands below one is its output, both streams."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, wanted = part.partition("\n")
        if command.startswith("adcore "):
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                cli.main(command.split()[1:])
            assert output.getvalue().strip() == wanted.strip()


def test_links_lead_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages_with_blocks()
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_files_that_the_tour_names_exist() -> None:
    text = (ROOT / "docs/internals.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:adcore|buildplug|lsp|tests|docs|benchmarks|examples)/[\w./-]*)`", text)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_tour_names_every_module() -> None:
    text = (ROOT / "docs/internals.md").read_text(encoding="utf-8")
    folders = [ROOT / "adcore", ROOT / "buildplug", ROOT / "lsp"]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py")) if file.name != "__init__.py"]
    words = set(re.findall(r"\w+", text))
    words |= {re.sub("[/-]", "_", name) for name in RULES}  # these have a page of their own
    assert [str(file.relative_to(ROOT)) for file in files if file.stem not in words] == []


def test_every_target_of_make_is_in_the_readme_or_the_guide() -> None:
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    assert [target for target in targets if f"make {target}" not in text] == []
