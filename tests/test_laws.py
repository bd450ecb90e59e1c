"""Laws that every derivative keeps, held against every test function: reverse and forward mode are adjoint, Hessians are symmetric and the
differences of gradients, calls leave their arguments alone, repeat exactly, and do not mind other threads."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from corpus import Subject, compiled, functions, shared
from test_frontend import MODULES

# Refused for a reason, each with a diagnostic of its own; everything else has every derivative that its results allow
REFUSED = {"read_after_its_array_was_written": "activity/cannot-reverse"}
# Finite values with a slope that is none at an argument of the table: roots at 0, asin at 1, arctan2 at the origin, b**e of b <= 0
SINGULAR = {
    "power", "math_power", "numpy_result", "half_power", "inverse", "inverse_hyperbolic", "roots", "two_arguments", "conditional",
}  # fmt: skip
GROUPS: dict[str, Callable[[], list[Subject]]] = {
    **{m: functools.partial(functions, m) for m in MODULES},
    "shared": functools.cache(shared),
}


def random_like(value: Any, rng: np.random.Generator) -> Any:
    """A cotangent or tangent for an array or number."""
    return rng.normal(size=value.shape) if isinstance(value, np.ndarray) else float(rng.normal())


def floats(value: Any) -> list[Any]:
    """The parts of a result that have a derivative, in order: there is one cotangent for each."""
    match value:
        case tuple():
            return [part for item in value for part in floats(item)]
        case np.ndarray() if value.dtype.kind == "f":
            return [value]
        case float() | np.floating():
            return [value]
        case _:
            return []


def pairs(a: Any, b: Any) -> float:
    """The inner product of two structures, and the sum of its terms' sizes."""
    if isinstance(a, tuple):
        return sum((pairs(x, y) for x, y in zip(a, b, strict=True)), 0.0)
    return float(np.sum(np.asarray(a) * np.asarray(b)))


def size(a: Any, b: Any) -> float:
    if isinstance(a, tuple):
        return sum((size(x, y) for x, y in zip(a, b, strict=True)), 0.0)
    return float(np.sum(np.abs(np.asarray(a) * np.asarray(b))))


def same(a: Any, b: Any) -> None:
    if isinstance(a, tuple):
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif a is not None:
        np.testing.assert_array_equal(a, b)


