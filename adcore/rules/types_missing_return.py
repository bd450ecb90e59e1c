from adcore.rules.rule import Rule

RULE = Rule(
    name="types/missing-return",
    code="AD305",
    severity="error",
    summary="a path to the end of a function without `return`",
    message="`{name}` can reach its end without a `return`: it gives None there and {other} elsewhere",
    why="Compiled code has one type for the result of a function.",
    fix="Write a `return` at the end, or raise an exception there.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    if x > 0.0:
        return x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    if x > 0.0:
        return x
    return 0.0 * x
""",
)
