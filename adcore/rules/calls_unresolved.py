from adcore.rules.rule import Rule

RULE = Rule(
    name="calls/unresolved",
    code="AD251",
    severity="error",
    summary="a function whose source cannot be found",
    message="`{callee}` cannot be resolved: {reason}",
    why="Functions are found through the import statements, without running any of them.",
    fix="Import the function by name at the top of the module, from a module whose source is installed.",
)
