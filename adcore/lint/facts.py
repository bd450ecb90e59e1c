"""What is generated for a function, and what its reverse pass keeps: the words of the editor's hover, from the plan that code generation uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adcore.ad.plan import Slot
from adcore.ir.signature import Entry, Leaf, Result, TupleResult
from adcore.ir.types import Array, Type
from adcore.source import Span

_SCALARS = {"f64": "float", "i64": "int", "bool": "bool"}
_LONGEST = 12  # kept values that are listed one by one


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """`span` is where the function is asked for: its `def` line, or the call of `autodiff`."""

    name: str
    span: Span
    text: str


def function_facts(entry: Entry, kept: Sequence[Slot] | None) -> FunctionFacts:
    """The generated callables with their signatures, then what the reverse pass keeps, in bytes; None: there is no reverse pass."""
    lines = [f"{entry.qualname}({_parameters(entry)}) -> {_result(entry.result)}"]
    lines += [f"{entry.qualname}.{member}" for member in _members(entry)]
    if kept is not None:
        lines += ["", *_kept(kept)]
    return FunctionFacts(entry.qualname, entry.span, "\n".join(lines))


def _type(t: Type) -> str:
    """As an annotation says it."""
    if not isinstance(t, Array):
        return _SCALARS.get(str(t), str(t))
    if str(t.dtype) == "f64" and t.rank <= 2:
        return "Vector" if t.rank == 1 else "Matrix"
    return f"Array{t.rank}[np.{ {'f64': 'float64', 'i64': 'int64', 'bool': 'bool_'}.get(str(t.dtype), str(t.dtype)) }]"


def _parameters(entry: Entry) -> str:
    return ", ".join(f"{p.name}: {_type(p.type)}" for p in entry.parameters)


def _names(entry: Entry) -> str:
    return ", ".join(p.name for p in entry.parameters)


def _result(result: Result) -> str:
    match result:
        case None:
            return "None"
        case Leaf(type, boxed):
            return boxed if boxed != "ndarray" else _type(type)
        case TupleResult(items):
            return f"tuple[{', '.join(map(_result, items))}]"


def _tuple(types: Iterable[str], bare: bool) -> str:
    listed = list(types)
    return listed[0] if bare and len(listed) == 1 else f"tuple[{', '.join(listed)}]"


def _members(entry: Entry) -> list[str]:
    """The derivative callables of the function, each with what it takes and gives."""
    gradient = _tuple((_type(entry.parameters[k].type) for k in entry.wrt), entry.bare)
    value, names = _result(entry.outputs), _names(entry)
    args = f"({names},)" if len(entry.parameters) == 1 else f"({names})"
    said = {
        "grad": f"grad({names}) -> {gradient}",
        "value_and_grad": f"value_and_grad({names}) -> tuple[{value}, {gradient}]",
        "vjp": f"vjp({args}, cotangents) -> tuple[{value}, {gradient}]",
        "jvp": f"jvp({args}, tangents) -> tuple[{value}, {value}]",
        "hvp": f"hvp({args}, tangents) -> {gradient}",
    }
    return [said[member] for member in said if member in entry.members]


def _kept(slots: Sequence[Slot]) -> list[str]:
    if not slots:
        return ["The reverse pass keeps nothing."]
    total = " + ".join(slot.bytes for slot in slots)
    lines = [f"The reverse pass keeps {total} bytes:"]
    for slot in slots[:_LONGEST]:
        line = f"line {slot.span.line}: " if slot.span is not None else ""
        lines.append(f"  {line}{slot.name}, {slot.bytes} bytes in {slot.place} ({slot.kind})")
    if len(slots) > _LONGEST:
        lines.append(f"  and {len(slots) - _LONGEST} more: `adcore show` lists them")
    return lines
