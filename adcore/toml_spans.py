"""A TOML scanner that knows where everything stands and does not stop at the first mistake.

It gives the place of every key and value (bare, quoted, dotted, inline, in arrays of tables) as offsets into the text,
and resumes after an error at the next line that looks like a header or a pair. What a value *means*, and whether a file
is valid, is tomli's word: where tomli accepts a text, the scanner finds the same keys and no error (tested), so its own
errors count only for texts that tomli refuses. Values nested more than 80 deep are an error here. No text raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["table", "inline", "tables", "array", "string", "scalar"]
Place = tuple[int, int]

_BLANK = re.compile(r"[ \t]*")
_TRIVIA = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_RESUME = re.compile(r"^[ \t]*(?:\[|(?:[\w.-]|\"[^\"\n]*\"|'[^'\n]*')+[ \t]*=)", re.MULTILINE)
_BASIC = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"')
_LITERAL = re.compile(r"'[^'\r\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*"{3,5}')
_LONG_LITERAL = re.compile(r"'''(?:[^']|'(?!''))*'{3,5}")
_BARE_VALUE = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]*|[^\s,\]}#]+")
_MORE_WORDS = re.compile(r"(?:[ \t]+[^\s,\]}#=]+)*")
_SCALAR = re.compile(
    r"true|false|[+-]?(?:inf|nan|0x[\da-fA-F_]+|0o[0-7_]+|0b[01_]+|[\d_]+(?:\.[\d_]+)?(?:[eE][+-]?[\d_]+)?)"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d.*)?|\d\d:\d\d.*")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_BLANK_EQUALS = re.compile(r"[ \t]*=")
_WORD = re.compile(r"[A-Za-z][\w.-]*")
_PYTHON_WORDS = {"True": "true", "False": "false", "None": '"none"'}
_DEEPEST = 80


@dataclass(slots=True)
class TomlNode:
    """A table, an array or a value. Offsets are (start, end) into the text."""

    kind: Kind
    key: Place | None = None
    """Where the name stands for the first time, quotes included; None for the root and the elements of arrays."""
    value: Place | None = None
    """The whole value; None for tables that are not inline."""
    children: dict[str, TomlNode] = field(default_factory=dict)
    elements: list[TomlNode] = field(default_factory=list)
    declared: bool = False
    """Whether a header `[...]` names this very table."""

    @property
    def is_table(self) -> bool:
        return self.kind in ("table", "inline")


@dataclass(frozen=True, slots=True)
class TomlError:
    """A mistake at (start, end)."""

    message: str
    place: Place
    first: Place | None = None
    """The place of the earlier definition, if the mistake is a repeated key."""
    correction: str | None = None
    """What was very likely meant to stand at the place."""
    whole: Place | None = None
    """All of a repeated pair, key and value."""


@dataclass(frozen=True, slots=True)
class TomlDocument:
    """What `scan_toml` found: the tree of the intact parts, and the mistakes in order."""

    text: str
    root: TomlNode
    errors: tuple[TomlError, ...]

    def get(self, *path: str) -> TomlNode | None:
        """The node under a path of table names."""
        node: TomlNode | None = self.root
        for name in path:
            node = node.children.get(name) if node else None
        return node

    def walk(self) -> Iterator[tuple[tuple[str | int, ...], TomlNode]]:
        """Every node but the root with its path, array elements by their index, in order of appearance."""
        stack: list[tuple[tuple[str | int, ...], TomlNode]] = [((), self.root)]
        while stack:
            path, node = stack.pop()
            if path:
                yield path, node
            below: list[tuple[str | int, TomlNode]] = [*node.children.items(), *enumerate(node.elements)]
            stack.extend(((*path, name), child) for name, child in reversed(below))


def scan_toml(text: str) -> TomlDocument:
    """Scan a whole TOML text."""
    scanner = _Scanner(text)
    scanner.document()
    return TomlDocument(text, scanner.root, tuple(scanner.errors))


class _ScanError(Exception):
    def __init__(self, message: str, start: int, end: int | None = None) -> None:
        self.error = TomlError(message, (start, start + 1 if end is None else end))


class _Scanner:
    """Recursive descent with one position; `_ScanError` leaves a statement, `document` catches it and resumes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.root = TomlNode("table")
        self.table = self.root
        self.errors: list[TomlError] = []

    def document(self) -> None:
        while True:
            self.skip(_TRIVIA)
            start = self.position
            if start >= len(self.text):
                return
            try:
                self.header() if self.text[start] == "[" else self.pair(self.table, 0)
                self.end_of_line()
            except _ScanError as problem:
                self.errors.append(problem.error)
                self.position = self.next_statement(start, problem.error.place[0])

    def next_statement(self, start: int, error: int) -> int:
        """After an error further down (say in an array that never closed) the line of the error itself may be one."""
        line = self.text.rfind("\n", 0, error) + 1
        if line <= start:
            line = self.text.find("\n", error) + 1 or len(self.text)
        found = _RESUME.search(self.text, line)
        return found.start() if found else len(self.text)

    # Position

    def skip(self, pattern: re.Pattern[str]) -> None:
        if match := pattern.match(self.text, self.position):
            self.position = match.end()

    def at(self, token: str) -> bool:
        return self.text.startswith(token, self.position)

    def take(self, token: str) -> bool:
        if not self.at(token):
            return False
        self.position += len(token)
        return True

    def expect(self, token: str, message: str) -> None:
        if not self.take(token):
            raise _ScanError(message, self.position)

    def end_of_line(self) -> None:
        self.skip(_BLANK)
        if self.position < len(self.text) and self.text[self.position] not in "#\r\n":
            raise _ScanError("expected the end of the line", self.position)

    # Keys and tables

    def keys(self) -> list[tuple[str, Place]]:
        """A key, dotted or not: the names with their places."""
        names = []
        while True:
            self.skip(_BLANK)
            start = self.position
            quoted = _BASIC.match(self.text, start) or _LITERAL.match(self.text, start)
            match = quoted or _BARE_KEY.match(self.text, start)
            if match is None:
                raise _ScanError("expected a key", start)
            self.position = match.end()
            names.append((_unquote(match.group()) if quoted else match.group(), (start, match.end())))
            self.skip(_BLANK)
            if not self.take("."):
                return names

    def header(self) -> None:
        # Whatever is wrong with the header, the pairs below it must not be taken for those of the table before.
        self.table = TomlNode("table")
        several = self.take("[[")
        if not several:
            self.take("[")
        names = self.keys()
        self.expect("]]" if several else "]", "expected `]]`" if several else "expected `]`")
        table = self.descend(self.root, names[:-1])
        name, place = names[-1]
        node = table.children.get(name)
        if several:
            self.table = self.next_element(table, name, place)
        elif node is None:
            self.table = table.children[name] = TomlNode("table", place, declared=True)
        elif node.kind != "table" or node.declared:
            self.errors.append(TomlError(f"the table `{name}` is defined twice", place, node.key))
            self.table = node if node.is_table else self.table
        else:
            node.declared = True
            self.table = node

    def next_element(self, table: TomlNode, name: str, place: Place) -> TomlNode:
        node = table.children.setdefault(name, TomlNode("tables", place))
        if node.kind != "tables":
            self.errors.append(TomlError(f"`{name}` is defined twice", place, node.key))
            return TomlNode("table")
        node.elements.append(TomlNode("table", declared=True))
        return node.elements[-1]

    def descend(self, table: TomlNode, names: list[tuple[str, Place]]) -> TomlNode:
        """The table under `names`, made where it does not exist; in an array of tables its last one."""
        for name, place in names:
            node = table.children.setdefault(name, TomlNode("table", place))
            if node.kind == "tables":
                node = node.elements[-1]
            if not node.is_table:
                raise _ScanError(f"`{name}` is a value, not a table", *place)
            table = node
        return table

    def pair(self, table: TomlNode, depth: int) -> None:
        names = self.keys()
        name, place = names[-1]
        self.expect("=", "expected `=` after the key")
        table = self.descend(table, names[:-1])
        node = TomlNode("scalar", place)
        first = table.children.setdefault(name, node)
        known = len(self.errors)
        try:
            self.value(node, depth)
        finally:
            if first is not node:
                whole = (names[0][1][0], node.value[1]) if node.value else None
                self.errors.insert(known, TomlError(f"`{name}` is given twice", place, first.key, whole=whole))

    # Values

    def value(self, node: TomlNode, depth: int) -> None:
        """Scan a value into `node`."""
        self.skip(_BLANK)
        start = self.position
        if depth > _DEEPEST:
            raise _ScanError("the value is nested too deeply", start)
        if self.at('"') or self.at("'"):
            node.kind = "string"
            self.string()
        elif self.at("["):
            node.kind = "array"
            self.array(node, depth)
        elif self.at("{"):
            node.kind = "inline"
            self.inline(node, depth)
        else:
            self.scalar()
        node.value = (start, self.position)

    def string(self) -> None:
        start = self.position
        match = None
        for opening, pattern in (('"""', _LONG_BASIC), ("'''", _LONG_LITERAL), ('"', _BASIC), ("'", _LITERAL)):
            if self.at(opening):
                match = pattern.match(self.text, start)
                break
        if match is None:
            end = re.compile(r"[^\r\n]*").match(self.text, start)
            raise _ScanError("the string has no closing quote", start, end.end() if end else None)
        self.position = match.end()

    def scalar(self) -> None:
        match = _BARE_VALUE.match(self.text, self.position)
        if match is None:
            raise _ScanError("expected a value", self.position)
        text = match.group()
        self.position = match.end()
        if _SCALAR.fullmatch(text) or _DATE.fullmatch(text):
            return
        if _BLANK_EQUALS.match(self.text, match.end()):
            raise _ScanError("expected a value, not a key; a bracket may be missing above", *match.span())
        self.skip(_MORE_WORDS)
        place = (match.start(), self.position)
        text = self.text[slice(*place)]
        correction = _PYTHON_WORDS.get(text, f'"{text}"') if _WORD.fullmatch(text) else None
        self.errors.append(TomlError(f"`{text[:40]}` is no value; strings need quotes", place, correction=correction))

    def array(self, node: TomlNode, depth: int) -> None:
        self.take("[")
        while True:
            self.skip(_TRIVIA)
            if self.take("]"):
                return
            element = TomlNode("scalar")
            self.value(element, depth + 1)
            node.elements.append(element)
            self.skip(_TRIVIA)
            if not self.at("]"):
                self.expect(",", "expected `,` or `]`")

    def inline(self, node: TomlNode, depth: int) -> None:
        self.take("{")
        while True:
            self.skip(_TRIVIA)
            if self.take("}"):
                return
            self.pair(node, depth + 1)
            self.skip(_TRIVIA)
            if not self.at("}"):
                self.expect(",", "expected `,` or `}`")


def _unquote(quoted: str) -> str:
    """The name that a quoted key stands for."""
    inner = quoted[1:-1]
    return inner if quoted[0] == "'" else _ESCAPE.sub(_character, inner)


def _character(match: re.Match[str]) -> str:
    number = match[1] or match[2] or match[3]
    if number is None:
        return _ESCAPES.get(match[4], match[4])
    return chr(int(number, 16)) if int(number, 16) < 0x110000 else match[0]
