"""The setuptools plugin in real builds of small projects, with `fake_driver` in the engine's place.

Each build runs the PEP 517 hooks in a process of its own, as pip does. The plugin is found by entry point: a
`*.dist-info` with the entry points of pyproject.toml stands on the path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import textwrap
import tomllib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("setuptools.command.build")
pytest.importorskip("llvmlite.binding")
pytestmark = pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64", reason="links for Linux x86-64")

ROOT = Path(__file__).parent.parent
TAG = "cp311-abi3-linux_x86_64"
MODEL = "from adcore import autodiff\n\n@autodiff\ndef f(x: float) -> float:\n    return x * x\n"
HELPERS = "def helper(x):\n    return x\n"
PROJECT = '[project]\nname = "demo"\nversion = "1.0"\n'
SYSTEM = '[build-system]\nrequires = ["setuptools", "adcore[build]"]\nbuild-backend = "setuptools.build_meta"\n'
TABLE = "[tool.adcore]\n"


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that makes the plugin look installed, with the fake engine."""
    folder = tmp_path_factory.mktemp("plugin")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = folder / f"adcore-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: adcore\nVersion: {project['version']}\n")
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
            for group, points in project["entry-points"].items()
        )
    )
    (folder / "fake_driver.py").write_text((ROOT / "tests/fake_driver.py").read_text())
    (folder / "sitecustomize.py").write_text(
        textwrap.dedent("""
            import importlib.abc, importlib.util, os, sys
            class Finder(importlib.abc.MetaPathFinder):
                def find_spec(self, name, path, target=None):
                    if name == "adcore.driver":
                        here = os.path.dirname(__file__)
                        return importlib.util.spec_from_file_location(name, os.path.join(here, "fake_driver.py"))
            sys.meta_path.insert(0, Finder())
        """)
    )
    return folder


@dataclass
class Project:
    """A project on disk. Files by name, parents made."""

    root: Path
    plugin: Path
    environment: dict[str, str] = field(default_factory=dict)
    log: str = ""

    def write(self, files: dict[str, str]) -> Project:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self

    def run(self, code: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ADCORE_")}
        environment |= {"PYTHONPATH": os.pathsep.join([str(self.plugin), str(ROOT)]), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", code]
        environment |= self.environment
        return subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)

    def hook(self, name: str, settings: str = "None") -> Path:
        """The file that a PEP 517 hook makes."""
        code = "import sys; sys.argv = ['setup.py']; import setuptools.build_meta as b; "
        code += f"print(b.{name}('dist', {settings}))"
        (self.root / "dist").mkdir(exist_ok=True)
        done = self.run(code)
        assert done.returncode == 0, done.stdout + done.stderr
        self.log = done.stdout + done.stderr
        return self.root / "dist" / done.stdout.strip().splitlines()[-1]

    def wheel(self) -> Path:
        return self.hook("build_wheel")

    def sdist(self) -> list[str]:
        with tarfile.open(self.hook("build_sdist")) as archive:
            return sorted(name.partition("/")[2] for name in archive.getnames())


def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if ".dist-info/" not in name)


