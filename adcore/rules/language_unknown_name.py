from adcore.rules.rule import Rule

RULE = Rule(
    name="language/unknown-name",
    code="AD213",
    severity="error",
    summary="a name that is not defined",
    message="`{name}` is not defined here{remedy}",
    why="The name is neither a local variable, a parameter, a constant or function of the module, nor imported.",
    fix="Define or import the name.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    return x * xx
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    return x * x
""",
)
