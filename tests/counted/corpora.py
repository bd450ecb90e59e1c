"""Where the functions come from, and the arguments to call them with, at several sizes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ad_programs import CALLS, PROGRAMS
from codegen_helper import entry_of

from adcore import ad, driver, passes
from adcore.ir.core import Module
from adcore.ir.parser import parse_module
from adcore.ir.signature import Entry, leaves
from adcore.ir.types import BOOL, F64, I64, Array, is_differentiable
from counted.build import Built, build, from_texts

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
SIZES = (2, 7, 20)
MATRIX_SIZES = (2, 4, 9)

# A temporary that grows, one that does not, a tape of several chunks.
GROWN = """import numpy as np
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: Vector) -> float:
    y = np.exp(x)
    t = 0.0
    for i in range(x.shape[0]):
        z = np.sin(y[: i + 1])
        z[0] = t
        t = 0.5 * t + float(np.sum(z * z * y[: i + 1]))
    s = 1.0
    k = 0
    while k < 600:
        s = np.sin(s * x[0]) + y[1]
        k += 1
    return s * t
"""

Call = tuple[Entry, str, tuple[Any, ...]]


def arguments(entry: Entry, size: int) -> tuple[Any, ...]:
    """One value per parameter, the same on every run; equal sizes, so that most operations fit."""
    rng = np.random.default_rng(zlib.crc32(entry.name.encode()) + size)
    return tuple(_value(p.type, size, rng) for p in entry.parameters)


def _value(type: Any, size: int, rng: Any) -> Any:
    if isinstance(type, Array):
        n = size if type.rank == 1 else MATRIX_SIZES[SIZES.index(size)] if size in SIZES else size
        shape = tuple(d if isinstance(d, int) else n for d in type.dims)
        if type.dtype == F64:
            return rng.uniform(0.2, 1.8, shape)
        return rng.integers(0, n if type.dtype == I64 else 2, shape).astype(np.int64 if type.dtype == I64 else np.bool_)
    if type == F64:
        return float(rng.uniform(0.2, 1.8))
    return bool(size % 2) if type == BOOL else min(size, 6)


def members(entry: Entry, args: tuple[Any, ...]) -> Iterator[Call]:
    """A call of every member with these arguments."""
    wrt = [args[k] for k in entry.wrt]
    tangents = tuple(np.ones_like(a) if isinstance(a, np.ndarray) else 1.0 for a in wrt)
    tangent = tangents[0] if len(tangents) == 1 else tangents
    for member in entry.members:
        match member:
            case "vjp":
                made = _cotangents(entry, args)
                if made is not None:
                    yield entry, member, (args, made)
            case "jvp" | "hvp":
                yield entry, member, (args, tangent)
            case _:
                yield entry, member, args


def _cotangents(entry: Entry, args: tuple[Any, ...]) -> Any:
    """Of the right shapes where these are known: scalars, and written parameters."""
    real = [(k, leaf.type) for k, leaf in enumerate(leaves(entry.outputs)) if is_differentiable(leaf.type)]
    results = len(leaves(entry.result))
    made: list[Any] = []
    for k, type in real:
        if not isinstance(type, Array):
            made.append(1.0)
        elif k >= results:
            made.append(np.ones_like(args[entry.written[k - results]]))
        else:
            shapes = {a.shape for a in args if isinstance(a, np.ndarray) and a.ndim == type.rank}
            if not shapes:
                return None
            made.append(np.ones(max(shapes)))  # another shape is an error, which is predicted as well
    return made[0] if len(made) == 1 else tuple(made)


def calls(built: Built, sizes: Sequence[int] = SIZES) -> Iterator[Call]:
    for entry in built.entries:
        for size in sizes:
            yield from members(entry, arguments(entry, size))


# --- programs in the IR
def programs() -> Iterator[tuple[Built, Iterator[Call]]]:
    """Primal, reverse, forward and second order as the interpreter's tests make them."""
    merged, entries = Module(), []
    for name in (*PROGRAMS, "CALLS"):
        kernels = derivatives(CALLS if name == "CALLS" else PROGRAMS[name])
        mine = [entry_of(kernels, f) for f in ("f", "dg", "dv", "dj", "dh")]
        for entry in mine:
            entry.module = name
        driver.merge(merged, kernels, mine)
        entries += mine
    yield build(merged, entries), _program_calls(entries)


