"""The one schema of options, and the checks of every place where they are written.

Each option is one row of `OPTIONS`; decorators, `[tool.adcore]`, `ADCORE_*`, settings and whatever documents them
derive from the rows. Invariants: a check reports every problem of its input at once, each at its span, and gives None
if there was any, so that a broken option is never replaced by a default; no input raises. Beyond the standard library
this loads tomli alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any

import tomli

from adcore.diagnostics import Report
from adcore.edits import Edit, Fix, fix, without_pair
from adcore.edits import replace as replacement
from adcore.option_entries import (
    Application,
    Entry,
    Value,
    quote_like,
    read_call,
    read_settings,
    read_table,
    settings_text,
    shorten,
)
from adcore.option_values import Bad, LiteralOf, Option, Parameter, Place, Surface, ValueCheck, enumerate_names
from adcore.source import SourceText, Span
from adcore.suggest import suggest
from adcore.toml_spans import TomlDocument, TomlNode, scan_toml

_FUNCTION: tuple[Place, ...] = ("decorator", "project", "function", "environment", "settings")
_PROJECT: tuple[Place, ...] = ("project", "environment", "settings")
_SEEN_BY_TYPE_CHECKERS = "type checkers read it from the decorator"
_HOLDS_FOR_ALL = "it holds for the whole extension"

_ROWS: tuple[Option, ...] = (
    Option(
        name="mode",
        kind="choice",
        allowed=("reverse", "forward", "both", "none"),
        default="reverse",
        help="Which derivatives are compiled: gradients (reverse), directional derivatives (forward), both or none.",
        scope="function",
        places=("decorator",),
        aliases={"direction": "Tapenade"},
        value_aliases={
            "fwd": "forward",
            "jvp": "forward",
            "tangent": "forward",
            "rev": "reverse",
            "vjp": "reverse",
            "adjoint": "reverse",
            "backward": "reverse",
            "all": "both",
        },
        elsewhere=_SEEN_BY_TYPE_CHECKERS,
    ),
    Option(
        name="wrt",
        kind="parameters",
        default=None,
        help="The parameter, or tuple of parameters, to differentiate for; by default every float parameter read.",
        scope="function",
        places=("decorator", "function"),
        aliases={"argnums": "JAX", "argnames": "JAX", "inputs": "PyTorch", "vars": "other tools"},
        elsewhere="the names belong to one function",
    ),
    Option(
        name="order",
        kind="choice",
        allowed=(1, 2),
        default=1,
        help="The order of the derivatives: 2 adds `hvp` and `hessian`.",
        scope="function",
        places=("decorator",),
        aliases={"degree": "other tools"},
        elsewhere=_SEEN_BY_TYPE_CHECKERS,
    ),
    Option(
        name="alloc",
        kind="choice",
        allowed=("allow", "warn", "forbid"),
        default="allow",
        help="Whether a reverse pass may allocate heap memory: say nothing, warn, or refuse to compile.",
        scope="both",
        places=_FUNCTION,
        aliases={"allocation": "other tools", "allocations": "other tools"},
        value_aliases={"error": "forbid", "deny": "forbid", "never": "forbid", "warning": "warn", "ignore": "allow"},
    ),
    Option(
        name="checkpoint",
        kind="checkpoint",
        default=None,
        help='Recompute instead of storing in long counted loops: a number of snapshots, or "sqrt" of the trip count.',
        scope="both",
        places=_FUNCTION,
        aliases={"remat": "JAX", "rematerialize": "JAX"},
    ),
    Option(
        name="fastmath",
        kind="flags",
        default=False,
        help="Let LLVM reorder floating-point arithmetic: all of its flags (true) or the named ones.",
        scope="both",
        places=_FUNCTION,
        aliases={"ffast-math": "C compilers", "flags": "LLVM"},
    ),
    Option(
        name="bounds_check",
        kind="bool",
        default=True,
        help="Raise IndexError for indices outside an array. Without it such an index is undefined behaviour.",
        scope="both",
        places=_FUNCTION,
        aliases={"boundscheck": "Numba"},
    ),
    Option(
        name="cpu",
        kind="choice",
        allowed=("baseline", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"),
        local=("native",),
        default="baseline",
        help='The processors that the extension runs on; "native" (environment, command line) is this machine alone.',
        scope="project",
        places=_PROJECT,
        aliases={"march": "C compilers", "target-cpu": "rustc"},
        value_aliases={"x86-64": "baseline", "generic": "baseline", "avx2": "x86-64-v3", "avx512": "x86-64-v4"},
        elsewhere=_HOLDS_FOR_ALL,
    ),
    Option(
        name="debug",
        kind="bool",
        default=False,
        help="Keep line tables of the compiled code for debuggers and profilers.",
        scope="project",
        places=_PROJECT,
        elsewhere=_HOLDS_FOR_ALL,
    ),
    Option(
        name="abi3",
        kind="choice",
        allowed=("cp311",),
        default="cp311",
        help="The oldest Python that the extension runs on.",
        scope="project",
        places=_PROJECT,
        aliases={"py-limited-api": "setuptools"},
        elsewhere=_HOLDS_FOR_ALL,
    ),
    Option(
        name="include",
        kind="patterns",
        default=(),
        help="Compile only modules whose names fit one of these patterns; by default every module of the project.",
        scope="project",
        places=("project",),
        elsewhere="it describes the project",
    ),
    Option(
        name="exclude",
        kind="patterns",
        default=(),
        help="Do not compile modules whose names fit one of these patterns.",
        scope="project",
        places=("project",),
        elsewhere="it describes the project",
    ),
    Option(
        name="functions",
        kind="functions",
        default=(),
        help='Options of single functions: `[tool.adcore.functions."package.module:function"]`.',
        scope="project",
        places=("project",),
        aliases={"overrides": "mypy"},
        elsewhere="it describes the project",
    ),
    Option(
        name="fallback",
        kind="choice",
        allowed=("python",),
        default=None,
        help="Run functions that are not compiled in Python; their derivatives still raise.",
        scope="project",
        places=("environment",),
        elsewhere="it is for one run; use the environment variable ADCORE_FALLBACK",
    ),
    Option(
        name="development",
        kind="choice",
        allowed=("on", "off"),
        default="on",
        help="Compile functions whose extension is missing or stale when they are called, where llvmlite is installed.",
        scope="project",
        places=("environment",),
        elsewhere="it is for one run; use the environment variable ADCORE_DEVELOPMENT",
    ),
    Option(
        name="cache_dir",
        kind="folder",
        default=None,
        help="Where code that was compiled for development is kept; by default `adcore` in the user's cache folder.",
        scope="project",
        places=("environment",),
        elsewhere="it belongs to one machine; use the environment variable ADCORE_CACHE_DIR",
    ),
)

OPTIONS: dict[str, Option] = {option.name: option for option in _ROWS}
"""Every option by its name in Python."""

DECORATOR = Surface("decorator", "in a decorator", "python")
PROJECT = Surface("project", "of `[tool.adcore]`", "toml")
FUNCTION_TABLE = Surface("function", "of a function's table", "toml")
ENVIRONMENT = Surface("environment", "in the environment", "text")
SETTINGS = Surface("settings", "on the command line", "text")

ENVIRONMENT_NAME = "<environment>"
"""What stands for the file in findings about environment variables."""


@dataclass(frozen=True, slots=True)
class FunctionOptions:
    """The options of one function. `given` are those that are not defaults; it takes no part in comparison."""

    mode: str = "reverse"
    wrt: str | tuple[str, ...] | None = None
    """A name: bare gradient; a tuple: tuple of gradients; None: every active parameter."""
    order: int = 1
    alloc: str = "allow"
    checkpoint: str | int | None = None
    fastmath: bool | tuple[str, ...] = False
    bounds_check: bool = True
    given: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> FunctionOptions:
        """From checked values by name; names that are no options of functions are left out."""
        own = {name: value for name, value in values.items() if name in FUNCTION_OPTIONS}
        return cls(**own, given=frozenset(own))

    @property
    def wrt_names(self) -> tuple[str, ...]:
        """The names in `wrt`; empty for the default."""
        return (self.wrt,) if isinstance(self.wrt, str) else self.wrt or ()


@dataclass(frozen=True, slots=True)
class FunctionTable:
    """`[tool.adcore.functions."package.module:function"]`: its values, and where and how its name and `wrt` stand."""

    values: Mapping[str, Any]
    span: Span
    text: str
    wrt: Entry | None = None


@dataclass(frozen=True, slots=True)
class ProjectOptions:
    """`[tool.adcore]` of one project."""

    cpu: str = "baseline"
    debug: bool = False
    abi3: str = "cp311"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What the project sets for all of its functions."""
    functions: Mapping[str, FunctionTable] = field(default_factory=dict)
    """By "package.module:function"."""
    present: bool = False
    """Whether there is a table at all."""

    def selects(self, module: str) -> bool:
        """What `include` and `exclude` say of a module."""
        included = not self.include or any(fnmatchcase(module, pattern) for pattern in self.include)
        return included and not any(fnmatchcase(module, pattern) for pattern in self.exclude)


