"""What a build asks for in `[build-system]` of pyproject.toml: where adcore is required, and how its extra `build` is added.

Invariant: nothing but the one requirement changes; a file that is no TOML, or that requires nothing, has no place and no fix.
"""

from __future__ import annotations

import re

from adcore.edits import Edit, Fix, fix, insert
from adcore.source import SourceText, Span
from adcore.toml_spans import TomlNode, scan_toml

_REQUIREMENT = re.compile(r"""(["'])[ \t]*adcore(?:[ \t]*\[([^\]\r\n]*)\])?(?=[ \t]*["'<>=!~;@(])""", re.IGNORECASE)


def missing_extra(source: SourceText) -> tuple[Span, tuple[Fix, ...]] | None:
    """The place of the requirement that lacks the extra, and what adds it; None where nothing is required."""
    document = scan_toml(source.text)
    node = document.get("build-system", "requires")
    if node is None or node.kind != "array" or node.key is None:
        return None
    for element in node.elements:
        found = _REQUIREMENT.match(source.text, element.value[0]) if element.value else None
        if element.value is not None and found is not None:
            extras = [extra.strip() for extra in (found[2] or "").split(",") if extra.strip()]
            made = () if "build" in extras else fix("Add the extra `build`", _with_extra(source, found, extras))
            return source.span(*element.value), made
    return source.span(*node.key), fix("Require `adcore[build]`", _added(source, node))


def _with_extra(source: SourceText, found: re.Match[str], extras: list[str]) -> Edit:
    if found[2] is None:
        return insert(source, found.end(), "[build]")
    return Edit(source.span(*found.span(2)), ",".join([*extras, "build"]))


def _added(source: SourceText, requires: TomlNode) -> Edit | None:
    if requires.value is None:
        return None
    last = requires.elements[-1].value if requires.elements else None
    if last is not None:
        return insert(source, last[1], ', "adcore[build]"')
    return insert(source, requires.value[0] + 1, '"adcore[build]"')
