"""What names mean: a module that may mean several things is refused, never compiled to one of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from engine import HEADER, Refused, analyse, compile_module

ENTRY = "@autodiff\ndef f(x: float) -> float:\n    return {body}\n"
REFUSED = {
    "import in try": ("try:\n    from math import sin as k\nexcept ImportError:\n    from math import cos as k\n", "k(x)"),
    "import in if": ("import sys\nif sys.platform == 'linux':\n    from math import sin as k\nelse:\n    from math import cos as k\n", "k(x)"),
    "helper in if": ("if True:\n    def k(x): return x\nelse:\n    def k(x): return 2 * x\n", "k(x)"),
    "helper twice": ("def k(x): return x\ndef k(x): return 2 * x\n", "k(x)"),
    "alias": ("K = np.array([1.0, 2.0])\nL = K\nL *= 3.0\n", "K[0] * x"),
    "view": ("K = np.array([1.0, 2.0])\nL = K[::-1]\nL[0] = 9.0\n", "K[1] * x"),
    "out": ("K = np.array([1.0, 2.0])\nnp.multiply(K, 3.0, out=K)\n", "K[0] * x"),
    "copyto": ("K = np.array([1.0, 2.0])\nnp.copyto(K, 8.0)\n", "K[0] * x"),
    "init function": ("K = np.zeros(3)\ndef init(k):\n    k[0] = 8.0\ninit(K)\n", "K[0] * x"),
    "loop": ("K = np.zeros(3)\nfor q in [K]:\n    q[0] = 8.0\n", "K[0] * x"),
    "list alias": ("K = [1.0, 2.0]\nL = K\nL.append(7.0)\n", "K[-1] * x"),
    "walrus": ("K = 1.0\nif (K := 3.0):\n    pass\n", "K * x"),
    "match": ("K = 1.0\nmatch 3:\n    case K:\n        pass\n", "K * x"),
    "default": ("K = np.zeros(2)\ndef t(k=K):\n    k[0] = 2.0\nt()\n", "K[0] * x"),
}  # fmt: skip
ALLOWED = {
    "arithmetic on a constant": (
        "K = np.array([1.0, 2.0])\nL = 2.0 * K + 1.0\nM = np.sum(K)\nN = len(K)\n",
        "L[0] * x * M * N",
    ),
    "imported twice alike": ("from math import sin as k\nfrom math import sin as k\n", "k(x)"),
    "import behind a flag": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from os import path\n", "x"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_several_meanings_are_refused(name: str) -> None:
    text, body = REFUSED[name]
    found = analyse(HEADER + text + ENTRY.format(body=body)).diagnostics
    assert any(d.severity == "error" for d in found), name
    assert not [d for d in found if d.name == "compiler/internal"]


@pytest.mark.parametrize("name", ALLOWED)
def test_one_meaning_is_compiled(name: str, tmp_path: Path) -> None:
    text, body = ALLOWED[name]
    f = compile_module(tmp_path, HEADER + text + ENTRY.format(body=body)).f
    assert f(0.5) == pytest.approx(f.__wrapped__(0.5), rel=1e-15)


def test_a_function_marked_twice_is_an_error_at_the_second(tmp_path: Path) -> None:
    text = HEADER + ENTRY.format(body="x") + ENTRY.format(body="2.0 * x")
    with pytest.raises(Refused) as caught:
        compile_module(tmp_path, text)
    assert [(d.name, d.span.line) for d in caught.value.diagnostics] == [("language/decorator-target", 10)]


def test_the_call_form_does_not_guess_between_definitions() -> None:
    text = (
        HEADER
        + "def g(x: float) -> float:\n    return x\nf = autodiff(g)\ndef g(x: float) -> float:\n    return x * x\n"
    )
    assert [d.severity for d in analyse(text).diagnostics] == ["error"]


def test_forward_mode_needs_no_plan(tmp_path: Path) -> None:
    body = """
    a = x.copy()
    s = 0.0
    for i in range(n):
        if i % 2 == 0:
            a[0] = a[0] * a[1]
            v = a[1:]
        else:
            v = a[:-1]
        s += v[0] * v[1]
    return float(s)
