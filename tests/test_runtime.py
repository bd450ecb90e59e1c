"""Decorator, binding and staleness, against a fake extension: a Python module with the same names and metadata.

Packages are written to a folder, imported from there and edited; no compiler takes part.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import pickle
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adcore
from adcore import NotCompiledError, autodiff, binding
from adcore.hashing import NameHashes, source_hash, table_hash

MODEL = '''
from adcore import autodiff
from adcore.typing import Vector
from fakepkg.helpers import scale, UNUSED

FACTOR = 3.0

@autodiff(wrt="x")
def cube(x: float, shift: float = 0.5) -> float:
    """A cube."""
    return scale(FACTOR * x) ** 3 + shift

def plain(x: float) -> float:
    return x * x

slope = autodiff(plain, wrt="x")

@autodiff(mode="none")
def bare(x: float) -> float:
    return x
'''
HELPERS = """
UNUSED = 1.0

def scale(x):
    return 2.0 * x
"""


def index(text: str) -> NameHashes:
    return NameHashes(ast.parse(text))


@dataclass
class Package:
    """A package on disk and what a build would know of it. `table` is the [tool.adcore] that it was built with."""

    root: Path
    model: str = MODEL
    helpers: str = HELPERS
    table: dict[str, Any] = field(default_factory=dict)
    abi: int = 1
    members: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def build(self) -> Package:
        """Write the sources, and the extension as a Python file that stands where the loader looks for one."""
        folder = self.root / "fakepkg"
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text("")
        self.write()
        (folder / "_adcore.py").write_text(
            f"__adcore_abi__ = {self.abi}\n__adcore_meta__ = {json.dumps(self.metadata())!r}\n"
            "import tests_fake_members\nglobals().update(tests_fake_members.MEMBERS)\n"
        )
        fake = types.ModuleType("tests_fake_members")
        fake.MEMBERS = self.members  # type: ignore[attr-defined]
        sys.modules["tests_fake_members"] = fake
        return self

    def write(self) -> None:
        (self.root / "fakepkg/model.py").write_text(self.model)
        (self.root / "fakepkg/helpers.py").write_text(self.helpers)

    def metadata(self) -> dict[str, Any]:
        model, helpers = index(self.model), index(self.helpers)

        def deps(*names: str) -> list[dict[str, Any]]:
            return [{"module": "fakepkg.model", "name": name, "sha256": model.of(name)} for name in names]

        scale = {"module": "fakepkg.helpers", "name": "scale", "sha256": helpers.of("scale")}
        functions: dict[str, dict[str, Any]] = {
            "cube": {"deps": [*deps("cube", "FACTOR"), scale], "wrt": ["x"]},
            "slope": {"deps": deps("slope", "plain"), "wrt": ["x"]},
            "bare": {"deps": deps("bare"), "wrt": []},
        }
        for name, function in functions.items():
            prefix = f"fakepkg.model:{name}."
            made = [key.removeprefix(prefix) for key in self.members if key.startswith(prefix)]
            function |= {"bare": True, "members": made, "line": 1}
            function["options_sha256"] = table_hash(self.table, f"fakepkg.model:{name}")
        return {
            "abi": self.abi,
            "adcore": adcore.__version__,
            "package": "fakepkg",
            "modules": {
                "fakepkg.model": {
                    "path": "fakepkg/model.py",
                    "sha256": source_hash(self.model),
                    "functions": functions,
                },
                "fakepkg.helpers": {"path": "fakepkg/helpers.py", "sha256": source_hash(self.helpers), "functions": {}},
            },
        }

    def load(self) -> Any:
        """The model module, imported as in a new process."""
        forget()
        importlib.invalidate_caches()
        return importlib.import_module("fakepkg.model")


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "fakepkg"]:
        del sys.modules[name]
    binding._loaded = binding.Loaded()


def members() -> dict[str, Callable[..., Any]]:
    """Answers that no Python function here would give, so that it is seen who answered."""
    return {
        "fakepkg.model:cube.primal": lambda *args: ("compiled", args),
        "fakepkg.model:cube.grad": lambda *args: ("grad", args),
        "fakepkg.model:cube.value_and_grad": lambda *args: ("both", args),
        "fakepkg.model:cube.vjp": lambda args, cotangents: (0.0, 10.0 * cotangents),
        "fakepkg.model:slope.primal": lambda x: ("slope", x),
        "fakepkg.model:slope.vjp": lambda args, cotangents: (0.0, 1.0),
        "fakepkg.model:bare.primal": lambda x: ("bare", x),
    }


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("ADCORE_FALLBACK", raising=False)
    monkeypatch.setenv("ADCORE_DEVELOPMENT", "off")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Package(tmp_path, members=members()).build()
    forget()


def refusal(call: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(NotCompiledError) as caught:
        call(*args)
    return str(caught.value)


# ---- bound


def test_calls_reach_the_compiled_members(package: Package) -> None:
    cube = package.load().cube
    assert cube(2.0, 1.0) == ("compiled", (2.0, 1.0))
    assert cube.grad(2.0, 1.0) == ("grad", (2.0, 1.0))
    assert cube.value_and_grad(2.0, 1.0) == ("both", (2.0, 1.0))
    assert cube.vjp((2.0, 1.0), 3.0) == (0.0, 30.0)


def test_members_are_the_builtins_themselves(package: Package) -> None:
    cube = package.load().cube
    cube.grad  # noqa: B018
    assert cube.__dict__["grad"] is package.members["fakepkg.model:cube.grad"]
    assert inspect.getattr_static(type(cube), "__call__").__func__ is package.members["fakepkg.model:cube.primal"]


def test_call_form_has_the_name_that_it_was_assigned_to(package: Package) -> None:
    model = package.load()
    assert model.slope(3.0) == ("slope", 3.0)
    assert model.slope.__wrapped__ is model.plain
    assert pickle.loads(pickle.dumps(model.slope)) is model.slope


def test_it_looks_like_the_function(package: Package) -> None:
    cube = package.load().cube
    assert (cube.__name__, cube.__qualname__, cube.__module__) == ("cube", "cube", "fakepkg.model")
    assert cube.__doc__ == "A cube."
    assert str(inspect.signature(cube)) == "(x: float, shift: float = 0.5) -> float"
    assert cube.__signature__ == inspect.signature(cube.__wrapped__)
    assert cube.__wrapped__(1.0) == 216.5
    assert "grad" in dir(cube)
    assert "jvp" not in dir(cube)


def test_repr_says_whether_it_is_compiled(package: Package) -> None:
    cube = package.load().cube
    assert repr(cube) == "<autodiff fakepkg.model.cube: not used yet>"
    cube(1.0)
    assert repr(cube) == "<autodiff fakepkg.model.cube: compiled>"


def test_pickles_by_reference_before_and_after_binding(package: Package) -> None:
    cube = package.load().cube
    assert pickle.loads(pickle.dumps(cube)) is cube
    cube(1.0)
    assert pickle.loads(pickle.dumps(cube)) is cube


def test_jacobian_is_put_together_from_vjp(package: Package) -> None:
    package.members["fakepkg.model:cube.primal"] = lambda x, shift: np.array([x, shift, 1.0])
    package.members["fakepkg.model:cube.vjp"] = lambda args, ct: (None, float(ct @ np.array([1.0, 2.0, args[0]])))
    cube = package.build().load().cube
    np.testing.assert_array_equal(cube.jacobian(7.0), [1.0, 2.0, 7.0])
    np.testing.assert_array_equal(cube.jacobian(shift=1.0, x=8.0), [1.0, 2.0, 8.0])


def test_jacobian_nests_outputs_then_parameters() -> None:
    from adcore.jacobian import reverse_jacobian

    matrix = np.arange(6.0).reshape(2, 3)

    def vjp(args: tuple[Any, ...], cotangents: Any) -> Any:
        first, second = cotangents
        return None, (first @ matrix + second * args[0], second * 5.0)

    extension = types.SimpleNamespace(modules={"m": {"functions": {"f": {}}}})
    entry = types.SimpleNamespace(
        extension=extension, module="m", wrt=("x", "s"), bare=False, name="f",
        builtin=lambda _: lambda x, s: (matrix @ x, 5.0 * s),
    )  # fmt: skip
    jacobian = reverse_jacobian("f", vjp, lambda x, s: (x, s), entry)  # type: ignore[arg-type]
    x = np.array([1.0, 2.0, 3.0])
    (rows_x, rows_s), (scalar_x, scalar_s) = jacobian(x, 4.0)
    np.testing.assert_array_equal(rows_x, matrix)
    np.testing.assert_array_equal(rows_s, [0.0, 0.0])
    np.testing.assert_array_equal(scalar_x, x)
    assert scalar_s == 5.0


@pytest.mark.parametrize("call", [("cube",), ("cube", 1.0, 2.0, 3.0), ("cube", {"y": 1.0}), ("cube", 1.0, {"x": 2.0})])
def test_wrong_calls_get_the_words_of_cpython(package: Package, call: tuple[Any, ...]) -> None:
    model = package.load()
    function = getattr(model, call[0])
    function(1.0)
    args = tuple(arg for arg in call[1:] if not isinstance(arg, dict))
    kwargs: dict[str, Any] = next((arg for arg in call[1:] if isinstance(arg, dict)), {})
    bind = sys.modules["fakepkg._adcore"].__adcore_bind__
    with pytest.raises(TypeError) as ours:
        bind("fakepkg.model:cube.grad", args, kwargs)
    with pytest.raises(TypeError) as pythons:
        function.__wrapped__(*args, **kwargs)
    assert str(ours.value) == str(pythons.value)


def test_arguments_are_put_in_order(package: Package) -> None:
    package.load().cube(1.0)
    bind = sys.modules["fakepkg._adcore"].__adcore_bind__
    assert bind("fakepkg.model:cube.primal", (1.0,), {}) == (1.0, 0.5)
    assert bind("fakepkg.model:cube.vjp", (), {"shift": 1.0, "x": 2.0}) == (2.0, 1.0)


def test_bound_functions_have_no_slow_path(package: Package) -> None:
    cube = package.load().cube
    cube(1.0)
    assert not hasattr(type(cube), "__getattr__")


# ---- members that were not asked for


@pytest.mark.parametrize(
    ("name", "member", "words"),
    [
        ("cube", "jvp", 'mode="forward" or mode="both"'),
        ("cube", "hessian", "order=2"),
        ("bare", "grad", 'mode="reverse" or mode="both"'),
        ("slope", "grad", "one real scalar output; use plain.vjp"),
        ("cube", "gradient", "has no attribute 'gradient'"),
    ],
)
def test_other_members_name_the_option(package: Package, name: str, member: str, words: str) -> None:
    function = getattr(package.load(), name)
    for _ in ("before it is bound", "and after"):
        with pytest.raises(AttributeError, match=words):
            getattr(function, member)
        assert not hasattr(function, member)
        function(1.0)


# ---- absent and stale


def test_without_an_extension_every_call_raises_and_import_does_not(package: Package) -> None:
    (package.root / "fakepkg/_adcore.py").unlink()
    cube = package.load().cube
    for call, args in ((cube, (1.0,)), (cube.grad, (1.0,)), (cube.vjp, ((1.0, 1.0), 1.0)), (cube.jacobian, (1.0,))):
        message = refusal(call, *args)
        assert message.startswith("fakepkg.model.cube is not compiled: there is no extension _adcore in ")
        assert "pip install ." in message
    assert hasattr(cube, "grad")
    assert "not compiled" in repr(cube)


EDITS = {
    "the function": ("model", "** 3", "** 4", "its source has changed"),
    "a constant": ("model", "FACTOR = 3.0", "FACTOR = 4.0", "FACTOR in fakepkg.model has changed"),
    "a helper of another module": ("helpers", "2.0 * x", "2.5 * x", "scale in fakepkg.helpers has changed"),
    "an option": ("model", '@autodiff(wrt="x")\ndef cube', "@autodiff\ndef cube", "its source has changed"),
    "a default": ("model", "shift: float = 0.5", "shift: float = 0.25", "its source has changed"),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_makes_the_function_stale(package: Package, what: str) -> None:
    where, old, new, words = EDITS[what]
    assert old in getattr(package, where)
    setattr(package, where, getattr(package, where).replace(old, new))
    package.write()
    cube = package.load().cube
    for call in (cube, cube.grad, cube.value_and_grad):
        message = refusal(call, 1.0)
        assert words in message
        assert "Rebuild the package with `pip install .`" in message


@pytest.mark.parametrize(
    ("where", "old", "new"),
    [
        ("model", '"""A cube."""', '"""The cube of a scaled number."""  # with a comment'),
        ("model", "\ndef plain", "\n\n\n# moved down\ndef plain"),
        ("model", "return x\n", "return x + 1.0\n"),
        ("helpers", "UNUSED = 1.0", "UNUSED = 2.0"),
    ],
)
def test_edits_elsewhere_leave_it_fresh(package: Package, where: str, old: str, new: str) -> None:
    assert old in getattr(package, where)
    setattr(package, where, getattr(package, where).replace(old, new))
    package.write()
    assert package.load().cube(1.0) == ("compiled", (1.0,))


def test_one_stale_function_leaves_its_neighbours(package: Package) -> None:
    package.model = package.model.replace("** 3", "** 4")
    package.write()
    model = package.load()
    assert model.slope(1.0) == ("slope", 1.0)
    refusal(model.cube, 1.0)


def test_the_text_of_import_time_counts(package: Package) -> None:
    """A file that is replaced under a running process does not break it."""
    model = package.load()
    package.model = package.model.replace("** 3", "** 4")
    text = package.root / "fakepkg/model.py"
    status = text.stat()
    package.write()
    os.utime(text, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))
    assert model.cube(1.0) == ("compiled", (1.0,))


def test_reloading_an_edited_module_sees_the_edit(package: Package) -> None:
    model = package.load()
    model.cube(1.0)
    package.model = package.model.replace("** 3", "** 40")
    package.write()
    refusal(importlib.reload(model).cube, 1.0)


def test_a_change_that_cannot_be_judged_is_stale(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = package.metadata()
    metadata["modules"]["fakepkg.model"]["functions"]["cube"]["deps"] = []
    monkeypatch.setattr(package, "metadata", lambda: metadata)
    package.build()
    package.model += "# edited\n"
    package.write()
    assert "the source in fakepkg.model has changed" in refusal(package.load().cube, 1.0)


def test_source_that_does_not_parse_is_stale(package: Package) -> None:
    cube = package.load().cube
    package.helpers += "def broken(:\n"
    package.write()
    assert "does not parse" in refusal(cube, 1.0)


def test_without_source_the_extension_is_trusted(package: Package) -> None:
    model = package.load()
    forget()
    sys.modules["fakepkg"] = importlib.import_module("fakepkg")
    home = types.ModuleType("fakepkg.model")
    home.__dict__.update(__file__=str(package.root / "fakepkg/model.pyc"))
    exec(compile(MODEL, "fakepkg/model.pyc", "exec"), home.__dict__)
    (package.root / "fakepkg/helpers.py").unlink()
    (package.root / "fakepkg/model.py").unlink()
    assert home.cube(1.0) == ("compiled", (1.0,))
    assert model is not home


@pytest.mark.parametrize(("abi", "words"), [(2, "Upgrade adcore"), (0, "Rebuild the package")])
def test_another_abi_is_not_used(package: Package, abi: int, words: str) -> None:
    package.abi = abi
    message = refusal(package.build().load().cube, 1.0)
    assert f"has run-time ABI {abi}, and this adcore has 1" in message
    assert words in message


def test_an_extension_that_does_not_load_is_a_reason(package: Package) -> None:
    (package.root / "fakepkg/_adcore.py").write_text("raise OSError('libm.so.7 is missing')\n")
    message = refusal(package.load().cube, 1.0)
    assert "cannot be loaded (OSError: libm.so.7 is missing)" in message


def test_a_function_that_the_build_did_not_have_is_named(package: Package) -> None:
    package.model += "\n@autodiff\ndef later(x: float) -> float:\n    return x\n"
    package.write()
    message = refusal(package.load().later, 1.0)
    assert message.startswith("fakepkg.model.later is not compiled: it was not in the package when ")


def test_a_member_that_the_extension_lacks_is_a_reason(package: Package) -> None:
    del package.members["fakepkg.model:cube.grad"]
    assert "lacks fakepkg.model:cube.grad" in refusal(package.load().cube, 1.0)


# ---- options of the project


def project(package: Package, text: str) -> None:
    (package.root / "pyproject.toml").write_text(text)


def test_a_changed_table_makes_it_stale_in_a_checkout(package: Package) -> None:
    package.table = {"fastmath": True}
    package.build()
    project(package, "[tool.adcore]\nfastmath = true\nexclude = ['a']\n")
    assert package.load().cube(1.0) == ("compiled", (1.0,))
    project(package, "[tool.adcore]\nfastmath = false\n")
    assert f"its options in {package.root / 'pyproject.toml'} have changed" in refusal(package.load().cube, 1.0)


def test_the_table_of_another_function_does_not_matter(package: Package) -> None:
    project(package, "[tool.adcore.functions.'fakepkg.model:slope']\nfastmath = true\n")
    model = package.load()
    assert model.cube(1.0) == ("compiled", (1.0,))
    refusal(model.slope, 1.0)


def test_an_installed_package_carries_its_options(package: Package) -> None:
    (package.root / "fakepkg-1.0.dist-info").mkdir()
    project(package, "[tool.adcore]\nfastmath = true\n")
    assert package.load().cube(1.0) == ("compiled", (1.0,))


@pytest.mark.parametrize("text", ["[project]\nname = 'other'\n", "[tool.ruff]\n# not adcore\n"])
def test_other_projects_do_not_matter(package: Package, text: str) -> None:
    package.table = {"fastmath": True}
    package.build()
    project(package, text)
    assert package.load().cube(1.0) == ("compiled", (1.0,))


def test_a_broken_table_is_a_reason(package: Package) -> None:
    project(package, "[tool.adcore\n")
    assert "pyproject.toml cannot be read" in refusal(package.load().cube, 1.0)


# ---- Python instead


def test_fallback_runs_the_primal_and_no_derivative(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    (package.root / "fakepkg/_adcore.py").unlink()
    monkeypatch.setenv("ADCORE_FALLBACK", "python")
    cube = package.load().cube
    assert cube(1.0) == 216.5
    assert cube(x=1.0, shift=1.0) == 217.0
    for member in (cube.grad, cube.value_and_grad, cube.jacobian):
        assert "there is no extension" in refusal(member, 1.0)


def test_an_unknown_fallback_is_not_ignored_silently(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    (package.root / "fakepkg/_adcore.py").unlink()
    monkeypatch.setenv("ADCORE_FALLBACK", "pyhton")
    cube = package.load().cube
    with pytest.warns(RuntimeWarning, match="ADCORE_FALLBACK='pyhton'"):
        refusal(cube, 1.0)


# ---- places where nothing is compiled


def test_inside_a_function_it_is_not_compiled() -> None:
    @autodiff
    def inner(x: float) -> float:
        return x

    assert "not at the top level" in refusal(inner, 1.0)


def test_without_a_name_it_is_not_compiled_as_something_else(package: Package) -> None:
    """`autodiff(plain, ...)` of another use must not answer for an expression."""
    package.model = package.model.replace(
        'slope = autodiff(plain, wrt="x")', "plain = autodiff(plain)\npair = [autodiff(plain.__wrapped__, wrt='x')]"
    )
    model = package.build().load()
    assert "no name at the top level of fakepkg.model stands for it" in refusal(model.pair[0], 1.0)


def test_only_functions_are_accepted() -> None:
    with pytest.raises(TypeError, match="takes a function, not int"):
        autodiff(3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="modee"):
        autodiff(modee="reverse")  # type: ignore[call-overload]


def test_single_modules_and_scripts(tmp_path: Path) -> None:
    text = "from adcore import autodiff\n\n@autodiff\ndef f(x: float) -> float:\n    return x\n"
    (tmp_path / "single.py").write_text(text + "\nif __name__ == '__main__':\n    print(f(1.0))\n")
    metadata = {
        "modules": {
            "single": {
                "path": "single.py",
                "sha256": "other",
                "functions": {
                    "f": {
                        "deps": [{"module": "single", "name": "f", "sha256": index(text).of("f")}],
                        "wrt": ["x"],
                        "bare": True,
                        "members": ["primal"],
                        "options_sha256": table_hash(None, "single:f"),
                    }
                },
            }
        }
    }
    (tmp_path / "_adcore_single.py").write_text(
        f"__adcore_abi__ = 1\n__adcore_meta__ = {json.dumps(metadata)!r}\nglobals()['single:f.primal'] = lambda x: 42\n"
    )
    for command in (["single.py"], ["-m", "single"], ["-c", "import single; print(single.f(1.0))"]):
        done = python(*command, cwd=tmp_path)
        assert done == "42\n", command


def test_projects_that_share_a_namespace_keep_their_extensions_apart(tmp_path: Path) -> None:
    """`shared` has no __init__.py; one project has modules right in it, the other a package."""
    text = "from adcore import autodiff\n\n@autodiff\ndef f(x: float) -> float:\n    return x\n"
    inner = tmp_path / "shared/inner"
    inner.mkdir(parents=True)
    (inner / "__init__.py").write_text("")
    for folder, module, answer in ((tmp_path / "shared", "shared.model", 1), (inner, "shared.inner.model", 2)):
        (folder / "model.py").write_text(text)
        entry = {"deps": [], "wrt": ["x"], "bare": True, "members": ["primal"]}
        entry["options_sha256"] = table_hash(None, f"{module}:f")
        metadata = {"modules": {module: {"sha256": source_hash(text), "functions": {"f": entry}}}}
        (folder / "_adcore.py").write_text(
            f"__adcore_abi__ = 1\n__adcore_meta__ = {json.dumps(metadata)!r}\n"
            f"globals()['{module}:f.primal'] = lambda x: {answer}\n"
        )
    code = "import shared.model, shared.inner.model as other; print(shared.model.f(0.0), other.f(0.0))"
    assert python("-c", code, cwd=tmp_path) == "1 2\n"


def python(*arguments: str, cwd: Path | None = None) -> str:
    here = str(Path(adcore.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": here, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_adcore_costs_numpy_and_nothing_else() -> None:
    code = """
        import sys, numpy
        before = set(sys.modules)
        import adcore, adcore.typing
        new = {name.partition('.')[0] for name in set(sys.modules) - before}
        print(sorted(new - set(sys.stdlib_module_names)))
        print(sorted(name for name in sys.modules if name.startswith('adcore')))
        print(sorted({'ctypes', 'setuptools', 'tomllib', 'subprocess', 'inspect'} & (set(sys.modules) - before)))
    """
    ours = ["adcore", "adcore.api", "adcore.binding", "adcore.hashing", "adcore.runtime", "adcore.typing"]
    assert python("-c", textwrap.dedent(code)).splitlines() == ["['adcore']", str(ours), "[]"]


def test_version_is_that_of_the_distribution() -> None:
    import tomllib

    text = (Path(adcore.__file__).parent.parent / "pyproject.toml").read_text()
    assert tomllib.loads(text)["project"]["version"] == adcore.__version__
