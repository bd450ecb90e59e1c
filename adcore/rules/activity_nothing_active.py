from adcore.rules.rule import Rule

RULE = Rule(
    name="activity/nothing-active",
    code="AD404",
    severity="error",
    summary="nothing to differentiate with respect to",
    message="there is nothing to differentiate with respect to: {reason}",
    why="A derivative needs at least one float parameter that is read.",
    fix='Annotate a parameter as float, or write `mode="none"` to compile the function alone.',
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(n: int) -> float:
    return 1.0 * n
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(mode="none")
def f(n: int) -> float:
    return 1.0 * n
""",
)