FUNCTION_OPTIONS: frozenset[str] = frozenset(f.name for f in fields(FunctionOptions)) - {"given"}
PROJECT_OPTIONS: frozenset[str] = frozenset(("cpu", "debug", "abi3", "include", "exclude"))


# Precedence


def resolve(
    decorator: FunctionOptions,
    cli: Mapping[str, Any] | None = None,
    env: Mapping[str, Any] | None = None,
    toml_function: Mapping[str, Any] | None = None,
    toml_defaults: Mapping[str, Any] | None = None,
) -> FunctionOptions:
    """The options that hold: decorator, command line, environment, the function's table, the project's, default."""
    values: dict[str, Any] = {}
    for layer in (toml_defaults, toml_function, env, cli):
        values |= layer or {}
    values |= {name: getattr(decorator, name) for name in decorator.given}
    return FunctionOptions.of(values)


def resolve_project(
    toml: ProjectOptions, cli: Mapping[str, Any] | None = None, env: Mapping[str, Any] | None = None
) -> ProjectOptions:
    """The project's options with those of the command line and the environment over them.

    What these say of functions goes over the project's defaults and over every table of a function, since it precedes both.
    """
    values = {f.name: getattr(toml, f.name) for f in fields(toml)}
    over = {**(env or {}), **(cli or {})}
    of_functions = {name: over[name] for name in over if name in FUNCTION_OPTIONS}
    values["defaults"] = {**toml.defaults, **of_functions}
    values["functions"] = {
        name: replace(table, values={**table.values, **of_functions}) for name, table in toml.functions.items()
    }
    return ProjectOptions(**values | {name: over[name] for name in over if name in PROJECT_OPTIONS})


