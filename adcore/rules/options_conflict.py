from adcore.rules.rule import Rule

RULE = Rule(
    name="options/conflict",
    code="AD107",
    severity="error",
    summary="two options that exclude each other",
    message="{subject} conflicts with {other}: {reason}",
    why="One of the two options would have no effect.",
    fix="Drop one of the two options.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(mode="forward", order=2)
def f(x: float) -> float:
    return x * x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(mode="both", order=2)
def f(x: float) -> float:
    return x * x
""",
)
