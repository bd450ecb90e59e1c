from adcore.rules.rule import Rule

RULE = Rule(
    name="language/unsupported-annotation",
    code="AD215",
    severity="error",
    summary="an annotation that names no compiled type",
    message="{subject} is annotated as `{annotation}`, which is no type of compiled code{remedy}",
    why="The parameters and results of compiled functions are numbers and arrays of them.",
    fix="Annotate it as `float`, `int`, `bool` or an array type of `adcore.typing`.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: str) -> float:
    return 1.0
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    return x * x
""",
)
