"""Reads the text that ``ir.printer`` writes. Errors name line and column of the text."""

from __future__ import annotations

import re
from typing import Any, NoReturn

import numpy as np

from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.types import SCALARS, Array, Dim, Record, Scalar, Tuple, Type, Union
from adcore.source import Span

_TOKEN = re.compile(
    r"""\s*(?:\#[^\n]*\n\s*)*(?P<token>
      "(?:[^"\\]|\\.)*" | %[\w.]+ | @[\w.:<>$\-]+ | -> | -?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+) | -?inf\b | -?nan\b | [A-Za-z_]\w* | [(){}\[\]<>,:=!?@-]
    )""",
    re.VERBOSE,
)


class ParseError(ValueError):
    """The text is not IR; the message says where."""


def parse_module(text: str) -> Module:
    return _Parser(text).module()


def parse_function(text: str) -> Function:
    (function,) = parse_module(text).functions.values()
    return function


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, int]] = []
        position = 0
        while match := _TOKEN.match(text, position):
            self.tokens.append((match["token"], match.start("token")))
            position = match.end()
        rest = text[position:].lstrip()
        if rest:
            self.fail("unexpected character", len(text) - len(rest))
        self.tokens.append(("", len(text)))
        self.at = 0
        self.values: dict[str, Value] = {}

    # --- tokens
    def fail(self, message: str, position: int | None = None) -> NoReturn:
        offset = self.tokens[self.at][1] if position is None else position
        line = self.text.count("\n", 0, offset) + 1
        column = offset - self.text.rfind("\n", 0, offset)
        raise ParseError(f"{line}:{column}: {message}")

    @property
    def peek(self) -> str:
        return self.tokens[self.at][0]

    def next(self) -> str:
        token = self.tokens[self.at][0]
        if not token:
            self.fail("expected more, found the end")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        if self.peek == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.accept(token):
            self.fail(f"expected {token!r}, found {self.peek!r}")

    def until(self, close: str, item: Any) -> list[Any]:
        items: list[Any] = []
        while not self.accept(close):
            items.append(item())
            if not self.accept(","):
                self.expect(close)
                break
        return items

    # --- structure
    def module(self) -> Module:
        module = Module()
        while self.peek:
            if self.accept("constant"):
                name = self.next()[1:]
                self.expect("=")
                dtype = self.scalar()
                shape, values = self.attribute(), self.attribute()
                numpy_name = {"f64": "float64", "i64": "int64", "bool": "bool", "f32": "float32", "i32": "int32"}[
                    dtype.name
                ]
                module.constants[name] = np.array(values, dtype=numpy_name).reshape(shape)
            else:
                function = self.function()
                module.functions[function.name] = function
        return module

    def function(self) -> Function:
        self.expect("func")
        self.values = {}
        name = self.next()[1:]
        self.expect("(")
        params = self.until(")", self.param)
        self.expect("->")
        self.expect("(")
        results = tuple(self.until(")", self.type))
        attrs = self.attrs()
        body = self.region(params)
        return Function(name, body, results, attrs, self.location())

    def param(self) -> Value:
        name = self.next()
        self.expect(":")
        return self.define(name, Value(self.type()))

    def define(self, name: str, value: Value) -> Value:
        if name in self.values:
            self.fail(f"{name} is defined twice")
        if not name[1:].isdigit():
            value.name = name[1:].split(".")[0]
        self.values[name] = value
        return value

    def region(self, params: list[Value]) -> Region:
        self.expect("{")
        region = Region(params)
        while not self.accept("}"):
            region.ops.append(self.op())
        return region

    def op(self) -> Op:
        names: list[str] = []
        if self.peek.startswith("%"):
            names.append(self.next())
            while self.accept(","):
                names.append(self.next())
            self.expect("=")
        name = self.next()
        operands = []
        while self.peek.startswith("%"):
            operands.append(self.use(self.next()))
            if not self.accept(","):
                break
        attrs = self.attrs() if self.starts_attributes() else {}
        types = []
        if names:
            self.expect(":")
            types = [self.type()]
            while self.accept(","):
                types.append(self.type())
            if len(types) != len(names):
                self.fail(f"{len(names)} results but {len(types)} types")
        regions = []
        while self.peek == "{" or (self.peek == "(" and self.tokens[self.at + 1][0].startswith("%")):
            params = self.until(")", self.param) if self.accept("(") else []
            regions.append(self.region(params))
        op = Op(name, operands, types, attrs, regions, self.location())
        for text, value in zip(names, op.results, strict=True):
            self.define(text, value)
        return op

    def starts_attributes(self) -> bool:
        """``{name = ...`` opens attributes; any other ``{`` opens a region."""
        return (
            self.peek == "{"
            and [t for t, _ in self.tokens[self.at + 2 : self.at + 3]] == ["="]
            and not self.tokens[self.at + 1][0].startswith("%")
        )

    def use(self, name: str) -> Value:
        if name not in self.values:
            self.fail(f"{name} is not defined", self.tokens[self.at - 1][1])
        return self.values[name]

    def attrs(self) -> dict[str, Any]:
        attrs: dict[str, Any] = {}
        if self.starts_attributes():
            self.expect("{")

            def item() -> None:
                key = self.next()
                self.expect("=")
                attrs[key] = self.attribute()

            self.until("}", item)
        return attrs

    def attribute(self) -> Any:
        if self.accept("!"):
            return self.type()
        if self.accept("("):
            return tuple(self.until(")", self.attribute))
        token = self.next()
        if token.startswith('"'):
            return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], token[1:-1])
        words = {"True": True, "False": False, "None": None}
        if token in words:
            return words[token]
        try:
            return int(token) if token.lstrip("-").isdigit() else float(token)
        except ValueError:
            self.fail(f"{token!r} is no attribute value", self.tokens[self.at - 1][1])

    def location(self) -> Span | None:
        if not self.accept("@"):
            return None
        file = self.attribute()
        numbers = []
        for separator in (":", ":", "-", ":"):
            if separator == "-" and self.peek.startswith("-") and self.peek != "-":
                numbers.append(-int(self.next()))
                continue
            self.expect(separator)
            numbers.append(int(self.next()))
        return Span(file, *numbers)

    def type(self) -> Type:
        name = self.next()
        if name in SCALARS:
            return SCALARS[name]
        self.expect("<")
        if name == "array":
            dtype = self.scalar()
            self.expect(",")
            self.expect("[")
            dims = tuple(self.until("]", self.dim))
            self.expect(",")
            layout = self.next()
            self.expect(">")
            return Array(dtype, dims, layout)
        if name in ("tuple", "union"):
            items = tuple(self.until(">", self.type))
            return Tuple(items) if name == "tuple" else Union(items)
        if name == "record":
            record = self.next()
            fields = []
            while self.accept(","):
                key = self.next()
                self.expect(":")
                fields.append((key, self.type()))
            self.expect(">")
            return Record(record, tuple(fields))
        self.fail(f"unknown type {name!r}", self.tokens[self.at - 2][1])

    def scalar(self) -> Scalar:
        name = self.next()
        if name not in SCALARS:
            self.fail(f"{name!r} is no scalar type", self.tokens[self.at - 1][1])
        return SCALARS[name]

    def dim(self) -> Dim:
        token = self.next()
        return None if token == "?" else int(token) if token.isdigit() else token
