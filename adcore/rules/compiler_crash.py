from adcore.rules.rule import Rule

RULE = Rule(
    name="compiler/crash",
    code="AD901",
    severity="error",
    summary="the machine-code compiler died",
    message="`{function}` could not be compiled: the machine-code compiler stopped with {reason}",
    why="This is a defect of adcore or of LLVM, not of the function.",
    fix="Please report it together with the function.",
)
