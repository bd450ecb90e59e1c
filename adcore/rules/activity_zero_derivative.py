from adcore.rules.rule import Rule

RULE = Rule(
    name="activity/zero-derivative",
    code="AD401",
    severity="warning",
    summary="a parameter that does not influence the result",
    message="the result does not depend on `{name}` in a differentiable way: its gradient is always zero",
    why="A gradient that is always zero usually means that a parameter is not used as intended.",
    fix="Leave the parameter out of `wrt`, or use it in the result.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(wrt=("x", "y"))
def f(x: float, y: float) -> float:
    return x * x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(wrt=("x", "y"))
def f(x: float, y: float) -> float:
    return x * y
""",
)
