from adcore.rules.rule import Rule

RULE = Rule(
    name="language/unsupported-expression",
    code="AD211",
    severity="error",
    summary="an expression outside the language that adcore compiles",
    message="{construct} cannot be compiled: {reason}",
    why="adcore compiles numerical expressions; some need the Python interpreter.",
    fix="Compute the value outside the compiled function and pass it in, or write it with arithmetic.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    return len({x}) * x
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    return x * x
""",
)
