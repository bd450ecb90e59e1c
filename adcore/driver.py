"""The engine's table of contents: text in, findings, plans and object code out.

    text -> frontend -> SSA -> passes -> optimised SSA -> ad -> derivative SSA -> passes -> SSA -> codegen -> object

Build, editor and lint call these functions and nothing below them. No input makes them raise: a problem in the user's text is a diagnostic with
a place, and so is a defect of adcore itself (``compiler/internal``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import tomli

import adcore.ops  # noqa: F401 (fills the op table)
from adcore import ad, passes
from adcore.ad.plan import Slot
from adcore.ad.written import functional
from adcore.build_requires import missing_extra
from adcore.diagnostics import Diagnostic, Report
from adcore.edits import Fix, fix
from adcore.frontend import lower_module
from adcore.frontend.project import Project, decode
from adcore.ir.core import Function, Module
from adcore.ir.printer import print_function
from adcore.ir.signature import Entry, leaves
from adcore.ir.types import Array, is_differentiable
from adcore.lint.kept import report_kept
from adcore.manifest import manifest
from adcore.options import ProjectOptions
from adcore.source import SourceText, Span
from adcore.suggest import suggest

STAGES = ("ir", "optimised", "plan", "derivative", "llvm", "asm")


@dataclass(slots=True)
class Analysis:
    """What the engine knows of one module: ``lowered`` as the front end made it, ``module`` optimised."""

    entries: list[Entry] = field(default_factory=list)
    plans: dict[str, ad.Plan] = field(default_factory=dict)  # by entry name
    kept: dict[str, list[Slot]] = field(
        default_factory=dict
    )  # by entry name: its slots, then those of the helpers that stay calls
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[Diagnostic, ...] = ()  # what is reported only where it is asked for
    calls: dict[str, ad.Analysis] = field(default_factory=dict)  # by function: helpers that stay calls and have a plan
    lowered: Module = field(default_factory=Module)
    module: Module = field(default_factory=Module)


@dataclass(frozen=True, slots=True)
class CompiledPackage:
    """An extension before it is linked: ``init`` is the symbol to export, ``summary`` one line a function."""

    object: bytes
    init: str
    filename: str
    summary: list[str]
    meta: str
    kernels: Module  # what the code was made from, and what predictions of its allocations run
    entries: list[Entry]


RECURSION = 6000  # Python frames; they take no C stack of their own


class NoSuchFunction(Exception):
    """``show`` was asked for a function that the file does not differentiate; ``suggestion`` may be what was meant."""

    def __init__(self, name: str, suggestion: str | None) -> None:
        super().__init__(name)
        self.suggestion = suggestion


@contextmanager
def _deep_nesting() -> Iterator[None]:
    """A chain of some hundred `elif` is nested that deeply in the IR, and passes descend into it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@_deep_nesting()
def analyse(project: Project, source: SourceText, module: str, options: ProjectOptions | None = None) -> Analysis:
    """Everything about one module that lint and editor report: no derivative is emitted, no machine code made."""
    report, notes = Report(), Report()
    analysis = Analysis()
    try:
        lowered = lower_module(project, source, module, report, options)
        analysis.entries, analysis.lowered = lowered.entries, lowered.module
        for entry in analysis.entries:
            _apply_options(lowered.module.functions[entry.kernels["primal"]], entry, report)
        analysis.module = passes.run(lowered.module)
        for entry in analysis.entries:
            plan(analysis, entry, report)
            texts = partial(_text_of, project, source, entry)
            report_kept(entry, analysis.kept.get(entry.name, ()), texts, report, notes)
    except Exception as error:  # a defect of adcore: it must not become a traceback in an editor or a build
        _internal(report, Span(source.path, 1, 1, 1, 1), module, error)
    analysis.diagnostics, analysis.notes = report.diagnostics, notes.diagnostics
    return analysis