"""
    f = compile_module(
        tmp_path, HEADER + '@autodiff(mode="forward", wrt="x")\ndef f(x: Vector, n: int) -> float:\n' + body
    ).f
    x, t = np.array([1.1, 0.7, -0.4]), np.array([0.3, -0.2, 0.5])
    h = 1e-6
    want = (f.__wrapped__(x + h * t, 4) - f.__wrapped__(x - h * t, 4)) / (2 * h)
    assert f.jvp((x, 4), t)[1] == pytest.approx(want, rel=1e-8)


def test_six_nested_loops(tmp_path: Path) -> None:
    text = "@autodiff\ndef f(x: float, n: int) -> float:\n"
    for depth in range(6):
        text += "    " * (depth + 1) + f"for i{depth} in range(n):\n"
    text += "    " * 7 + "x = x + math.tanh(x)\n    return x\n"
    f = compile_module(tmp_path, HEADER + text).f
    h = 1e-7
    assert f.grad(0.01, 1) == pytest.approx((f(0.01 + h, 1) - f(0.01 - h, 1)) / (2 * h), rel=1e-6)


@pytest.mark.parametrize("v", [[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [-1.0, 0.0, 2.0], [1.5, 2.0, -3.0]])
def test_second_derivatives_of_a_product_with_zeros(v: list[float], tmp_path: Path) -> None:
    f = compile_module(
        tmp_path, HEADER + '@autodiff(mode="both", order=2)\ndef f(v: Vector) -> float:\n    return float(np.prod(v))\n'
    ).f
    x = np.array(v)
    want = np.array([[0.0 if i == j else np.prod(np.delete(x, [i, j])) for j in range(3)] for i in range(3)])
    np.testing.assert_allclose(f.hessian(x), want, rtol=1e-15)
    np.testing.assert_allclose(f.grad(x), [np.prod(np.delete(x, i)) for i in range(3)], rtol=1e-15)
    assert f.jvp((x,), np.array([1.0, 0.0, 0.0]))[1] == pytest.approx(x[1] * x[2])


def test_sources_are_decoded_as_python_decodes_them(tmp_path: Path) -> None:
    """A byte order mark and an encoding cookie mean to the build what they mean to Python."""
    from adcore import driver
    from adcore.diagnostics import Report
    from adcore.options import ProjectOptions

    text = HEADER + "Ä = 2.0\n" + ENTRY.format(body="Ä * x")
    for name, data in {
        "bom.py": b"\xef\xbb\xbf" + text.encode(),
        "latin.py": b"# coding: latin-1\n" + text.encode("latin-1"),
    }.items():
        (tmp_path / name).write_bytes(data)
        report = Report()
        assert driver.compile_package(tmp_path, {name[:-3]: Path(name)}, None, ProjectOptions(), report) is not None, (
            report.diagnostics
        )
    (tmp_path / "bad.py").write_bytes(text.encode("latin-1"))
    report = Report()
    assert driver.compile_package(tmp_path, {"bad": Path("bad.py")}, None, ProjectOptions(), report) is None
    assert [d.name for d in report.diagnostics] == ["config/missing-file"]


@pytest.mark.parametrize("toml", ["tool = 5\n", "[tool]\nadcore = 3\n", "x = " + "[" * 3000 + "]" * 3000 + "\n"])
def test_odd_project_files_do_not_end_a_build(toml: str, tmp_path: Path) -> None:
    from adcore import driver
    from adcore.diagnostics import Report
    from adcore.options import ProjectOptions

    (tmp_path / "pyproject.toml").write_text(toml)
    (tmp_path / "m.py").write_text(HEADER + ENTRY.format(body="x"))
    assert driver.compile_package(tmp_path, {"m": Path("m.py")}, None, ProjectOptions(), Report()) is not None


def test_star_imports_of_libraries_do_not_leave_builtins_as_they_were() -> None:
    text = HEADER + "from numpy import *\n" + ENTRY.format(body="pow(x, 0.5)")
    assert {d.severity for d in analyse(text).diagnostics} == {"error"}


def test_a_loop_that_never_ends_can_be_interrupted(tmp_path: Path) -> None:
    import os
    import signal
    import threading

    f = compile_module(
        tmp_path,
        HEADER + "@autodiff\ndef f(x: float) -> float:\n    while x > 0.0:\n        x = x * 1.0\n    return x\n",
    ).f
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        f(1.0)


def test_a_long_chain_of_elif(tmp_path: Path) -> None:
    arms = "".join(f"    elif n == {k}:\n        y = x * {k}.0\n" for k in range(1, 200))
    text = f"@autodiff\ndef f(x: float, n: int) -> float:\n    if n == 0:\n        y = x\n{arms}    else:\n        y = -x\n    return y\n"
    f = compile_module(tmp_path, HEADER + text).f
    assert [f(2.0, n) for n in (0, 77, 199, 200)] == [2.0, 154.0, 398.0, -2.0]
    assert [f.grad(2.0, n) for n in (0, 77, 199, 200)] == [1.0, 77.0, 199.0, -1.0]


def test_a_helper_that_cannot_be_reversed_is_said_before_the_build() -> None:
    text = (
        "def pick(x, q):\n    m = np.outer(x, x)\n    row = m[1] if q else m[0]\n    s = np.sum(row * row)\n    m[1, 0] = 2.0\n"
        "    m[0] += row[1]\n    return s + np.sum(row * m[0])\n\n"
        "def rec(x, n: int) -> float:\n    return pick(x, n < 0) if n <= 0 else rec(x, n - 1)\n\n"
        "@autodiff\ndef f(x: Vector, n: int) -> float:\n    return rec(x, n)\n"
    )
    (found,) = analyse(HEADER + text).diagnostics
    assert (found.name, found.span.line) == ("activity/cannot-reverse", 8)
    assert "a name here that a branch or loop binds to several arrays" in found.message


def test_an_exception_has_one_message() -> None:
    (found,) = analyse(HEADER + '@autodiff\ndef f(x: float) -> float:\n    raise ValueError("a", 2)\n').diagnostics
    assert (found.name, found.hint) == ("language/unsupported-statement", "Write one text.")
