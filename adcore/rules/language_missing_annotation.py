from adcore.rules.rule import Rule

RULE = Rule(
    name="language/missing-annotation",
    code="AD214",
    severity="error",
    summary="a compiled function whose types are not annotated",
    message="{subject} has no annotation: the types of a compiled function are read from its annotations",
    why="Compilation happens before any call, so the types of the arguments must stand in the source.",
    fix="Annotate every parameter and the return value, for instance as `float`, `int` or `Vector`.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x) -> float:
    return x * x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    return x * x
""",
)
