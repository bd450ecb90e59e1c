from adcore.rules.rule import Rule

RULE = Rule(
    name="alloc/branch-record",
    code="AD514",
    severity="information",
    summary="a condition that is kept because it cannot be computed again",
    message="the reverse pass keeps whether {what} holds ({bytes} bytes): it cannot be computed again",
    why="The reverse pass goes through the arms that were taken, and what the condition was computed from is gone.",
    fix="Let the condition depend on what the loop does not change.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: Vector) -> float:
    s = 0.0
    for i in range(len(x)):
        if s > 1.0:
            s = s + x[i]
        else:
            s = s + 2.0 * x[i]
    return s
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: Vector) -> float:
    s = 0.0
    for i in range(len(x)):
        if x[i] > 1.0:
            s = s + x[i]
        else:
            s = s + 2.0 * x[i]
    return s
""",
    by_default=False,
)
