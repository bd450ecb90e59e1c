from adcore.rules.rule import Rule

RULE = Rule(
    name="alloc/forbidden",
    code="AD501",
    severity="error",
    summary='a reverse pass that allocates under `alloc="forbid"`',
    message='the reverse pass keeps {what} ({bytes} bytes), which `alloc="forbid"` rules out',
    why="The function promises that its reverse pass allocates nothing.",
    fix="Write the loop so that the value can be recomputed, make the trip count a constant, or allow allocation.",
)
