"""Annotations for compiled functions, and the types of the compiled objects.

`Vector` and `Matrix` hold float64; `Array0` to `Array6` take a scalar type: `Array2[np.float32]`. All are plain NumPy
array types, so they mean the same to a type checker whether or not it knows adcore.

The protocols say what `autodiff` returns: each is generic over the function's own parameters `P` and its result `R`,
so the calls of derivatives are checked as strictly as the function's. A gradient has the type of the parameter that it
belongs to, which `P` does not tell: it is `Any`.
"""

from __future__ import annotations

from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import numpy as np

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
S = TypeVar("S", bound=np.generic)

Vector: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
Matrix: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Array0: TypeAlias = np.ndarray[tuple[()], np.dtype[S]]
Array1: TypeAlias = np.ndarray[tuple[int], np.dtype[S]]
Array2: TypeAlias = np.ndarray[tuple[int, int], np.dtype[S]]
Array3: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[S]]
Array4: TypeAlias = np.ndarray[tuple[int, int, int, int], np.dtype[S]]
Array5: TypeAlias = np.ndarray[tuple[int, int, int, int, int], np.dtype[S]]
Array6: TypeAlias = np.ndarray[tuple[int, int, int, int, int, int], np.dtype[S]]


class Gradient(Protocol[P]):
    """`f.grad`: takes the function's own parameters; `out` receives the gradient without allocation."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    @overload
    def __call__(self, *args: Any, out: Any, **kwargs: Any) -> Any: ...


class ValueAndGradient(Protocol[P, R]):
    """`f.value_and_grad`: the function's result and its gradient."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> tuple[R, Any]: ...
    @overload
    def __call__(self, *args: Any, out: Any, **kwargs: Any) -> tuple[R, Any]: ...


class Compiled(Protocol[P, R]):
    """A compiled function, `mode="none"`."""

    __name__: str
    __qualname__: str

    @property
    def __wrapped__(self) -> Any:
        """The Python function."""
        ...

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class Jacobian(Protocol[P]):
    """What both modes offer."""

    def jacobian(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Derivatives of every output for every active parameter, nested as the outputs, then as the parameters."""
        ...


class Reverse(Compiled[P, R], Jacobian[P], Protocol[P, R]):
    """A compiled function with gradients."""

    @property
    def grad(self) -> Gradient[P]: ...
    @property
    def value_and_grad(self) -> ValueAndGradient[P, R]: ...
    def vjp(self, args: tuple[Any, ...], cotangents: Any, /) -> tuple[R, Any]:
        """The value at `args`, and the cotangents carried back to the active parameters."""
        ...


class Forward(Compiled[P, R], Jacobian[P], Protocol[P, R]):
    """A compiled function with directional derivatives."""

    def jvp(self, args: tuple[Any, ...], tangents: Any, /) -> tuple[R, Any]:
        """The value at `args`, and the tangents carried on to the outputs."""
        ...


class Second(Compiled[P, R], Protocol[P, R]):
    """What `order=2` adds."""

    def hvp(self, args: tuple[Any, ...], v: Any, /) -> Any:
        """The Hessian at `args` times `v`."""
        ...

    def hessp(self, x: Any, v: Any, /, *rest: Any) -> Any:
        """The same in the argument order of `scipy.optimize`."""
        ...

    def hessian(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...


class Both(Reverse[P, R], Forward[P, R], Protocol[P, R]):
    """`mode="both"`."""


class Reverse2(Reverse[P, R], Second[P, R], Protocol[P, R]):
    """`mode="reverse", order=2`."""


class Forward2(Forward[P, R], Second[P, R], Protocol[P, R]):
    """`mode="forward", order=2`."""


class Both2(Both[P, R], Second[P, R], Protocol[P, R]):
    """`mode="both", order=2`."""
