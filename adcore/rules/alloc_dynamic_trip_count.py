from adcore.rules.rule import Rule

RULE = Rule(
    name="alloc/dynamic-trip-count",
    code="AD513",
    severity="information",
    summary="a count that is kept because only the loop itself knows how often it runs",
    message="the reverse pass keeps how often the loop runs ({bytes} bytes): that is known only when it has ended",
    why="The reverse pass runs as many iterations backwards, and `while` and `break` leave no other trace of their number.",
    fix="Write the loop with `range`, if the number of iterations can be computed before it.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: Vector) -> float:
    s = 0.0
    for i in range(len(x)):
        k = 0
        while k < i:
            s = s + 0.5 * x[k]
            k = k + 1
    return s
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: Vector) -> float:
    s = 0.0
    for i in range(len(x)):
        for k in range(i):
            s = s + 0.5 * x[k]
    return s
""",
    by_default=False,
)
