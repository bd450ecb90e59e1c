from adcore.rules.rule import Rule

RULE = Rule(
    name="alloc/loop-carried",
    code="AD512",
    severity="information",
    summary="a value that is kept because a loop carries it from one iteration to the next",
    message="the reverse pass keeps {what} ({bytes} bytes): it depends on what the loop carries from one iteration to the next",
    why="The reverse pass needs the value of each iteration, and each is computed from the one before.",
    fix="Let the loop carry only sums and products with what does not depend on it.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float, n: int) -> float:
    for i in range(n):
        x = x * x
    return x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float, n: int) -> float:
    s = 0.0
    for i in range(n):
        s = s + x * x
    return s
""",
    by_default=False,
)
