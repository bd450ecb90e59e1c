from adcore.rules.rule import Rule

RULE = Rule(
    name="activity/no-derivative",
    code="AD402",
    severity="error",
    summary="an operation without a derivative rule on the way to the result",
    message="`{operation}` has no derivative rule, and the result depends on `{name}` through it",
    why="Taking the missing derivative as zero would give a wrong gradient without a word.",
    fix="Write the operation with functions that have rules, or leave the parameter out of `wrt`.",
)
