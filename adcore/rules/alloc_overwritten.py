from adcore.rules.rule import Rule

RULE = Rule(
    name="alloc/overwritten",
    code="AD511",
    severity="information",
    summary="a value that is kept because the array that it is read from changes",
    message="the reverse pass keeps {what} ({bytes} bytes): the array that it is read from may hold another by then",
    why="The reverse pass needs the value as it was; an array that is written meanwhile does not hold it any more.",
    fix="Write into another array where memory for that is there anyway.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: Vector) -> float:
    y = x.copy()
    for i in range(len(x)):
        y[i] = y[i] * y[i]
    return y[0]
""",
    after="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
def f(x: Vector) -> float:
    y = x.copy()
    for i in range(len(x)):
        y[i] = x[i] * x[i]
    return y[0]
""",
    by_default=False,
)
