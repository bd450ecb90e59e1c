"""Development mode on the real engine: each test runs programs in processes of their own, as users do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from buildplug.cache import Cache

pytest.importorskip("llvmlite.binding")

ROOT = Path(__file__).parent.parent
MODEL = """
from adcore import autodiff
from pkg.helpers import half

SCALE = 3.0

@autodiff
def f(x: float) -> float:
    return SCALE * half(x) * x

@autodiff(mode="forward")
def g(x: float) -> float:
    return x * x
"""
HELPERS = "def half(x):\n    return 0.5 * x\n"
LOGGED = "import logging; logging.basicConfig(level=logging.INFO, format='%(message)s')\n"
CALL = LOGGED + "import pkg.model as m\nprint(m.f(2.0), m.f.grad(2.0), m.g.jvp((2.0,), 1.0))"
TRY = """
import pkg.model as m
from adcore import NotCompiledError
for call in (m.f, m.f.grad, m.g):
    try:
        print(call(2.0))
    except NotCompiledError as error:
        print("refused", error)
"""
COMPILED = r"adcore: compiled pkg.model \(2 functions\) in \d+\.\d s for development use; build the package to ship it"


@dataclass
class Folder:
    """Files, and programs that run among them. `log` is what the last one wrote to standard error."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    log: str = ""

    @property
    def cache(self) -> Path:
        return self.root.parent / "cache"

    def write(self, files: Mapping[str, str]) -> Folder:
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        return self

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        (self.root / name).write_text(text.replace(old, new))

    def start(self, *command: str) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ADCORE_")}
        path = os.pathsep.join([str(self.root), str(ROOT)])
        environment |= {"PYTHONPATH": path, "ADCORE_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            [sys.executable, *command], cwd=self.root, env=environment | self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *command: str) -> list[str]:
        process = self.start(*command)
        output, self.log = process.communicate()
        assert process.returncode == 0, self.log
        return output.splitlines()

    def compiled(self) -> int:
        """How many modules are in the cache."""
        return Cache(self.cache).size()[0]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "work").mkdir()
    return Folder(tmp_path / "work")


@pytest.fixture
def package(folder: Folder) -> Folder:
    return folder.write({"pkg/__init__.py": "", "pkg/model.py": MODEL, "pkg/helpers.py": HELPERS})


def test_a_module_is_compiled_when_it_is_called_and_kept(package: Folder) -> None:
    assert package.run("-c", "import pkg.model, sys; print('adcore.driver' in sys.modules)") == ["False"]
    assert not package.cache.exists()
    assert package.run("-c", CALL) == ["6.0 6.0 (4.0, 4.0)"]
    assert re.fullmatch(COMPILED, package.log.strip())
    assert package.run("-c", CALL) == ["6.0 6.0 (4.0, 4.0)"]
    assert package.log == ""
    # A helper is an input, the comments of another module are not a reason to run something old.
    package.edit("pkg/helpers.py", "0.5", "0.25")
    assert package.run("-c", CALL) == ["3.0 3.0 (4.0, 4.0)"]
    package.edit("pkg/helpers.py", "0.25", "0.5")
    assert package.run("-c", CALL) == ["6.0 6.0 (4.0, 4.0)"]
    assert package.log == ""
    package.edit("pkg/model.py", "3.0", "4.0")
    assert package.run("-c", CALL) == ["8.0 8.0 (4.0, 4.0)"]
    assert package.compiled() == 3
    assert sorted(path.name for path in (package.root / "pkg").iterdir()) == ["__init__.py", "helpers.py", "model.py"]


def test_off_means_off(package: Folder) -> None:
    package.environment["ADCORE_DEVELOPMENT"] = "off"
    lines = package.run("-c", TRY)
    assert len(lines) == 3
    assert all("refused" in line and "there is no extension _adcore in" in line for line in lines)
    package.environment = {"ADCORE_FALLBACK": "python"}
    assert [line.split()[0] for line in package.run("-c", TRY)] == ["6.0", "refused", "4.0"]
    assert not package.cache.exists()


