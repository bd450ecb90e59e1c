"""Entry points: the tables and the few lines of code that each member of each compiled function has.

A member is one builtin, ``"<module>:<qualname>.<member>"``: a stub that lays out its frame and calls the run time of
``entry_text``, a thunk that calls the kernel with the words read, and constants that say how to read and to box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adcore.codegen.layout import Unsupported, kernel_params
from adcore.codegen.text import ModuleText, constant, symbol
from adcore.ir.core import Function, Module
from adcore.ir.flow import Summary
from adcore.ir.signature import KERNEL_OF, TAKES_ARGUMENT_TUPLE, Entry, Result, TupleResult, leaves
from adcore.ir.types import BOOL, F64, I64, Array, Scalar, Type, is_differentiable

SCALAR_KIND: dict[Type, int] = {F64: 0, I64: 1, BOOL: 2}
ARRAY_KIND: dict[Scalar, int] = {F64: 3, I64: 4, BOOL: 5}
BOX = {"float": 0, "int": 1, "bool": 2, "np.float64": 3, "ndarray": 4}
NOT_HANDED_OUT = 5
NONE = -1000
WRITTEN, COTANGENT, OUT, COPIED = 1, 2, 4, 8
RELEASES, VJP, OUT_TUPLE, WRITES, MULTIPLIES = 1, 2, 4, 8, 16


@dataclass(frozen=True, slots=True)
class Received:
    """One argument: a row of the ``%Param`` table."""

    name: str
    type: Type
    flags: int


@dataclass(frozen=True, slots=True)
class Handed:
    """One kernel result: a row of the ``%Result`` table. ``like``: the parameter whose shape a gradient has, or -1."""

    type: Type
    box: int
    like: int = -1
    gradient: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """All that is said about one builtin."""

    entry: Entry
    name: str
    kernel: Function
    received: tuple[Received, ...]
    cotangents: int
    handed: tuple[Handed, ...]
    program: tuple[int, ...]
    outs: int
    flags: int

    @property
    def text(self) -> str:
        """How messages name it."""
        return self.entry.qualname if self.name == "primal" else f"{self.entry.qualname}.{self.name}"

    @property
    def full_name(self) -> str:
        return f"{self.entry.name}.{self.name}"


def kind_of(type: Type) -> int:
    if isinstance(type, Array) and type.dtype in ARRAY_KIND:
        return ARRAY_KIND[type.dtype]
    if type in SCALAR_KIND:
        return SCALAR_KIND[type]
    raise Unsupported(f"parameters and results of type {type}")


def words_of(type: Type) -> int:
    return 1 + 2 * type.rank if isinstance(type, Array) else 1


def members_of(module: Module, entries: Sequence[Entry], summaries: dict[str, Summary]) -> list[Member]:
    members = []
    for entry in entries:
        for name in entry.members:
            if name in KERNEL_OF and KERNEL_OF[name] in entry.kernels:
                kernel = module.functions[entry.kernels[KERNEL_OF[name]]]
                members.append(_member(entry, name, kernel, summaries[kernel.name]))
    return members


def _member(entry: Entry, name: str, kernel: Function, summary: Summary) -> Member:
    if name != "primal" and summary.writes:
        raise Unsupported(f"a derivative that writes its argument ({entry.name})")
    count = len(entry.parameters)
    received = []
    for k, p in enumerate(kernel.params):
        flags = COTANGENT if k >= count else _writes(entry, name, k) | (WRITTEN if k in summary.writes else 0)
        shown = entry.parameters[k].name if k < count else _given_name(entry, name, k - count)
        received.append(Received(shown, entry.parameters[k].type if k < count else p.type, flags))
    handed, program = _results(entry, name, kernel)
    gradients = [h for h in handed if h.gradient]
    takes_out = name in ("grad", "value_and_grad") and any(isinstance(h.type, Array) for h in gradients)
    outs = len(gradients) if takes_out else 0
    flags = (RELEASES if summary.loops else 0) | (VJP if name in TAKES_ARGUMENT_TUPLE else 0)
    separate = any(r.flags & (WRITTEN | COPIED) for r in received)
    flags |= MULTIPLIES if summary.products else 0
    flags |= (OUT_TUPLE if outs and not entry.bare else 0) | (WRITES if separate else 0)
    cotangents = len(kernel.params) - count
    return Member(entry, name, kernel, tuple(received), cotangents, tuple(handed), tuple(program), outs, flags)


def _writes(entry: Entry, member: str, k: int) -> int:
    """Derivatives work on copies, which need no memory of the caller, but they raise where the primal would."""
    if not entry.parameters[k].written:
        return 0
    return WRITTEN if member == "primal" else COPIED


def _given_name(entry: Entry, member: str, k: int) -> str:
    """What a message calls the k-th cotangent or tangent."""
    if member != "vjp":
        return f"the tangent of '{entry.parameters[entry.wrt[k]].name}'"
    return f"the cotangent of {_output_name(entry, k)}"


def _output_name(entry: Entry, k: int) -> str:
    real = [k for k, leaf in enumerate(leaves(entry.outputs)) if is_differentiable(leaf.type)]
    results = len(leaves(entry.result))
    if real[k] >= results:
        return f"'{entry.parameters[entry.written[real[k] - results]].name}' after the call"
    return "the result" if results == 1 else f"result {real[k]}"


def _results(entry: Entry, name: str, kernel: Function) -> tuple[list[Handed], list[int]]:
    """What the kernel returns, and the program that puts it together."""
    outputs = entry.result if name == "primal" else entry.outputs
    values = [Handed(leaf.type, BOX[leaf.boxed]) for leaf in leaves(outputs)]
    if name == "primal":
        return values, _structure(outputs, 0)[0]
    if name == "jvp":
        return _with_tangents(entry, values)
    gradients = []
    for index in entry.wrt:
        type = entry.parameters[index].type
        box = BOX["ndarray" if isinstance(type, Array) else "float"]
        gradients.append(Handed(type, box, index, True))
    first = len(values)
    program = list(range(first, first + len(gradients)))
    if not entry.bare:
        program.append(-1 - len(gradients))
    if name == "hvp":
        return gradients, [k - first if k >= first else k for k in program]
    if name == "grad":
        values = [Handed(v.type, NOT_HANDED_OUT) for v in values]
    else:
        program = [*_structure(outputs, 0)[0], *program, -1 - 2]
    return [*values, *gradients], program


def _with_tangents(entry: Entry, values: list[Handed]) -> tuple[list[Handed], list[int]]:
    """The value, and the tangents of its differentiable parts: one object where there is one, else a tuple."""
    real = [leaf.type for leaf in leaves(entry.outputs) if is_differentiable(leaf.type)]
    tangents = [Handed(t, BOX["ndarray" if isinstance(t, Array) else "float"]) for t in real]
    program = [*_structure(entry.outputs, 0)[0], *range(len(values), len(values) + len(tangents))]
    if len(tangents) != 1:
        program.append(-1 - len(tangents))
    return [*values, *tangents], [*program, -1 - 2]


def _structure(result: Result, first: int) -> tuple[list[int], int]:
    """Postfix program of a result structure whose leaves are numbered from ``first``; the next number."""
    if result is None:
        return [NONE], first
    if not isinstance(result, TupleResult):
        return [first], first + 1
    program: list[int] = []
    for item in result.items:
        part, first = _structure(item, first)
        program += part
    return [*program, -1 - len(result.items)], first


# --- text
def write_member(text: ModuleText, member: Member) -> str:
    """Append the member's constants, thunk and stub; the row of the method table."""
    for type, handed in zip(member.kernel.results, member.handed, strict=True):
        if kind_of(type) != kind_of(handed.type):
            raise Unsupported(f"{member.full_name}: the kernel returns {type} where {handed.type} is declared")
    _write_tables(text, member)
    _write_thunk(text, member)
    _write_stub(text, member)
    name, stub = _cstring(text, member, "method", member.full_name), _name(member, "stub")
    return f"{{ ptr, ptr, i32, ptr }} {{ ptr {name}, ptr {stub}, i32 130, ptr null }}"  # METH_FASTCALL | METH_KEYWORDS


