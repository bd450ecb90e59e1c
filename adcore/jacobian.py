"""Jacobians and Hessians put together from products: vector-Jacobian, Jacobian-vector, Hessian-vector.

Shapes nest as JAX's do: a tuple over the outputs where there are several, in it a tuple over the active parameters
where `wrt` is one, in it arrays of shape `output.shape + parameter.shape`. The derivative of a scalar for a scalar is
a Python float.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    written = entry.extension.modules[entry.module]["functions"][entry.name].get("written", ())

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        args = binder(*args, **kwargs)
        # The primal may write into its parameters; derivative calls never do.
        copies = [np.array(arg) if k in written else arg for k, arg in enumerate(args)]
        value = _outputs(primal(*copies), [copies[k] for k in written])
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


def forward_jacobian(
    function: str,
    jvp: Callable[..., Any],
    binder: Callable[..., tuple[Any, ...]],
    entry: Entry,
) -> Callable[..., Any]:
    """The same from the compiled `jvp(args, tangents) -> (value, tangents)`: one call for each element of the parameters."""
    wrt = [binder.__code__.co_varnames.index(name) for name in entry.wrt]

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        args = binder(*args, **kwargs)
        inputs = [args[position] for position in wrt]
        value: Any = None
        columns: list[list[Any]] = []
        for number, unit in _units(inputs):
            tangents = [_zero(x) for x in inputs]
            tangents[number] = unit
            value, moved = jvp(args, tangents[0] if len(inputs) == 1 else tuple(tangents))
            columns.append(list(moved) if isinstance(value, tuple) else [moved])
        if value is None:  # no element to differentiate for
            value, moved = jvp(args, inputs[0] if len(inputs) == 1 else tuple(inputs))
        outputs = value if isinstance(value, tuple) else (value,)
        _check_outputs(entry.name, outputs)
        blocks = [_block(columns, k, output, inputs, entry.bare) for k, output in enumerate(outputs)]
        return tuple(blocks) if isinstance(value, tuple) else blocks[0]

    jacobian.__qualname__ = f"{function}.jacobian"
    return jacobian


def hessian(
    function: str,
    hvp: Callable[..., Any],
    binder: Callable[..., tuple[Any, ...]],
    entry: Entry,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`hessian(*args, **kwargs)` and `hessp(x, v, *rest)` of a function with the compiled `hvp(args, v) -> H v`."""
    wrt = [binder.__code__.co_varnames.index(name) for name in entry.wrt]

    def whole(*args: Any, **kwargs: Any) -> Any:
        args = binder(*args, **kwargs)
        inputs = [args[position] for position in wrt]
        columns: list[list[Any]] = []
        for number, unit in _units(inputs):
            v = [_zero(x) for x in inputs]
            v[number] = unit
            product = hvp(args, v[0] if len(inputs) == 1 else tuple(v))
            columns.append([product] if entry.bare else list(product))
        blocks = [_block(columns, k, x, inputs, entry.bare) for k, x in enumerate(inputs)]
        return blocks[0] if entry.bare else tuple(blocks)

    def hessp(x: Any, v: Any, /, *rest: Any) -> Any:
        return hvp(binder(x, *rest), v)

    whole.__qualname__, hessp.__qualname__ = f"{function}.hessian", f"{function}.hessp"
    return whole, hessp


def _outputs(value: Any, contents: list[Any]) -> Any:
    """The items of the return value, then what the written parameters hold: one object where there is one."""
    if not contents:
        return value
    items = [*([] if value is None else value if isinstance(value, tuple) else [value]), *contents]
    return items[0] if len(items) == 1 else tuple(items)


def _zero(x: Any) -> Any:
    return np.zeros(np.shape(x)) if np.ndim(x) else 0.0


def _units(inputs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """(number of the input, unit vector) for every element of every input."""
    for number, x in enumerate(inputs):
        if not np.ndim(x):
            yield number, 1.0
            continue
        for element in range(np.size(x)):
            unit = np.zeros(np.shape(x))
            unit.flat[element] = 1.0
            yield number, unit


def _block(columns: list[list[Any]], k: int, output: Any, inputs: Sequence[Any], bare: bool) -> Any:
    """The derivatives of the k-th output for every input, from one column per element of the inputs."""
    blocks: list[Any] = []
    at = 0
    for x in inputs:
        count = np.size(x)
        part = [column[k] for column in columns[at : at + count]]
        at += count
        if not np.ndim(x) and not np.ndim(output):
            blocks.append(part[0])
            continue
        stacked = np.stack([np.asarray(p) for p in part], axis=-1) if part else np.zeros((*np.shape(output), 0))
        blocks.append(stacked.reshape(np.shape(output) + np.shape(x)))
    return blocks[0] if bare else tuple(blocks)


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