# Decorators


def check_decorator(
    call_or_name: ast.expr,
    source: SourceText,
    parameters: Sequence[Parameter],
    report: Report,
    *,
    takes_function: bool = False,
    literal_of: LiteralOf | None = None,
) -> FunctionOptions | None:
    """The options of `@autodiff`, `@autodiff(...)` or, with `takes_function`, of `autodiff(f, ...)`.

    `parameters` are the function's (name, kind) pairs, where the kinds "int" and "bool" cannot be in `wrt`; `literal_of` knows the module's
    constants, for what is offered in place of a name.
    """
    if not isinstance(call_or_name, ast.Call):
        return FunctionOptions()
    found = read_call(call_or_name, source, takes_function)
    own = Report()
    for value in found.positional:
        _report_positional(value, parameters, {entry.name for entry in found.entries}, own)
    for value in found.opaque:
        own.add("options/not-literal", value.span, name="**", value=shorten(value.text))
    values, entries = _check_entries(found.entries, DECORATOR, own, parameters, literal_of)
    _report_conflicts(values, entries, own)
    report.extend(own.diagnostics)
    return None if own.has_errors else FunctionOptions.of(values)


def _report_positional(value: Value, parameters: Sequence[Parameter], given: set[str], report: Report) -> None:
    owners = [option.name for option in _ROWS if "decorator" in option.places and value.value in option.allowed]
    if isinstance(value.value, str) and value.value in dict(parameters):
        owners.append("wrt")
    sure = len(owners) == 1 and owners[0] not in given and type(value.value) in (str, int)
    suggestion = f"{owners[0]}={value.text}" if sure else None
    remedy = f"; write `{suggestion}`" if suggestion else ""
    report.add("options/positional", value.span, suggestion, value=shorten(value.text), remedy=remedy)


