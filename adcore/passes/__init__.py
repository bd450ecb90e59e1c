"""The optimiser: passes over whole functions, run before and after differentiation, in the order of ``PIPELINE``.

A pass is a callable from function (and module) to function; it emits a new function and leaves the old one alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adcore.ir.core import Function, Module
from adcore.ir.verify import verify_function
from adcore.passes.cse import cse
from adcore.passes.dce import dce
from adcore.passes.expand import expand
from adcore.passes.fold import fold
from adcore.passes.fuse import fuse
from adcore.passes.inline import callees, inline
from adcore.passes.interleave import interleave
from adcore.passes.licm import licm
from adcore.passes.ranges import ranges
from adcore.passes.thread import thread
from adcore.passes.write_through import write_through

__all__ = ["LOWERING", "PIPELINE", "Pass", "callees", "run"]

Pass = Callable[[Function, Module], Function]

PIPELINE: tuple[Pass, ...] = (
    inline,
    fold,
    cse,
    thread,
    dce,
    ranges,
    fold,
    licm,
    cse,
    dce,
    fuse,
    interleave,
    fold,
    cse,
    dce,
)
LOWERING: tuple[Pass, ...] = (expand, fold, cse, licm, dce, write_through)


def run(
    module: Module, names: Iterable[str] | None = None, passes: Sequence[Pass] = PIPELINE, *, check: bool = False
) -> Module:
    """Run the passes on the named functions (default all), in module order; ``check`` verifies after each."""
    out = Module(dict(module.functions), module.constants)
    for name in list(module.functions if names is None else names):
        function = out.functions[name]
        for step in passes:
            function = step(function, out)
            if check:
                verify_function(function, out)
        out.functions[name] = function
    return out
