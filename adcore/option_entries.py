"""Reads the places where options are written into one form: entries of a name and a value, each with its span.

A decorator, a TOML table, environment variables and settings of a command line differ only here; everything after
(names, types, allowed values, suggestions) is checked once, in `options`. Nothing is evaluated: a value that is no
literal is an entry whose value says so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import tomli

from adcore.edits import Edit, between, insert, without_element, without_item, without_pair
from adcore.source import SourceText, Span
from adcore.toml_spans import TomlNode

_LONGEST_SHOWN = 60
_IDENTIFIER = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Value:
    """A value as written. `value` is a plain Python object; arrays of TOML are tuples, tables are dicts."""

    value: object
    span: Span
    text: str
    items: tuple[Value, ...] = ()
    literal: bool = True
    noun: str = ""
    """What to call it where its text is too much to show."""

    @property
    def shown(self) -> str:
        """How messages name it: its own text, on one line and not too long."""
        return self.noun or f"`{shorten(self.text)}`"


@dataclass(frozen=True, slots=True)
class Entry:
    """`name = value`; `text` is the name as it is written, with quotes if it has any."""

    name: str
    span: Span
    text: str
    value: Value
    source: SourceText | None = field(default=None, compare=False, repr=False)
    """The text that can be edited; None for environments and command lines."""
    removal: Edit | None = field(default=None, compare=False, repr=False)
    """What deletes the entry, comma included."""

    def without_item(self, item: Value) -> tuple[Edit, ...] | None:
        """What deletes one item of the value; None if it is the only one, or cannot be cut out of the text."""
        if self.source is None or item not in self.value.items:
            return None
        items = [other.span for other in self.value.items]
        return without_element(
            self.source,
            items,
            items.index(item.span),
            isinstance(self.value.value, tuple) and self.value.text.startswith("("),
        )


@dataclass(slots=True)
class CallOptions:
    """What stands between the parentheses of `autodiff(...)`."""

    entries: list[Entry] = field(default_factory=list)
    positional: list[Value] = field(default_factory=list)
    opaque: list[Value] = field(default_factory=list)
    """Arguments behind `**` that are no literal dicts."""


@dataclass(frozen=True, slots=True)
class Application:
    """`autodiff` as it stands at one function, with the options that are written there, by name."""

    node: ast.expr
    source: SourceText
    options: Mapping[str, Entry]

    def with_option(self, text: str) -> Edit | None:
        """What adds `name=value` as the last one."""
        call = self.source.span_of_node(self.node)
        end = self.source.offset(call.end_line, call.end_column)
        if not isinstance(self.node, ast.Call):
            return insert(self.source, end, f"({text})")
        arguments = [*self.node.args, *self.node.keywords]
        if not arguments:
            return insert(self.source, end - 1, text)
        last = max((self.source.span_of_node(node) for node in arguments), key=lambda s: (s.end_line, s.end_column))
        at = self.source.offset(last.end_line, last.end_column)
        behind = self.source.text[at : end - 1].strip()
        return insert(self.source, at, f", {text}") if not behind or behind.startswith((",", "#")) else None


def shorten(text: str, most: int = _LONGEST_SHOWN) -> str:
    """One printable line of at most `most` characters."""
    line = " ".join(_one_line(text[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def quote_like(text: str, new: str) -> str:
    """`new` in the quotes of `text` (none if it has none): what replaces the text of a name or a value."""
    for quote in ("'''", '"""', "'", '"'):
        if text.endswith(quote) and text.lstrip("rRuU").startswith(quote):
            return f"{quote}{new}{quote}"
    return new


# Decorators


def read_application(node: ast.expr, source: SourceText, takes_function: bool) -> Application:
    """A decorator, or the call `autodiff(f, ...)`; of an option that is given twice the first counts."""
    found = read_call(node, source, takes_function).entries if isinstance(node, ast.Call) else []
    return Application(node, source, {entry.name: entry for entry in reversed(found)})


def read_call(call: ast.Call, source: SourceText, takes_function: bool) -> CallOptions:
    """The options of a call; with `takes_function` the first positional argument is the function itself."""
    found = CallOptions()
    found.positional = [_read_expression(node, source) for node in call.args[int(takes_function) :]]
    for keyword in call.keywords:
        if keyword.arg is not None:
            span = _span_of_keyword(keyword, source)
            value = _read_expression(keyword.value, source)
            removal = _without_keyword(call, keyword, source)
            found.entries.append(Entry(keyword.arg, span, source.segment(span), value, source, removal))
        elif isinstance(keyword.value, ast.Dict):
            _read_dict(keyword.value, source, found)
        else:
            found.opaque.append(_read_expression(keyword.value, source))
    return found