def digest(wheel: Path, module: str, tmp_path: Path) -> str:
    """What the extension in the wheel says when it is imported."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    code = f"import {module} as m; print(m.digest)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "installed"), str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path, plugin: Path) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder, plugin)


def toml(*, setuptools: str = "", table: str = TABLE, project: str = PROJECT) -> str:
    return project + SYSTEM + setuptools + table


FLAT = {"pyproject.toml": toml(), "demo/__init__.py": "", "demo/model.py": MODEL, "demo/helpers.py": HELPERS}
SRC = {name.replace("demo/", "src/demo/"): text for name, text in FLAT.items()}
SINGLE = {"pyproject.toml": toml(setuptools='[tool.setuptools]\npy-modules = ["single"]\n'), "single.py": MODEL}
NAMESPACE = {"pyproject.toml": toml(), "src/spaced/demo/__init__.py": "", "src/spaced/demo/model.py": MODEL}
BARE_NAMESPACE = {"pyproject.toml": toml(), "src/spaced/model.py": MODEL, "src/spaced/deep/other.py": HELPERS}
TWO = {
    "pyproject.toml": toml(setuptools='[tool.setuptools]\npackages = ["one", "two", "two.sub", "pure"]\n'),
    "one/__init__.py": MODEL,
    "two/__init__.py": "",
    "two/sub/__init__.py": "",
    "two/sub/model.py": MODEL,
    "pure/__init__.py": "",
}
MAPPED = {
    "pyproject.toml": toml(setuptools='[tool.setuptools]\npackages = ["demo"]\npackage-dir = { demo = "lib" }\n'),
    "lib/__init__.py": "",
    "lib/model.py": MODEL,
}
LAYOUTS = {
    "flat": (FLAT, ["demo/_adcore.abi3.so"], "demo"),
    "src": (SRC, ["demo/_adcore.abi3.so"], "src/demo"),
    "single": (SINGLE, ["_adcore_single.abi3.so"], "."),
    "namespace": (NAMESPACE, ["spaced/demo/_adcore.abi3.so"], "src/spaced/demo"),
    "bare namespace": (BARE_NAMESPACE, ["spaced/_adcore.abi3.so"], "src/spaced"),
    "two packages": (TWO, ["one/_adcore.abi3.so", "two/_adcore.abi3.so"], "one"),
    "package-dir": (MAPPED, ["demo/_adcore.abi3.so"], "lib"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_wheels_of_every_layout(project: Project, tmp_path: Path, layout: str) -> None:
    files, extensions, _ = LAYOUTS[layout]
    wheel = project.write(files).wheel()
    assert wheel.name == f"demo-1.0-{TAG}.whl"
    assert [name for name in names(wheel) if name.endswith(".so")] == extensions
    for extension in extensions:
        assert len(digest(wheel, extension.removesuffix(".abi3.so").replace("/", "."), tmp_path)) == 64
    assert not list(project.root.glob("**/src/**/*.so")), "a wheel is built outside of the sources"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sdists_hold_sources_and_no_outputs(project: Project, layout: str) -> None:
    files, _, folder = LAYOUTS[layout]
    project.write(files | {"MANIFEST.in": f"graft {folder}\n"})
    (project.root / folder / "_adcore.abi3.so").write_bytes(b"left by an editable install")
    listed = project.sdist()
    assert not [name for name in listed if name.endswith(".so")]
    assert set(files) <= set(listed)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mode", ["lenient", "strict", "compat"])
def test_editable_installs_build_in_place(project: Project, layout: str, mode: str) -> None:
    files, extensions, folder = LAYOUTS[layout]
    project.write(files)
    project.hook("build_editable", f"{{'--build-option': [], 'editable_mode': '{mode}'}}")
    names_made = [file.name for file in (project.root / folder).glob("*.so")]
    assert names_made == [Path(extensions[0]).name]


def test_a_package_without_autodiff_stays_pure(project: Project) -> None:
    wheel = project.write(FLAT | {"demo/model.py": "# autodiff of adcore is mentioned only\n" + HELPERS}).wheel()
    assert wheel.name == "demo-1.0-py3-none-any.whl"


def test_excluded_modules_do_not_make_a_package_impure(project: Project) -> None:
    table = '[tool.adcore]\nexclude = ["demo.m*"]\n'
    assert project.write(FLAT | {"pyproject.toml": toml(table=table)}).wheel().name.endswith("py3-none-any.whl")


def test_without_a_table_nothing_is_imported_or_built(project: Project) -> None:
    project.write(FLAT | {"pyproject.toml": toml(table="")})
    assert project.wheel().name == "demo-1.0-py3-none-any.whl"
    done = project.run(
        "import setuptools, sys; setuptools.Distribution();"
        "print('buildplug.setuptools_hook' in sys.modules, 'buildplug.command' in sys.modules, 'adcore' in sys.modules)"
    )
    assert done.stdout.split() == ["True", "False", "False"], done.stderr


def test_an_unchanged_project_gives_the_same_bytes(project: Project, tmp_path: Path, plugin: Path) -> None:
    project.environment["SOURCE_DATE_EPOCH"] = "1700000000"
    first = project.write(SRC).wheel().read_bytes()
    other = tmp_path / "another/place"
    other.mkdir(parents=True)
    twin = Project(other, plugin, {**project.environment, "PYTHONHASHSEED": "7"})
    assert twin.write(SRC).wheel().read_bytes() == first
    project.write({"src/demo/helpers.py": HELPERS + "# changed\n"})
    assert project.wheel().read_bytes() != first


def test_a_second_build_ships_the_new_code_and_no_leftovers(project: Project, tmp_path: Path) -> None:
    project.write(TWO)
    before = digest(project.wheel(), "one._adcore", tmp_path)
    project.write({"one/__init__.py": MODEL + "# edited\n", "two/sub/model.py": HELPERS})
    wheel = project.wheel()
    assert [name for name in names(wheel) if name.endswith(".so")] == ["one/_adcore.abi3.so"]
    assert digest(wheel, "one._adcore", tmp_path) != before
    project.write({"one/__init__.py": ""})
    assert project.wheel().name == "demo-1.0-py3-none-any.whl"
    assert not [name for name in names(project.wheel()) if name.endswith(".so")]


def test_an_editable_install_removes_leftovers(project: Project) -> None:
    project.write(FLAT).hook("build_editable")
    assert (project.root / "demo/_adcore.abi3.so").exists()
    project.write({"demo/model.py": HELPERS}).hook("build_editable")
    assert not list(project.root.glob("demo/*.so"))


def test_an_unchanged_extension_is_not_touched(project: Project) -> None:
    project.write(FLAT).hook("build_editable")
    extension = project.root / "demo/_adcore.abi3.so"
    assert extension.stat().st_mode & 0o777 == 0o755
    before = extension.stat()
    project.hook("build_editable")
    assert (extension.stat().st_ino, extension.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def failure(project: Project) -> str:
    """What a failing build prints, through `setup.py` as the PEP 517 front ends show it."""
    done = project.run("import sys; sys.argv = ['setup.py', 'bdist_wheel']; import setuptools; setuptools.setup()")
    assert done.returncode == 1
    return done.stderr


def test_bad_source_and_bad_options_stop_the_build_without_a_traceback(project: Project) -> None:
    files = FLAT | {
        "pyproject.toml": toml(table="[tool.adcore]\nfastmat = true\n"),
        "demo/model.py": MODEL + "\n@autodiff\ndef bad(x: float) -> float:\n    return x\n",
    }
    text = failure(project.write(files))
    assert "Traceback" not in text
    assert "demo/model.py:8:5: error[language/unsupported-statement] `bad` cannot be compiled: it is bad" in text
    assert "pyproject.toml:8:1: error[config/unknown-key]" in text
    assert "def bad(x: float) -> float:" in text
    assert "^^^" in text
    assert text.count("it is bad") == 1
    assert not list(project.root.glob("build/**/*.so"))


def test_bad_options_stop_a_build_that_has_nothing_to_compile(project: Project) -> None:
    table = "[tool.adcore]\nfastmat = true\n"
    text = failure(project.write(FLAT | {"pyproject.toml": toml(table=table), "demo/model.py": HELPERS}))
    assert "config/unknown-key" in text


def test_a_bad_environment_variable_stops_the_build(project: Project) -> None:
    project.environment["ADCORE_FASTMATH"] = "perhaps"
    text = failure(project.write(FLAT))
    assert "ADCORE_FASTMATH" in text
    assert "Traceback" not in text


def test_warnings_are_printed_and_do_not_stop_the_build(project: Project) -> None:
    project.write(FLAT | {"demo/helpers.py": "def odd(x):\n    return 1.0\n"}).wheel()
    assert "demo/helpers.py:1:5: warning[activity/zero-derivative]" in project.log
    assert "demo.model: done" in project.log


def test_a_module_that_raises_at_import_builds(project: Project) -> None:
    assert project.write(FLAT | {"demo/__init__.py": "raise SystemExit(3)\n"}).wheel().name.endswith(f"{TAG}.whl")


def test_other_extensions_keep_their_own_tag(project: Project) -> None:
    pytest.importorskip("setuptools", minversion="74.1")
    extension = '[[tool.setuptools.ext-modules]]\nname = "demo._c"\nsources = ["c.c"]\noptional = true\n'
    wheel = project.write(FLAT | {"pyproject.toml": toml(setuptools=extension), "c.c": "not C\n"}).wheel()
    version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert wheel.name == f"demo-1.0-{version}-{version}-linux_x86_64.whl"
    assert "demo/_adcore.abi3.so" in names(wheel)


def test_a_build_command_of_the_project_is_kept(project: Project) -> None:
    script = """
        from setuptools import setup
        from setuptools.command.build import build
        class mine(build):
            def run(self):
                open("mine.txt", "w").close()
                super().run()
        setup(cmdclass={"build": mine})
    """
    wheel = project.write(FLAT | {"setup.py": textwrap.dedent(script)}).wheel()
    assert (project.root / "mine.txt").exists()
    assert "demo/_adcore.abi3.so" in names(wheel)


def test_no_compiler_or_linker_is_needed(project: Project, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    project.environment["PATH"] = str(tmp_path / "empty")
    assert "demo/_adcore.abi3.so" in names(project.write(FLAT).wheel())


def test_elsewhere_a_missing_compiler_is_named(project: Project, tmp_path: Path) -> None:
    project.environment |= {"_PYTHON_HOST_PLATFORM": "linux-riscv64", "LDSHARED": "nocc -shared"}
    text = failure(project.write(FLAT))
    assert "on linux-riscv64 a C compiler is needed to link the extension, and nocc is not there" in text
    assert "Traceback" not in text


def test_elsewhere_the_compiler_links(project: Project, tmp_path: Path) -> None:
    """The path for other platforms, tried on this one, whose compiler can link the object."""
    if shutil.which("gcc") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("gcc is not installed")
    project.environment |= {"_PYTHON_HOST_PLATFORM": "other-x86_64", "LDSHARED": "gcc -shared"}
    assert len(digest(project.write(FLAT).wheel(), "demo._adcore", tmp_path)) == 64
