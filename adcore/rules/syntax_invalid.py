from adcore.rules.rule import Rule

RULE = Rule(
    name="syntax/invalid",
    code="AD201",
    severity="error",
    summary="Python cannot parse the file",
    message="Python cannot parse this: {reason}",
    why="What Python cannot parse cannot be compiled.",
    fix="Correct the syntax.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    return x *
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    return x * x
""",
)
