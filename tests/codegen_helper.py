"""Compile IR text to an extension, load it, call its kernels: shared by the tests of code generation."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import adcore.ops  # noqa: F401 (fills the registry)
from adcore.codegen.compile import compile_module
from adcore.ir import interp
from adcore.ir.core import Module
from adcore.ir.parser import parse_module
from adcore.ir.signature import Entry, Leaf, Parameter, Result, TupleResult
from adcore.ir.types import BOOL, F64, I64, Array, Type
from adcore.ir.verify import verify
from adcore.source import Span
from buildplug.link import link

SPAN = Span("pkg/model.py", 1, 1, 1, 2)
BOXES: dict[Type, str] = {F64: "float", I64: "int", BOOL: "bool"}
_numbers = itertools.count()


def link_and_load(obj: bytes, name: str = "_adcore") -> ModuleType:
    """A fresh module object from an object file."""
    shared = link(obj, export={f"PyInit_{name}", "adcore_malloc", "adcore_free"})
    folder = Path(tempfile.mkdtemp(prefix="adcore-test-"))
    path = folder / f"{name}.abi3.so"
    path.write_bytes(shared)
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def leaf(type: Type) -> Leaf:
    return Leaf(type, "ndarray" if isinstance(type, Array) else BOXES[type])


def entry_of(module: Module, name: str, **facts: Any) -> Entry:
    """An entry for IR function ``name`` whose Python result is its results as they are, several as a tuple."""
    function = module.functions[name]
    parameters = tuple(Parameter(p.name or f"p{k}", p.type) for k, p in enumerate(function.params))
    results = tuple(leaf(t) for t in function.results)
    result: Result = None if not results else results[0] if len(results) == 1 else TupleResult(results)
    facts.setdefault("kernels", {"primal": name})
    facts.setdefault("result", result)
    facts.setdefault("parameters", parameters)
    options: Any = None
    return Entry(module="m", qualname=name, options=options, span=SPAN, **facts)


class Compiled:
    """All functions of a module, callable as primals; ``check`` holds a call against the reference interpreter."""

    def __init__(self, source: str | Module, entries: Sequence[Entry] | None = None) -> None:
        self.module = parse_module(source) if isinstance(source, str) else source
        verify(self.module)
        self.entries = (
            list(entries) if entries is not None else [entry_of(self.module, n) for n in self.module.functions]
        )
        self.extension = link_and_load(compile_module(self.module, self.entries))

    def member(self, name: str, member: str = "primal") -> Any:
        return getattr(self.extension, f"m:{name}.{member}")

    def __call__(self, name: str, *args: Any) -> Any:
        return self.member(name)(*args)

    def check(self, name: str, *args: Any, rtol: float = 0.0) -> Any:
        """Equal to the interpreter, mutations of array arguments included; the compiled result."""
        mine = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        got = self(name, *mine)
        want = interp.run(self.module, name, theirs)
        results = [] if got is None else list(got) if isinstance(got, tuple) else [got]
        assert len(results) == len(want)
        for g, w in zip([*results, *mine], [*want, *theirs], strict=True):
            same(g, w, rtol)
        return got


def same(got: Any, want: Any, rtol: float = 0.0, atol: float = 0.0) -> None:
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
    elif not isinstance(want, tuple | list):
        assert type(got) is type(want), (got, want)
    if rtol == atol == 0.0:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    if isinstance(want, float) and want == 0.0 and rtol == 0.0:
        assert np.signbit(got) == np.signbit(want), (got, want)
