from adcore.rules.rule import Rule

RULE = Rule(
    name="options/duplicate",
    code="AD108",
    severity="error",
    summary="an option or a parameter given twice",
    message="{subject} is given twice; drop one of the two",
    why="Python itself refuses a keyword that is repeated, and a parameter has only one gradient.",
    fix="Keep one of the two.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(wrt=("x", "x"))
def f(x: float) -> float:
    return x * x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(wrt=("x",))
def f(x: float) -> float:
    return x * x
""",
)
