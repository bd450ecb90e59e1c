"""The decorator, as it runs in the user's process: it remembers the function and its options, and checks nothing.

Checking is for the build, the lint step and the editor, which never run it; here the signature suffices (an unknown
option is a `TypeError`, as for every Python function). One overload per (mode, order), for a function and for options
alone, tells type checkers which derivatives the result has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypedDict, TypeVar, overload

from adcore.runtime import Settings, UnboundFunction

if TYPE_CHECKING:
    from typing import Protocol, Unpack

    from adcore.typing import Both, Both2, Compiled, Forward, Forward2, Reverse, Reverse2

    P = ParamSpec("P")
    R = TypeVar("R")
    T = TypeVar("T")

    FastmathFlag = Literal["nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"]

    class Options(TypedDict, total=False):
        """The options that do not change the result's type."""

        wrt: str | tuple[str, ...] | None
        alloc: Literal["allow", "warn", "forbid"]
        checkpoint: Literal["sqrt"] | int | None
        fastmath: bool | tuple[FastmathFlag, ...]
        bounds_check: bool

    class _ToReverse(Protocol):
        def __call__(self, func: Callable[P, R], /) -> Reverse[P, R]: ...

    class _ToForward(Protocol):
        def __call__(self, func: Callable[P, R], /) -> Forward[P, R]: ...

    class _ToBoth(Protocol):
        def __call__(self, func: Callable[P, R], /) -> Both[P, R]: ...

    class _ToCompiled(Protocol):
        def __call__(self, func: Callable[P, R], /) -> Compiled[P, R]: ...

    class _ToReverse2(Protocol):
        def __call__(self, func: Callable[P, R], /) -> Reverse2[P, R]: ...

    class _ToForward2(Protocol):
        def __call__(self, func: Callable[P, R], /) -> Forward2[P, R]: ...

    class _ToBoth2(Protocol):
        def __call__(self, func: Callable[P, R], /) -> Both2[P, R]: ...


@overload
def autodiff(
    func: Callable[P, R], /, *, mode: Literal["reverse"] = ..., order: Literal[1] = ..., **options: Unpack[Options]
) -> Reverse[P, R]: ...
@overload
def autodiff(
    func: Callable[P, R], /, *, mode: Literal["forward"], order: Literal[1] = ..., **options: Unpack[Options]
) -> Forward[P, R]: ...
@overload
def autodiff(
    func: Callable[P, R], /, *, mode: Literal["both"], order: Literal[1] = ..., **options: Unpack[Options]
) -> Both[P, R]: ...
@overload
def autodiff(
    func: Callable[P, R], /, *, mode: Literal["none"], order: Literal[1] = ..., **options: Unpack[Options]
) -> Compiled[P, R]: ...
@overload
def autodiff(
    func: Callable[P, R], /, *, mode: Literal["reverse"] = ..., order: Literal[2], **options: Unpack[Options]
) -> Reverse2[P, R]: ...
@overload
def autodiff(
    func: Callable[P, R], /, *, mode: Literal["forward"], order: Literal[2], **options: Unpack[Options]
) -> Forward2[P, R]: ...
@overload
def autodiff(
    func: Callable[P, R], /, *, mode: Literal["both"], order: Literal[2], **options: Unpack[Options]
) -> Both2[P, R]: ...
@overload
def autodiff(*, mode: Literal["reverse"] = ..., order: Literal[1] = ..., **options: Unpack[Options]) -> _ToReverse: ...
@overload
def autodiff(*, mode: Literal["forward"], order: Literal[1] = ..., **options: Unpack[Options]) -> _ToForward: ...
@overload
def autodiff(*, mode: Literal["both"], order: Literal[1] = ..., **options: Unpack[Options]) -> _ToBoth: ...
@overload
def autodiff(*, mode: Literal["none"], order: Literal[1] = ..., **options: Unpack[Options]) -> _ToCompiled: ...
@overload
def autodiff(*, mode: Literal["reverse"] = ..., order: Literal[2], **options: Unpack[Options]) -> _ToReverse2: ...
@overload
def autodiff(*, mode: Literal["forward"], order: Literal[2], **options: Unpack[Options]) -> _ToForward2: ...
@overload
def autodiff(*, mode: Literal["both"], order: Literal[2], **options: Unpack[Options]) -> _ToBoth2: ...


def autodiff(
    func: Callable[..., Any] | None = None,
    /,
    *,
    mode: str = "reverse",
    wrt: str | tuple[str, ...] | None = None,
    order: int = 1,
    alloc: str = "allow",
    checkpoint: str | int | None = None,
    fastmath: bool | tuple[str, ...] = False,
    bounds_check: bool = True,
) -> Any:
    """Have a function and its derivatives compiled when the package is built.

    As a decorator, bare or with options, or called on a function at the top level of a module:
    `slope = autodiff(area, wrt="r")`. Options are literals, as they are read from the text.

    `mode`: "reverse" gives `grad`, `value_and_grad`, `vjp`, `jacobian`; "forward" gives `jvp`, `jacobian`; "both";
    "none" compiles the function alone. `wrt`: the parameter or parameters to differentiate for; by default every float
    parameter that is read. `order=2` adds `hvp` and `hessian`. `alloc`: whether a reverse pass may allocate.
    `checkpoint`: recompute instead of storing in long loops. `fastmath`, `bounds_check`: as for compilers.

    The result is called as the function is. Where it was not compiled, or its source has changed since, its module is
    compiled at the first call if llvmlite is installed; otherwise every call raises `NotCompiledError`.
    """
    frame = sys._getframe(1)
    settings = Settings(mode, order, at_top_level=frame.f_locals is frame.f_globals)
    namespace = frame.f_globals
    if func is not None:
        return UnboundFunction(func, settings, namespace)
    return lambda function: UnboundFunction(function, settings, namespace)
