"""Predictions for a call as a user writes it: which kernel serves a member, and what it is handed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adcore.allocation.predict import Prediction, Predictor
from adcore.ir.core import Function
from adcore.ir.interp import DTYPES
from adcore.ir.signature import KERNEL_OF, TAKES_ARGUMENT_TUPLE, Entry
from adcore.ir.types import Array


def predict_call(predictor: Predictor, entry: Entry, member: str, args: Sequence[Any]) -> Prediction:
    """``args``: as the member takes them, e.g. ``((x, y), cotangent)`` for ``vjp``; they are left as they are."""
    kernel = predictor.module.functions[entry.kernels[KERNEL_OF[member]]]
    return predictor.run(kernel.name, _handed(kernel, entry, member, args))


def _handed(kernel: Function, entry: Entry, member: str, args: Sequence[Any]) -> list[Any]:
    flat = list(args)
    if member in TAKES_ARGUMENT_TUPLE:
        own, extra = args
        flat = [*own]
        count = len(kernel.params) - len(entry.parameters)
        flat += [extra] if count == 1 and not isinstance(extra, tuple) else list(extra)
    defaults = [p.default for p in entry.parameters[len(flat) :]] if member not in TAKES_ARGUMENT_TUPLE else []
    return [_converted(a, p.type) for a, p in zip([*flat, *defaults], kernel.params, strict=True)]


def _converted(value: Any, type: Any) -> Any:
    """A copy, contiguous and of the right dtype, as entry points make it where they must."""
    if isinstance(type, Array):
        return np.array(value, dtype=DTYPES[type.dtype.name], order="C", copy=True)
    return value