_NO_DERIVATIVE = 'with `mode="none"` no derivative is compiled'
_NO_REVERSE = 'with `mode="forward"` there is no reverse pass'
_NO_HVP = 'second derivatives are forward over reverse; write `mode="reverse"` or `mode="both"`'
_CONFLICTS: tuple[tuple[str, str, frozenset[object], str], ...] = (
    # mode, option, its values that are harmless, reason
    ("none", "wrt", frozenset(), _NO_DERIVATIVE),
    ("none", "order", frozenset({1}), _NO_DERIVATIVE),
    ("none", "alloc", frozenset({"allow"}), _NO_DERIVATIVE),
    ("none", "checkpoint", frozenset({None}), _NO_DERIVATIVE),
    ("forward", "order", frozenset({1}), _NO_HVP),
    ("forward", "alloc", frozenset({"allow"}), _NO_REVERSE),
    ("forward", "checkpoint", frozenset({None}), _NO_REVERSE),
)


def _report_conflicts(values: Mapping[str, object], entries: Mapping[str, Entry], report: Report) -> None:
    for mode, name, harmless, reason in _CONFLICTS:
        if values.get("mode") == mode and name in values and values[name] not in harmless:
            value, other = entries[name].value, entries["mode"].value
            subject, partner = f"`{name}={shorten(value.text)}`", f"`mode={shorten(other.text)}`"
            related = [(other.span, "the mode is set here")]
            fixes = fix(f"Delete {subject}", entries[name].removal, preferred=False)
            if (mode, name) == ("forward", "order"):
                both = quote_like(other.text, "both")
                fixes = (*fix(f"Write `mode={both}`", replacement(other.span, both), preferred=False), *fixes)
            report.add(
                "options/conflict",
                value.span,
                None,
                related,
                fixes=fixes,
                subject=subject,
                other=partner,
                reason=reason,
            )


def without_derivative(application: Application) -> tuple[Fix, ...]:
    """`mode="none"`, where no other option speaks of derivatives."""
    mode = application.options.get("mode")
    if any(name in application.options for of_mode, name, _, _ in _CONFLICTS if of_mode == "none"):
        return ()
    if mode is not None:
        edit: Edit | None = replacement(mode.value.span, quote_like(mode.value.text, "none"))
    else:
        edit = application.with_option('mode="none"')
    return fix('Write `mode="none"`', edit, preferred=False)


# TOML


def check_toml(text: str, path: str, report: Report) -> ProjectOptions | None:
    """`[tool.adcore]` of a pyproject.toml; None if anything in it, or the TOML itself, is wrong."""
    source, document, own = SourceText(path, text), scan_toml(text), Report()
    _report_toml_syntax(source, document, own)
    node = document.get("tool", "adcore")
    values: dict[str, Any] = {}
    functions: dict[str, FunctionTable] = {}
    if node is not None and not node.is_table:
        place = source.span(*(node.key or (0, 0)))
        own.add("config/wrong-type", place, name="tool.adcore", expected="a table", value="any other value")
    elif node is not None:
        values, _ = _check_entries(read_table(node, source), PROJECT, own)
        if "functions" in values:
            functions = _check_function_tables(node.children["functions"], source, own)
    report.extend(own.diagnostics)
    if own.has_errors:
        return None
    settings = {name: value for name, value in values.items() if name in PROJECT_OPTIONS}
    defaults = {name: value for name, value in values.items() if name in FUNCTION_OPTIONS}
    return ProjectOptions(**settings, defaults=defaults, functions=functions, present=node is not None)


