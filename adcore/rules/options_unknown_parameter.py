from adcore.rules.rule import Rule

RULE = Rule(
    name="options/unknown-parameter",
    code="AD105",
    severity="error",
    summary="`wrt` names no parameter of the function",
    message="`{value}` in `wrt` is not a parameter of the function; {remedy}",
    why="`wrt` lists the parameters to differentiate with respect to.",
    fix="Name parameters of the function, or leave `wrt` out to differentiate for every float parameter.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(wrt="z")
def f(x: float) -> float:
    return x * x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(wrt="x")
def f(x: float) -> float:
    return x * x
""",
)
