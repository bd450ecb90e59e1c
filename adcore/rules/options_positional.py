from adcore.rules.rule import Rule

RULE = Rule(
    name="options/positional",
    code="AD109",
    severity="error",
    summary="an option without its name",
    message="`{value}` stands without a name: options of `autodiff` are given by keyword{remedy}",
    why="`autodiff` takes its options by keyword only.",
    fix="Write the option's name and `=` in front of the value.",
    before="""\
from adcore import autodiff
from adcore.typing import Vector

@autodiff("reverse")
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