def _name(member: Member, part: str) -> str:
    return symbol(f"e.{member.full_name}.{part}")


def _cstring(text: ModuleText, member: Member, part: str, value: str) -> str:
    name = _name(member, part)
    text.definitions.append(constant(name, value.encode() + b"\0"))
    return name


def _word_offsets(member: Member) -> list[int]:
    offsets, at = [], 0
    for r in member.received:
        offsets.append(at)
        at += words_of(r.type)
    return [*offsets, at]


def _array(type: str, rows: Sequence[str]) -> str:
    if not rows:
        return f"[0 x {type}] zeroinitializer"
    return f"[{len(rows)} x {type}] [{', '.join(f'{type} {r}' for r in rows)}]"


def _write_tables(text: ModuleText, member: Member) -> None:
    offsets = _word_offsets(member)
    params = []
    symbols: dict[str, int] = {}
    for k, r in enumerate(member.received):
        params.append(_param_row(text, member, r, f"p{k}", _dim_specs(r.type, offsets[k], symbols)))
    results, at = [], 0
    for k, h in enumerate(member.handed):
        results.append(_result_row(text, member, h, k, offsets, at))
        at += words_of(h.type)
    program = [str(code) for code in member.program]
    for part, type, items in (
        ("params", "%Param", params),
        ("results", "%Result", results),
        ("program", "i32", program),
    ):
        text.definitions.append(f"{_name(member, part)} = internal constant {_array(type, items)}")
    positional = len(member.received) - member.cotangents
    fields = [
        f"ptr {_cstring(text, member, 'text', member.text)}", f"ptr {_name(member, 'thunk')}", f"i32 {positional}",
        f"i32 {member.cotangents}", f"ptr {_name(member, 'params')}", f"ptr {_name(member, 'results')}",
        f"i32 {len(results)}",
        f"ptr {_name(member, 'program')}", f"i32 {len(member.program)}", f"i32 {member.flags}", f"i32 {member.outs}",
        f"ptr {_cstring(text, member, 'entry', member.full_name)}",
    ]  # fmt: skip
    text.definitions.append(f"{_name(member, 'member')} = internal constant %Member {{ {', '.join(fields)} }}")


