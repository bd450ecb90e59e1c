from adcore.rules.rule import Rule

RULE = Rule(
    name="config/missing-file",
    code="AD609",
    severity="error",
    summary="a file that cannot be read",
    message="`{name}` cannot be read: {reason}",
    why="A path that is not there is more likely a mistake than an empty result.",
    fix="Correct the path.",
)
