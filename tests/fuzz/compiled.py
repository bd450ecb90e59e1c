"""The same comparisons for machine code: many programs become one package, so that one run of LLVM serves them all.

A program whose derivatives are compiled differs from the interpreter's stages in what its callables do only; ``compare`` is told nothing else.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from engine import compile_package

from fuzz.compare import Mismatch, Result, compare
from fuzz.generate import Program, program
from fuzz.limit import CHECK_SECONDS, TimeLimit, at_most
from fuzz.reference import copied
from fuzz.stages import Rejected, Stage, Stages, build

BATCH = 20


class CompileError(Exception):
    """The package was not made."""


class ArgumentChanged(Exception):
    """A call wrote into an argument that CPython leaves alone."""


def checked(seeds: Sequence[int]) -> Iterator[tuple[Program, Result]]:
    for first in range(0, len(seeds), BATCH):
        yield from batch([program(seed) for seed in seeds[first : first + BATCH]])


def batch(programs: Sequence[Program]) -> Iterator[tuple[Program, Result]]:
    """Compile what the front end accepts together; where that fails, one by one."""
    accepted: list[tuple[Program, Stages]] = []
    for made in programs:
        try:
            accepted.append((made, build(made, second=True)))
        except Rejected as rejected:
            yield made, Result([Mismatch("internal", str(rejected))] if rejected.broken else [], str(rejected))
        except Exception as error:
            yield made, Result([Mismatch("crash", f"{type(error).__name__}: {error}")])
    folder = Path(tempfile.mkdtemp(prefix="adcore-fuzz-"))  # it must last: without its source a module is stale
    try:
        modules = _package(folder, accepted)
        for k, (made, stages) in enumerate(accepted):
            yield made, _compared(made, stages, modules[f"m{k}"])
    except CompileError as error:
        yield from _apart(accepted, error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _package(folder: Path, accepted: Sequence[tuple[Program, Stages]]) -> dict[str, ModuleType]:
    try:
        return compile_package(folder, {f"m{k}": made.text for k, (made, _) in enumerate(accepted)})
    except Exception as error:
        raise CompileError(f"{type(error).__name__}: {error}") from error


def _apart(accepted: Sequence[tuple[Program, Stages]], error: CompileError) -> Iterator[tuple[Program, Result]]:
    """Which of the programs it is that cannot be compiled."""
    if len(accepted) == 1:
        yield accepted[0][0], Result([Mismatch("crash", str(error))])
        return
    for made, _ in accepted:
        yield from batch([made])


def _compared(made: Program, stages: Stages, module: ModuleType) -> Result:
    result, f = Result(), module.f
    try:
        with at_most(CHECK_SECONDS):  # loops in machine code poll for signals
            compare(made, with_compiled(stages, f, made), result)
    except TimeLimit:
        result.mismatches.append(Mismatch("hang", f"not done after {CHECK_SECONDS:.0f} s"))
    return result


def with_compiled(stages: Stages, f: Any, made: Program) -> Stages:
    """The interpreter's last stages beside the compiled ones, so that the two are compared as well."""
    count = made.text.partition("\ndef f(")[2].partition(")")[0].count(":")
    single = len(made.wrt) == 1
    outputs = stages.outputs

    def reverse(args: Sequence[Any]) -> list[Any]:
        weights = tuple(args[count:])
        value, gradients = f.vjp(tuple(args[:count]), weights[0] if len(outputs) == 1 else weights)
        return [*_items(value), *_items(gradients)]

    def forward(args: Sequence[Any]) -> list[Any]:
        value, tangents = f.jvp(tuple(args[:count]), args[count] if single else tuple(args[count:]))
        return [*_items(value), *_items(tangents)]

    def gradient(args: Sequence[Any]) -> list[Any]:
        """``value_and_grad`` where there is one: it scales with the one cotangent."""
        value, gradients = f.value_and_grad(*args[:count])
        return [value, *(g * args[count] for g in _items(gradients))]

    def second(args: Sequence[Any]) -> list[Any]:
        return _items(f.hvp(tuple(args[:count]), args[count] if single else tuple(args[count:])))

    made_of = Stages(
        stages.primal,
        stages.active,
        stages.trace,
        [*stages.primals[-1:], compiled_stage("compiled", lambda a: _items(f(*a)))],
    )
    made_of.gradients = [stages.gradients[-1], compiled_stage("compiled", reverse)]
    made_of.tangents = [stages.tangents[-1], compiled_stage("compiled", forward)]
    if len(outputs) == 1 and len(stages.primal.results) == 1 and stages.hessian is not None:
        made_of.gradients.append(compiled_stage("compiled value_and_grad", gradient))
        made_of.hessian = compiled_stage("compiled", second)
    return made_of


def compiled_stage(name: str, call: Callable[[Sequence[Any]], list[Any]]) -> Stage:
    def run(args: Sequence[Any]) -> tuple[list[Any], str | None]:
        given = copied(args)
        try:
            results, error = call(given), None
        except Exception as raised:
            results, error = [], type(raised).__name__
        for before, after in zip(args, given, strict=True):
            if isinstance(before, np.ndarray) and not np.array_equal(before, after, equal_nan=True):
                raise ArgumentChanged(name)
        for value in results:
            if not isinstance(value, float | int | np.ndarray) or isinstance(value, np.generic):
                raise TypeError(f"{name} gives a {type(value).__name__}")
        return results, error

    return Stage(name, run)


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]
