"""The command `adcore`: reads the command line, calls one door, prints, returns the exit code.

Invariants: no input yields a traceback; a mistake on the command line is one line on standard error, with a suggestion
where there is one, and exit code 2; each command imports what it needs and nothing else, so `lint` works with NumPy
and tomli alone.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from adcore.lint.formats import FORMATS, render
from adcore.rules import RULES
from adcore.suggest import suggest

STAGES = ("ir", "optimised", "plan", "derivative", "llvm", "asm")
_WITH_LLVM = frozenset({"llvm", "asm"})
_STDIN = "-"
_BROKEN_PIPE, _INTERRUPTED = 141, 130
# IR is cyclic, large and used to the end: a collector that looks often takes a tenth of the time.
RARELY = (200_000, 20, 20)


class UsageError(Exception):
    """A mistake on the command line; its text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: `arguments` declares them, `run` returns the exit code."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code."""
    gc.set_threshold(*RARELY)
    try:
        try:
            return _run(list(sys.argv[1:] if arguments is None else arguments))
        finally:
            sys.stdout.flush()
    except UsageError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes once more at its end; let it flush into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE


def _run(arguments: list[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name with undecodable bytes must not stop the report
    name = arguments[0] if arguments else "--help"
    if name in ("-h", "--help"):
        print(_overview(), file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if name in ("-V", "--version"):
        print(f"adcore {_version()}")
        return 0
    if name not in COMMANDS:
        kind = "option" if name.startswith("-") else "command"
        allowed = ("--help", "--version") if kind == "option" else tuple(COMMANDS)
        raise UsageError(f"adcore: unknown {kind} `{name}`; {_remedy(name, allowed)}")
    command = COMMANDS[name]
    parser = _Parser(prog=f"adcore {name}", description=command.help, allow_abbrev=False)
    command.arguments(parser)
    return command.run(parser.parse(arguments[1:]))


class _Parser(argparse.ArgumentParser):
    """Mistakes are `UsageError`s of one line."""

    def parse(self, arguments: list[str]) -> argparse.Namespace:
        namespace, unknown = self.parse_known_args(arguments)
        for word in unknown:
            if word.startswith("-") and word != _STDIN:
                name = word.partition("=")[0]
                flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
                raise UsageError(f"{self.prog}: unknown option `{name}`; {_remedy(name, flags)}")
        if unknown:
            raise UsageError(f"{self.prog}: `{unknown[0]}` is one argument too many")
        return namespace

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {' '.join(message.split())}")


def _one_of(allowed: Sequence[str]) -> Callable[[str], str]:
    def check(word: str) -> str:
        if word not in allowed:
            raise argparse.ArgumentTypeError(f"`{word}` is not a value; {_remedy(word, allowed)}")
        return word

    return check


def _remedy(word: str, allowed: Iterable[str]) -> str:
    names = list(allowed)
    near = suggest(word, names)
    return f"did you mean `{near}`?" if near is not None else f"there are {', '.join(f'`{name}`' for name in names)}"


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.help}" for name, command in COMMANDS.items()]
    head = "usage: adcore COMMAND ...\n\nCompiles numerical Python functions and their derivatives.\n\ncommands:"
    return "\n".join([head, *lines, "\n`adcore COMMAND --help` shows its options; `adcore --version` the version."])


def _version() -> str:
    from adcore import __version__

    return __version__


def _need(module: str, extra: str, what: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise UsageError(f"adcore: {what} needs {module}, which is not installed: pip install 'adcore[{extra}]'")


# lint


def _lint_arguments(parser: argparse.ArgumentParser) -> None:
    help = "files and folders (default: the working directory); `-` is standard input"
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help=help)
    words = ", ".join(FORMATS)
    parser.add_argument("--format", type=_one_of(FORMATS), default="full", metavar="FORMAT", help=f"{words}")
    help = "report these rules only: names, codes or categories, separated by commas; `all` has those that are off by default"
    parser.add_argument("--select", action="append", default=[], metavar="RULES", help=help)
    parser.add_argument("--ignore", action="append", default=[], metavar="RULES", help="report all but these rules")
    parser.add_argument("--stdin-filename", metavar="FILE", help="the file that standard input stands for")


def _lint(options: argparse.Namespace) -> int:
    from adcore.driver import analyse
    from adcore.lint.run import Buffer, lint
    from adcore.lint.select import UnknownRule, selection

    if options.stdin_filename is not None and _STDIN not in options.paths:
        raise UsageError("adcore lint: `--stdin-filename` goes with the path `-`")
    buffer = Buffer(sys.stdin.buffer.read(), options.stdin_filename) if _STDIN in options.paths else None
    try:
        chosen = selection(_words(options.select), _words(options.ignore))
    except UnknownRule as unknown:
        near = unknown.suggestion
        remedy = f"did you mean `{near}`?" if near else "`adcore explain` lists all rules"
        raise UsageError(f"adcore lint: there is no rule `{unknown.word}`; {remedy}") from None
    outcome = lint(options.paths, analyse, options.format, os.environ, buffer, chosen)
    if outcome.text:
        print(outcome.text)
    if outcome.count and options.format != "json":
        sys.stdout.flush()
        print(f"adcore lint: {outcome.count}", file=sys.stderr)
    for remark in outcome.remarks:
        sys.stdout.flush()
        print(f"adcore lint: {remark}", file=sys.stderr)
    return outcome.code


def _words(values: Iterable[str]) -> list[str]:
    return [word.strip() for value in values for word in value.split(",") if word.strip()]


# show


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("function", metavar="FILE:FUNCTION", help="a function with `@autodiff`")
    parser.add_argument("--stage", type=_one_of(STAGES), default="plan", metavar="STAGE", help=", ".join(STAGES))


def _show(options: argparse.Namespace) -> int:
    from adcore import driver
    from adcore.frontend.project import Project
    from adcore.lint.check import Checker, decode_as
    from adcore.lint.files import reason
    from adcore.source import SourceText

    file, colon, function = options.function.rpartition(":")
    if not (file and colon and function):
        raise UsageError(f"adcore show: `{options.function}` is not FILE:FUNCTION")
    if options.stage in _WITH_LLVM:
        _need("llvmlite", "build", f"the stage `{options.stage}`")
    path = os.path.abspath(file)
    try:
        text = decode_as(path, Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"adcore show: `{file}` cannot be read: {reason(error)}") from None
    if text is None:
        raise UsageError(f"adcore show: `{file}` is not text in the encoding that it declares")
    checker = Checker(driver.analyse)
    layout, source = checker.layouts.of(path), SourceText(path, text)
    config, _ = checker.config(layout.config, layout.text) if layout.config else (None, ())

    def report_errors() -> bool:
        found = [finding for finding in checker.check(path, text) if finding.severity == "error"]
        if found:
            print(render(found, "concise"), file=sys.stderr)
        return bool(found)

    try:
        shown = driver.show(Project(layout.roots), source, layout.module, function, options.stage, config)
    except driver.NoSuchFunction as missing:
        report_errors()
        remedy = f"; did you mean `{missing.suggestion}`?" if missing.suggestion else ""
        raise UsageError(f"adcore show: no function `{function}` of `{file}` was compiled{remedy}") from None
    except Exception as error:  # a stage that cannot be made is no reason for a traceback
        why = " ".join(f"{type(error).__name__}: {error}".split())
        because = "" if report_errors() else f": {why}"
        raise UsageError(f"adcore show: the stage `{options.stage}` cannot be made{because}") from None
    print(shown.rstrip("\n"))  # outside: a reader that goes away is no failure of the stage
    return 0


# explain


def _explain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="a rule's name or code; without it all rules")


def _explain(options: argparse.Namespace) -> int:
    from adcore.lint.explain import explain, find, overview

    if options.name is None:
        print(overview())
    elif (rule := find(options.name)) is not None:
        print(explain(rule))
    else:
        near = suggest(options.name, RULES)
        remedy = f"did you mean `{near}`?" if near else "`adcore explain` lists all rules"
        raise UsageError(f"adcore explain: there is no rule `{options.name}`; {remedy}")
    return 0


# status, build, cache


def _status_arguments(parser: argparse.ArgumentParser) -> None:
    help = "a package's name, or a folder (default: the working directory)"
    parser.add_argument("target", nargs="?", default=".", metavar="PACKAGE|PATH", help=help)


def _status(options: argparse.Namespace) -> int:
    from buildplug.status import NoSuchTarget, status

    try:
        states = status(options.target)
    except NoSuchTarget as error:
        raise UsageError(f"adcore status: {error}") from None
    print("\n".join(map(str, states)) or "no function is marked with @autodiff, and none is compiled")
    return 0 if all(state.is_good for state in states) else 1


def _build_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="the folder of pyproject.toml")
    parser.add_argument("--inplace", action="store_true", help="put the extensions among the sources")


