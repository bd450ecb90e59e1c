from adcore.rules.rule import Rule

RULE = Rule(
    name="types/shape",
    code="AD304",
    severity="error",
    summary="shapes that cannot fit",
    message="{subject}: {reason}",
    why="NumPy would raise ValueError here at every call.",
    fix="Make the shapes agree, or add an axis with `np.newaxis`.",
)
