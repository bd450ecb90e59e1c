from adcore.rules.rule import Rule

RULE = Rule(
    name="language/unsupported-statement",
    code="AD210",
    severity="error",
    summary="a statement outside the language that adcore compiles",
    message="{construct} cannot be compiled: {reason}",
    why="adcore compiles numerical code; some statements need the Python interpreter.",
    fix="Move the statement out of the compiled function, or write it with loops, branches and arithmetic.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    with open("log"):
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
