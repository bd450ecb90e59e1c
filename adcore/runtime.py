"""The compiled function as an object, and what it does where there is nothing to call.

Binding happens at the first use, not while the module is being imported: a name that `autodiff(func)` is assigned to is
not known before, and an import must not fail. The text of the module is taken at the decorator, though, so that what is
compared is what runs. Once bound, `f.grad` is the extension's builtin itself, in the instance, and `f(x)` reaches the
builtin without a Python frame: it is the `__call__` of a class that the instance has for itself.

Invariant: what is stale or was never compiled never runs, and never computes something else instead. Where the compiler
is installed the module is compiled at that moment (`buildplug.development`, through the one lazy import below); otherwise
every call raises `NotCompiledError`. The one exception is asked for: ADCORE_FALLBACK=python runs functions, not derivatives,
in Python.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from adcore import binding

if TYPE_CHECKING:
    import inspect

_REVERSE, _FORWARD = ("reverse", "both"), ("forward", "both")
_MODES = {
    "grad": _REVERSE,
    "value_and_grad": _REVERSE,
    "vjp": _REVERSE,
    "jvp": _FORWARD,
    "jacobian": ("reverse", "forward", "both"),
}
"""The derivatives, and the modes that offer them."""
_SECOND_ORDER = ("hvp", "hessp", "hessian")
_SCALAR_ONLY = ("grad", "value_and_grad")

_binders: dict[str, Callable[..., tuple[Any, ...]]] = {}
"""By "<module>:<function>": puts arguments in order, with CPython's words where they do not fit."""


class NotCompiledError(RuntimeError):
    """The function has no compiled code, or its source or options have changed since. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the decorator was given, as far as it decides which members there are."""

    mode: str
    order: int
    at_top_level: bool

    def offers(self, member: str) -> bool:
        return self.order == 2 if member in _SECOND_ORDER else self.mode in _MODES[member]

    def members(self) -> list[str]:
        return [name for name in (*_MODES, *_SECOND_ORDER) if self.offers(name)]


class CompiledFunction:
    """A Python function with compiled code in its place: what `autodiff` makes, and what binding turns it into."""

    def __init__(self, function: Callable[..., Any], settings: Settings, namespace: dict[str, Any]) -> None:
        if isinstance(function, CompiledFunction):
            function = function.__wrapped__
        if not hasattr(function, "__qualname__"):
            raise TypeError(f"autodiff() takes a function, not {type(function).__name__}")
        self.__wrapped__: Callable[..., Any] = function
        self.__doc__ = function.__doc__
        self.__module__ = namespace.get("__name__", "__main__")
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        code = getattr(function, "__code__", None)
        self._settings = settings
        self._namespace = namespace
        self._home = binding.HomeModule.of(namespace, code.co_filename if code else "<unknown>")
        self._state = "not used yet"

    @property
    def __signature__(self) -> inspect.Signature:
        import inspect

        return inspect.signature(self.__wrapped__)

    @property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return self.__wrapped__.__annotations__

    def __reduce__(self) -> str:
        """Pickles by reference, as functions do."""
        return self._name_in_module() or self.__qualname__

    def __repr__(self) -> str:
        return f"<autodiff {self._full_name()}: {self._state}>"

    def __dir__(self) -> list[str]:
        names = {name for name in super().__dir__() if name not in (*_MODES, *_SECOND_ORDER)}
        return sorted({*names, *self._settings.members()})

    def _bind(self) -> None:
        """Take the members: builtins, or what raises. Another thread may do the same; the result is the same."""
        try:
            members = self._members_of(binding.bind(self._home, self._top_level_name(), bind_arguments))
            state = "compiled"
        except binding.Unbound as reason:
            members, state = self._compile_or_refuse(reason)
        primal = members.pop("primal")
        if _runs_in_python():
            primal = self.__wrapped__
        absent = {name: _Absent(self, name) for name in (*_MODES, *_SECOND_ORDER) if name not in members}
        self.__dict__.update(members, _state=state)
        # A class with the builtin as `__call__`, and without `__getattr__`, which would slow down every look-up.
        self.__class__ = type(
            "CompiledFunction", (CompiledFunction,), {"__slots__": (), "__call__": staticmethod(primal), **absent}
        )

    def _members_of(self, entry: binding.Entry) -> dict[str, Callable[..., Any]]:
        binder = _make_binder(self.__wrapped__)
        _binders[f"{entry.module}:{entry.name}"] = binder
        try:
            members = {member: entry.builtin(member) for member in entry.members}
        except AttributeError as error:
            raise binding.Unbound(f"the extension lacks {error.name}. {binding.REBUILD}") from None
        from adcore import jacobian

        if "vjp" in members:
            members["jacobian"] = jacobian.reverse_jacobian(self.__qualname__, members["vjp"], binder, entry)
        elif "jvp" in members:
            members["jacobian"] = jacobian.forward_jacobian(self.__qualname__, members["jvp"], binder, entry)
        if "hvp" in members:
            members["hessian"], members["hessp"] = jacobian.hessian(self.__qualname__, members["hvp"], binder, entry)
        return {name: member for name, member in members.items() if name == "primal" or self._settings.offers(name)}

    def _compile_or_refuse(self, reason: binding.Unbound) -> tuple[dict[str, Callable[..., Any]], str]:
        """What takes the place of an extension that is missing or stale: the module compiled now, or what raises."""
        try:
            name = self._top_level_name()
            if not _in_development():
                raise reason
            from buildplug import development

            extension = development.compile_now(self._home, reason, bind_arguments)
            return self._members_of(binding.entry_of(extension, self._home, name)), "compiled for development"
        except binding.Unbound as why:
            return self._refusals(str(why)), f"not compiled: {why}"

    def _refusals(self, reason: str) -> dict[str, Callable[..., Any]]:
        """For every member a function that raises."""
        message = f"{self._full_name()} is not compiled: {reason}"

        def refuse(*args: Any, **kwargs: Any) -> NoReturn:
            raise NotCompiledError(message)

        return dict.fromkeys(["primal", *self._settings.members()], refuse)

    def _top_level_name(self) -> str:
        """The name by which the build knows this object. Raises `Unbound` where there is none.

        Never a guess: under another name stands the same function with other options.
        """
        if not self._settings.at_top_level:
            raise binding.Unbound("it is not at the top level of a module. Move it there.")
        name = self._name_in_module()
        if name is None:
            raise binding.Unbound(f"no name at the top level of {self.__module__} stands for it. Assign it to one.")
        return name

    def _name_in_module(self) -> str | None:
        """The name that the module has this object under: the function's, or what `autodiff(func)` was assigned to."""
        own = str(self.__qualname__)
        if self._namespace.get(own) is self:
            return own
        return next((name for name, value in self._namespace.items() if value is self), None)

    def _full_name(self) -> str:
        return f"{self.__module__}.{self._name_in_module() or self.__qualname__}"


