from adcore.rules.rule import Rule

RULE = Rule(
    name="types/mismatch",
    code="AD301",
    severity="error",
    summary="operands whose types do not fit",
    message="{subject}: {reason}",
    why="Compiled code has static types; this operation is not defined for them.",
    fix="Use operands of types that the operation is defined for.",
)
