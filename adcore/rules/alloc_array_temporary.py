from adcore.rules.rule import Rule

RULE = Rule(
    name="alloc/array-temporary",
    code="AD515",
    severity="information",
    summary="an array that is kept because it is made anew in each iteration",
    message="the reverse pass keeps {what} ({bytes} bytes): it comes from an array that is made on the way and cannot be made again",
    why="The reverse pass needs the array of each iteration, and making it again is impossible or costs too much.",
    fix="Compute it before the loop, or element by element.",
    by_default=False,
)
