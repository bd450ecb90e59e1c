from adcore.rules.rule import Rule

RULE = Rule(
    name="config/duplicate",
    code="AD605",
    severity="error",
    summary="a key given twice",
    message="{subject} is given twice; drop one of the two",
    why="TOML forbids it: one of the two values would be lost.",
    fix="Keep one of the two.",
    before="""\
[tool.adcore]
alloc = "warn"
alloc = "forbid"
""",
    after="""\
[tool.adcore]
alloc = "forbid"
""",
)
