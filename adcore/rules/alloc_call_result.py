from adcore.rules.rule import Rule

RULE = Rule(
    name="alloc/call-result",
    code="AD516",
    severity="information",
    summary="a value that is kept because it comes from a call",
    message="the reverse pass keeps {what} ({bytes} bytes): it comes from a call, which is not made again",
    why="The reverse pass needs the value, and calls that stay calls (recursion, large helpers) are never repeated.",
    fix="Write the recursion as a loop, or let the result enter the derivative by sums only.",
    by_default=False,
)