def _text_of(project: Project, source: SourceText, entry: Entry, path: str) -> SourceText | None:
    """A file that an entry was compiled from."""
    if path == source.path:
        return source
    found = next((project.find(d.module) for d in entry.dependencies if d.path == path), None)
    return found.source if found is not None else None


def plan(analysis: Analysis, entry: Entry, report: Report) -> None:
    """Activity and plan of one entry; what cannot be differentiated is reported."""
    if entry.options.mode == "none":
        return
    try:
        function = _differentiated(analysis.module, entry)
        reaches = ad.reaches(function, entry.wrt)
        _report_zero_derivatives(entry, reaches, report)
        if entry.options.mode != "forward":
            made = ad.analyse(function, entry.wrt)
            analysis.plans[entry.name] = made.plan
            reversed_calls = _plan_calls(analysis, function, made)
            analysis.kept[entry.name] = [slot for each in (made, *reversed_calls) for slot in each.plan.slots.values()]
        if entry.options.order == 2 and not entry.scalar_output:
            fixes = _without_option(entry, "order")
            report.add("activity/not-scalar-output", entry.span, fixes=fixes, actual=_described(entry))
        entry.members = _members(entry)
    except ad.NoRule as error:
        names = ", ".join(entry.parameters[k].name for k in entry.wrt)
        report.add("activity/no-derivative", error.op.span or entry.span, operation=error.op.name, name=names)
    except ad.NotPlannable as error:
        report.add("activity/cannot-reverse", error.span or entry.span, reason=str(error))
    except Exception as error:
        _internal(report, entry.span, entry.qualname, error)


def _plan_calls(analysis: Analysis, function: Function, made: ad.Analysis) -> list[ad.Analysis]:
    """What stays a call is differentiated as a whole: raises where that cannot be done. Gives the calls that the reverse pass makes."""
    for name in _closure(analysis.module, passes.callees(function)):
        if name not in analysis.calls:
            callee = analysis.module.functions[name]
            wrt = [k for k, p in enumerate(callee.params) if is_differentiable(p.type)]
            analysis.calls[name] = ad.analyse(callee, wrt, "push")
    found: dict[str, ad.Analysis] = {}
    work = [made]
    while work:
        each = work.pop()
        for op in each.primal.body.walk():
            name = op.attrs["callee"] if op.name == "call" else ""
            if name and name not in found and each.activity.participates(op):
                found[name] = analysis.calls[name]
                work.append(found[name])
    return list(found.values())


def _apply_options(function: Function, entry: Entry, report: Report) -> None:
    """Options that act on the function as a whole; one that cannot be honoured is refused, never ignored."""
    options = entry.options
    if options.checkpoint is not None:
        written = entry.application.options.get("checkpoint") if entry.application else None
        span, made = written.value.span if written else entry.span, _without_option(entry, "checkpoint")
        reason = "loops keep what the plan says"
        report.add("options/not-available", span, fixes=made, name="checkpoint", reason=reason)
    if not options.bounds_check:
        function.attrs["bounds_check"] = False
    if options.fastmath:
        function.attrs["fastmath"] = ("fast",) if isinstance(options.fastmath, bool) else tuple(options.fastmath)


def _described(entry: Entry) -> str:
    """What a function returns and writes, for a message."""
    parts = leaves(entry.outputs)
    if len(parts) != 1:
        return f"{len(parts)} values" if parts else "nothing"
    return "an array" if isinstance(parts[0].type, Array) else f"`{parts[0].boxed}`"


def _members(entry: Entry) -> tuple[str, ...]:
    """What the options ask for and the function's result allows."""
    options, members = entry.options, ["primal"]
    if options.mode in ("reverse", "both"):
        members += ["vjp", *(("grad", "value_and_grad") if entry.scalar_output else ())]
    if options.mode in ("forward", "both"):
        members.append("jvp")
    if options.order == 2 and entry.scalar_output:
        members.append("hvp")
    return tuple(members)


