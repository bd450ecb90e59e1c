"""`adcore build --inplace`, `adcore status` and editable installs, on the real engine."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from test_build_hook import Project
from test_development import Folder

from adcore import cli

pytest.importorskip("setuptools.command.build")
pytest.importorskip("llvmlite.binding")

TOML = '[project]\nname = "demo"\nversion = "1.0"\n[build-system]\nrequires = ["setuptools"]\n{}[tool.adcore]\n'
MODEL = "from adcore import autodiff\n\n\n@autodiff{}\ndef f(x: float) -> float:\n    return x * x\n"
FILES = {"pyproject.toml": TOML.format(""), "src/demo/__init__.py": "", "src/demo/model.py": MODEL.format("")}
CALL = "import demo.model as m\nprint(m.f.grad(3.0))"


def adcore(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = cli.main(arguments)
    captured = capsys.readouterr()
    return code, captured.out + captured.err


@pytest.mark.parametrize("backend", ["", 'build-backend = "hatchling.build"\n'])
def test_build_in_place_and_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    folder = Folder(tmp_path).write(FILES | {"pyproject.toml": TOML.format(backend)})
    folder.write({"src/demo/model.py": MODEL.format('(mode="both")'), "src/demo/later.py": "X = 1.0\n"})
    extension = tmp_path / "src/demo/_adcore.abi3.so"
    monkeypatch.chdir(tmp_path)
    assert adcore(capsys, "status") == (
        1, "demo.model:f: not compiled: no extension has it; it is in src/demo/model.py\n",
    )  # fmt: skip
    code, text = adcore(capsys, "build", "--inplace")
    assert code == 0
    assert "demo.model:f: compiled with" in text
    assert extension.exists()
    code, text = adcore(capsys, "status", "src")
    assert code == 0
    head, members, *rest = text.splitlines()
    assert head == "demo.model:f: verified"
    assert "value_and_grad" in members
    assert rest == ["  options: mode='both'", "  extension: src/demo/_adcore.abi3.so"]
    folder.edit("src/demo/model.py", "x * x", "x * x * x")
    code, text = adcore(capsys, "status")
    assert code == 1
    assert text.startswith("demo.model:f: stale: its source has changed")
    (tmp_path / "src/demo/model.py").unlink()
    code, text = adcore(capsys, "status")
    assert (code, text.splitlines()[0]) == (0, "demo.model:f: unverified: no source")
    code, text = adcore(capsys, "build", "--inplace")
    assert code == 0
    assert "removing" in text
    assert not extension.exists()


def test_problems_and_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Folder(tmp_path).write(FILES)
    folder.edit("src/demo/model.py", "    return x * x", "    with open(x) as h:\n        return x")
    code, text = adcore(capsys, "build", "--inplace", str(tmp_path))
    assert code == 1
    assert "src/demo/model.py:6:5: error[language/unsupported-statement]" in text
    folder.write({"pyproject.toml": TOML.format("") + "fastmat = true\n"})
    code, text = adcore(capsys, "build", "--inplace", str(tmp_path))
    assert code == 2
    assert "config/unknown-key" in text
    folder.write({"pyproject.toml": "[project]\n"})
    assert adcore(capsys, "build", "--inplace", str(tmp_path))[0] == 2
    assert adcore(capsys, "build", "--inplace", str(tmp_path / "nowhere"))[0] == 2
    assert adcore(capsys, "status", "no_such_package")[0] == 2
    assert adcore(capsys, "build")[0] == 2


def test_a_damaged_extension_is_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Folder(tmp_path).write(FILES)
    (tmp_path / "src/demo/_adcore.abi3.so").write_bytes(b'{"abi":1,"adcore"')
    code, text = adcore(capsys, "status", str(tmp_path))
    assert code == 1
    assert "its metadata cannot be read" in text


def test_the_cache_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from buildplug.cache import Cache

    cache = Cache(tmp_path / "cache")
    monkeypatch.setenv("ADCORE_CACHE_DIR", str(cache.folder))
    assert adcore(capsys, "cache") == (0, f"{cache.folder}: 0 modules kept, 0 bytes\n")
    with cache.lock("key"):
        cache.store("key", {"m": "1"}, b"code")
    (cache.folder / "mine.txt").touch()
    assert adcore(capsys, "cache", "--clear") == (0, f"{cache.folder}: 1 module deleted, 4 bytes\n")
    assert [file.name for file in cache.folder.iterdir()] == ["mine.txt"]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Makes the plugin look installed."""
    info = tmp_path / "plugin/adcore-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: adcore\nVersion: 0\n")
    points = "[setuptools.finalize_distribution_options]\nadcore = buildplug.setuptools_hook:finalize\n"
    (info / "entry_points.txt").write_text(points)
    return info.parent


@pytest.mark.parametrize("mode", ["lenient", "strict", "compat"])
def test_editing_after_an_editable_install(tmp_path: Path, plugin: Path, mode: str) -> None:
    (tmp_path / "work").mkdir()
    project = Project(tmp_path / "work", plugin).write(FILES)
    settings = f"{{'--build-option': [], 'editable_mode': '{mode}'}}"

    def install() -> None:
        with zipfile.ZipFile(project.hook("build_editable", settings)) as archive:
            archive.extractall(tmp_path / "site")

    install()
    folder = Folder(project.root)
    program = f"import site; site.addsitedir({str(tmp_path / 'site')!r})\n{CALL}"
    off = {"ADCORE_DEVELOPMENT": "off", "PYTHONPATH": os.fspath(Path(cli.__file__).parents[1])}
    folder.environment = {"PYTHONPATH": off["PYTHONPATH"]}
    assert folder.run("-c", program) == ["6.0"]
    assert folder.compiled() == 0
    folder.edit("src/demo/model.py", "x * x", "x * x * x")
    assert folder.run("-c", program) == ["27.0"]
    assert "compiled demo.model (1 function)" in folder.log
    assert "its source has changed since it was compiled" in folder.log
    folder.environment = off
    process = folder.start("-c", program)
    assert "NotCompiledError: demo.model.f is not compiled: its source has changed" in process.communicate()[1]
    install()
    assert folder.run("-c", program) == ["27.0"]
    if mode == "lenient":  # what is no longer marked leaves nothing behind, neither here nor in a wheel
        folder.write({"src/demo/model.py": "def f(x):\n    return x\n"})
        install()
        assert not list(project.root.glob("src/**/*.so"))
        with zipfile.ZipFile(project.wheel()) as archive:
            assert not [name for name in archive.namelist() if name.endswith(".so")]