def _program_calls(entries: list[Entry]) -> Iterator[Call]:
    for entry in entries:
        for size in (3, 17, 40):
            yield entry, "primal", arguments(entry, size)


def derivatives(text: str) -> Module:
    module = passes.run(parse_module(text))
    module.functions["dv"] = ad.vjp(module.functions["f"], [0], "dv")[0]
    module.functions["dg"] = ad.vjp(module.functions["f"], [0], "dg", 1.0)[0]
    module.functions["dj"] = ad.jvp(module.functions["f"], [0], "dj")
    ad.complete(module)
    module = passes.run(module, [n for n in module.functions if n != "f"])
    module.functions["dh"] = ad.jvp(module.functions["dg"], [0], "dh", keep=[1])
    ad.complete(module)
    return passes.run(passes.run(module), passes=passes.LOWERING, check=True)


# --- texts in Python
def cases() -> Iterator[tuple[Built, Iterator[Call]]]:
    """The shared cases, with their own arguments and with these repeated."""
    import test_cases

    accepted = {c.name: c for c in test_cases.CASES if not c.refused}
    built = from_texts({name: test_cases.source(c) for name, c in accepted.items()})

    def each() -> Iterator[Call]:
        for entry in built.entries:
            own = accepted[entry.module].args
            for times in (1, 3, 20):
                yield from members(
                    entry, tuple(np.concatenate([a] * times) if isinstance(a, np.ndarray) else a for a in own)
                )

    yield built, each()


def frontend() -> Iterator[tuple[Built, Iterator[Call]]]:
    """Every function that the front end is tested with, on its own arguments and at three sizes."""
    import test_frontend

    for name in test_frontend.MODULES:
        built = from_texts({f"frontend_cases.{name}": (TESTS / "frontend_cases" / f"{name}.py").read_text()}, TESTS)
        own = test_frontend.python_module(name).ARGS

        def each(built: Built = built, own: Any = own) -> Iterator[Call]:
            for entry in built.entries:
                for k, args in enumerate(own[entry.qualname]):
                    given = tuple(test_frontend.arguments(args))
                    yield entry, "primal", given
                    if len(given) == len(entry.parameters) and k < 3:
                        yield from members(entry, given)
            yield from calls(built)

        yield built, each()


def texts() -> Iterator[tuple[Built, Iterator[Call]]]:
    """What other tests compile from text; the example; the benchmarks."""
    import test_end_to_end
    import test_matrices
    import test_members
    import test_written

    found = {"members": test_members.TEXT, "written": test_written.TEXT, "matrices": test_matrices.text()}
    found["benchmarks"] = (ROOT / "benchmarks" / "functions.py").read_text()
    found["falling"] = test_end_to_end.MODEL.replace("from .helpers import fall\n", "") + test_end_to_end.HELPERS
    built = from_texts(found)
    assert {entry.module for entry in built.entries} == set(found)

    def each() -> Iterator[Call]:
        for entry in built.entries:
            if entry.module != "matrices":
                for size in SIZES:
                    yield from members(entry, arguments(entry, size))
                continue
            own = test_matrices.arguments(entry.qualname)
            for times in (1, 2, 5):
                args = tuple(np.tile(a, (times,) * a.ndim) if isinstance(a, np.ndarray) else a for a in own)
                yield from members(entry, args)

    yield built, each()
    folder = ROOT / "examples" / "hare_lynx" / "src"
    built = from_texts({"hare_lynx.model": (folder / "hare_lynx" / "model.py").read_text()}, folder)
    assert built.entries
    yield built, calls(built, (2, 6, 12))
    grown = from_texts({"grown": GROWN})
    yield grown, calls(grown, (2, 20, 150))


def fuzz(count: int, seed: int) -> Iterator[tuple[Built, Iterator[Call]]]:
    """Random programs, with their own arguments and with longer vectors."""
    from fuzz.generate import program

    for first in range(seed, seed + count, 20):
        made = {f"p{s}": program(s) for s in range(first, min(first + 20, seed + count))}
        built = from_texts({name: p.text for name, p in made.items()})

        def each(built: Built = built, made: Any = made) -> Iterator[Call]:
            for entry in built.entries:
                for args in made[entry.module].calls[:1]:
                    for n in (None, 9, 40):
                        yield from members(
                            entry, tuple(np.resize(a, n) if n and isinstance(a, np.ndarray) else a for a in args)
                        )

        yield built, each()


CORPORA = {"programs": programs, "cases": cases, "frontend": frontend, "texts": texts}
