from adcore.rules.rule import Rule

RULE = Rule(
    name="config/unknown-key",
    code="AD602",
    severity="error",
    summary="a key that does not exist",
    message="`{name}` is not an option {place}; {remedy}",
    why="An option that is not understood would be ignored without a word.",
    fix="Write one of the option's names, or delete it.",
    before="""\
[tool.adcore]
aloc = "warn"
""",
    after="""\
[tool.adcore]
alloc = "warn"
""",
)
