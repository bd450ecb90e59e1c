from adcore.rules.rule import Rule

RULE = Rule(
    name="config/unknown-function",
    code="AD606",
    severity="error",
    summary="a table for a function that is not there",
    message="`{name}` names no differentiated function of this project; {remedy}",
    why="Options for a function that does not exist would be ignored without a word.",
    fix='Name the function as `"package.module:function"`, or delete the table.',
    before="""\
[tool.adcore.functions."pkg.model.f"]
alloc = "forbid"
""",
    after="""\
[tool.adcore.functions."pkg.model:f"]
alloc = "forbid"
""",
)
