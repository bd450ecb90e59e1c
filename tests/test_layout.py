"""Each case is a tree of files and what a file in it is called; nothing in the trees is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from adcore.frontend.layout import Layouts

SETUPTOOLS_DIR = '[tool.setuptools]\npackage-dir = { "" = "lib" }\n'
SETUPTOOLS_WHERE = '[tool.setuptools.packages.find]\nwhere = ["python", "more"]\n'
SETUPTOOLS_NAMED = '[tool.setuptools]\npackage-dir = { pkg_lsp = "lsp" }\n'

CASES = [
    # pyproject.toml, files, the file in question, its module, its first root
    ("src layout", "", ["src/pkg/__init__.py"], "src/pkg/model.py", "pkg.model", "src"),
    ("src layout, package", "", ["src/pkg/__init__.py"], "src/pkg/__init__.py", "pkg", "src"),
    ("src layout, subpackage", "", ["src/pkg/__init__.py"], "src/pkg/deep/m.py", "pkg.deep.m", "src"),
    ("src layout, single module", "", ["src/model.py"], "src/model.py", "model", "src"),
    ("src layout, test", "", ["src/pkg/__init__.py"], "tests/test_model.py", "test_model", "tests"),
    ("src layout, test package", "", ["src/a.py", "tests/__init__.py"], "tests/test_a.py", "tests.test_a", "."),
    ("flat layout", "", ["pkg/__init__.py"], "pkg/model.py", "pkg.model", "."),
    ("flat layout, single module", "", [], "model.py", "model", "."),
    ("flat layout, namespace", "", ["ns/pkg/__init__.py"], "ns/pkg/model.py", "ns.pkg.model", "."),
    ("flat layout, example", "", ["pkg/__init__.py"], "examples/fit.py", "fit", "examples"),
    ("no identifier", "", [], "my-scripts/run-it.py", "run-it", "my-scripts"),
    ("package-dir", SETUPTOOLS_DIR, ["lib/pkg/__init__.py"], "lib/pkg/m.py", "pkg.m", "lib"),
    ("find.where", SETUPTOOLS_WHERE, ["more/pkg/__init__.py"], "more/pkg/m.py", "pkg.m", "more"),
    ("find.where, namespace", SETUPTOOLS_WHERE, [], "python/ns/m.py", "ns.m", "python"),
    ("a package's own folder", SETUPTOOLS_NAMED, ["lsp/__init__.py"], "lsp/inner/m.py", "pkg_lsp.inner.m", "."),
    ("a package's own folder, itself", SETUPTOOLS_NAMED, [], "lsp/__init__.py", "pkg_lsp", "."),
    ("no project", None, ["pkg/__init__.py"], "pkg/m.py", "pkg.m", "."),
    ("no project, no package", None, [], "folder/m.py", "m", "folder"),
    ("broken TOML", "[tool\n", ["src/pkg/__init__.py"], "src/pkg/m.py", "pkg.m", "src"),
    ("wrong types", "[tool.setuptools]\npackage-dir = 3\npackages = []\n", [], "pkg/m.py", "pkg.m", "."),
    ("not a table", "tool = 1\n", ["pkg/__init__.py"], "pkg/m.py", "pkg.m", "."),
]


@pytest.mark.parametrize(
    ("config", "files", "file", "module", "root"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_module_names(tmp_path: Path, config: str | None, files: list[str], file: str, module: str, root: str) -> None:
    if config is not None:
        (tmp_path / "pyproject.toml").write_text(config)
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    layout = Layouts().of(tmp_path / file)
    assert layout.module == module
    assert layout.roots[0] == tmp_path / root
    assert layout.folder == (None if config is None else tmp_path)


def test_the_nearest_project_counts(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "inner"):
        folder.mkdir(exist_ok=True)
        (folder / "pyproject.toml").write_text("")
    assert Layouts().of(tmp_path / "inner" / "pkg" / "m.py").folder == tmp_path / "inner"
    assert Layouts().of(tmp_path / "inner_too" / "m.py").folder == tmp_path


def test_a_script_finds_its_neighbours_and_its_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "src" / "pkg").mkdir(parents=True)
    assert Layouts().of(tmp_path / "examples" / "fit.py").roots == (
        tmp_path / "examples",
        tmp_path / "src",
        tmp_path,
    )


def test_open_buffers_win_over_the_disk(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    layouts = Layouts({str(tmp_path / "pyproject.toml"): SETUPTOOLS_DIR})
    assert layouts.of(tmp_path / "lib" / "m.py").module == "m"
    assert layouts.of(tmp_path / "lib" / "m.py").text == SETUPTOOLS_DIR
    assert Layouts().of(tmp_path / "lib" / "m.py").module == "lib.m"


def test_a_config_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe")
    layout = Layouts().of(tmp_path / "m.py")
    assert (layout.module, layout.text) == ("m", None)
