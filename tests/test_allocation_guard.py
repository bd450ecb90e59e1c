"""The guard over allocations guards: false statements are found, the plan's are true, formulas mean what they print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ad_programs import PROGRAMS
from codegen_helper import entry_of

import adcore.ops  # noqa: F401 (fills the registry)
from adcore import ad, passes
from adcore.ad.plan import Slot
from adcore.ad.regions import Place
from adcore.allocation.predict import FalseStatement, Prediction, Predictor
from adcore.codegen.checking import WATCH, Checking
from adcore.codegen.module import module_text
from adcore.ir.core import Module
from adcore.ir.formula import Number, evaluate, formula_of, leaves, product, text, total
from adcore.ir.parser import parse_module

pytest.importorskip("llvmlite")

TESTS = Path(__file__).parent


@pytest.mark.parametrize("fault", ["none", "hidden", "leak", "larger", "claim", "smaller", "law", "chunk"])
def test_the_guard_finds(fault: str) -> None:
    """A fault is put into the compiler, unknown to the prediction, or into the prediction, unknown to the compiler."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    command = [sys.executable, "-m", "counted.faults", fault]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=TESTS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.startswith(f"found {fault}: "), done.stdout


def test_a_false_formula_of_a_site_is_found_by_the_interpreter() -> None:
    module = passes.run(parse_module(PROGRAMS["local"]))
    module.functions["d"] = ad.vjp(module.functions["f"], [0], "d", 1.0)[0]
    module = passes.run(passes.run(module, ["d"]), passes=passes.LOWERING)
    x = np.linspace(0.5, 1.5, 7)
    Predictor(module).run("d", [x])
    ledger = Predictor(module).ledgers["d"]
    sites = [s for s in ledger if leaves(s.bytes) and s.value is not None]
    assert sites
    for site in sites:
        for wrong in (total(site.bytes, Number(8)), product(site.bytes, Number(2))):
            predictor = Predictor(module)
            mine = next(s for s in predictor.ledgers["d"] if s.value is site.value)
            object.__setattr__(mine, "bytes", wrong)
            with pytest.raises(FalseStatement, match="bytes"):
                predictor.run("d", [x])
        predictor = Predictor(module)
        mine = next(s for s in predictor.ledgers["d"] if s.value is site.value)
        object.__setattr__(mine, "executions", total(mine.executions, Number(1)))
        with pytest.raises(FalseStatement, match="executions"):
            predictor.run("d", [x])


# --- the plan's own statements
@pytest.mark.parametrize("optimise", [False, True], ids=["as-made", "optimised"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_plan_says_what_the_slots_hold(name: str, optimise: bool) -> None:
    """The formulas printed from the plan, evaluated with what the primal did, are the bytes that the derivative's slots hold."""
    module = passes.run(parse_module(PROGRAMS[name]))
    analysis = ad.analyse(module.functions["f"], [0])
    made = Module({"f": analysis.primal, "d": ad.vjp(module.functions["f"], [0], "d", 1.0)[0]}, module.constants)
    if optimise:
        made = passes.run(made, ["d"])
    made = passes.run(made, ["d"], passes.LOWERING)
    for n in (3, 8, 40):
        args = [np.linspace(0.4, 1.6, n), *([3] if name == "carry" else [])]
        primal, derivative = Predictor(made).run("f", args), Predictor(made).run("d", args)
        assert primal.error == derivative.error
        stated: dict[str, int] = {}
        for slot in analysis.plan.slots.values():
            if slot.place in ("heap", "stack", "tape"):
                stated[slot.name] = stated.get(slot.name, 0) + held(
                    slot, analysis.plan.places.place_of(slot.value), primal
                )
        found: dict[str, int] = {}
        for site, bytes in derivative.stated.items():
            if site.kept:
                found[site.name] = found.get(site.name, 0) + bytes
        records = {site.name for site in derivative.stated if "tape" in str(site.place)}
        for names in records:  # one record holds several values
            stated[names] = sum(stated.pop(one) for one in dict.fromkeys(names.split(", ")) if one in stated)
        for one, bytes in found.items():
            assert stated[one] == bytes, (one, n)
        if not optimise:
            assert {one for one, bytes in stated.items() if bytes} <= set(found)


def held(slot: Slot, place: Place, primal: Prediction) -> int:
    """What the plan says that a slot takes: nothing where its nest was never reached."""
    outside = place
    while outside.chain:  # slots are allocated before the nest
        assert outside.parent is not None
        outside = outside.parent
    return primal.evaluate(product(slot.each, slot.times)) if primal.runs[outside.region] else 0


def test_formulas_read_as_people_write_them() -> None:
    ops = parse_module("""
func @f(%x: array<f64, [?], c>, %m: i64) -> (i64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %two = const {value = 2} : i64
  %zero = const {value = 0} : i64
  %a = isub %n, %one : i64
  %b = imax %a, %zero : i64
  %c = imul %b, %m : i64
  %d = iadd %c, %two : i64
  %e = isub %m, %d : i64
  %g = imul %e, %d : i64
  %h = isub %g, %e : i64
  %q = ifloordiv %e, %d : i64
  return %q
}""").functions["f"]
    values = {v.name: v for op in ops.body.ops for v in op.results}
    said = {k: text(formula_of(values[k])) for k in "abcdeghq"}
    assert said == {
        "a": "len(x) - 1",
        "b": "len(x) - 1",
        "c": "(len(x) - 1)*m",
        "d": "(len(x) - 1)*m + 2",
        "e": "m - ((len(x) - 1)*m + 2)",
        "g": "(m - ((len(x) - 1)*m + 2))*((len(x) - 1)*m + 2)",
        "h": "(m - ((len(x) - 1)*m + 2))*((len(x) - 1)*m + 2) - (m - ((len(x) - 1)*m + 2))",
        "q": "(m - ((len(x) - 1)*m + 2))//((len(x) - 1)*m + 2)",
    }
    x, m = np.zeros(5), 7
    env = {ops.params[0]: x, ops.params[1]: m}
    for k, formula in said.items():
        assert evaluate(formula_of(values[k]), env) == eval(formula, {"x": x, "m": m, "len": len}), k
    assert evaluate(formula_of(values["b"]), {**env, ops.params[0]: np.zeros(0)}) == 0


def test_kernels_of_a_counting_build_are_those_that_ship() -> None:
    """Only the hooks around the call differ."""
    module = passes.run(parse_module(PROGRAMS["while"]))
    module.functions["d"] = ad.vjp(module.functions["f"], [0], "d", 1.0)[0]
    module = passes.run(passes.run(module, ["d"]), passes=passes.LOWERING)
    entries = [entry_of(module, "f"), entry_of(module, "d")]
    plain, counting = (
        module_text(module, entries, "_adcore", "{}", False, checking)
        for checking in (Checking.NOTHING, Checking.COUNT)
    )
    added = [line for line in counting.splitlines() if line not in set(plain.splitlines())]
    assert "rt.watch" not in plain
    assert {line.strip() for line in added} == {
        "call void @rt.watch(i64 3, ptr null, i64 0, i64 0)",
        "call void @rt.watch(i64 4, ptr null, i64 0, i64 0)",
        "%hook = call ptr @dlsym(ptr null, ptr @rt.hook.name)",
        "store ptr %hook, ptr @rt.hook",
        *(line.strip() for line in WATCH.splitlines() if line not in set(plain.splitlines())),
    }
