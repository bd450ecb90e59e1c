"""Text of the IR. ``parse(print_module(m))`` prints the same again.

func @name(%x: array<f64, [?], c>, %n: i64) -> (f64) {
  %0 = const {value = 1.5} : f64
  %1, %2 = for %lo, %n, %one, %0 {exits = False} : f64 (%i: i64, %acc: f64) {
    yield %3
  } @"file.py":4:5-5:20
  return %1
}
"""

from __future__ import annotations

import math
from typing import Any

from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.types import Array, Record, Scalar, Tuple, Union


def print_module(module: Module, spans: bool = False) -> str:
    parts = [f"constant @{name} = {_constant(array)}" for name, array in module.constants.items()]
    parts += [print_function(f, spans) for f in module.functions.values()]
    return "\n".join(parts) + "\n"


def print_function(function: Function, spans: bool = False) -> str:
    return _Printer(spans).function(function)


def _constant(array: Any) -> str:
    dtype = {"float64": "f64", "int64": "i64", "bool": "bool", "float32": "f32", "int32": "i32"}[array.dtype.name]
    return f"{dtype} {attribute(tuple(array.shape))} {attribute(tuple(array.ravel().tolist()))}"


def attribute(value: Any) -> str:
    match value:
        case bool() | None | int():
            return str(value)
        case float():
            return "nan" if math.isnan(value) else repr(value)
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        case tuple() | list():
            return "(" + "".join(f"{attribute(v)}, " for v in value).strip() + ")"
        case Scalar() | Array() | Tuple() | Record() | Union():
            return f"!{value}"
        case _:
            raise TypeError(f"no text for the attribute {value!r}")


class _Printer:
    def __init__(self, spans: bool) -> None:
        self.spans = spans
        self.names: dict[Value, str] = {}
        self.used: set[str] = set()
        self.lines: list[str] = []

    def name(self, v: Value) -> str:
        if v not in self.names:
            base = v.name
            if base is None:
                base = text = str(len(self.names))
            else:
                text = base
            k = 0
            while text in self.used:
                k += 1
                text = f"{base}.{k}"
            self.used.add(text)
            self.names[v] = text
        return "%" + self.names[v]

    def function(self, f: Function) -> str:
        params = ", ".join(f"{self.name(p)}: {p.type}" for p in f.params)
        head = f"func @{f.name}({params}) -> ({', '.join(map(str, f.results))}){self.attrs(f.attrs)} {{"
        self.lines.append(head)
        self.region(f.body, 1)
        self.lines.append("}" + self.location(f.span))
        return "\n".join(self.lines)

    def attrs(self, attrs: dict[str, Any]) -> str:
        if not attrs:
            return ""
        return " {" + ", ".join(f"{k} = {attribute(v)}" for k, v in attrs.items()) + "}"

    def location(self, span: Any) -> str:
        if span is None or not self.spans:
            return ""
        return f" @{attribute(span.file)}:{span.line}:{span.column}-{span.end_line}:{span.end_column}"

    def region(self, region: Region, depth: int) -> None:
        for op in region.ops:
            self.op(op, depth)

    def op(self, op: Op, depth: int) -> None:
        pad = "  " * depth
        text = pad
        if op.results:
            text += ", ".join(self.name(r) for r in op.results) + " = "
        text += op.name
        if op.operands:
            text += " " + ", ".join(self.name(v) for v in op.operands)
        text += self.attrs(op.attrs)
        if op.results:
            text += " : " + ", ".join(str(r.type) for r in op.results)
        for k, region in enumerate(op.regions):
            params = ", ".join(f"{self.name(p)}: {p.type}" for p in region.params)
            opening = f"({params}) {{" if params else "{"
            if k == 0:
                self.lines.append(f"{text} {opening}")
            else:
                self.lines.append(f"{pad}}} {opening}")
            self.region(region, depth + 1)
        self.lines.append((f"{pad}}}" if op.regions else text) + self.location(op.span))
