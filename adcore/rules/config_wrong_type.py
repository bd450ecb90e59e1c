from adcore.rules.rule import Rule

RULE = Rule(
    name="config/wrong-type",
    code="AD604",
    severity="error",
    summary="a value of the wrong type",
    message="`{name}` takes {expected}, not {value}",
    why="Values are not converted from one type to another: the conversion might not be the one that was meant.",
    fix="Write a value of the type that the option takes.",
    before="""\
[tool.adcore]
bounds-check = "true"
""",
    after="""\
[tool.adcore]
bounds-check = true
""",
)
