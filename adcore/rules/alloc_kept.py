from adcore.rules.rule import Rule

RULE = Rule(
    name="alloc/kept",
    code="AD502",
    severity="warning",
    summary='a reverse pass that allocates under `alloc="warn"`',
    message="the reverse pass keeps {what}: {bytes} bytes",
    why="Memory that grows with the trip count makes a gradient slow and may not fit.",
    fix="Write the loop so that the value can be recomputed, or make the trip count a constant.",
)
