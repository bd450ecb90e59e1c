from adcore.rules.rule import Rule

RULE = Rule(
    name="config/syntax",
    code="AD601",
    severity="error",
    summary="a TOML file that cannot be parsed",
    message="the TOML cannot be parsed: {reason}",
    why="A broken file could hide any option, so none of it is used.",
    fix="Correct the TOML.",
    before="""\
[tool.adcore]
alloc =
""",
    after="""\
[tool.adcore]
alloc = "warn"
""",
)