def _without_keyword(call: ast.Call, keyword: ast.keyword, source: SourceText) -> Edit | None:
    """Of a decorator's only option the parentheses go too."""
    if len(call.args) + len(call.keywords) > 1:
        return without_item(source, source.span_of_node(keyword))
    function, whole = source.span_of_node(call.func), source.span_of_node(call)
    return Edit(Span(whole.file, function.end_line, function.end_column, whole.end_line, whole.end_column), "")


def _span_of_keyword(keyword: ast.keyword, source: SourceText) -> Span:
    """The name alone. Its length is taken from the text: `ast` normalises identifiers."""
    start = source.span_of_node(keyword)
    name = _IDENTIFIER.match(source.line(start.line), start.column - 1)
    end = name.end() + 1 if name else start.column
    return Span(start.file, start.line, start.column, start.line, end)


def _read_dict(display: ast.Dict, source: SourceText, found: CallOptions) -> None:
    for key, node in zip(display.keys, display.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            name = _read_expression(key, source)
            value = _read_expression(node, source)
            removal = between(source, _up_to(name.span, value.span), "{", "}")
            found.entries.append(Entry(key.value, name.span, name.text, value, source, removal))
        else:
            found.opaque.append(_read_expression(node if key is None else key, source))


def _up_to(start: Span, end: Span) -> Span:
    return Span(start.file, start.line, start.column, end.end_line, end.end_column)


def _read_expression(node: ast.expr, source: SourceText) -> Value:
    span = source.span_of_node(node)
    text = source.segment(span)
    match node:
        case ast.Constant():
            return Value(node.value, span, text)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant(value=int() | float() as number)):
            return Value(-number if isinstance(node.op, ast.USub) else +number, span, text)
        case ast.Tuple() | ast.List():
            items = tuple(_read_expression(item, source) for item in node.elts)
            values = [item.value for item in items]
            return Value(tuple(values) if isinstance(node, ast.Tuple) else values, span, text, items)
    return Value(None, span, text, literal=False)


# TOML


def read_table(table: TomlNode, source: SourceText) -> list[Entry]:
    """The entries of a table in order. An entry whose value is broken is left out: the syntax error is its report."""
    found = []
    for name, node in table.children.items():
        if node.key is not None and (value := _read_node(node, source)) is not None:
            start, end = node.key
            key = source.span(start, end)
            removal = without_pair(source, _up_to(key, value.span))
            found.append(Entry(name, key, source.text[start:end], value, source, removal))
    return found


def _read_node(node: TomlNode, source: SourceText) -> Value | None:
    if node.kind in ("table", "tables", "inline"):
        place = node.value or node.key or (0, 0)
        noun = "an array of tables" if node.kind == "tables" else "a table"
        return Value([] if node.kind == "tables" else {}, source.span(*place), source.text[slice(*place)], noun=noun)
    if node.value is None:
        return None
    start, end = node.value
    text = source.text[start:end]
    try:
        value: object = tomli.loads(f"v = {text}")["v"]
    except (ValueError, RecursionError):
        return None
    items: tuple[Value, ...] = ()
    if node.kind == "array":
        items = tuple(item for element in node.elements if (item := _read_node(element, source)) is not None)
        value = tuple(item.value for item in items)
    return Value(value, source.span(start, end), text, items)


# Text: environment variables, settings


def settings_text(name: str, settings: Mapping[str, str]) -> SourceText:
    """Settings as a text with a line `name=value` for each, so that findings about them have spans."""
    return SourceText(name, "\n".join(f"{_one_line(key)}={_one_line(value)}" for key, value in settings.items()))


def read_settings(source: SourceText, names: Sequence[str]) -> list[Entry]:
    """The entries of a `settings_text` made for `names`; empty values count as not given."""
    found = []
    for number, (name, line) in enumerate(zip(names, source.lines, strict=False), 1):
        text = line[len(name) + 1 :]
        if text:
            span = Span(source.path, number, 1, number, len(name) + 1)
            place = Span(source.path, number, len(name) + 2, number, len(line) + 1)
            found.append(Entry(name, span, name, Value(text, place, text)))
    return found


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
