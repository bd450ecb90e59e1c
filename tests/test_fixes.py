"""Every rule has a change that ends its finding, or a reason why it offers none; a change does what it says and nothing besides.

`TABLE` holds, for each rule that offers something, texts before and after the offered changes; `NONE` says why the others do not. Each text is
tried with both line ends, and behind text that is no ASCII.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_frontend_rejected import HEAD, blocks, program

from adcore import driver
from adcore.build_requires import missing_extra
from adcore.diagnostics import Diagnostic, Report
from adcore.edits import Edit, Fix, apply, import_name, new_import, without_element
from adcore.lint.check import Checker
from adcore.rules import RULES
from adcore.source import SourceText

IMPORT = "from adcore import autodiff\n"
VECTORS = "from adcore import autodiff\nfrom adcore.typing import Vector\n"
SQUARE = "def f(x: float) -> float:\n    return x * x\n"


@dataclass(frozen=True)
class Case:
    """`after`: the text once each offer is taken, in the order of the offers. `left`: rules that are known to stay or come."""

    before: str
    after: tuple[str, ...]
    toml: bool = False
    preferred: bool = False
    left: tuple[str, ...] = ()


def case(before: str, *after: str, preferred: bool = False, left: tuple[str, ...] = ()) -> Case:
    return Case(IMPORT + before, tuple(IMPORT + text for text in after), False, preferred, left)


def vectors(before: str, *after: str, preferred: bool = False, left: tuple[str, ...] = ()) -> Case:
    return Case(VECTORS + before, tuple(VECTORS + text for text in after), False, preferred, left)


def decorated(
    before: str, *after: str, body: str = SQUARE, preferred: bool = False, left: tuple[str, ...] = ()
) -> Case:
    return case(
        f"@autodiff{before}\n{body}", *(f"@autodiff{text}\n{body}" for text in after), preferred=preferred, left=left
    )


def toml(before: str, *after: str, preferred: bool = False) -> Case:
    return Case(before, after, True, preferred)


TWO = "def f(x: float, y: float) -> float:\n    return x * y\n"
ONE_OF_TWO = "def f(x: float, y: float) -> float:\n    return x * x if y > 0.0 else x\n"
ONE_OF_THREE = "def f(x: float, y: float, z: float) -> float:\n    return x * z if y > 0.0 else x\n"
COUNTED = "def f(x: float, n: int) -> float:\n    return x * n\n"
VECTOR = "def f(x: float) -> Vector:\n    return np.array([x, x])\n"
MODULE = "from adcore import autodiff\n\n\n@autodiff\ndef f(x: float, n: int) -> float:\n    return x * n\n"

TABLE: dict[str, list[Case]] = {
    "options/unknown-name": [decorated('(mod="reverse")', '(mode="reverse")', preferred=True)],
    "options/unknown-value": [decorated('(mode="revers")', '(mode="reverse")', preferred=True)],
    "options/wrong-type": [
        decorated("(order=2.0)", "(order=2)", preferred=True),
        decorated('(wrt=["x"])', '(wrt=("x",))', preferred=True),
    ],
    "options/not-literal": [
        case(
            f'MODE = "reverse"\n@autodiff(mode=MODE)\n{SQUARE}',
            f'MODE = "reverse"\n@autodiff(mode="reverse")\n{SQUARE}',
            preferred=True,
        ),
    ],
    "options/unknown-parameter": [
        decorated('(wrt="z")', '(wrt="x")'),
        decorated("(wrt='z')", "(wrt='x')"),
        decorated('(wrt="X")', '(wrt="x")', body=TWO, preferred=True),
    ],
    "options/integer-parameter": [
        decorated('(wrt="n")', "", body=COUNTED),
        decorated('(wrt=("x", "n"))', '(wrt=("x",))', body=COUNTED, preferred=True),
        decorated('(wrt=("n", "x"))', '(wrt=("x",))', body=COUNTED, preferred=True),
        decorated('(wrt=("n", "x",))', '(wrt=("x",))', body=COUNTED, preferred=True),
        decorated('(order=1, wrt="n")', "(order=1)", body=COUNTED),
        decorated('(wrt="n", order=1)', "(order=1)", body=COUNTED),
        decorated('(\n    wrt="n",\n    order=1,\n)', "(\n    order=1,\n)", body=COUNTED),
        decorated('(\n    order=1,  # one, two\n    wrt="n"\n)', "(\n    order=1,  # one, two\n    \n)", body=COUNTED),
    ],
    "options/conflict": [
        decorated('(mode="forward", order=2)', '(mode="both", order=2)', '(mode="forward")'),
        decorated('(mode="none", wrt="x")', '(mode="none")'),
        decorated('(wrt=("x"), mode="none")', '(mode="none")'),
        decorated('(**{"wrt": "x", "mode": "none"})', '(**{"mode": "none"})'),
        case(
            f'{SQUARE}\ndf = autodiff(f, mode="forward", alloc="warn")\n',
            f'{SQUARE}\ndf = autodiff(f, mode="forward")\n',
        ),
    ],
    "options/duplicate": [
        decorated('(wrt=("x", "x"))', '(wrt=("x",))', preferred=True),
        decorated('(wrt=("x", "y", "x"))', '(wrt=("x", "y"))', body=TWO, preferred=True),
    ],
    "options/positional": [
        decorated('("reverse")', '(mode="reverse")', preferred=True),
        decorated('("x")', '(wrt="x")', preferred=True),
    ],
    "options/not-available": [
        decorated('(checkpoint="sqrt")', "", preferred=True),
        decorated("(checkpoint=4, order=2)", "(order=2)", preferred=True),
    ],
    "language/unsupported-expression": [
        vectors(
            "@autodiff\ndef f(x: Vector) -> float:\n    return x[0] * x.siz\n",
            "@autodiff\ndef f(x: Vector) -> float:\n    return x[0] * x.size\n",
            preferred=True,
        ),
    ],
    "language/unsupported-call": [
        case(
            "import math\n@autodiff\ndef f(x: float) -> float:\n    return math.sqrrt(x)\n",
            "import math\n@autodiff\ndef f(x: float) -> float:\n    return math.sqrt(x)\n",
            preferred=True,
        ),
    ],
    "language/unknown-name": [
        decorated("", "", body="def f(x: float) -> float:\n    return x * xx\n"),  # replaced below
        case(
            "@autodiff\ndef f(x: float) -> float:\n    return math.sin(x)\n",
            "import math\n@autodiff\ndef f(x: float) -> float:\n    return math.sin(x)\n",
            preferred=True,
        ),
        Case(
            '"""Doc."""\nfrom __future__ import annotations\n\nfrom adcore import (\n    autodiff,\n)\n\nY = 1.0\n\n\n'
            "@autodiff\ndef f(x: float) -> float:\n    return np.sin(x) * Y\n",
            (
                '"""Doc."""\nfrom __future__ import annotations\n\nfrom adcore import (\n    autodiff,\n)\nimport numpy as np\n\n'
                "Y = 1.0\n\n\n@autodiff\ndef f(x: float) -> float:\n    return np.sin(x) * Y\n",
            ),
            preferred=True,
        ),
    ],
    "language/missing-annotation": [
        case(
            "@autodiff\ndef f(x: float, k=2.5) -> float:\n    return x * k\n",
            "@autodiff\ndef f(x: float, k: float = 2.5) -> float:\n    return x * k\n",
            preferred=True,
        ),
        case(
            "@autodiff\ndef f(x: float, *, up = True) -> float:\n    return x * x if up else x\n",
            "@autodiff\ndef f(x: float, *, up: bool = True) -> float:\n    return x * x if up else x\n",
            preferred=True,
        ),
        vectors(
            "@autodiff\ndef f(\n    x: Vector,  # a: b\n    k: float = (2.0),\n):  # c: d\n    x[0] = k * x[1]\n",
            "@autodiff\ndef f(\n    x: Vector,  # a: b\n    k: float = (2.0),\n) -> None:  # c: d\n    x[0] = k * x[1]\n",
            preferred=True,
        ),
    ],
    "language/unsupported-annotation": [
        case(
            "@autodiff\ndef f(x: flaot) -> float:\n    return x\n",
            "@autodiff\ndef f(x: float) -> float:\n    return x\n",
            preferred=True,
        ),
        case(
            "@autodiff\ndef f(x: Vector) -> float:\n    return x[0] * x[0]\n",
            "from adcore.typing import Vector\n@autodiff\ndef f(x: Vector) -> float:\n    return x[0] * x[0]\n",
            preferred=True,
        ),
        vectors(
            "@autodiff\ndef f(x: Vector, a: Matrix) -> float:\n    return x[0] * a[0, 0]\n",
            "",  # replaced below
            preferred=True,
        ),
        case(
            "import numpy as np\nfrom numpy.typing import NDArray\n@autodiff\ndef f(x: NDArray[np.float64], y: float) -> float:\n    return x.size * y\n",
            *(
                "import numpy as np\nfrom numpy.typing import NDArray\n"
                f"from adcore.typing import {name}\n@autodiff\ndef f(x: {text}, y: float) -> float:\n    return x.size * y\n"
                for name, text in (("Vector", "Vector"), ("Matrix", "Matrix"), ("Array3", "Array3[np.float64]"))
            ),
        ),
        case(
            'import numpy as np\nfrom numpy.typing import NDArray\n@autodiff\ndef f(x: "NDArray[np.int64]", y: float) -> float:\n    return x.size * y\n',
            *(
                "import numpy as np\nfrom numpy.typing import NDArray\n"
                f"from adcore.typing import {name}\n@autodiff\ndef f(x: {name}[np.int64], y: float) -> float:\n    return x.size * y\n"
                for name in ("Array1", "Array2", "Array3")
            ),
        ),
    ],
    "language/decorator-target": [
        case(
            "import functools\n@autodiff(\n    order=2,\n)\n@functools.cache\ndef f(x: float) -> float:\n    return x * x\n",
            "import functools\n@functools.cache\n@autodiff(\n    order=2,\n)\ndef f(x: float) -> float:\n    return x * x\n",
        ),
    ],
    "calls/unresolved": [],  # with files of its own, below
    "calls/wrong-arguments": [
        vectors(
            "import numpy as np\n@autodiff\ndef f(x: Vector) -> float:\n    return np.sum(x, axs=0)\n",
            "import numpy as np\n@autodiff\ndef f(x: Vector) -> float:\n    return np.sum(x, axis=0)\n",
            preferred=True,
        ),
    ],
    "types/mismatch": [
        vectors(
            "@autodiff\ndef f(x: Vector, k: float) -> float:\n    return x[k] * 2.0\n",
            "@autodiff\ndef f(x: Vector, k: float) -> float:\n    return x[int(k)] * 2.0\n",
            preferred=True,
            left=("activity/zero-derivative",),
        ),
        vectors(
            "@autodiff\ndef f(x: Vector) -> float:\n    return x[len(x) / 2]\n",
            "@autodiff\ndef f(x: Vector) -> float:\n    return x[int(len(x) / 2)]\n",
        ),
        vectors(
            "import numpy as np\n@autodiff\ndef f(x: Vector) -> float:\n    return np.sum(x[: len(x) / 2])\n",
            "import numpy as np\n@autodiff\ndef f(x: Vector) -> float:\n    return np.sum(x[: int(len(x) / 2)])\n",
        ),
        case(
            "@autodiff\ndef f(x: float, n: float) -> float:\n    for i in range(n):\n        x = x * x\n    return x\n",
            "@autodiff\ndef f(x: float, n: float) -> float:\n    for i in range(int(n)):\n        x = x * x\n    return x\n",
            preferred=True,
            left=("activity/zero-derivative",),
        ),
        case(
            "import numpy as np\n@autodiff\ndef f(x: float, n: int) -> float:\n    return x * np.zeros((n / 2, 3)).size\n",
            "import numpy as np\n@autodiff\ndef f(x: float, n: int) -> float:\n    return x * np.zeros((int(n / 2), 3)).size\n",
        ),
        case(
            "import numpy as np\n@autodiff\ndef f(x: float, n: float) -> float:\n    return np.sum(np.linspace(0.0, x, n))\n",
            "import numpy as np\n@autodiff\ndef f(x: float, n: float) -> float:\n    return np.sum(np.linspace(0.0, x, int(n)))\n",
            preferred=True,
            left=("activity/zero-derivative",),
        ),
        case(
            "@autodiff\ndef f(x: float) -> float:\n    return (x) @ (x)  # @\n",
            "@autodiff\ndef f(x: float) -> float:\n    return (x) * (x)  # @\n",
            preferred=True,
        ),
        case(
            "@autodiff\ndef f(x: float) -> float:\n    x @= 2.0\n    return x\n",
            "@autodiff\ndef f(x: float) -> float:\n    x *= 2.0\n    return x\n",
            preferred=True,
        ),
        vectors(
            "import math\nimport numpy\n@autodiff\ndef f(x: Vector) -> float:\n    return numpy.sum(math.sin(x))\n",
            "import math\nimport numpy\n@autodiff\ndef f(x: Vector) -> float:\n    return numpy.sum(numpy.sin(x))\n",
            preferred=True,
        ),
        vectors(
            "from math import sin\n@autodiff\ndef f(x: Vector) -> float:\n    return sin(x)[0]\n",
            "from math import sin\nimport numpy as np\n@autodiff\ndef f(x: Vector) -> float:\n    return np.sin(x)[0]\n",
            preferred=True,
        ),
        case(
            "@autodiff\ndef f(x: float, n: int) -> float:\n    return x * (x & n)\n",
            "@autodiff\ndef f(x: float, n: int) -> float:\n    return x * (int(x) & n)\n",
        ),
        case(
            "@autodiff\ndef f(x: float) -> float:\n    return x * ~x\n",
            "@autodiff\ndef f(x: float) -> float:\n    return x * ~int(x)\n",
        ),
    ],
    "types/return-mismatch": [
        case(
            "@autodiff\ndef f(x: float) -> int:\n    return x * x\n",
            "@autodiff\ndef f(x: float) -> float:\n    return x * x\n",
            "@autodiff\ndef f(x: float) -> int:\n    return int(x * x)\n",
            left=("activity/zero-derivative",),
        ),
        vectors(
            "@autodiff\ndef f(x: Vector) -> float:\n    return x * x\n",
            "@autodiff\ndef f(x: Vector) -> Vector:\n    return x * x\n",
        ),
        vectors(
            "@autodiff\ndef f(x: Vector) -> tuple[float, float]:\n    return x[0], x * x\n",
            "@autodiff\ndef f(x: Vector) -> tuple[float, Vector]:\n    return x[0], x * x\n",
        ),
        case(
            "@autodiff\ndef f(x: float) -> tuple[float, float, float]:\n    return x, x\n",
            "@autodiff\ndef f(x: float) -> tuple[float, float]:\n    return x, x\n",
        ),
    ],
    "activity/zero-derivative": [
        decorated("", '(wrt="x")', body=ONE_OF_TWO),
        decorated("()", '(wrt="x")', body=ONE_OF_TWO),
        decorated("(order=2)", '(order=2, wrt="x")', body=ONE_OF_TWO),
        decorated("(\n    order=2,  # two\n)", '(\n    order=2, wrt="x",  # two\n)', body=ONE_OF_TWO),
        decorated("", '(wrt=("x", "z"))', body=ONE_OF_THREE),
        decorated('(wrt=("x", "y"))', '(wrt=("x",))', body=ONE_OF_TWO),
        decorated('(wrt=("x", "y", "z"))', '(wrt=("x", "z"))', body=ONE_OF_THREE),
        case(f"{ONE_OF_TWO}\ndf = autodiff(f)\n", f'{ONE_OF_TWO}\ndf = autodiff(f, wrt="x")\n'),
    ],
    "activity/not-scalar-output": [
        case(
            f"import numpy as np\nfrom adcore.typing import Vector\n@autodiff(order=2)\n{VECTOR}",
            f"import numpy as np\nfrom adcore.typing import Vector\n@autodiff\n{VECTOR}",
        ),
        case(
            f'import numpy as np\nfrom adcore.typing import Vector\n@autodiff(order=2, wrt="x")\n{VECTOR}',
            f'import numpy as np\nfrom adcore.typing import Vector\n@autodiff(wrt="x")\n{VECTOR}',
        ),
    ],
    "activity/nothing-active": [
        decorated("", '(mode="none")', body="def f(n: int) -> float:\n    return 1.0 * n\n"),
        decorated("()", '(mode="none")', body="def f(n: int) -> float:\n    return 1.0 * n\n"),
        decorated("(mode='both')", "(mode='none')", body="def f(n: int) -> float:\n    return 1.0 * n\n"),
        decorated(
            "(fastmath=True)", '(fastmath=True, mode="none")', body="def f(n: int) -> float:\n    return 1.0 * n\n"
        ),
    ],
    "config/syntax": [toml("[tool.adcore]\nalloc = warn\n", '[tool.adcore]\nalloc = "warn"\n', preferred=True)],
    "config/unknown-key": [toml('[tool.adcore]\naloc = "warn"\n', '[tool.adcore]\nalloc = "warn"\n', preferred=True)],
    "config/unknown-value": [
        toml('[tool.adcore]\nalloc = "forbidd"\n', '[tool.adcore]\nalloc = "forbid"\n', preferred=True)
    ],
    "config/wrong-type": [
        toml('[tool.adcore]\nbounds-check = "true"\n', "[tool.adcore]\nbounds-check = true\n", preferred=True)
    ],
    "config/duplicate": [
        toml(
            '[tool.adcore]\nalloc = "warn"\nalloc = "forbid"  # never\ndebug = true\n',
            '[tool.adcore]\nalloc = "warn"\ndebug = true\n',
        ),
        toml('tool.adcore.alloc = "warn"\ntool.adcore.alloc = "warn"', 'tool.adcore.alloc = "warn"\n'),
        toml(
            '[tool]\nadcore = {alloc = "warn", alloc = "forbid"}\n',
            '[tool]\nadcore = {alloc = "warn"}\n',
        ),
        toml(
            '[tool]\nadcore = {alloc = "warn", alloc = "forbid", debug = true}\n',
            '[tool]\nadcore = {alloc = "warn", debug = true}\n',
        ),
        toml(
            '[tool.adcore.functions."m:f"]\nwrt = ["x", "x"]\n',
            '[tool.adcore.functions."m:f"]\nwrt = ["x"]\n',
            preferred=True,
        ),
    ],
    "config/unknown-function": [
        toml(
            '[tool.adcore.functions."m.f"]\nalloc = "warn"\n',
            '[tool.adcore.functions."m:f"]\nalloc = "warn"\n',
            preferred=True,
        )
    ],
    "config/not-portable": [
        toml(
            '[tool.adcore]\ncpu = "native"\n',
            *(f'[tool.adcore]\ncpu = "x86-64-v{k}"\n' for k in (2, 3, 4)),
            "[tool.adcore]\n",
        )
    ],
    "config/misplaced": [
        toml('[tool.adcore]\nmode = "forward" # why\ndebug = true\n', "[tool.adcore]\ndebug = true\n"),
        toml('[tool]\nadcore = {mode = "forward"}\n', "[tool]\nadcore = {}\n"),
    ],
    "config/unknown-parameter": [
        toml('[tool.adcore.functions."m:f"]\nwrt = "z"\n', '[tool.adcore.functions."m:f"]\nwrt = "x"\n')
    ],
    "config/integer-parameter": [
        toml('[tool.adcore.functions."m:f"]\nwrt = "n"\n', '[tool.adcore.functions."m:f"]\n'),
        toml(
            '[tool.adcore.functions."m:f"]\nwrt = [\n    "n",  # no, a count\n    "x",\n]\n',
            '[tool.adcore.functions."m:f"]\nwrt = [\n      # no, a count\n    "x",\n]\n',
            preferred=True,
        ),
    ],
    "config/missing-extra": [],  # in a build only, below
}
TABLE["language/unknown-name"][0] = case(
    "@autodiff\ndef f(x: float, xyz: float) -> float:\n    return x * xzy\n",
    "@autodiff\ndef f(x: float, xyz: float) -> float:\n    return x * xyz\n",
    preferred=True,
)
TABLE["language/unsupported-annotation"][2] = Case(
    f"{VECTORS}@autodiff\ndef f(x: Vector, a: Matrix) -> float:\n    return x[0] * a[0, 0]\n",
    (
        "from adcore import autodiff\nfrom adcore.typing import Vector, Matrix\n"
        "@autodiff\ndef f(x: Vector, a: Matrix) -> float:\n    return x[0] * a[0, 0]\n",
    ),
    preferred=True,
)

NONE: dict[str, str] = {
    "syntax/invalid": "what was meant is not known",
    "language/unsupported-statement": "the statement has to be written another way, or moved",
    "calls/recursion": "the class of the result is the author's knowledge",
    "types/unstable-join": "which of the types is meant is the author's knowledge",
    "types/shape": "which of the shapes is meant is the author's knowledge",
    "types/missing-return": "what to return is the author's knowledge",
    "activity/no-derivative": "another operation has to be found",
    "activity/cannot-reverse": "the code has to be written another way",
    "alloc/forbidden": "one edit that removes the cost has to be proven by planning again",
    "alloc/kept": "one edit that removes the cost has to be proven by planning again",
    "alloc/overwritten": "it is no mistake; one edit that removes the cost has to be proven by planning again",
    "alloc/loop-carried": "it is no mistake; one edit that removes the cost has to be proven by planning again",
    "alloc/dynamic-trip-count": "it is no mistake; one edit that removes the cost has to be proven by planning again",
    "alloc/branch-record": "it is no mistake; one edit that removes the cost has to be proven by planning again",
    "alloc/array-temporary": "it is no mistake; one edit that removes the cost has to be proven by planning again",
    "alloc/call-result": "it is no mistake; one edit that removes the cost has to be proven by planning again",
    "config/missing-file": "the file is not there",
    "compiler/crash": "it is no fault of the text",
    "compiler/internal": "it is no fault of the text",
}
SEEN_LATER = {"activity/zero-derivative", "activity/nothing-active"}
"""What is said of functions that compile only."""
CASES = [(rule, c) for rule, cases in TABLE.items() for c in cases]


def test_every_rule_has_a_fix_or_a_reason() -> None:
    assert sorted([*TABLE, *NONE]) == sorted(RULES)
    assert all(NONE.values())


def check(folder: Path, text: str, is_toml: bool) -> list[Diagnostic]:
    (folder / "m.py").write_text(MODULE, encoding="utf-8")
    name = "pyproject.toml" if is_toml else "n.py"
    return list(Checker(driver.analyse, {}, {}).check(str(folder / name), text))


def words(found: list[Diagnostic]) -> set[tuple[str, str]]:
    return {(d.rule, d.message) for d in found}


def offers(found: list[Diagnostic], rule: str) -> tuple[Diagnostic, tuple[Fix, ...]]:
    (finding,) = (d for d in found if d.rule == rule)
    return finding, finding.offers


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize(("rule", "c"), CASES, ids=[f"{rule}-{k}" for k, (rule, _) in enumerate(CASES)])
def test_a_fix_ends_its_finding_and_makes_no_other(tmp_path: Path, rule: str, c: Case, ending: str) -> None:
    before = c.before.replace("\n", ending)
    found = check(tmp_path, before, c.toml)
    finding, offered = offers(found, rule)
    assert [apply(SourceText("x", before), fix.edits) for fix in offered] == [a.replace("\n", ending) for a in c.after]
    assert [fix.preferred for fix in offered] == [c.preferred] * len(offered)
    assert len(offered) == 1 or not c.preferred
    for fix, after in zip(offered, c.after, strict=True):
        assert all(edit.span.file == finding.span.file for edit in fix.edits)
        assert list(fix.edits) == sorted(fix.edits, key=lambda edit: edit.span)
        assert fix.title
        assert "\n" not in fix.title
        left = check(tmp_path, after.replace("\n", ending), c.toml)
        assert (rule, finding.message) not in words(left)
        new = words(left) - words(found)
        assert all(name in c.left for name, _ in new), new


@pytest.mark.parametrize(("rule", "c"), CASES, ids=[f"{rule}-{k}" for k, (rule, _) in enumerate(CASES)])
def test_columns_behind_text_that_is_no_ascii(tmp_path: Path, rule: str, c: Case) -> None:
    """The names of the table are replaced by longer ones in each of the units that columns are counted in."""
    if c.toml:
        return

    def foreign(text: str) -> str:
        return "".join(_foreign(token) for token in _tokens(text))

    before = foreign(c.before)
    _, offered = offers(check(tmp_path, before, False), rule)
    after = [apply(SourceText("x", before), fix.edits) for fix in offered]
    assert after == [foreign(text) for text in c.after]


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+|\W", text)


def _foreign(token: str) -> str:
    return {"x": "𐊠é", "X": "𐊠É", "xyz": "𐊠yz", "xzy": "𐊠zy", "xx": "𐊠éé", "n": "ñ"}.get(token, token)


@pytest.mark.parametrize("block", blocks(), ids=lambda block: " ".join(program(block).split())[:60])
def test_what_rejected_programs_are_offered(tmp_path: Path, block: str) -> None:
    text = HEAD + program(block)
    found = check(tmp_path, text, False)
    for finding, fix in ((d, fix) for d in found for fix in d.offers):
        if finding.suggestion is not None and fix == finding.offers[0]:
            continue  # a guess at what a name was meant to be; what comes of it is not known
        left = check(tmp_path, apply(SourceText("n.py", text), fix.edits), False)
        assert (finding.rule, finding.message) not in words(left), fix
        assert {rule for rule, _ in words(left) - words(found)} <= SEEN_LATER, fix


def test_only_the_first_of_what_is_offered_is_the_suggestion(tmp_path: Path) -> None:
    for _, c in CASES:
        for d in check(tmp_path, c.before, c.toml):
            assert sum(fix.preferred for fix in d.offers) <= 1


# Rules whose examples need more than one file


def test_a_name_of_another_module(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def square(x: float) -> float:\n    return x * x\n")
    text = f"{IMPORT}import helper\n@autodiff\ndef f(x: float) -> float:\n    return helper.sqare(x)\n"
    found = check(tmp_path, text, False)
    _, (fix,) = offers(found, "calls/unresolved")
    after = apply(SourceText("n.py", text), fix.edits)
    assert after == text.replace("sqare", "square")
    assert check(tmp_path, after, False) == []


REQUIRES = [
    ('requires = ["setuptools", "adcore"]', 'requires = ["setuptools", "adcore[build]"]', '"adcore"'),
    ("requires = ['adcore >= 0.1']", "requires = ['adcore[build] >= 0.1']", "'adcore >= 0.1'"),
    (
        "requires = [\"adcore[lsp]>=0.1; python_version > '3'\"]",
        "requires = [\"adcore[lsp,build]>=0.1; python_version > '3'\"]",
        None,
    ),
    ('requires = ["adcore-plugin"]', 'requires = ["adcore-plugin", "adcore[build]"]', "requires"),
    ("requires = []", 'requires = ["adcore[build]"]', "requires"),
    ('requires = ["adcore[build]"]', None, '"adcore[build]"'),
]


@pytest.mark.parametrize(("before", "after", "place"), REQUIRES)
def test_the_extra_is_added_to_the_requirement(before: str, after: str | None, place: str | None) -> None:
    source = SourceText("pyproject.toml", f"[build-system]\r\n{before}\r\n")
    found = missing_extra(source)
    assert found is not None
    span, fixes = found
    assert place is None or source.segment(span) == place
    texts = [apply(source, fix.edits) for fix in fixes]
    assert texts == ([f"[build-system]\r\n{after}\r\n"] if after is not None else [])


@pytest.mark.parametrize("text", ["", "[build-system]\n", '[build-system]\nrequires = "adcore"\n', "[build-system\n"])
def test_without_requirements_there_is_no_place(text: str) -> None:
    assert missing_extra(SourceText("pyproject.toml", text)) is None


def test_a_build_without_the_extra_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import adcore.codegen.compile as compiler

    def missing() -> str:
        raise compiler.LlvmMissing("llvmlite is not installed")

    monkeypatch.setattr(compiler, "_llvmlite_path", missing)
    (tmp_path / "m.py").write_text(MODULE)
    (tmp_path / "pyproject.toml").write_text('[build-system]\nrequires = ["setuptools", "adcore"]\n')
    report = Report()
    assert driver.compile_package(tmp_path, {"m": Path("m.py")}, None, driver.ProjectOptions(), report) is None
    finding, (fix,) = offers(list(report), "config/missing-extra")
    assert (finding.span.file, finding.span.line, finding.span.column) == ("pyproject.toml", 2, 27)
    assert [edit.text for edit in fix.edits] == ["[build]"]


# Edits


def test_edits_that_overlap_are_refused() -> None:
    source = SourceText("m.py", "abcdef")
    with pytest.raises(ValueError, match="overlap"):
        apply(source, [Edit(source.span(0, 3), "x"), Edit(source.span(2, 4), "y")])
    assert apply(source, [Edit(source.span(0, 3), "x"), Edit(source.span(3, 3), "y")]) == "xydef"


PLACES = [
    ("", "import math\n"),
    ("x = 1\n", "import math\nx = 1\n"),
    (
        "#!/usr/bin/python\n# -*- coding: utf-8 -*-\nx = 1\n",
        "#!/usr/bin/python\n# -*- coding: utf-8 -*-\nimport math\nx = 1\n",
    ),
    ('"""Doc\nof two lines."""\nx = 1\n', '"""Doc\nof two lines."""\nimport math\nx = 1\n'),
    ("from __future__ import annotations\n\nx = 1\n", "from __future__ import annotations\nimport math\n\nx = 1\n"),
    ("import a; x = 1\n", "import a; x = 1\nimport math\n"),
    ("import a, \\\n    b\nx = 1\n", "import a, \\\n    b\nimport math\nx = 1\n"),
    ("import a", "import a\nimport math"),
    ("import a\r\nx = 1\r\n", "import a\r\nimport math\r\nx = 1\r\n"),
    ("import a\nif x:\n    import b\n", "import a\nimport math\nif x:\n    import b\n"),
]


@pytest.mark.parametrize(("before", "after"), PLACES)
def test_where_an_import_goes(before: str, after: str) -> None:
    source = SourceText("m.py", before)
    assert apply(source, [new_import(source, ast.parse(before), "import math")]) == after
    ast.parse(after)


NAMES = [
    ("from m import a\n", "from m import a, b\n"),
    ("from m import (\n    a,\n)\n", "from m import (\n    a, b,\n)\n"),
    ("from m import a as c  # why\n", "from m import a as c, b  # why\n"),
    ("from m import *\n", "from m import *\nfrom m import b\n"),
    ("from .m import a\n", "from .m import a\nfrom m import b\n"),
    ("import m\n", "import m\nfrom m import b\n"),
]


@pytest.mark.parametrize(("before", "after"), NAMES)
def test_a_name_joins_its_import(before: str, after: str) -> None:
    source = SourceText("m.py", before)
    assert apply(source, [import_name(source, ast.parse(before), "m", "b")]) == after
    ast.parse(after)


ITEMS = [
    '("a", "b", "c")',
    '("a", "b")',
    '("a", "b",)',
    '(\n    "a",\n    "b",\n    "c",\n)',
    '(\n    "a",\n    "b",\n)',
    '(\n    "a",  # 1, 2\n    "b",  # 3\n    "c"  # 4, 5\n)',
    '("a" ,"b" ,"c" ,)',
    '(("a"), "b", ("c"))',
    '("a",  # 1\n "b")',
]
NOT_OFFERED = {('("a",  # 1\n "b")', 1), ('(("a"), "b", ("c"))', 0), ('(("a"), "b", ("c"))', 2)}


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("items", ITEMS)
def test_deleting_an_element_leaves_the_others(items: str, ending: str) -> None:
    text = items.replace("\n", ending)
    source, tree = SourceText("m.py", text), ast.parse(text).body[0]
    assert isinstance(tree, ast.Expr)
    assert isinstance(tree.value, ast.Tuple)
    spans = [source.span_of_node(node) for node in tree.value.elts]
    for k in range(len(spans)):
        edits = without_element(source, spans, k, needs_comma=True)
        assert (edits is None) == ((items, k) in NOT_OFFERED)
        if edits is not None:
            others = tuple(name for j, name in enumerate("abc"[: len(spans)]) if j != k)
            assert ast.literal_eval(apply(source, edits)) == others
