from adcore.rules.rule import Rule

RULE = Rule(
    name="calls/recursion",
    code="AD250",
    severity="error",
    summary="a recursive function whose result type is not annotated",
    message="`{callee}` calls itself, {reason}",
    why="The type of a recursive call is needed before the function's body is known.",
    fix="Annotate the parameters and the result of the function, or write the recursion as a loop.",
)
