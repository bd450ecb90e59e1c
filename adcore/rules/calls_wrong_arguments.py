from adcore.rules.rule import Rule

RULE = Rule(
    name="calls/wrong-arguments",
    code="AD252",
    severity="error",
    summary="a call whose arguments do not fit",
    message="the call of `{callee}` does not fit: {reason}",
    why="Python would raise TypeError or ValueError here.",
    fix="Pass the arguments that the function takes.",
)
