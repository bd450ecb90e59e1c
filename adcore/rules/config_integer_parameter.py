from adcore.rules.rule import Rule

RULE = Rule(
    name="config/integer-parameter",
    code="AD611",
    severity="error",
    summary="`wrt` in a function's table names an integer",
    message="`wrt` names `{value}`, which is {kind}: there is no derivative with respect to it",
    why="Integers and bools vary in steps; a gradient for them would be meaningless.",
    fix="Annotate the parameter as float, or leave it out of `wrt`.",
)
