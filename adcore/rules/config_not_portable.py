from adcore.rules.rule import Rule

RULE = Rule(
    name="config/not-portable",
    code="AD607",
    severity="error",
    summary="code for this machine alone in a wheel",
    message="`{name} = {value}` ties the wheel to the processor that builds it; name a level such as `x86-64-v3`",
    why="A wheel is installed on other machines, where unknown instructions would crash the interpreter.",
    fix="Name the processor level that every user has. `ADCORE_CPU=native` compiles for this machine.",
    before="""\
[tool.adcore]
cpu = "native"
""",
    after="""\
[tool.adcore]
cpu = "x86-64-v3"
""",
)
