from adcore.rules.rule import Rule

RULE = Rule(
    name="types/return-mismatch",
    code="AD303",
    severity="error",
    summary="a result that does not fit the annotation",
    message="the function returns {actual} here, but is annotated to return {expected}",
    why="Callers and type checkers rely on the annotation.",
    fix="Change the annotation, or convert the result.",
)