def test_without_the_compiler_the_message_says_how_to_get_it(package: Folder) -> None:
    hide = "import sys; sys.modules['llvmlite'] = None; sys.meta_path.insert(0, type('F', (), {'find_spec': "
    hide += "staticmethod(lambda n, p=None, t=None: (_ for _ in ()).throw(ModuleNotFoundError(n)) if n == 'llvmlite' "
    hide += "else None)})())\n"
    lines = package.run("-c", hide + TRY)
    assert len(lines) == 3
    assert all("pip install 'adcore[build]'" in line for line in lines)


def test_bad_source_raises_the_findings_at_every_call(package: Folder) -> None:
    package.edit("pkg/model.py", "    return x * x", "    with open(x) as h:\n        return x")
    text = "\n".join(package.run("-c", TRY))
    assert text.count("refused pkg.model.") == 3
    assert "pkg/model.py:13:5: error[language/unsupported-statement]" in text
    assert "^^^" in text
    package.write({"pyproject.toml": "[tool.adcore]\nfastmat = true\n"})
    assert "error[config/unknown-key]" in "\n".join(package.run("-c", TRY))
    package.write({"pyproject.toml": '[tool.adcore]\nexclude = ["pkg.*"]\n'})
    assert "nothing to compile" in "\n".join(package.run("-c", TRY))
    assert package.compiled() == 0


def test_a_bad_environment_is_an_error_and_not_a_default(package: Folder) -> None:
    assert package.run("-c", CALL)
    package.environment["ADCORE_FASTMATH"] = "perhaps"
    assert "ADCORE_FASTMATH" in "\n".join(package.run("-c", TRY))


def test_several_processes_compile_once(package: Folder) -> None:
    processes = [package.start("-c", CALL) for _ in range(3)]
    found = [process.communicate() for process in processes]
    assert [output for output, _ in found] == ["6.0 6.0 (4.0, 4.0)\n"] * 3
    assert sum("compiled" in log for _, log in found) == 1


def test_without_a_place_for_the_cache_it_works_all_the_same(package: Folder) -> None:
    package.cache.write_text("in the way")
    assert package.run("-c", CALL) == ["6.0 6.0 (4.0, 4.0)"]


def test_a_damaged_file_is_not_loaded(package: Folder) -> None:
    package.run("-c", CALL)
    (code,) = package.cache.glob("*/*.so")
    code.write_bytes(code.read_bytes()[:-100])
    assert package.run("-c", CALL) == ["6.0 6.0 (4.0, 4.0)"]
    assert "compiled" in package.log


def test_scripts_and_archives(package: Folder) -> None:
    script = MODEL.replace("pkg.helpers", "helpers") + "\nif __name__ == '__main__':\n    print(f.grad(2.0))\n"
    package.write({"my-script.py": script, "helpers.py": HELPERS})
    assert package.run("my-script.py") == ["6.0"]
    with zipfile.ZipFile(package.root / "all.zip", "w") as archive:
        for file in ("__init__", "model", "helpers"):
            archive.write(package.root / f"pkg/{file}.py", f"pkg/{file}.py")
            (package.root / f"pkg/{file}.py").unlink()
    (package.root / "pkg").rmdir()
    package.environment["PYTHONPATH"] = os.pathsep.join([str(package.root / "all.zip"), str(ROOT)])
    assert package.run("-c", CALL) == ["6.0 6.0 (4.0, 4.0)"]


CELLS = """
import linecache
def run(name, text):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), globals())
text = 'from adcore import autodiff\\n\\n@autodiff\\ndef f(x: float) -> float:\\n    return x * x\\n'
run("<ipython-input-1-abc>", text)
print(f.grad(3.0))
run("<ipython-input-1-abc>", text.replace("x * x", "x * x * x"))
print(f.grad(3.0))
run("<ipython-input-2-def>", "def other(x):\\n    return x\\n")
run("<ipython-input-3-fed>", text.replace("x * x", "other(x)"))
print(f.grad(3.0))
"""


def test_notebook_cells(folder: Folder) -> None:
    """A cell is a module of its own: what another cell defines is not known, and that is said."""
    process = folder.start("-c", CELLS)
    output, log = process.communicate()
    assert output.splitlines() == ["6.0", "27.0"]
    assert "<ipython-input-3-fed>:5:12: error[" in log
    assert "`other`" in log