@_deep_nesting()
def derive(analysis: Analysis) -> Module:
    """The primals and the derivatives that the entries' members need, all optimised. Fills ``entry.kernels``."""
    module = Module(dict(analysis.module.functions), analysis.module.constants)
    for entry in analysis.entries:
        primal = _differentiated(module, entry)
        made = [_derivative(module, primal, entry, kind) for kind in _kernels_of(entry)]
        for kind, function in zip(_kernels_of(entry), made, strict=True):
            function.attrs.update(primal.attrs)
            module.functions[function.name] = function
            entry.kernels[kind] = function.name
    ad.complete(module)
    names = [name for entry in analysis.entries for name in entry.kernels.values()]
    primals = {entry.kernels["primal"] for entry in analysis.entries}
    module = passes.run(module, [name for name in _closure(module, names) if name not in primals])
    return Module({name: module.functions[name] for name in _closure(module, names)}, module.constants)


def _differentiated(module: Module, entry: Entry) -> Function:
    """What derivatives are made of: the primal, working on copies of the parameters that it writes into."""
    return functional(module.functions[entry.kernels["primal"]], entry.written)


def _kernels_of(entry: Entry) -> list[str]:
    wanted = {"vjp": "vjp", "value_and_grad": "value_and_grad", "jvp": "jvp", "hvp": "hvp"}
    return [kernel for member, kernel in wanted.items() if member in entry.members]


def _derivative(module: Module, primal: Function, entry: Entry, kind: str) -> Function:
    """One derivative function of an entry; second order is forward over the optimised reverse.

    What the reverse of a call needs to be differentiated again is added to the module.
    """
    name = f"{primal.name}.{kind}"
    match kind:
        case "vjp":
            return ad.vjp(primal, entry.wrt, name)[0]
        case "value_and_grad":
            return ad.vjp(primal, entry.wrt, name, 1.0)[0]
        case "jvp":
            return ad.jvp(primal, entry.wrt, name)
        case _:
            gradient, _ = ad.vjp(primal, entry.wrt, name, 1.0)
            scratch = Module({**module.functions, name: gradient}, module.constants)
            ad.complete(scratch)
            scratch = passes.run(scratch, [n for n in scratch.functions if n not in module.functions])
            gradient = scratch.functions.pop(name)
            module.functions.update(scratch.functions)
            return ad.jvp(gradient, entry.wrt, name, keep=[1 + k for k in range(len(entry.wrt))])


@_deep_nesting()
def compile_package(
    root: Path,
    modules: Mapping[str, Path],
    package: str | None,
    project: ProjectOptions,
    report: Report,
    overlays: Mapping[str, str] | None = None,
    checking: str = "nothing",
) -> CompiledPackage | None:
    """The extension of a package; None if there is nothing to compile or anything is wrong (then it is in ``report``).

    ``modules`` maps full module names to files, absolute or below ``root``; findings name files as given here.
    ``overlays`` are texts by absolute path, which win over the disk. ``checking``: a build whose allocations are watched, ``"count"`` or
    ``"canaries"``.
    """
    from adcore.codegen.checking import Checking
    from adcore.codegen.compile import CodegenOptions, CompilerCrash, LlvmMissing, Unsupported, compile_module

    sources = project_of(root, modules, overlays)
    entries: list[Entry] = []
    module = Module()
    for name, path in modules.items():
        text = (overlays or {}).get(str(root / path)) or _read(root, path)
        if text is None:
            top = Span(_display(root, path), 1, 1, 1, 1)
            report.add("config/missing-file", top, name=path.name, reason="it is not text in its declared encoding")
            continue
        if "adcore" not in text or not project.selects(name):
            continue
        analysis = analyse(sources, SourceText(_display(root, path), text), name, project)
        report.extend(analysis.diagnostics)
        entries += analysis.entries
        if not report.has_errors:
            try:
                merge(module, derive(analysis), analysis.entries)
            except Exception as error:
                _internal(
                    report,
                    analysis.entries[0].span if analysis.entries else Span(_display(root, path), 1, 1, 1, 1),
                    name,
                    error,
                )
    if report.has_errors or not entries:
        return None
    extension = "_adcore" if package is not None else f"_adcore_{next(iter(modules))}"
    meta = manifest(package, entries, _sources_of(sources, entries), _table(root), _version())
    lowered = passes.run(module, passes=passes.LOWERING)
    try:
        code = compile_module(
            lowered,
            entries,
            module_name=extension,
            meta=meta,
            options=CodegenOptions(cpu=_cpu(project), debug=project.debug, checking=Checking(checking)),
        )
    except LlvmMissing:
        _report_missing_extra(root, entries[0], report)
        return None
    except (CompilerCrash, Unsupported) as error:
        at = next((e for e in entries if getattr(error, "function", None) in e.kernels.values()), entries[0])
        report.add("compiler/crash", at.span, function=at.qualname, reason=str(error))
        return None
    summary = [_summary(e) for e in entries]
    return CompiledPackage(
        code, f"PyInit_{extension}", f"{extension}.abi3.so", summary, meta, lowered, entries
    )  # fmt: skip