def check_functions(project: ProjectOptions, known: Mapping[str, Sequence[Parameter]], report: Report) -> None:
    """Check the functions' tables against the functions that exist: "package.module:function" to their parameters."""
    for name, table in project.functions.items():
        if name not in known:
            near = suggest(name, known)
            remedy = "correct the name or delete the table" if near is None else f"did you mean `{near}`?"
            suggestion = None if near is None else f'"{near}"'
            report.add("config/unknown-function", table.span, suggestion, name=shorten(name), remedy=remedy)
        else:
            check_table(table, known[name], report)


def check_table(table: FunctionTable, parameters: Sequence[Parameter], report: Report) -> None:
    """Check what the table of a function says of its parameters."""
    if table.wrt is not None:
        ValueCheck(OPTIONS["wrt"], table.wrt, FUNCTION_TABLE, report, parameters).run()


def _report_toml_syntax(source: SourceText, document: TomlDocument, report: Report) -> None:
    """tomli says whether the text is TOML; the scanner says where, and what else is wrong after the first mistake."""
    try:
        tomli.loads(source.text)
        return
    except tomli.TOMLDecodeError as error:
        reason, offset = error.msg[:1].lower() + error.msg[1:], _offset(source.text, error.lineno, error.colno)
    except (ValueError, RecursionError) as error:
        reason, offset = shorten(str(error)), 0
    for mistake in document.errors:
        span = source.span(*mistake.place)
        if mistake.first is None:
            report.add("config/syntax", span, mistake.correction, reason=shorten(mistake.message, 120))
        else:
            related = [(source.span(*mistake.first), "first here")]
            subject = f"`{shorten(source.text[slice(*mistake.place)])}`"
            whole = source.span(*mistake.whole) if mistake.whole else None
            fixes = fix(f"Delete the second {subject}", without_pair(source, whole), preferred=False) if whole else ()
            report.add("config/duplicate", span, None, related, fixes=fixes, subject=subject)
    if not document.errors or offset < document.errors[0].place[0]:
        report.add("config/syntax", source.span(offset, offset + 1), reason=reason)


_FUNCTION_NAME = re.compile(r"\w+(?:\.\w+)*:\w+(?:\.\w+)*")
_DOTTED_NAME = re.compile(r"(\w+(?:\.\w+)*)\.(\w+)")


def _check_function_tables(functions: TomlNode, source: SourceText, report: Report) -> dict[str, FunctionTable]:
    found = {}
    for entry in read_table(functions, source):
        node = functions.children[entry.name]
        if not _FUNCTION_NAME.fullmatch(entry.name):
            dotted = _DOTTED_NAME.fullmatch(entry.name)
            better = f"{dotted[1]}:{dotted[2]}" if dotted else None
            remedy = f"write `{better}`" if better else "write `package.module:function`"
            suggestion = f'"{better}"' if better else None
            report.add("config/unknown-function", entry.span, suggestion, name=shorten(entry.name), remedy=remedy)
        if not node.is_table:
            name, shown = shorten(entry.name), entry.value.shown
            report.add("config/wrong-type", entry.value.span, name=name, expected="a table", value=shown)
            continue
        values, entries = _check_entries(read_table(node, source), FUNCTION_TABLE, report)
        found[entry.name] = FunctionTable(values, entry.span, entry.text, entries.get("wrt"))
    return found


