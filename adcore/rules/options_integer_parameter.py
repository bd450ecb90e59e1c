from adcore.rules.rule import Rule

RULE = Rule(
    name="options/integer-parameter",
    code="AD106",
    severity="error",
    summary="`wrt` names an integer",
    message="`wrt` names `{value}`, which is {kind}: there is no derivative with respect to it",
    why="Integers and bools vary in steps; a gradient for them would be meaningless.",
    fix="Annotate the parameter as float, or leave it out of `wrt`.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(wrt="n")
def f(x: float, n: int) -> float:
    return x * n
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(wrt="x")
def f(x: float, n: int) -> float:
    return x * n
""",
)