def _report_missing_extra(root: Path, entry: Entry, report: Report) -> None:
    """At the requirement that lacks the extra; at the first function where there is none."""
    text = _read(root, Path("pyproject.toml"))
    found = missing_extra(SourceText("pyproject.toml", text)) if text is not None else None
    span, made = found or (entry.span, ())
    report.add("config/missing-extra", span, fixes=made)


def project_of(root: Path, modules: Mapping[str, Path], overlays: Mapping[str, str] | None = None) -> Project:
    """Where the modules of a build, and what they import from the same project, are found."""
    return Project([*_import_roots(root, modules), root], overlays)


@_deep_nesting()
def show(
    project: Project, source: SourceText, module: str, function: str, stage: str, options: ProjectOptions | None = None
) -> str:
    """One stage of one function as text. Raises ``NoSuchFunction``."""
    analysis = analyse(project, source, module, options)
    entry = next((e for e in analysis.entries if e.qualname == function), None)
    if entry is None:
        raise NoSuchFunction(function, suggest(function, [e.qualname for e in analysis.entries]))
    primal = entry.kernels["primal"]
    analysis.entries = [entry]  # what is wrong with other functions of the file does not matter
    derived = derive(analysis) if stage in ("derivative", "llvm", "asm") else analysis.module
    derivatives = [name for kind, name in entry.kernels.items() if kind != "primal"]
    match stage:
        case "ir":
            names = _closure(analysis.lowered, [primal])
            return "\n".join(print_function(analysis.lowered.functions[name]) for name in names) + "\n"
        case "optimised":
            return print_function(analysis.module.functions[primal]) + "\n"
        case "plan":
            return str(analysis.plans[entry.name]) if entry.name in analysis.plans else "no derivative\n"
        case "derivative":
            return "\n".join(print_function(derived.functions[name]) for name in derivatives) + "\n"
        case _:
            from adcore.codegen.compile import emit

            names = _closure(derived, entry.kernels.values())
            kernels = Module({n: derived.functions[n] for n in names}, derived.constants)
            return emit(passes.run(kernels, passes=passes.LOWERING), stage=stage)


def merge(into: Module, module: Module, entries: Sequence[Entry]) -> None:
    """Add a module's functions and constants; names that are taken are changed, in calls and entries as well."""
    names = {n: _free(n, into.functions) for n in module.functions}
    constants = {n: _free(n, into.constants) for n in module.constants}
    for old, function in module.functions.items():
        function.name = names[old]
        into.functions[names[old]] = function
        for op in function.body.walk():
            if op.name == "call":
                op.attrs["callee"] = names[op.attrs["callee"]]
            elif op.name == "constarray":
                op.attrs["name"] = constants[op.attrs["name"]]
    for old, array in module.constants.items():
        into.constants[constants[old]] = array
    for entry in entries:
        entry.kernels = {kind: names[n] for kind, n in entry.kernels.items()}