def one_or_all(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 else tuple(items)


def raises(subject: Subject) -> bool:
    with np.errstate(all="ignore"):
        try:
            subject.compiled(*subject.fresh())
            return isinstance(subject.plain(*subject.fresh()), complex)
        except (ArithmeticError, NameError, ValueError, IndexError, TypeError, AssertionError, RuntimeError):
            return True


@pytest.mark.parametrize("group", GROUPS)
def test_laws(group: str) -> None:
    """One test for each group, because compiling it takes most of the time."""
    if group in MODULES:
        assert compiled(group).refusals == {k: v for k, v in REFUSED.items() if k in compiled(group).order}
    subjects = [subject for subject in GROUPS[group]() if not raises(subject)]
    reverse_and_forward_mode_are_adjoint(subjects)
    calls_leave_arguments_alone_and_repeat_exactly_in_any_thread(subjects)
    hessians_are_symmetric_and_the_differences_of_gradients([s for s in subjects if s.order > 1])


def reverse_and_forward_mode_are_adjoint(subjects: list[Subject]) -> None:
    checked = 0
    for subject in subjects:
        rng = np.random.default_rng(7)
        args = subject.fresh()
        tangents = [random_like(args[k], rng) for k in subject.wrt]
        value, moved = subject.compiled.jvp(tuple(args), one_or_all(tangents))
        cotangent = [random_like(part, rng) for part in floats(value)]
        value_again, gradient = subject.compiled.vjp(tuple(args), one_or_all(cotangent))
        same(value, value_again)
        gradient = gradient if len(tangents) > 1 else (gradient,)
        left, right = pairs(tuple(tangents), gradient), pairs(tuple(cotangent), tuple(floats(moved)))
        scale = size(tuple(tangents), gradient) + size(tuple(cotangent), tuple(floats(moved)))
        if not np.isfinite([left, right]).all():
            poles = any(not np.all(np.isfinite(part)) for part in floats(value))
            both = not np.isfinite(left) and not np.isfinite(right)
            assert poles or (both and subject.name in SINGULAR), (subject.name, subject.args, left, right)
            continue
        assert abs(left - right) <= 1e-12 * scale, (subject.name, subject.args, left, right)
        checked += 1
    assert checked > 3


def calls_leave_arguments_alone_and_repeat_exactly_in_any_thread(subjects: list[Subject]) -> None:
    with ThreadPoolExecutor(8) as pool:
        for subject in subjects:
            rng = np.random.default_rng(3)
            args = subject.fresh()
            before = copy.deepcopy(args)
            value, _ = subject.compiled.jvp(tuple(args), one_or_all([random_like(args[k], rng) for k in subject.wrt]))
            cotangent = one_or_all([random_like(part, rng) for part in floats(value)])
            kept = copy.deepcopy(cotangent)
            call = functools.partial(subject.compiled.vjp, tuple(args), cotangent)
            first = call()
            same(first, call())
            for made in [pool.submit(call) for _ in range(8)]:
                same(first, made.result())
            same(tuple(before), tuple(args))
            same(kept, cotangent)


def hessians_are_symmetric_and_the_differences_of_gradients(subjects: list[Subject]) -> None:
    checked = 0
    for subject in subjects:
        args = subject.fresh()
        places = subject.wrt
        rng = np.random.default_rng(11)
        u, v = ([random_like(args[k], rng) for k in places] for _ in range(2))
        hu, hv = (as_tuple(subject.compiled.hvp(tuple(args), one_or_all(d)), places) for d in (u, v))
        assert_no_nan(subject, hu)
        left, right = pairs(tuple(v), hu), pairs(tuple(u), hv)
        scale = size(tuple(v), hu) + size(tuple(u), hv)
        if np.isfinite(scale):
            assert abs(left - right) <= 1e-10 * scale, (subject.name, subject.args, left, right)
        slope = differences(subject, args, places, u)
        if slope is None:
            continue
        for got, want in zip(hu, slope, strict=True):
            bound = 1e-5 * (1 + np.max(np.abs(np.asarray(want)), initial=0.0))
            np.testing.assert_allclose(got, want, atol=bound, rtol=1e-5, err_msg=f"{subject.name}{subject.args}")
        checked += 1
    assert checked > 3


def as_tuple(made: Any, places: tuple[int, ...]) -> tuple[Any, ...]:
    return made if len(places) > 1 else (made,)


def assert_no_nan(subject: Subject, made: tuple[Any, ...]) -> None:
    """Where value and gradient are finite the Hessian is a number, if perhaps an infinite one."""
    value, gradient = subject.compiled.value_and_grad(*subject.fresh())
    parts = gradient if isinstance(gradient, tuple) else (gradient,)
    if np.isfinite(value) and all(np.all(np.isfinite(g)) for g in parts):
        for part in made:
            assert not np.any(np.isnan(part)), (subject.name, subject.args, made)


def differences(subject: Subject, args: list[Any], places: tuple[int, ...], u: list[Any]) -> list[Any] | None:
    """Central differences of the gradient along `u` with two steps; None where they disagree, as at kinks and near poles, and where a
    step is lost in the size of an argument."""
    if any(np.max(np.abs(args[k]), initial=0.0) > 1e3 for k in places):
        return None
    slopes = []
    for h in (1e-4, 5e-5):
        ends = []
        for sign in (1, -1):
            moved = list(args)
            for k, d in zip(places, u, strict=True):
                moved[k] = args[k] + sign * h * np.asarray(d) if np.ndim(args[k]) else args[k] + sign * h * d
            try:
                gradient = subject.compiled.grad(*moved)
            except (ValueError, ArithmeticError, IndexError, AssertionError):
                return None
            ends.append(gradient if isinstance(gradient, tuple) else (gradient,))
        slopes.append([(np.asarray(a) - np.asarray(b)) / (2 * h) for a, b in zip(*ends, strict=True)])
    for a, b in zip(*slopes, strict=True):
        if not np.allclose(a, b, rtol=1e-5, atol=1e-6 * (1 + np.max(np.abs(a), initial=0.0))):
            return None
    return slopes[1]
