from adcore.rules.rule import Rule

RULE = Rule(
    name="activity/cannot-reverse",
    code="AD405",
    severity="error",
    summary="a statement whose derivative adcore cannot make yet",
    message="the derivative through this line cannot be made: {reason}",
    why="The reverse pass would have to know values that this form of the code does not leave behind.",
    fix="Write into an array of its own, under one name, or keep the array's size the same in every iteration.",
)
