from adcore.rules.rule import Rule

RULE = Rule(
    name="config/missing-extra",
    code="AD612",
    severity="error",
    summary="a build without the compiler",
    message="the build needs llvmlite, which is not installed: adcore was asked for without its extra `build`",
    why="The wheel of adcore brings the compiler only on request, so that users of a package do not get it.",
    fix='Write `requires = ["setuptools", "adcore[build]"]` under [build-system] in pyproject.toml.',
)
