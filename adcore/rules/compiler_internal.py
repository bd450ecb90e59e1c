from adcore.rules.rule import Rule

RULE = Rule(
    name="compiler/internal",
    code="AD902",
    severity="error",
    summary="adcore failed on this function",
    message="`{function}` could not be compiled: adcore failed with {reason}",
    why="This is a defect of adcore, not of the function. Other functions are not affected.",
    fix="Please report it together with the function.",
)
