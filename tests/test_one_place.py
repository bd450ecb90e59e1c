"""One place per thing: each check fails when a fact of the project stands in a second place, or when one of two parts
that belong together is missing.

Rows of the op table, rules and options are checked one by one where they are tested; here is what no row can see.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import adcore
from adcore import cli, driver, hashing, passes
from adcore.options import OPTIONS, PROJECT_OPTIONS
from adcore.rules import RULES

ROOT = Path(__file__).parent.parent

# A table of words that has to stand twice, with the reason; the tests below hold the two together.
COPIES: dict[frozenset[str], str] = {
    frozenset(driver.STAGES): "the command line shows its help without loading the engine",
}


@cache
def sources() -> dict[str, ast.Module]:
    files = [file for folder in ("adcore", "buildplug", "lsp") for file in sorted((ROOT / folder).rglob("*.py"))]
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in files}


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def word_tables(tree: ast.AST) -> Iterator[tuple[int, frozenset[str]]]:
    """Displays of three or more strings, and strings that are split into words."""
    for node in ast.walk(tree):
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                words = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
                if len(words) == len(items):
                    yield node.lineno, frozenset(words)
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split"), args=[]):
                yield node.lineno, frozenset(text.split())
            case _:
                pass


def types_of_literals(tree: ast.AST) -> set[int]:
    """Lines of `Literal[...]`: type checkers need the words themselves."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal":
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def test_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert adcore.__version__ == project["version"]
    assert f" {project['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_a_pass_is_a_file_that_the_lists_name() -> None:
    files = {file.stem for file in (ROOT / "adcore/passes").glob("*.py")} - {"__init__"}
    listed = {step.__module__.rpartition(".")[2] for step in (*passes.PIPELINE, *passes.LOWERING)}
    assert files == listed
    assert listed == {step.__name__ for step in (*passes.PIPELINE, *passes.LOWERING)}


def test_ops_are_registered_below_the_op_table() -> None:
    """A row in another package would be found only if that package happened to be imported."""
    elsewhere = [
        f"{file}:{node.lineno}"
        for file, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("register", "OpDef")
        if not file.startswith("adcore/ops/")
    ]
    assert [place for place in elsewhere if not place.startswith("buildplug/")] == []


def test_every_rule_is_reported_and_every_report_has_a_rule() -> None:
    categories = "|".join(sorted({rule.category for rule in RULES.values()}))
    spelled = re.compile(rf"(?:{categories})/[a-z0-9-]+")
    named = {
        text: f"{file}:{line}"
        for file, tree in sources().items()
        for line, text in strings(tree)
        if not file.startswith("adcore/rules/") and spelled.fullmatch(text)
    }
    assert {text: place for text, place in named.items() if text not in RULES} == {}
    endings = {text for tree in sources().values() for _, text in strings(tree) if text.startswith("/")}
    composed = {
        name for name in RULES if name.startswith(("options/", "config/")) and name[name.index("/") :] in endings
    }
    assert [name for name in RULES if name not in named and name not in composed] == []


def test_codes_of_rules_stand_in_the_registry_alone() -> None:
    wrong = [
        f"{file}:{line}"
        for file, tree in sources().items()
        for line, text in strings(tree)
        if not file.startswith("adcore/rules/") and re.search(r"\bAD\d{3}\b", text)
    ]
    assert wrong == []


def test_option_names_are_listed_in_the_schema_alone() -> None:
    """Two or more of them in one table: whoever adds an option would have to know of the place."""
    names = {name for option in OPTIONS.values() for name in (option.name, option.kebab)}
    exempt = {
        "adcore/options.py": "the schema",
        "adcore/hashing.py": "loads the standard library only; held against the schema below",
    }
    wrong = [
        f"{file}:{line}: {sorted(words & names)}"
        for file, tree in sources().items()
        if file not in exempt
        for line, words in word_tables(tree)
        if len(words & names) > 2
    ]
    assert wrong == []


def test_options_without_effect_are_options() -> None:
    without_effect = hashing._WITHOUT_EFFECT
    assert {name.replace("-", "_") for name in without_effect} <= PROJECT_OPTIONS | {"functions"}


def test_tables_of_words_stand_once() -> None:
    seen: dict[frozenset[str], set[str]] = {}
    for file, tree in sources().items():
        typed = types_of_literals(tree)
        for line, words in word_tables(tree):
            if len(words) > 3 and line not in typed:
                seen.setdefault(words, set()).add(file)
    twice = {words: files for words, files in seen.items() if len(files) > 1}
    assert {words: files for words, files in twice.items() if words not in COPIES} == {}
    assert [words for words in COPIES if words not in twice] == [], "an exception that nothing needs any more"


def test_copies_agree() -> None:
    assert cli.STAGES == driver.STAGES


@pytest.mark.parametrize("text", ['"a b c".split()', '("a", "b", "c")', '["a", "b", "c"]', '{"a", "b", "c"}'])
def test_the_check_sees_tables(text: str) -> None:
    assert [words for _, words in word_tables(ast.parse(text))] == [{"a", "b", "c"}]
