from adcore.rules.rule import Rule

RULE = Rule(
    name="config/misplaced",
    code="AD608",
    severity="error",
    summary="an option that cannot be set here",
    message="`{name}` cannot be set {place}: {reason}",
    why="An option that does not apply at this place would be ignored without a word.",
    fix="Set the option where it applies.",
    before="""\
[tool.adcore]
mode = "forward"
""",
    after="""\
[tool.adcore]
alloc = "warn"
""",
)
