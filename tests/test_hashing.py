"""What counts as a change, and what does not."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import adcore
from adcore.hashing import NameHashes, source_hash, table_hash


def name_hash(text: str, name: str = "f") -> str | None:
    return NameHashes(ast.parse(text)).of(name)


FUNCTION = "def f(x, y=1.0):\n    if x > 0.0:\n        return x + y\n    return -x\n"


@pytest.mark.parametrize("other", ["\ufeffa = 1\n", "a = 1\r\n", "a = 1\r", "a = 1", "a = 1\n\n\n"])
def test_the_way_lines_end_does_not_count(other: str) -> None:
    assert source_hash(other) == source_hash("a = 1\n")


def test_every_character_counts() -> None:
    assert len({source_hash(text) for text in ("a = 1", "a = 2", "a = 1 ", "\na = 1", "a\n= 1")}) == 5


@pytest.mark.parametrize(
    "same",
    [
        "# comment\n\n" + FUNCTION,
        FUNCTION.replace("    if", "    'Doc.'\n    # comment\n    if"),
        FUNCTION.replace("x + y", "(x   +\n   y)"),
        "g = 1\n" + FUNCTION + "h = 2\n",
    ],
)
def test_comments_layout_docstrings_and_neighbours_do_not_count(same: str) -> None:
    assert name_hash(same) == name_hash(FUNCTION)


@pytest.mark.parametrize(
    "other",
    [
        FUNCTION.replace("1.0", "1"),
        FUNCTION.replace("1.0", "'1.0'"),
        FUNCTION.replace("x + y", "y + x"),
        FUNCTION.replace("x + y", "x - y"),
        FUNCTION.replace("    return -x", "        return -x"),
        FUNCTION.replace("    return -x", "    return None"),
        FUNCTION.replace("    return -x", "    return"),
        FUNCTION.replace("y=1.0", "*, y=1.0"),
        "@autodiff\n" + FUNCTION,
        FUNCTION + "f.rule = 1\n",
        FUNCTION + "f = g(f)\n",
        FUNCTION.replace("x > 0.0", "x > 0.0 > y"),
    ],
)
def test_meaning_counts(other: str) -> None:
    assert name_hash(other) != name_hash(FUNCTION)


def test_different_structures_do_not_collide() -> None:
    texts = ["f = [a, [b]]", "f = [[a], b]", "f = [a, b]", "f = (a, b)", "f = {a, b}", "f = a, [b]", "f = 'a,b'"]
    texts += [
        "f = 'Name(id=a)'",
        "f = a",
        "f = b'a'",
        "f = g(a, b)",
        "f = g(a)(b)",
        "f = g(a, *b)",
        "f = None",
        "f = ...",
    ]
    assert len({name_hash(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import numpy as f", "f"),
        ("import numpy.linalg", "numpy"),
        ("from .helpers import g as f", "f"),
        ("a, (f, *b) = g()", "f"),
        ("f: float = 1.0", "f"),
        ("f += 1", "f"),
        ("f[0] = 1", "f"),
        ("for f in range(3): pass", "f"),
        ("with open('x') as f: pass", "f"),
        ("try:\n    import f\nexcept ImportError as e:\n    f = None", "f"),
        ("if a:\n    def f(): pass\nelse:\n    f = 1", "f"),
        ("class f: pass", "f"),
        ("g(f := 1)", "f"),
        ("match a:\n    case [f, *g]: pass", "f"),
    ],
)
def test_every_form_of_binding_is_seen(text: str, name: str) -> None:
    assert name_hash(text, name) is not None


def test_locals_are_not_names_of_the_module() -> None:
    assert name_hash("def g():\n    f = 1\nh = [f for f in ()]\nk = lambda f: f\n") is None


def test_deep_expressions_are_hashed() -> None:
    tree = ast.parse("f = 0")
    expression: ast.expr = ast.Name("x", ast.Load())
    for _ in range(20_000):
        expression = ast.UnaryOp(ast.USub(), expression)
    tree.body[0].value = expression  # type: ignore[attr-defined]
    assert NameHashes(tree).of("f")


def test_tables_count_as_far_as_they_concern_the_function() -> None:
    table = {"fastmath": True, "functions": {"m:f": {"alloc": "warn"}, "m:g": {"alloc": "forbid"}}}
    assert table_hash(table, "m:f") == table_hash({**table, "debug": True, "include": ["m"]}, "m:f")
    assert (
        table_hash({"functions": {"m:g": {"alloc": "warn"}}}, "m:f") == table_hash(None, "m:f") == table_hash({}, "m:f")
    )
    assert len({table_hash(t, "m:f") for t in (table, {**table, "fastmath": False}, {"fastmath": True}, {})}) == 4
    assert table_hash(table, "m:f") != table_hash(table, "m:g")


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_all_versions_of_python_agree(version: str) -> None:
    """An extension is built by one and used by another. Versions that are not here are skipped; 3.11 always is."""
    folders = [*map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin")), os.environ.get("PATH", "")]
    interpreter = shutil.which(f"python{version}", path=os.pathsep.join(folders))
    if interpreter is None:
        pytest.skip(f"no python{version}")
    text = (
        FUNCTION
        + "class f(A, metaclass=B):\n    x: int = 1\n\n\nf = f'{f!r:>{w}} a' + b'x'.decode() if not None else ...\n"
    )
    folder = str(Path(adcore.__file__).parent)  # the file alone: NumPy need not be installed there
    code = f"import ast, hashlib, json, sys, typing; sys.path[:0] = [{folder!r}]; import hashing; "
    code += f"print(hashing.NameHashes(ast.parse({text!r})).of('f'))"
    done = subprocess.run([interpreter, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == name_hash(text), done.stderr
    assert sys.version_info >= (3, 11)
