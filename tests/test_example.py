"""The example on its real data: value, gradient and fit of the compiled model, and what `python -m hare_lynx` prints.

That it builds in isolation, from wheels alone, is what `make demo` shows.
"""

from __future__ import annotations

import cmath
import importlib
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from adcore import driver
from adcore.lint.run import lint
from buildplug.engine import compile_units
from buildplug.project import units_to_compile

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples/hare_lynx"
MINIMUM = {"alpha": 0.5400, "beta": 0.02716, "gamma": 0.7966, "delta": 0.02370}
MINIMUM |= {"hare0": 34.60, "lynx0": 5.844, "sigma_hare": 0.2184, "sigma_lynx": 0.2201}

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def source_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with its extension, as an editable install leaves it."""
    root = tmp_path_factory.mktemp("example") / "hare_lynx"
    left_out = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "*.so")
    shutil.copytree(EXAMPLE, root, ignore=left_out)
    files = sorted((root / "src/hare_lynx").glob("*.py"))
    units = units_to_compile([("hare_lynx", file.stem, str(file)) for file in files], {})
    for unit, data in compile_units(root, units):
        unit.in_place.write_bytes(data)
    return root / "src"


@pytest.fixture(scope="module")
def package(source_folder: Path) -> Iterator[SimpleNamespace]:
    """Its modules `data`, `fit`, `model`, `picture`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(source_folder))
        yield SimpleNamespace(
            **{n: importlib.import_module(f"hare_lynx.{n}") for n in ("data", "fit", "model", "picture")}
        )


def gradient_by_complex_step(model: ModuleType, x: np.ndarray, *counts: Any) -> np.ndarray:
    """Exact to rounding, and shares nothing with the compiler: the Python function on complex numbers."""
    python = dict(vars(model), math=SimpleNamespace(exp=cmath.exp, log=cmath.log, pi=math.pi))
    text = Path(str(model.__file__)).read_text(encoding="utf-8").replace("import math\n", "")
    exec(text.replace('@autodiff(wrt="x")\n', ""), python)
    steps = 1e-30j * np.eye(x.size)
    return np.array([python["negative_log_likelihood"](x + step, *counts).imag for step in steps]) / 1e-30


def test_the_data(package: SimpleNamespace) -> None:
    counts = package.data.load()
    assert counts.years == list(range(1900, 1921))
    assert (counts.hares[0], counts.lynxes[0]) == (30.0, 4.0)
    assert (counts.hares[-1], counts.lynxes[-1]) == (24.7, 8.6)
    file = EXAMPLE / "src/hare_lynx/data/hudson_bay_lynx_hare.csv"
    rows = np.array([line.split(",") for line in file.read_text().splitlines() if line[:1].isdigit()], float)
    np.testing.assert_array_equal(rows, np.column_stack([counts.years, counts.lynxes, counts.hares]))


def test_the_primal_is_pythons(package: SimpleNamespace) -> None:
    counts, model = package.data.load(), package.model
    compiled = model.negative_log_likelihood(package.fit.START, counts.hares, counts.lynxes)
    python = model.negative_log_likelihood.__wrapped__(package.fit.START, counts.hares, counts.lynxes)
    assert compiled == pytest.approx(python, rel=1e-14)
    assert compiled == pytest.approx(126.69371, rel=1e-6)


@pytest.mark.parametrize("shift", [0.0, 0.1, -0.05])
def test_the_gradient(package: SimpleNamespace, shift: float) -> None:
    counts, model = package.data.load(), package.model
    x = package.fit.START + shift * np.cos(np.arange(8.0))
    value, gradient = model.negative_log_likelihood.value_and_grad(x, counts.hares, counts.lynxes)
    wanted = gradient_by_complex_step(model, x, counts.hares, counts.lynxes)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-9)
    assert value == model.negative_log_likelihood(x, counts.hares, counts.lynxes)
    assert package.fit.difference_from_finite_differences(counts, x) < 1e-6


def test_the_fit(package: SimpleNamespace) -> None:
    found = package.fit.fit(package.data.load())
    assert found.minimum == pytest.approx(122.92595, rel=1e-6)
    assert list(MINIMUM) == list(package.model.PARAMETERS)
    np.testing.assert_allclose(np.exp(found.x), list(MINIMUM.values()), rtol=1e-3)


def test_the_picture(package: SimpleNamespace) -> None:
    counts = package.data.load()
    picture = ElementTree.fromstring(package.picture.draw(counts, package.fit.START))
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    circles = picture.findall("{*}circle")
    assert len(circles) == 42
    assert all(0 < float(c.attrib["cx"]) < width and 0 < float(c.attrib["cy"]) < height for c in circles)
    lines = [line.attrib["points"].split() for line in picture.findall("{*}polyline")]
    assert [len(line) for line in lines] == [20 * package.picture.POINTS_A_YEAR + 1] * 2


def test_what_it_prints(source_folder: Path, tmp_path: Path) -> None:
    path = [str(source_folder), str(ROOT)]
    program = f"import sys; sys.path[:0] = {path}; from hare_lynx.__main__ import main; main()\n"
    program += "print(*{'llvmlite', 'pygls', 'setuptools'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "at the start    126.69371\n" in done.stdout
    assert "at the minimum  122.92595\n" in done.stdout
    printed = dict(re.findall(r"^  (\w+) +([\d.]+)$", done.stdout, re.MULTILINE))
    assert {name: float(text) for name, text in printed.items()} == pytest.approx(MINIMUM, rel=1e-3)
    assert all(len(text.replace(".", "").lstrip("0")) == 6 for text in printed.values())
    for title in ("evaluations", "microseconds a gradient", "gradient/primal", "largest relative difference"):
        assert title in done.stdout
    assert done.stdout.endswith("hare_lynx.svg\n\n"), "nothing that only a build needs is loaded"
    assert (tmp_path / "hare_lynx.svg").exists()


def test_lint_has_nothing_to_say() -> None:
    outcome = lint([str(EXAMPLE)], driver.analyse, "concise", {})
    assert (outcome.text, outcome.code) == ("", 0)
