from adcore.rules.rule import Rule

RULE = Rule(
    name="options/not-literal",
    code="AD104",
    severity="error",
    summary="an option whose value is computed",
    message="`{name}` needs a literal value: `{value}` is known only when the module runs",
    why="The compiler reads the source text and never runs it, so it sees literals and nothing else.",
    fix="Write the value itself at this place.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

MODE = "reverse"

@autodiff(mode=MODE)
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
