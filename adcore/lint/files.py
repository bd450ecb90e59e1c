"""Which files a lint step reads: `.py` files and `pyproject.toml` below the given paths, in an order that never varies.

Left out below a folder: hidden names, virtual environments, what builds and package managers leave behind. A path that
is named itself is always read. Each file appears once, under the name that the user gave or that is relative to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adcore.frontend.layout import CONFIG

_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "__pypackages__", "venv"})
_OUTPUT = frozenset({"build", "dist"})


@dataclass(frozen=True, slots=True)
class Found:
    """A file, or a path that cannot be read and why. `name` is for people, `path` is absolute."""

    name: str
    path: str
    problem: str | None = None


def collect(paths: Sequence[str]) -> Iterator[Found]:
    """The files of all paths, in the order of the paths and, below a folder, of the names."""
    seen: set[str] = set()
    for given in paths:
        for found in _below(given) if os.path.isdir(given) else [_named(given)]:
            if found.path not in seen:
                seen.add(found.path)
                yield found


def shown(path: str) -> str:
    """A path for people and programs: `/` between its parts, `./` left out."""
    return os.path.normpath(path).replace(os.sep, "/")


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be read, as the end of a sentence. ValueError: the path has a null character."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def _named(given: str) -> Found:
    try:
        os.stat(given)
    except (OSError, ValueError) as error:
        return Found(given, os.path.abspath(given), reason(error))
    return Found(shown(given), os.path.abspath(given))


def _below(folder: str) -> Iterator[Found]:
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield Found(shown(folder), os.path.abspath(folder), reason(error))
        return
    for entry in inside:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if not _left_out(entry.name, entry.path):
                yield from _below(entry.path)
        elif (entry.name.endswith(".py") or entry.name == CONFIG) and entry.is_file():
            yield Found(shown(entry.path), os.path.abspath(entry.path))


def _left_out(name: str, path: str) -> bool:
    if name in _SKIPPED or name.endswith(".egg-info") or os.path.isfile(os.path.join(path, "pyvenv.cfg")):
        return True
    return name in _OUTPUT and not os.path.isfile(os.path.join(path, "__init__.py"))
