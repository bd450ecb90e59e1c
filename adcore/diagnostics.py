"""The registry of everything that adcore can say about a user's text, and the collector of what it says.

Every finding of build, editor and lint is one row of `RULES`: the message has the same words at all three doors.
Invariants: a rule's severity and code never depend on the place of use; a message says subject, cause and way out and
names nothing that the user did not write; a row's `before` yields a finding of that rule and its `after` none of any.
Codes: AD1xx options, AD2xx language and calls, AD3xx types, AD4xx activity, AD5xx allocation, AD6xx project,
AD9xx adcore itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from adcore.edits import Edit, Fix, one_line
from adcore.source import Span

Severity = Literal["error", "warning", "information", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "information", "hint")


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the registry: `message` and `summary` say what is wrong, `why` and `fix` explain it for all places."""

    name: str
    code: str
    severity: Severity
    summary: str
    """One line for lists of rules."""
    message: str
    """A `str.format` template; its fields are the keywords of `Report.add`."""
    why: str
    fix: str
    before: str = ""
    """An example with this finding: TOML for `config/*`, Python otherwise."""
    after: str = ""
    by_default: bool = True
    """Reported without being asked for; otherwise by `adcore lint --select` alone."""

    @property
    def category(self) -> str:
        return self.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding, and what it has to do with it."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding at one place."""

    rule: str
    span: Span
    message: str
    suggestion: str | None = None
    """Text that may replace the span as it stands, or None."""
    related: tuple[Related, ...] = ()
    hint: str | None = None
    """The way out of this very case; where it is None, the rule's `fix` serves."""
    fixes: tuple[Fix, ...] = ()
    """Changes of the finding's file that end it, the likeliest first; beside `suggestion`, which is the simple case."""

    @property
    def offers(self) -> tuple[Fix, ...]:
        """All changes that are offered, the suggestion included."""
        if self.suggestion is None:
            return self.fixes
        return (Fix(f"Replace with `{one_line(self.suggestion)}`", (Edit(self.span, self.suggestion),)), *self.fixes)

    @property
    def name(self) -> str:
        return self.rule

    @property
    def code(self) -> str:
        return RULES[self.rule].code

    @property
    def severity(self) -> Severity:
        return RULES[self.rule].severity


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By place, then code; findings that differ in nothing that the user sees are one."""
    unique = {(d.span, d.rule, d.message): d for d in reversed(list(diagnostics))}
    return tuple(sorted(unique.values(), key=lambda d: (d.span, d.code, d.message)))


class Report:
    """Collects findings. Adding the same finding twice keeps the first."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Span, str], Diagnostic] = {}

    def add(
        self,
        rule: str,
        span: Span,
        suggestion: str | None = None,
        related: Sequence[Related | tuple[Span, str]] = (),
        hint: str | None = None,
        fixes: tuple[Fix, ...] = (),
        **fields: object,
    ) -> Diagnostic:
        """Add a finding; `fields` fill the rule's message. KeyError: the rule or one of its fields does not exist."""
        message = RULES[rule].message.format_map(fields)
        places = tuple(item if isinstance(item, Related) else Related(*item) for item in related)
        diagnostic = Diagnostic(rule, span, message, suggestion, places, hint, fixes)
        return self._found.setdefault((rule, span, message), diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            self._found.setdefault((diagnostic.rule, diagnostic.span, diagnostic.message), diagnostic)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found, sorted by file, line and column."""
        return sort_diagnostics(self._found.values())

    @property
    def has_errors(self) -> bool:
        return any(diagnostic.severity == "error" for diagnostic in self._found.values())

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def __len__(self) -> int:
        return len(self._found)


_HEAD = "from adcore import autodiff\nfrom adcore.typing import Vector\n\n"
_SQUARE = "def f(x: float) -> float:\n    return x * x\n"

_LOOP = "    for i in range(len(x)):\n"
_OVERWRITTEN = f"def f(x: Vector) -> float:\n    y = x.copy()\n{_LOOP}        y[i] = y[i] * y[i]\n    return y[0]\n"
_FRESH = f"def f(x: Vector) -> float:\n    y = x.copy()\n{_LOOP}        y[i] = x[i] * x[i]\n    return y[0]\n"
_WHILE = (
    f"def f(x: Vector) -> float:\n    s = 0.0\n{_LOOP}        k = 0\n        while k < i:\n"
    "            s = s + 0.5 * x[k]\n            k = k + 1\n    return s\n"
)
_FOR = f"def f(x: Vector) -> float:\n    s = 0.0\n{_LOOP}        for k in range(i):\n            s = s + 0.5 * x[k]\n    return s\n"
_ARMS = "            s = s + x[i]\n        else:\n            s = s + 2.0 * x[i]\n    return s\n"
_BRANCH = f"def f(x: Vector) -> float:\n    s = 0.0\n{_LOOP}        if s > 1.0:\n{_ARMS}"
_FREE_BRANCH = f"def f(x: Vector) -> float:\n    s = 0.0\n{_LOOP}        if x[i] > 1.0:\n{_ARMS}"

_ROWS: tuple[Rule, ...] = (
    # AD1xx: options in decorators
    Rule(
        name="options/unknown-name",
        code="AD101",
        severity="error",
        summary="an option that does not exist",
        message="`{name}` is not an option of `autodiff`; {remedy}",
        why="An option that is not understood would change the derivative silently or not at all.",
        fix="Write one of the option's names, or delete it.",
        before=f'{_HEAD}@autodiff(mod="reverse")\n{_SQUARE}',
        after=f'{_HEAD}@autodiff(mode="reverse")\n{_SQUARE}',
    ),
    Rule(
        name="options/unknown-value",
        code="AD102",
        severity="error",
        summary="a value that the option does not take",
        message="{value} is not a value of `{name}`; {remedy}",
        why="Each option takes a fixed set of values.",
        fix="Write one of the allowed values.",
        before=f'{_HEAD}@autodiff(mode="revers")\n{_SQUARE}',
        after=f'{_HEAD}@autodiff(mode="reverse")\n{_SQUARE}',
    ),
    Rule(
        name="options/wrong-type",
        code="AD103",
        severity="error",
        summary="a value of the wrong type",
        message="`{name}` takes {expected}, not {value}",
        why="Values are not converted from one type to another: the conversion might not be the one that was meant.",
        fix="Write a value of the type that the option takes.",
        before=f"{_HEAD}@autodiff(order=2.0)\n{_SQUARE}",
        after=f"{_HEAD}@autodiff(order=2)\n{_SQUARE}",
    ),
    Rule(
        name="options/not-literal",
        code="AD104",
        severity="error",
        summary="an option whose value is computed",
        message="`{name}` needs a literal value: `{value}` is known only when the module runs",
        why="The compiler reads the source text and never runs it, so it sees literals and nothing else.",
        fix="Write the value itself at this place.",
        before=f'{_HEAD}MODE = "reverse"\n\n@autodiff(mode=MODE)\n{_SQUARE}',
        after=f'{_HEAD}@autodiff(mode="reverse")\n{_SQUARE}',
    ),
    Rule(
        name="options/unknown-parameter",
        code="AD105",
        severity="error",
        summary="`wrt` names no parameter of the function",
        message="`{value}` in `wrt` is not a parameter of the function; {remedy}",
        why="`wrt` lists the parameters to differentiate with respect to.",
        fix="Name parameters of the function, or leave `wrt` out to differentiate for every float parameter.",
        before=f'{_HEAD}@autodiff(wrt="z")\n{_SQUARE}',
        after=f'{_HEAD}@autodiff(wrt="x")\n{_SQUARE}',
    ),
    Rule(
        name="options/integer-parameter",
        code="AD106",
        severity="error",
        summary="`wrt` names an integer",
        message="`wrt` names `{value}`, which is {kind}: there is no derivative with respect to it",
        why="Integers and bools vary in steps; a gradient for them would be meaningless.",
        fix="Annotate the parameter as float, or leave it out of `wrt`.",
        before=f'{_HEAD}@autodiff(wrt="n")\ndef f(x: float, n: int) -> float:\n    return x * n\n',
        after=f'{_HEAD}@autodiff(wrt="x")\ndef f(x: float, n: int) -> float:\n    return x * n\n',
    ),
    Rule(
        name="options/conflict",
        code="AD107",
        severity="error",
        summary="two options that exclude each other",
        message="{subject} conflicts with {other}: {reason}",
        why="One of the two options would have no effect.",
        fix="Drop one of the two options.",
        before=f'{_HEAD}@autodiff(mode="forward", order=2)\n{_SQUARE}',
        after=f'{_HEAD}@autodiff(mode="both", order=2)\n{_SQUARE}',
    ),
    Rule(
        name="options/duplicate",
        code="AD108",
        severity="error",
        summary="an option or a parameter given twice",
        message="{subject} is given twice; drop one of the two",
        why="Python itself refuses a keyword that is repeated, and a parameter has only one gradient.",
        fix="Keep one of the two.",
        before=f'{_HEAD}@autodiff(wrt=("x", "x"))\n{_SQUARE}',
        after=f'{_HEAD}@autodiff(wrt=("x",))\n{_SQUARE}',
    ),
    Rule(
        name="options/positional",
        code="AD109",
        severity="error",
        summary="an option without its name",
        message="`{value}` stands without a name: options of `autodiff` are given by keyword{remedy}",
        why="`autodiff` takes its options by keyword only.",
        fix="Write the option's name and `=` in front of the value.",
        before=f'{_HEAD}@autodiff("reverse")\n{_SQUARE}',
        after=f'{_HEAD}@autodiff(mode="reverse")\n{_SQUARE}',
    ),
    Rule(
        name="options/not-available",
        code="AD110",
        severity="error",
        summary="an option that this version cannot honour yet",
        message="`{name}` is not available yet: {reason}",
        why="An option without effect would promise what the derivative does not do.",
        fix="Leave the option out.",
    ),
    # AD2xx: Python and the language that adcore compiles
    Rule(
        name="syntax/invalid",
        code="AD201",
        severity="error",
        summary="Python cannot parse the file",
        message="Python cannot parse this: {reason}",
        why="What Python cannot parse cannot be compiled.",
        fix="Correct the syntax.",
        before=f"{_HEAD}@autodiff\ndef f(x: float) -> float:\n    return x *\n",
        after=f"{_HEAD}@autodiff\n{_SQUARE}",
    ),
    Rule(
        name="language/unsupported-statement",
        code="AD210",
        severity="error",
        summary="a statement outside the language that adcore compiles",
        message="{construct} cannot be compiled: {reason}",
        why="adcore compiles numerical code; some statements need the Python interpreter.",
        fix="Move the statement out of the compiled function, or write it with loops, branches and arithmetic.",
        before=f'{_HEAD}@autodiff\ndef f(x: float) -> float:\n    with open("log"):\n        return x * x\n',
        after=f"{_HEAD}@autodiff\n{_SQUARE}",
    ),
    Rule(
        name="language/unsupported-expression",
        code="AD211",
        severity="error",
        summary="an expression outside the language that adcore compiles",
        message="{construct} cannot be compiled: {reason}",
        why="adcore compiles numerical expressions; some need the Python interpreter.",
        fix="Compute the value outside the compiled function and pass it in, or write it with arithmetic.",
        before=f"{_HEAD}@autodiff\ndef f(x: float) -> float:\n    return len({{x}}) * x\n",
        after=f"{_HEAD}@autodiff\n{_SQUARE}",
    ),
    Rule(
        name="language/unsupported-call",
        code="AD212",
        severity="error",
        summary="a call of a function that adcore does not know",
        message="`{callee}` cannot be called in compiled code: {reason}",
        why="A call can be compiled if the function is written in the compiled language or adcore has a rule for it.",
        fix="Use a function of `math` or NumPy that adcore knows, or write the function in Python next to this one.",
        before=f"{_HEAD}@autodiff\ndef f(x: float) -> float:\n    print(x)\n    return x * x\n",
        after=f"{_HEAD}@autodiff\n{_SQUARE}",
    ),
    Rule(
        name="language/unknown-name",
        code="AD213",
        severity="error",
        summary="a name that is not defined",
        message="`{name}` is not defined here{remedy}",
        why="The name is neither a local variable, a parameter, a constant or function of the module, nor imported.",
        fix="Define or import the name.",
        before=f"{_HEAD}@autodiff\ndef f(x: float) -> float:\n    return x * xx\n",
        after=f"{_HEAD}@autodiff\n{_SQUARE}",
    ),
    Rule(
        name="language/missing-annotation",
        code="AD214",
        severity="error",
        summary="a compiled function whose types are not annotated",
        message="{subject} has no annotation: the types of a compiled function are read from its annotations",
        why="Compilation happens before any call, so the types of the arguments must stand in the source.",
        fix="Annotate every parameter and the return value, for instance as `float`, `int` or `Vector`.",
        before=f"{_HEAD}@autodiff\ndef f(x) -> float:\n    return x * x\n",
        after=f"{_HEAD}@autodiff\n{_SQUARE}",
    ),
    Rule(
        name="language/unsupported-annotation",
        code="AD215",
        severity="error",
        summary="an annotation that names no compiled type",
        message="{subject} is annotated as `{annotation}`, which is no type of compiled code{remedy}",
        why="The parameters and results of compiled functions are numbers and arrays of them.",
        fix="Annotate it as `float`, `int`, `bool` or an array type of `adcore.typing`.",
        before=f"{_HEAD}@autodiff\ndef f(x: str) -> float:\n    return 1.0\n",
        after=f"{_HEAD}@autodiff\n{_SQUARE}",
    ),
    Rule(
        name="language/decorator-target",
        code="AD216",
        severity="error",
        summary="`autodiff` on something that is no plain function",
        message="`autodiff` cannot compile {target}: {reason}",
        why="Only functions at module level have a name under which the compiled code can be found.",
        fix="Move the code into a plain function at module level and decorate that.",
        before=f"{_HEAD}@autodiff\nasync def f(x: float) -> float:\n    return x * x\n",
        after=f"{_HEAD}@autodiff\n{_SQUARE}",
    ),
    Rule(
        name="calls/recursion",
        code="AD250",
        severity="error",
        summary="a recursive function whose result type is not annotated",
        message="`{callee}` calls itself, {reason}",
        why="The type of a recursive call is needed before the function's body is known.",
        fix="Annotate the parameters and the result of the function, or write the recursion as a loop.",
    ),
    Rule(
        name="calls/unresolved",
        code="AD251",
        severity="error",
        summary="a function whose source cannot be found",
        message="`{callee}` cannot be resolved: {reason}",
        why="Functions are found through the import statements, without running any of them.",
        fix="Import the function by name at the top of the module, from a module whose source is installed.",
    ),
    Rule(
        name="calls/wrong-arguments",
        code="AD252",
        severity="error",
        summary="a call whose arguments do not fit",
        message="the call of `{callee}` does not fit: {reason}",
        why="Python would raise TypeError or ValueError here.",
        fix="Pass the arguments that the function takes.",
    ),
    # AD3xx: types
    Rule(
        name="types/mismatch",
        code="AD301",
        severity="error",
        summary="operands whose types do not fit",
        message="{subject}: {reason}",
        why="Compiled code has static types; this operation is not defined for them.",
        fix="Use operands of types that the operation is defined for.",
    ),
    Rule(
        name="types/unstable-join",
        code="AD302",
        severity="error",
        summary="a variable with too many types",
        message="`{name}` is {first} on one path and {second} on another",
        why="A variable may have up to four types where paths meet; what uses it is compiled once for each. This one has more, or "
        "types that exist only while compiling, such as a range.",
        fix="Give the variable the same type on both paths, or use two names.",
    ),
    Rule(
        name="types/return-mismatch",
        code="AD303",
        severity="error",
        summary="a result that does not fit the annotation",
        message="the function returns {actual} here, but is annotated to return {expected}",
        why="Callers and type checkers rely on the annotation.",
        fix="Change the annotation, or convert the result.",
    ),
    Rule(
        name="types/shape",
        code="AD304",
        severity="error",
        summary="shapes that cannot fit",
        message="{subject}: {reason}",
        why="NumPy would raise ValueError here at every call.",
        fix="Make the shapes agree, or add an axis with `np.newaxis`.",
    ),
    Rule(
        name="types/missing-return",
        code="AD305",
        severity="error",
        summary="a path to the end of a function without `return`",
        message="`{name}` can reach its end without a `return`: it gives None there and {other} elsewhere",
        why="Compiled code has one type for the result of a function.",
        fix="Write a `return` at the end, or raise an exception there.",
        before=f"{_HEAD}@autodiff\ndef f(x: float) -> float:\n    if x > 0.0:\n        return x\n",
        after=f"{_HEAD}@autodiff\ndef f(x: float) -> float:\n    if x > 0.0:\n        return x\n    return 0.0 * x\n",
    ),
    # AD4xx: activity
    Rule(
        name="activity/zero-derivative",
        code="AD401",
        severity="warning",
        summary="a parameter that does not influence the result",
        message="the result does not depend on `{name}` in a differentiable way: its gradient is always zero",
        why="A gradient that is always zero usually means that a parameter is not used as intended.",
        fix="Leave the parameter out of `wrt`, or use it in the result.",
        before=f'{_HEAD}@autodiff(wrt=("x", "y"))\ndef f(x: float, y: float) -> float:\n    return x * x\n',
        after=f'{_HEAD}@autodiff(wrt=("x", "y"))\ndef f(x: float, y: float) -> float:\n    return x * y\n',
    ),
    Rule(
        name="activity/no-derivative",
        code="AD402",
        severity="error",
        summary="an operation without a derivative rule on the way to the result",
        message="`{operation}` has no derivative rule, and the result depends on `{name}` through it",
        why="Taking the missing derivative as zero would give a wrong gradient without a word.",
        fix="Write the operation with functions that have rules, or leave the parameter out of `wrt`.",
    ),
    Rule(
        name="activity/not-scalar-output",
        code="AD403",
        severity="error",
        summary="second order for a function whose result is not one real number",
        message="`order=2` needs one real scalar result, but the function returns {actual}",
        why="A Hessian is that of one real number; written array parameters are outputs as well.",
        fix="Return one float, or leave `order` out and use `vjp` or `jacobian`.",
    ),
    Rule(
        name="activity/nothing-active",
        code="AD404",
        severity="error",
        summary="nothing to differentiate with respect to",
        message="there is nothing to differentiate with respect to: {reason}",
        why="A derivative needs at least one float parameter that is read.",
        fix='Annotate a parameter as float, or write `mode="none"` to compile the function alone.',
        before=f"{_HEAD}@autodiff\ndef f(n: int) -> float:\n    return 1.0 * n\n",
        after=f'{_HEAD}@autodiff(mode="none")\ndef f(n: int) -> float:\n    return 1.0 * n\n',
    ),
    Rule(
        name="activity/cannot-reverse",
        code="AD405",
        severity="error",
        summary="a statement whose derivative adcore cannot make yet",
        message="the derivative through this line cannot be made: {reason}",
        why="The reverse pass would have to know values that this form of the code does not leave behind.",
        fix="Write into an array of its own, under one name, or keep the array's size the same in every iteration.",
    ),
    # AD5xx: allocation
    Rule(
        name="alloc/forbidden",
        code="AD501",
        severity="error",
        summary='a reverse pass that allocates under `alloc="forbid"`',
        message='the reverse pass keeps {what} ({bytes} bytes), which `alloc="forbid"` rules out',
        why="The function promises that its reverse pass allocates nothing.",
        fix="Write the loop so that the value can be recomputed, make the trip count a constant, or allow allocation.",
    ),
    Rule(
        name="alloc/kept",
        code="AD502",
        severity="warning",
        summary='a reverse pass that allocates under `alloc="warn"`',
        message="the reverse pass keeps {what}: {bytes} bytes",
        why="Memory that grows with the trip count makes a gradient slow and may not fit.",
        fix="Write the loop so that the value can be recomputed, or make the trip count a constant.",
    ),
    # What the plan knows besides, whatever `alloc` says; one rule for each kind of slot.
    Rule(
        name="alloc/overwritten",
        code="AD511",
        severity="information",
        summary="a value that is kept because the array that it is read from changes",
        message="the reverse pass keeps {what} ({bytes} bytes): the array that it is read from may hold another by then",
        why="The reverse pass needs the value as it was; an array that is written meanwhile does not hold it any more.",
        fix="Write into another array where memory for that is there anyway.",
        before=f"{_HEAD}@autodiff\n{_OVERWRITTEN}",
        after=f"{_HEAD}@autodiff\n{_FRESH}",
        by_default=False,
    ),
    Rule(
        name="alloc/loop-carried",
        code="AD512",
        severity="information",
        summary="a value that is kept because a loop carries it from one iteration to the next",
        message="the reverse pass keeps {what} ({bytes} bytes): it depends on what the loop carries from one iteration to the next",
        why="The reverse pass needs the value of each iteration, and each is computed from the one before.",
        fix="Let the loop carry only sums and products with what does not depend on it.",
        before=f"{_HEAD}@autodiff\ndef f(x: float, n: int) -> float:\n    for i in range(n):\n        x = x * x\n    return x\n",
        after=f"{_HEAD}@autodiff\ndef f(x: float, n: int) -> float:\n    s = 0.0\n    for i in range(n):\n        s = s + x * x\n    return s\n",
        by_default=False,
    ),
    Rule(
        name="alloc/dynamic-trip-count",
        code="AD513",
        severity="information",
        summary="a count that is kept because only the loop itself knows how often it runs",
        message="the reverse pass keeps how often the loop runs ({bytes} bytes): that is known only when it has ended",
        why="The reverse pass runs as many iterations backwards, and `while` and `break` leave no other trace of their number.",
        fix="Write the loop with `range`, if the number of iterations can be computed before it.",
        before=f"{_HEAD}@autodiff\n{_WHILE}",
        after=f"{_HEAD}@autodiff\n{_FOR}",
        by_default=False,
    ),
    Rule(
        name="alloc/branch-record",
        code="AD514",
        severity="information",
        summary="a condition that is kept because it cannot be computed again",
        message="the reverse pass keeps whether {what} holds ({bytes} bytes): it cannot be computed again",
        why="The reverse pass goes through the arms that were taken, and what the condition was computed from is gone.",
        fix="Let the condition depend on what the loop does not change.",
        before=f"{_HEAD}@autodiff\n{_BRANCH}",
        after=f"{_HEAD}@autodiff\n{_FREE_BRANCH}",
        by_default=False,
    ),
    Rule(
        name="alloc/array-temporary",
        code="AD515",
        severity="information",
        summary="an array that is kept because it is made anew in each iteration",
        message="the reverse pass keeps {what} ({bytes} bytes): it comes from an array that is made on the way and cannot be made again",
        why="The reverse pass needs the array of each iteration, and making it again is impossible or costs too much.",
        fix="Compute it before the loop, or element by element.",
        by_default=False,
    ),
    Rule(
        name="alloc/call-result",
        code="AD516",
        severity="information",
        summary="a value that is kept because it comes from a call",
        message="the reverse pass keeps {what} ({bytes} bytes): it comes from a call, which is not made again",
        why="The reverse pass needs the value, and calls that stay calls (recursion, large helpers) are never repeated.",
        fix="Write the recursion as a loop, or let the result enter the derivative by sums only.",
        by_default=False,
    ),
    # AD6xx: project configuration. The category `config` decides over the exit code.
    Rule(
        name="config/syntax",
        code="AD601",
        severity="error",
        summary="a TOML file that cannot be parsed",
        message="the TOML cannot be parsed: {reason}",
        why="A broken file could hide any option, so none of it is used.",
        fix="Correct the TOML.",
        before="[tool.adcore]\nalloc =\n",
        after='[tool.adcore]\nalloc = "warn"\n',
    ),
    Rule(
        name="config/unknown-key",
        code="AD602",
        severity="error",
        summary="a key that does not exist",
        message="`{name}` is not an option {place}; {remedy}",
        why="An option that is not understood would be ignored without a word.",
        fix="Write one of the option's names, or delete it.",
        before='[tool.adcore]\naloc = "warn"\n',
        after='[tool.adcore]\nalloc = "warn"\n',
    ),
    Rule(
        name="config/unknown-value",
        code="AD603",
        severity="error",
        summary="a value that the option does not take",
        message="{value} is not a value of `{name}`; {remedy}",
        why="Each option takes a fixed set of values.",
        fix="Write one of the allowed values.",
        before='[tool.adcore]\nalloc = "forbidden"\n',
        after='[tool.adcore]\nalloc = "forbid"\n',
    ),
    Rule(
        name="config/wrong-type",
        code="AD604",
        severity="error",
        summary="a value of the wrong type",
        message="`{name}` takes {expected}, not {value}",
        why="Values are not converted from one type to another: the conversion might not be the one that was meant.",
        fix="Write a value of the type that the option takes.",
        before='[tool.adcore]\nbounds-check = "true"\n',
        after="[tool.adcore]\nbounds-check = true\n",
    ),
    Rule(
        name="config/duplicate",
        code="AD605",
        severity="error",
        summary="a key given twice",
        message="{subject} is given twice; drop one of the two",
        why="TOML forbids it: one of the two values would be lost.",
        fix="Keep one of the two.",
        before='[tool.adcore]\nalloc = "warn"\nalloc = "forbid"\n',
        after='[tool.adcore]\nalloc = "forbid"\n',
    ),
    Rule(
        name="config/unknown-function",
        code="AD606",
        severity="error",
        summary="a table for a function that is not there",
        message="`{name}` names no differentiated function of this project; {remedy}",
        why="Options for a function that does not exist would be ignored without a word.",
        fix='Name the function as `"package.module:function"`, or delete the table.',
        before='[tool.adcore.functions."pkg.model.f"]\nalloc = "forbid"\n',
        after='[tool.adcore.functions."pkg.model:f"]\nalloc = "forbid"\n',
    ),
    Rule(
        name="config/not-portable",
        code="AD607",
        severity="error",
        summary="code for this machine alone in a wheel",
        message="`{name} = {value}` ties the wheel to the processor that builds it; name a level such as `x86-64-v3`",
        why="A wheel is installed on other machines, where unknown instructions would crash the interpreter.",
        fix="Name the processor level that every user has. `ADCORE_CPU=native` compiles for this machine.",
        before='[tool.adcore]\ncpu = "native"\n',
        after='[tool.adcore]\ncpu = "x86-64-v3"\n',
    ),
    Rule(
        name="config/misplaced",
        code="AD608",
        severity="error",
        summary="an option that cannot be set here",
        message="`{name}` cannot be set {place}: {reason}",
        why="An option that does not apply at this place would be ignored without a word.",
        fix="Set the option where it applies.",
        before='[tool.adcore]\nmode = "forward"\n',
        after='[tool.adcore]\nalloc = "warn"\n',
    ),
    Rule(
        name="config/missing-file",
        code="AD609",
        severity="error",
        summary="a file that cannot be read",
        message="`{name}` cannot be read: {reason}",
        why="A path that is not there is more likely a mistake than an empty result.",
        fix="Correct the path.",
    ),
    Rule(
        name="config/unknown-parameter",
        code="AD610",
        severity="error",
        summary="`wrt` in a function's table names no parameter of the function",
        message="`{value}` in `wrt` is not a parameter of the function; {remedy}",
        why="`wrt` lists the parameters to differentiate with respect to.",
        fix="Name parameters of the function, or leave `wrt` out to differentiate for every float parameter.",
    ),
    Rule(
        name="config/integer-parameter",
        code="AD611",
        severity="error",
        summary="`wrt` in a function's table names an integer",
        message="`wrt` names `{value}`, which is {kind}: there is no derivative with respect to it",
        why="Integers and bools vary in steps; a gradient for them would be meaningless.",
        fix="Annotate the parameter as float, or leave it out of `wrt`.",
    ),
    Rule(
        name="config/missing-extra",
        code="AD612",
        severity="error",
        summary="a build without the compiler",
        message="the build needs llvmlite, which is not installed: adcore was asked for without its extra `build`",
        why="The wheel of adcore brings the compiler only on request, so that users of a package do not get it.",
        fix='Write `requires = ["setuptools", "adcore[build]"]` under [build-system] in pyproject.toml.',
    ),
    # AD9xx: adcore itself
    Rule(
        name="compiler/crash",
        code="AD901",
        severity="error",
        summary="the machine-code compiler died",
        message="`{function}` could not be compiled: the machine-code compiler stopped with {reason}",
        why="This is a defect of adcore or of LLVM, not of the function.",
        fix="Please report it together with the function.",
    ),
    Rule(
        name="compiler/internal",
        code="AD902",
        severity="error",
        summary="adcore failed on this function",
        message="`{function}` could not be compiled: adcore failed with {reason}",
        why="This is a defect of adcore, not of the function. Other functions are not affected.",
        fix="Please report it together with the function.",
    ),
)

RULES: dict[str, Rule] = {rule.name: rule for rule in _ROWS}
"""Every rule by name, in the order of the codes."""
