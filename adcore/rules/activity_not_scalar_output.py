from adcore.rules.rule import Rule

RULE = Rule(
    name="activity/not-scalar-output",
    code="AD403",
    severity="error",
    summary="second order for a function whose result is not one real number",
    message="`order=2` needs one real scalar result, but the function returns {actual}",
    why="A Hessian is that of one real number; written array parameters are outputs as well.",
    fix="Return one float, or leave `order` out and use `vjp` or `jacobian`.",
)