class UnboundFunction(CompiledFunction):
    """What `autodiff` makes: it becomes a bound one when it is first called or asked for a member."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._bind()
        return self(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Called for what the instance does not have yet."""
        if name not in _MODES and name not in _SECOND_ORDER:
            raise AttributeError(f"a compiled function has no attribute {name!r}", name=name, obj=self)
        self._bind()
        return getattr(self, name)


class _Absent:
    """In the place of a member that there is not: says which option would give it."""

    def __init__(self, function: CompiledFunction, member: str) -> None:
        self._function, self._member = function, member

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        function, member = self._function, self._member
        reason = _not_possible if function._settings.offers(member) else _not_asked_for
        raise AttributeError(reason(function.__qualname__, member), name=member, obj=function)


def bind_arguments(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """All arguments in order, defaults filled in; `name` is that of the builtin which asks, "module:function.member".

    Raises `TypeError` with CPython's own words. The extension calls this when a call is not purely positional.
    """
    module, _, member = name.partition(":")
    return _binders[f"{module}:{member.partition('.')[0]}"](*args, **kwargs)


def _runs_in_python() -> bool:
    return _variable("ADCORE_FALLBACK", ("python",)) == "python"


def _in_development() -> bool:
    return not _runs_in_python() and _variable("ADCORE_DEVELOPMENT", ("on", "off")) != "off"


def _variable(name: str, values: tuple[str, ...]) -> str:
    """The value of an environment variable; one that it does not take counts as unset, and a warning says so."""
    value = os.environ.get(name, "")
    if value in ("", *values):
        return value
    allowed = " or ".join(repr(word) for word in values)
    warnings.warn(f"{name}={value!r} is ignored; it takes {allowed}", RuntimeWarning, stacklevel=6)
    return ""


def _make_binder(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """A function with the parameters of `function` which returns its arguments in order.

    CPython itself then says what is wrong with a call, in the words that the user knows.
    """
    import inspect

    parameters = inspect.signature(function).parameters.values()
    bare = [parameter.replace(annotation=parameter.empty, default=parameter.empty) for parameter in parameters]
    # A signature without defaults is always well-formed; the defaults themselves are attributes of the function.
    header = str(inspect.Signature(bare))
    names = "".join(f"{parameter.name}, " for parameter in bare)
    namespace: dict[str, Any] = {}
    exec(f"def bind{header}: return ({names})", namespace)
    binder = namespace["bind"]
    binder.__qualname__, binder.__name__ = function.__qualname__, function.__name__
    binder.__defaults__ = getattr(function, "__defaults__", None)
    binder.__kwdefaults__ = getattr(function, "__kwdefaults__", None)
    return binder  # type: ignore[no-any-return]


def _not_asked_for(function: str, member: str) -> str:
    if member in _SECOND_ORDER:
        return f"{function}.{member} is compiled for order=2 only; the decorator says order=1"
    modes = " or ".join(f'mode="{mode}"' for mode in _MODES[member])
    return f"{function}.{member} is compiled for {modes} only; the decorator says otherwise (option `mode`)"


def _not_possible(function: str, member: str) -> str:
    if member in _SCALAR_ONLY:
        return f"{function}.{member} needs exactly one real scalar output; use {function}.vjp or {function}.jacobian"
    return f"{function}.{member} was not compiled (options `mode` and `order`)"
