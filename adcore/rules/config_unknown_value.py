from adcore.rules.rule import Rule

RULE = Rule(
    name="config/unknown-value",
    code="AD603",
    severity="error",
    summary="a value that the option does not take",
    message="{value} is not a value of `{name}`; {remedy}",
    why="Each option takes a fixed set of values.",
    fix="Write one of the allowed values.",
    before="""\
[tool.adcore]
alloc = "forbidden"
""",
    after="""\
[tool.adcore]
alloc = "forbid"
""",
)
