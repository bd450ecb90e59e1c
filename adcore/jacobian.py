"""Jacobians put together from vector-Jacobian products, one for each element of the outputs.

Shapes nest as JAX's do: a tuple over the outputs where there are several, in it a tuple over the active parameters
where `wrt` is one, in it arrays of shape `output.shape + parameter.shape`. The derivative of a scalar for a scalar is
a Python float.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcore.binding import Entry


def reverse_jacobian(
    function: str,
    vjp: Callable[..., Any],
    binder: Callable[..., tuple[Any, ...]],
    entry: Entry,
) -> Callable[..., Any]:
    """`jacobian(*args, **kwargs)` of a function with the compiled `vjp(args, cotangents) -> (value, gradients)`."""
    wrt = [binder.__code__.co_varnames.index(name) for name in entry.wrt]
    primal = entry.builtin("primal")

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        args = binder(*args, **kwargs)
        # The primal may write into its parameters; derivative calls never do.
        value = primal(*(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args))
        outputs = value if isinstance(value, tuple) else (value,)
        _check_outputs(entry.name, outputs)
        shapes = [np.shape(args[position]) for position in wrt]

        def pull(cotangents: list[Any]) -> tuple[Any, ...]:
            _, gradients = vjp(args, tuple(cotangents) if isinstance(value, tuple) else cotangents[0])
            return (gradients,) if entry.bare else tuple(gradients)

        rows = [_rows(outputs, number, pull, shapes) for number in range(len(outputs))]
        blocks = [row[0] if entry.bare else row for row in rows]
        return tuple(blocks) if isinstance(value, tuple) else blocks[0]

    jacobian.__qualname__ = f"{function}.jacobian"
    return jacobian


def _rows(
    outputs: Sequence[Any], number: int, pull: Callable[[list[Any]], tuple[Any, ...]], shapes: Sequence[tuple[int, ...]]
) -> tuple[Any, ...]:
    """The derivatives of output `number` for every active parameter."""
    cotangents: list[Any] = [np.zeros_like(output) if isinstance(output, np.ndarray) else 0.0 for output in outputs]
    output = outputs[number]
    if not isinstance(output, np.ndarray):
        cotangents[number] = 1.0
        return pull(cotangents)
    blocks = [np.empty((output.size, *shape)) for shape in shapes]
    for element in range(output.size):
        unit = np.zeros_like(output)
        unit.flat[element] = 1.0
        cotangents[number] = unit
        for block, gradient in zip(blocks, pull(cotangents), strict=True):
            block[element] = gradient
    return tuple(block.reshape(output.shape + shape) for block, shape in zip(blocks, shapes, strict=True))


def _check_outputs(name: str, outputs: Sequence[Any]) -> None:
    for number, output in enumerate(outputs):
        if not isinstance(output, float | np.floating) and getattr(output, "dtype", None) != np.float64:
            raise TypeError(f"{name}.jacobian needs float outputs; output {number} is {type(output).__name__}")