def _free(name: str, taken: Mapping[str, object]) -> str:
    k, free = 0, name
    while free in taken:
        k += 1
        free = f"{name}.m{k}"
    return free


def _closure(module: Module, names: Iterable[str]) -> list[str]:
    """The functions and everything they call, callees first to last as found."""
    found: dict[str, None] = {}
    work = list(names)
    while work:
        name = work.pop(0)
        if name not in found:
            found[name] = None
            work += passes.callees(module.functions[name])
    return list(found)


def _report_zero_derivatives(entry: Entry, reaches: Sequence[bool], report: Report) -> None:
    for k, reached in zip(entry.wrt, reaches, strict=True):
        if not reached:
            parameter = entry.parameters[k]
            span = parameter.span or entry.span
            made = (
                _without_parameter(entry, k, reaches)
                if entry.application and span.file == entry.application.source.path
                else ()
            )
            report.add("activity/zero-derivative", span, fixes=made, name=parameter.name)


def _without_parameter(entry: Entry, k: int, reaches: Sequence[bool]) -> tuple[Fix, ...]:
    """Leave a parameter out of `wrt`; where that is not written, write it with the others."""
    name, application = entry.parameters[k].name, entry.application
    if application is None or not any(reaches):
        return ()
    written = application.options.get("wrt")
    if written is not None:
        item = next((item for item in written.value.items if item.value == name), None)
        edits = written.without_item(item) if item is not None else None
        return fix(f"Leave `{name}` out of `wrt`", *edits, preferred=False) if edits else ()
    if entry.options.wrt is not None:  # it stands in pyproject.toml
        return ()
    names = [f'"{entry.parameters[other].name}"' for other in entry.wrt if other != k]
    text = f"wrt={names[0]}" if len(names) == 1 else f"wrt=({', '.join(names)})"
    return fix(f"Write `{text}`", application.with_option(text), preferred=False)


def _without_option(entry: Entry, name: str) -> tuple[Fix, ...]:
    written = entry.application.options.get(name) if entry.application else None
    if written is None or entry.application is None or entry.span.file != entry.application.source.path:
        return ()
    return fix(f"Delete `{name}={written.value.text}`", written.removal, preferred=name != "order")


def _internal(report: Report, span: Span, function: str, error: Exception) -> None:
    report.add(
        "compiler/internal", span, function=function, reason=f"{type(error).__name__}: {error}".partition("\n")[0]
    )


def _summary(entry: Entry) -> str:
    members = ", ".join(m for m in entry.members if m != "primal")
    return f"{entry.name}: compiled" + (f" with {members}" if members else "")


def _import_roots(root: Path, modules: Mapping[str, Path]) -> list[Path]:
    """The folders that the modules are imported from."""
    roots: dict[Path, None] = {}
    for name, path in modules.items():
        file = root / path
        depth = len(name.split(".")) - (0 if file.name == "__init__.py" else 1)
        roots[file.parents[depth]] = None
    return list(roots)


def _display(root: Path, path: Path) -> str:
    file = root / path
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)


def _read(root: Path, path: Path) -> str | None:
    try:
        return decode((root / path).read_bytes())
    except OSError:
        return None


def _sources_of(project: Project, entries: Sequence[Entry]) -> dict[str, SourceText]:
    names = dict.fromkeys(m for e in entries for m in (e.module, *(d.module for d in e.dependencies)))
    return {name: found.source for name in names if (found := project.find(name)) is not None}


def _table(root: Path) -> dict[str, object] | None:
    try:
        table: object = tomli.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, tomli.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return None
    for key in ("tool", "adcore"):
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else None


def _cpu(project: ProjectOptions) -> str:
    return "x86-64" if project.cpu == "baseline" else project.cpu


def _version() -> str:
    try:
        return version("adcore")
    except PackageNotFoundError:
        return "0"
