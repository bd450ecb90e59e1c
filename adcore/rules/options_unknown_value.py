from adcore.rules.rule import Rule

RULE = Rule(
    name="options/unknown-value",
    code="AD102",
    severity="error",
    summary="a value that the option does not take",
    message="{value} is not a value of `{name}`; {remedy}",
    why="Each option takes a fixed set of values.",
    fix="Write one of the allowed values.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(mode="revers")
def f(x: float) -> float:
    return x * x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(mode="reverse")
def f(x: float) -> float:
    return x * x
""",
)
