from adcore.rules.rule import Rule

RULE = Rule(
    name="config/unknown-parameter",
    code="AD610",
    severity="error",
    summary="`wrt` in a function's table names no parameter of the function",
    message="`{value}` in `wrt` is not a parameter of the function; {remedy}",
    why="`wrt` lists the parameters to differentiate with respect to.",
    fix="Name parameters of the function, or leave `wrt` out to differentiate for every float parameter.",
)
