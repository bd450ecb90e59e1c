"""What an option means, at its name in a decorator or in `[tool.adcore]`, in the words of the option's row; and at `autodiff` or a compiled
function's name, what is generated for it and what its reverse pass keeps, in the words of `adcore.lint.facts`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adcore_lsp.convert import Range, offset, to_range
from adcore_lsp.features.diagnostics import to_lsp_range
from adcore_lsp.protocol import Document
from lsprotocol import types

from adcore.lint.facts import FunctionFacts
from adcore.option_values import Option
from adcore.options import OPTIONS
from adcore.toml_spans import scan_toml

_CALL = re.compile(r"\bautodiff\s*\(")
_KEYWORD = re.compile(r"(\w+)\s*=(?!=)")
_FARTHEST = 2000
"""Code points between `autodiff(` and an option's name."""


def hover(
    document: Document, position: types.Position, is_config: bool, functions: Sequence[FunctionFacts] = ()
) -> types.Hover | None:
    """Help on the option at a position, or the facts of the function that is asked for there."""
    at = offset(document.text, (position.line, position.character), document.encoding)
    found = _in_toml(document.source, at) if is_config else _in_decorator(document.source, at)
    if found is None:
        return None if is_config else _function(document, at, functions)
    option, (start, end) = found
    place: Range = to_range(document.text, document.text.span(start, end), document.encoding)
    contents = types.MarkupContent(types.MarkupKind.PlainText, _help(option, is_config))
    return types.Hover(contents, to_lsp_range(place))


def _function(document: Document, at: int, functions: Sequence[FunctionFacts]) -> types.Hover | None:
    """At the word `autodiff`: the function that it stands above or around; at a name in a `def` line: that function."""
    text = document.source
    start, end = at, at
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    word, line = text[start:end], text.count("\n", 0, start) + 1
    if word == "autodiff":
        facts = min((f for f in functions if f.span.line >= line), key=lambda f: f.span.line, default=None)
    else:
        facts = next((f for f in functions if f.name == word and f.span.line == line), None)
    if facts is None or text[text.rfind("\n", 0, start) + 1 :].startswith(("import ", "from ")):
        return None
    place: Range = to_range(document.text, document.text.span(start, end), document.encoding)
    contents = types.MarkupContent(types.MarkupKind.PlainText, facts.text)
    return types.Hover(contents, to_lsp_range(place))


def _in_decorator(text: str, at: int) -> tuple[Option, tuple[int, int]] | None:
    start = at
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    keyword = _KEYWORD.match(text, start)
    if keyword is None or keyword[1] not in OPTIONS or "decorator" not in OPTIONS[keyword[1]].places:
        return None
    before = text[max(0, start - _FARTHEST) : start]
    calls = [call.end() for call in _CALL.finditer(before)]
    if not calls or before.count("(", calls[-1]) < before.count(")", calls[-1]):
        return None
    return OPTIONS[keyword[1]], keyword.span(1)


def _in_toml(text: str, at: int) -> tuple[Option, tuple[int, int]] | None:
    names = {option.kebab: option for option in OPTIONS.values()}
    for path, node in scan_toml(text).walk():
        if path[:2] == ("tool", "adcore") and node.key is not None and node.key[0] <= at <= node.key[1]:
            option = names.get(str(path[-1]))
            return (option, node.key) if option is not None and len(path) in (3, 5) else None
    return None


def _help(option: Option, is_config: bool) -> str:
    name = option.kebab if is_config else option.name
    values = f"\nValues: {', '.join(map(repr, option.allowed))}." if option.allowed else ""
    return f"{name}: {option.help}{values}\nDefault: {option.default!r}."