def _dim_specs(type: Type, word: int, symbols: dict[str, int]) -> list[int]:
    """What each axis must measure: see ``%Param``. The first use of a symbol defines it."""
    if not isinstance(type, Array):
        return []
    specs = []
    for axis, dim in enumerate(type.dims):
        if isinstance(dim, int):
            specs.append(dim)
        elif dim is None or dim not in symbols:
            specs.append(-1)
            if dim is not None:
                symbols[dim] = word + 1 + axis
        else:
            specs.append(-2 - symbols[dim])
    return specs


def _param_row(text: ModuleText, member: Member, r: Received, part: str, dims: list[int]) -> str:
    name = _cstring(text, member, f"{part}.name", r.name)
    spec = "null"
    if dims:
        spec = _name(member, f"{part}.dims")
        text.definitions.append(f"{spec} = private unnamed_addr constant {_array('i64', [str(d) for d in dims])}")
    rank = r.type.rank if isinstance(r.type, Array) else 0
    return f"{{ ptr {name}, i32 {kind_of(r.type)}, i32 {rank}, i32 {r.flags}, ptr {spec} }}"


def _result_row(text: ModuleText, member: Member, h: Handed, k: int, offsets: list[int], at: int) -> str:
    rank = h.type.rank if isinstance(h.type, Array) else 0
    like, out = -1, "null"
    if h.gradient:
        if isinstance(h.type, Array):
            like = offsets[h.like]
        shape = [-2 - (like + 1 + axis) for axis in range(rank)]
        received = Received(member.entry.parameters[h.like].name, h.type, WRITTEN | OUT)
        row = _param_row(text, member, received, f"out{k}", shape)
        out = _name(member, f"out{k}")
        text.definitions.append(f"{out} = internal constant %Param {row}")
    return f"{{ i32 {kind_of(h.type)}, i32 {rank}, i32 {h.box}, i32 {like}, i32 {at}, ptr {out} }}"


def _write_thunk(text: ModuleText, member: Member) -> None:
    """words -> kernel parameters; outs are passed by address."""
    lines, args, at = [], ["ptr %ctx"], 0
    for k, p in enumerate(member.kernel.params):
        for part in kernel_params(p.type, f"a{k}"):
            llvm, name = part.split(" %")
            lines.append(f"  %w.{name} = getelementptr i64, ptr %words, i64 {at}")
            lines.append(f"  %{name} = load {llvm}, ptr %w.{name}")
            args.append(f"{llvm} %{name}")
            at += 1
    at = 0
    for k, result in enumerate(member.kernel.results):
        lines.append(f"  %out{k} = getelementptr i64, ptr %outs, i64 {at}")
        args.append(f"ptr %out{k}")
        at += words_of(result)
    kernel = symbol(f"k.{member.kernel.name}")
    lines.append(f"  %status = call i32 {kernel}({', '.join(args)})")
    lines.append("  ret i32 %status")
    _define(text, f"internal i32 {_name(member, 'thunk')}(ptr %ctx, ptr %words, ptr %outs)", lines)


def _define(text: ModuleText, head: str, lines: list[str]) -> None:
    text.definitions.append(f"define {head} #3 {{\n" + "\n".join(lines) + "\n}")


def _write_stub(text: ModuleText, member: Member) -> None:
    received, handed = len(member.received), len(member.handed)
    sizes = {
        "items": f"[{received} x ptr]", "owned": f"[{received} x ptr]", "words": f"[{_word_offsets(member)[-1]} x i64]",
        "outs": f"[{sum(words_of(h.type) for h in member.handed)} x i64]", "boxed": f"[{handed} x ptr]",
        "stack": f"[{len(member.program)} x ptr]",
    }  # fmt: skip
    lines = ["  %frame = alloca %Frame"]
    for k, (name, size) in enumerate(sizes.items()):
        lines.append(f"  %{name} = alloca {size}, align 8")
        if name in ("owned", "outs", "boxed"):
            lines.append(f"  store {size} zeroinitializer, ptr %{name}")
        lines.append(f"  %f.{name} = getelementptr %Frame, ptr %frame, i32 0, i32 {k}")
        lines.append(f"  store ptr %{name}, ptr %f.{name}")
    parameters = "ptr %self, ptr %args, i64 %nargs, ptr %kwnames"
    lines.append(f"  %answer = call ptr @py.call({parameters}, ptr {_name(member, 'member')}, ptr %frame)")
    lines.append("  ret ptr %answer")
    _define(text, f"internal ptr {_name(member, 'stub')}({parameters})", lines)
