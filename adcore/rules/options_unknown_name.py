from adcore.rules.rule import Rule

RULE = Rule(
    name="options/unknown-name",
    code="AD101",
    severity="error",
    summary="an option that does not exist",
    message="`{name}` is not an option of `autodiff`; {remedy}",
    why="An option that is not understood would change the derivative silently or not at all.",
    fix="Write one of the option's names, or delete it.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff(mod="reverse")
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
