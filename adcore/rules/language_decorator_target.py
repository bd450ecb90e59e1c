from adcore.rules.rule import Rule

RULE = Rule(
    name="language/decorator-target",
    code="AD216",
    severity="error",
    summary="`autodiff` on something that is no plain function",
    message="`autodiff` cannot compile {target}: {reason}",
    why="Only functions at module level have a name under which the compiled code can be found.",
    fix="Move the code into a plain function at module level and decorate that.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff
async def f(x: float) -> float:
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