def _build(options: argparse.Namespace) -> int:
    if not options.inplace:
        raise UsageError("adcore build: only `--inplace` is built here; wheels are built by `pip wheel .`")
    for module in ("llvmlite", "setuptools"):
        _need(module, "build", "a build")
    if not os.path.isdir(options.path):
        raise UsageError(f"adcore build: there is no folder `{options.path}`")
    from buildplug.inplace import build_in_place

    return build_in_place(Path(options.path))


def _cache_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clear", action="store_true", help="delete what was compiled for development")


def _cache(options: argparse.Namespace) -> int:
    from buildplug.cache import Cache, default_folder

    cache = Cache(default_folder())
    count, size = cache.size()
    if options.clear:
        cache.clear()
    state = "deleted" if options.clear else "kept"
    print(f"{cache.folder}: {count} module{'' if count == 1 else 's'} {state}, {size} bytes")
    return 0


# lsp


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    # Editors add this to every server's command line.
    parser.add_argument("--stdio", action="store_true", help="speak over standard input and output (it always does)")


def _lsp(options: argparse.Namespace) -> int:
    _need("pygls", "lsp", "the language server")
    return int(importlib.import_module("adcore_lsp").main())


COMMANDS: dict[str, Command] = {
    "lint": Command("Check the functions and the options of a project, without running it.", _lint_arguments, _lint),
    "show": Command("Print what the compiler makes of a function, at one of its stages.", _show_arguments, _show),
    "explain": Command("Explain a rule: what it finds, why, what to write instead.", _explain_arguments, _explain),
    "build": Command(
        "Compile a project's functions and put the extensions among its sources.", _build_arguments, _build
    ),
    "status": Command(
        "Say which functions are compiled, and whether that fits the source.", _status_arguments, _status
    ),
    "cache": Command("Say what was compiled for development, or delete it.", _cache_arguments, _cache),
    "lsp": Command("Serve editors over standard input and output.", _no_arguments, _lsp),
}
