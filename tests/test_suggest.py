"""The suggester's cases: what people write, and the one name that is meant, or None where silence is better."""

from __future__ import annotations

import random
import time

import pytest

from adcore.suggest import suggest

NAMES = [
    "mode", "wrt", "checkpoint", "checkpoint_policy", "static_args", "output_dir", "strict", "dtype", "max_tape_mb",
    "inline", "vectorize", "cache", "check_finite", "fastmath",
]  # fmt: skip
ALIASES = {"direction": "mode", "argnums": "wrt", "remat": "checkpoint", "vars": "wrt", "out_dir": "output_dir"}
MODES = ["reverse", "forward", "both", "none"]
MODE_ALIASES = {"backward": "reverse", "adjoint": "reverse", "fwd": "forward", "jvp": "forward"}
PARAMETERS = ["alpha", "beta", "x0", "x1", "x"]

CASES: list[tuple[str, list[str], dict[str, str], str | None]] = [
    *(
        (word, NAMES, ALIASES, meant)
        for word, meant in [
            ("wtr", "wrt"), ("wr", "wrt"), ("mod", "mode"), ("Mode", "mode"), ("MODE", "mode"), ("mdoe", "mode"),
            ("moed", "mode"), ("node", "mode"), ("strcit", "strict"), ("statc_args", "static_args"),
            ("args_static", "static_args"), ("static-args", "static_args"), ("staticArgs", "static_args"),
            ("StaticArgs", "static_args"), ("static args", "static_args"), ("chekpoint", "checkpoint"),
            ("checkpiont", "checkpoint"), ("checkpoint_polcy", "checkpoint_policy"),
            ("policy_checkpoint", "checkpoint_policy"), ("policy-checkpoint", "checkpoint_policy"),
            ("out_dir", "output_dir"), ("outputdir", "output_dir"), ("fast_math", "fastmath"),
            ("fast-math", "fastmath"), ("fastMath", "fastmath"), ("finite_check", "check_finite"),
            ("dtypes", "dtype"), ("cach", "cache"), ("max_tape", "max_tape_mb"), ("inlined", "inline"),
            ("vectorise", "vectorize"), ("vec", "vectorize"), ("argnums", "wrt"), ("argNums", "wrt"),
            ("remat", "checkpoint"), ("direction", "mode"), ("vars", "wrt"),
            ("wrt_args", None), ("x", None), ("nope", None), ("jit", None), ("name", None), ("verbose", None),
            ("ch", None), ("check", None), ("", None), ("mode", None), ("y" * 500, None),
        ]
    ),
    *(
        (word, MODES, MODE_ALIASES, meant)
        for word, meant in [
            ("revers", "reverse"), ("rev", "reverse"), ("REVERSE", "reverse"), ("reversed", "reverse"),
            ("forwrd", "forward"), ("forword", "forward"), ("foward", "forward"), ("fwd", "forward"),
            ("backward", "reverse"), ("adjoint", "reverse"), ("None", "none"), ("bothh", "both"),
            ("sideways", None), ("jit", None), ("f", None),
        ]
    ),
    *(
        (word, PARAMETERS, {}, meant)
        for word, meant in [
            ("aplha", "alpha"), ("Beta", "beta"), ("z", None), ("x2", None), ("X", "x"), ("alp", "alpha"), ("be", None),
        ]
    ),
    # an alias whose option does not exist here is no suggestion
    ("argnums", ["mode"], ALIASES, None),
    # of one letter nothing would be left
    ("z", ["x"], {}, None),
    ("x2", ["x0"], {}, None),
    # two candidates that are equally near
    ("cat", ["bat", "rat"], {}, None),
    ("x-y", ["x_y", "xy"], {}, "x_y"),
    ("anything", [], {}, None),
]  # fmt: skip


@pytest.mark.parametrize(("word", "names", "aliases", "meant"), CASES)
def test_suggestion(word: str, names: list[str], aliases: dict[str, str], meant: str | None) -> None:
    assert suggest(word, names, aliases) == meant


def test_the_order_of_names_does_not_matter() -> None:
    rng = random.Random(2)
    for word, names, aliases, meant in CASES:
        shuffled = rng.sample(names, len(names))
        assert suggest(word, shuffled, aliases) == meant


def test_suggestions_are_allowed_names() -> None:
    rng = random.Random(3)
    for _ in range(1500):
        word = "".join(rng.choices("modewrtchk_-XÉ\ud800 1", k=rng.randrange(20)))
        assert suggest(word, NAMES, ALIASES) in (None, *NAMES)


def test_many_names_take_little_time() -> None:
    names = [f"parameter_{number:04}" for number in range(2000)]
    start = time.perf_counter()
    suggest("parametr_1234", names)
    assert time.perf_counter() - start < 2.0
