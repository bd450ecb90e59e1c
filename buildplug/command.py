"""The step `build_autodiff` of a setuptools build: compile, link, and put the extensions where they belong.

It follows the protocol `setuptools.command.build.SubCommand`, so that wheels, sdists and editable installs of all three
modes know its inputs and outputs. Invariants: outputs are a function of the sources and options, never of earlier
builds; what an earlier build left behind is removed; a file is replaced as a whole, and only if its bytes differ.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from setuptools import Command, Distribution
from setuptools.command.build import build
from setuptools.command.sdist import sdist
from setuptools.errors import CompileError

from buildplug.outputs import remove_leftovers, write_extension
from buildplug.project import Unit, is_output, units_to_compile


def register(dist: Distribution, table: Mapping[str, object]) -> None:
    """Make the step part of the build of `dist`; `table` is its `[tool.adcore]`."""
    base_build = dist.cmdclass.get("build", build)
    base_sdist = dist.cmdclass.get("sdist", sdist)
    has_other_extensions = dist.has_ext_modules

    class BuildWithAutodiff(base_build):  # type: ignore[valid-type,misc]
        sub_commands = [*base_build.sub_commands, ("build_autodiff", None)]  # noqa: RUF012

    class SdistWithoutOutputs(base_sdist):  # type: ignore[valid-type,misc]
        def make_release_tree(self, base_dir: str, files: Iterable[str]) -> None:
            """Leave out extensions that editable installs have put among the sources."""
            super().make_release_tree(base_dir, [file for file in files if not is_output(file)])

    dist.cmdclass |= {
        "build": BuildWithAutodiff,
        "sdist": SdistWithoutOutputs,
        "build_autodiff": type("build_autodiff", (BuildAutodiff,), {"table": table}),
    }
    # What decides between a pure wheel and one for a platform.
    dist.has_ext_modules = lambda: has_other_extensions() or bool(find_units(dist, table))  # type: ignore[method-assign]


def find_units(dist: Distribution, table: Mapping[str, object]) -> list[Unit]:
    """What `dist` has to compile."""
    return units_to_compile(find_modules(dist), table)


def find_modules(dist: Distribution) -> list[tuple[str, str, str]]:
    """(package, module, path) of every module, as the project's own `build_py` has them.

    That command is not finalised, since this would ask whether there are extensions, which is the question here.
    """
    finder: Any = dist.get_command_class("build_py")(dist)
    finder.packages, finder.py_modules = dist.packages, dist.py_modules
    finder.package_dir = {name: os.path.normpath(folder) for name, folder in (dist.package_dir or {}).items()}
    return list(finder.find_all_modules())


class BuildAutodiff(Command):
    """The step; `register` makes a subclass with the project's table."""

    description = "compile the functions that are marked with @autodiff, and their derivatives"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = [
        ("build-lib=", "d", "directory to put the extensions in"),
    ]
    table: ClassVar[Mapping[str, object]] = {}

    def initialize_options(self) -> None:
        self.build_lib: str | None = None
        self.editable_mode = False
        self.units: list[Unit] = []

    def finalize_options(self) -> None:
        self.set_undefined_options("build", ("build_lib", "build_lib"))
        self.units = find_units(self.distribution, self.table)

    def get_source_files(self) -> list[str]:
        return [str(path) for unit in self.units for path in unit.modules.values()]

    def get_outputs(self) -> list[str]:
        return [str(unit.output(self._build_folder)) for unit in self.units]

    def get_output_mapping(self) -> dict[str, str]:
        if not self.editable_mode:
            return {}
        return {str(unit.output(self._build_folder)): str(unit.in_place) for unit in self.units}

    def run(self) -> None:
        """Compile everything, then write everything: a build that fails leaves nothing half done."""
        # Only now: a project that is merely asked for its metadata does not pay for the engine.
        from buildplug.engine import BuildError, compile_units

        _check_interpreter()
        try:
            extensions = compile_units(Path(self.distribution.src_root or os.getcwd()), self.units)
        except BuildError as error:
            raise CompileError(str(error)) from None
        self.units = [unit for unit, _ in extensions]
        for unit, data in extensions:
            write_extension(self._target(unit), data)
        self._remove_leftovers()

    def _target(self, unit: Unit) -> Path:
        return unit.in_place if self.editable_mode else unit.output(self._build_folder)

    def _remove_leftovers(self) -> None:
        """Delete the extensions of earlier builds that this one did not make."""
        if self.editable_mode:
            folders = {Path(path).parent for _, _, path in find_modules(self.distribution)}
            found = [file for folder in folders for file in folder.glob("*.so")]
        else:
            found = list(self._build_folder.rglob("*.so"))
        remove_leftovers(found, map(self._target, self.units))

    @property
    def _build_folder(self) -> Path:
        assert self.build_lib is not None
        return Path(self.build_lib)


def _check_interpreter() -> None:
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise CompileError(f"adcore builds for CPython with the GIL; this is {sys.version}")
