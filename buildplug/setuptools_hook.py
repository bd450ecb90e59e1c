"""The entry point by which setuptools finds the plugin: it adds the step `build_autodiff` to projects that ask for it.

It runs for every setuptools project that is built in an environment with adcore, and before the project's configuration
has been read. So it returns at once where there is no `[tool.adcore]`, imports nothing heavy, and only registers; what
there is to compile is decided when the commands run.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setuptools import Distribution


def finalize(dist: Distribution) -> None:
    """Entry point of the group `setuptools.finalize_distribution_options`."""
    root = Path(getattr(dist, "src_root", None) or os.getcwd())
    project = _read_project(root / "pyproject.toml")
    table = project.get("tool", {}).get("adcore")
    if not isinstance(table, dict):
        return

    from buildplug.command import register

    register(dist, table)
    if _abi3_is_possible() and not _has_other_extensions(dist, project):
        abi3 = table.get("abi3")
        tag = abi3 if isinstance(abi3, str) and re.fullmatch(r"cp3\d+", abi3) else "cp311"
        # A default for the option `py-limited-api` of bdist_wheel; it has no effect on wheels without extensions.
        dist.get_option_dict("bdist_wheel").setdefault("py_limited_api", ("adcore", tag))


def _read_project(file: Path) -> Mapping[str, Any]:
    """The parsed file; empty where it does not concern adcore. Broken TOML is for setuptools, which reads it too."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    if "adcore" not in text:
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _abi3_is_possible() -> bool:
    return sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


def _has_other_extensions(dist: Distribution, project: Mapping[str, Any]) -> bool:
    """Whether the wheel may hold extensions that are not ours, and so must keep the tag of this Python."""
    tool = project.get("tool", {})
    declared = any(getattr(dist, name, None) for name in ("ext_modules", "rust_extensions", "cffi_modules"))
    return bool(declared or "setuptools-rust" in tool or tool.get("setuptools", {}).get("ext-modules"))