def _offset(text: str, line: int, column: int) -> int:
    """The offset of a position of tomli's, whose lines end at line feeds only."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return min(start + column - 1, len(text))


# Environment and settings


def environment_text(environ: Mapping[str, str]) -> SourceText:
    """The `ADCORE_*` variables as a text, for showing the place of a finding."""
    own = {name: environ[name] for name in sorted(environ) if name.startswith("ADCORE_")}
    return settings_text(ENVIRONMENT_NAME, own)


def check_environment(environ: Mapping[str, str], report: Report) -> dict[str, Any] | None:
    """The options that `ADCORE_*` variables set, by name; None if any of them is wrong. Empty ones count as unset."""
    names = sorted(name for name in environ if name.startswith("ADCORE_"))
    return _check_text(read_settings(environment_text(environ), names), ENVIRONMENT, report)


def check_settings(settings: Mapping[str, str], origin: str, report: Report) -> dict[str, Any] | None:
    """The options of `name=value` settings (command line, pip); `origin` stands for the file in findings."""
    return _check_text(read_settings(settings_text(origin, settings), list(settings)), SETTINGS, report)


def _check_text(entries: Sequence[Entry], surface: Surface, report: Report) -> dict[str, Any] | None:
    own = Report()
    values, _ = _check_entries(entries, surface, own)
    report.extend(own.diagnostics)
    return None if own.has_errors else values


# What all places share


def _check_entries(
    entries: Sequence[Entry],
    surface: Surface,
    report: Report,
    parameters: Sequence[Parameter] | None = None,
    literal_of: LiteralOf | None = None,
) -> tuple[dict[str, Any], dict[str, Entry]]:
    """The good values by option name, and the entries that gave them."""
    by_spelling = {surface.name(option): option for option in _ROWS}
    values: dict[str, Any] = {}
    seen: dict[str, Entry] = {}
    for entry in entries:
        option = by_spelling.get(entry.name)
        if option is None:
            _report_unknown(entry, entries, surface, report)
        elif surface.where not in option.places:
            _report_misplaced(entry, option, surface, report)
        elif option.name in seen:
            related = [(seen[option.name].span, "first here")]
            rule = f"{surface.category}/duplicate"
            same = entry.value.literal and entry.value.text == seen[option.name].value.text
            fixes = fix(f"Delete the second `{entry.name}`", entry.removal, preferred=same)
            report.add(rule, entry.span, None, related, fixes=fixes, subject=f"`{entry.name}`")
        else:
            seen[option.name] = entry
            value = ValueCheck(option, entry, surface, report, parameters, literal_of).run()
            if not isinstance(value, Bad):
                values[option.name] = value
    return values, seen


def _report_misplaced(entry: Entry, option: Option, surface: Surface, report: Report) -> None:
    if surface is DECORATOR:
        where = "the environment" if option.places == ("environment",) else "`[tool.adcore]`"
        report.add("options/unknown-name", entry.span, name=entry.name, remedy=f"`{option.kebab}` is set in {where}")
        return
    place = {PROJECT: "in `[tool.adcore]`", FUNCTION_TABLE: "for one function"}.get(surface, surface.place)
    fixes = fix(f"Delete `{entry.name}`", entry.removal, preferred=False)
    report.add("config/misplaced", entry.span, fixes=fixes, name=entry.name, place=place, reason=option.elsewhere)


def _report_unknown(entry: Entry, entries: Iterable[Entry], surface: Surface, report: Report) -> None:
    """One suggestion, or the names that exist. What is there already is named, but is no replacement."""
    options = {_word(surface.name(option)): option for option in _ROWS if surface.where in option.places}
    aliases = {alias: name for name, option in options.items() for alias in option.aliases}
    word = _word(entry.name)
    near = suggest(word, options, aliases)
    suggestion = None
    if near is None:
        remedy = f"the options are {enumerate_names([surface.name(option) for option in options.values()])}"
    else:
        option = options[near]
        name, tool = surface.name(option), option.aliases.get(word.lower().replace("_", "-"))
        remedy = f"did you mean `{name}`?" if tool is None else f"what {tool} calls `{word}` is `{name}` here"
        if option.kind == "functions" or name not in (other.name for other in entries):
            suggestion = quote_like(entry.text, name)
    rule = "options/unknown-name" if surface is DECORATOR else "config/unknown-key"
    report.add(rule, entry.span, suggestion, name=shorten(entry.name), remedy=remedy, place=surface.place)


def _word(name: str) -> str:
    """A name without the prefix that all variables share: it would make any two of them look alike."""
    return name.removeprefix("ADCORE_")
