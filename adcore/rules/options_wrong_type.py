from adcore.rules.rule import Rule

RULE = Rule(
    name="options/wrong-type",
    code="AD103",
    severity="error",
    summary="a value of the wrong type",
    message="`{name}` takes {expected}, not {value}",
    why="Values are not converted from one type to another: the conversion might not be the one that was meant.",
    fix="Write a value of the type that the option takes.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(order=2.0)
def f(x: float) -> float:
    return x * x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(order=2)
def f(x: float) -> float:
    return x * x
""",
)
