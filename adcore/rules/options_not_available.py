from adcore.rules.rule import Rule

RULE = Rule(
    name="options/not-available",
    code="AD110",
    severity="error",
    summary="an option that this version cannot honour yet",
    message="`{name}` is not available yet: {reason}",
    why="An option without effect would promise what the derivative does not do.",
    fix="Leave the option out.",
)
