from adcore.rules.rule import Rule

RULE = Rule(
    name="language/unsupported-call",
    code="AD212",
    severity="error",
    summary="a call of a function that adcore does not know",
    message="`{callee}` cannot be called in compiled code: {reason}",
    why="A call can be compiled if the function is written in the compiled language or adcore has a rule for it.",
    fix="Use a function of `math` or NumPy that adcore knows, or write the function in Python next to this one.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: float) -> float:
    print(x)
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
