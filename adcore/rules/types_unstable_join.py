from adcore.rules.rule import Rule

RULE = Rule(
    name="types/unstable-join",
    code="AD302",
    severity="error",
    summary="a variable with too many types",
    message="`{name}` is {first} on one path and {second} on another",
    why="A variable may have up to four types where paths meet; what uses it is compiled once for each. "
    "This one has more, or types that exist only while compiling, such as a range.",
    fix="Give the variable the same type on both paths, or use two names.",
)
