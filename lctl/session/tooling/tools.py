"""`@lctl.tool`, and calls of tools by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import MethodType
from typing import Any, TypeVar, overload

from lctl.errors import UsageError
from lctl.session import jsonable
from lctl.session.concurrency import lanes
from lctl.session.default import is_untold
from lctl.session.faithful import Given
from lctl.session.faithful.owners import owner_of
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.runs.wrappedruns import Run, step_aside
from lctl.session.tooling.beneath import is_reported, run_beneath
from lctl.session.tooling.receiving import Incoming
from lctl.session.tooling.served import Rewritten
from lctl.session.tooling.toolcalls import ToolCall
from lctl.session.tooling.toolruns import ToolRun, begin_tool

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_CALL_IDS = ("call_id", "tool_call_id")


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(name: str | None = None, /) -> Callable[[F], F]: ...
@overload
def tool(*, name: str | None = None) -> Callable[[F], F]: ...


def tool(function: Any = None, /, *, name: str | None = None) -> Any:
    """Record each call of a function as a tool call: arguments, result or exception, duration.

    For functions, coroutines, generators (the output is the list of items) and async generators,
    methods, static and class methods. A `call_id` or `tool_call_id` given by the caller is reported, and
    passed on only if the function takes it. Outside any session the function just runs. Of a generator
    function nothing runs, and nothing is recorded, before its first item is asked for.
    """
    if isinstance(function, str):
        function, name = None, function
    if function is None:
        return lambda decorated: _wrapped(decorated, name)
    return _wrapped(function, name)


def _wrapped(function: Any, name: str | None) -> Any:
    if is_tool(function):
        return function
    if isinstance(function, property | type) or not (callable(function) or hasattr(function, "__func__")):
        raise UsageError(f"@lctl.tool on {function!r:.80}: it is for functions{_instead(function)}")
    called = name or wrapping.name_of(function)
    arguments = _Arguments(function)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
        call_id = arguments.take_call_id(kwargs)
        if is_untold():
            return None
        given = arguments.bind(args, kwargs)
        roots = [*given.values(), *arguments.owner(args)]
        if call_id is None:
            call_id = next((str(given[n]) for n in _CALL_IDS if given.get(n) is not None), None)
        plain = jsonable.plain(given)
        if is_reported(called, plain) and not lanes.current().is_decorated:
            return None  # a framework's call, of which this is what the framework calls
        owner = owner_of(function, roots)
        run = ToolRun(ToolCall(called, plain, call_id, Given(roots), owner, values=tuple(roots)))
        if isinstance(run.served, Rewritten):
            run.arguments = arguments.rebind(args, kwargs, run.served.input)
            run.rewrite(run.served.input)
        if run.lane is not None:
            run.lane.is_decorated = True
        return run

    wrapped = wrapping.wrap(function, begin)
    getattr(wrapped, "__func__", wrapped).__lctl_tool__ = True
    return wrapped


def _instead(function: object) -> str:
    if isinstance(function, property):
        return "; write @property above @lctl.tool"
    return "; decorate its methods" if isinstance(function, type) else ""


def is_tool(function: Any) -> bool:
    """Whether calls of it are recorded already."""
    return bool(getattr(getattr(function, "__func__", function), "__lctl_tool__", False))


def call_tool(
    name: str,
    input: dict[str, Any],
    run: Callable[[], T],
    *,
    call_id: str | None = None,
    shown: Callable[[Any], Any] | None = None,
    function: Any = None,
    rebind: Callable[[dict[str, Any]], None] | None = None,
) -> T:
    """Call `run()` as the tool `name` with `input`: recorded, or served.

    Args:
        shown: what the event says of the value, where that is a framework's wrapping of it. A rerun gives
            the value itself.
        function: the tool itself. If it is a method, what it changes of its object is kept.
        rebind: is told the arguments that a fork puts in place of `input`, before `run()`.
    """
    try:
        return wrapping.wrap(run, _begin(name, input, call_id, shown, function, rebind=rebind))()  # type: ignore[no-any-return]
    except BaseException as error:
        step_aside(error)
        raise


async def call_tool_async(
    name: str,
    input: dict[str, Any],
    run: Callable[[], Awaitable[T]],
    *,
    call_id: str | None = None,
    shown: Callable[[Any], Any] | None = None,
    incoming: Incoming | None = None,
    wraps: Callable[[Any], Any] | None = None,
) -> T:
    """`call_tool` for a tool that is awaited.

    Args:
        incoming: what comes from outside while it is under way, beside its result.
        wraps: the way back from what `shown` gives: see `ToolCall`.
    """

    async def awaited() -> T:
        try:
            return await run()
        except BaseException as error:
            step_aside(error)
            raise

    begin = _begin(name, input, call_id, shown, incoming=incoming, wraps=wraps)
    try:
        return await wrapping.wrap(awaited, begin)()  # type: ignore[no-any-return]
    except BaseException as error:
        step_aside(error)
        raise


def _begin(
    name: str,
    input: dict[str, Any],
    call_id: str | None,
    shown: Callable[[Any], Any] | None,
    function: Any = None,
    incoming: Incoming | None = None,
    rebind: Callable[[dict[str, Any]], None] | None = None,
    wraps: Callable[[Any], Any] | None = None,
) -> wrappedruns.Begin:
    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
        more: dict[str, Any] = {"function": function, "incoming": incoming, "rebind": rebind, "wraps": wraps}
        return begin_tool(name, input, call_id=call_id, shown=shown, **more) or run_beneath(shown)

    return begin


class _Arguments:
    """Names for the arguments of a call, from the function's code (`inspect` costs 10 ms to import)."""

    def __init__(self, function: Any) -> None:
        takes_class = isinstance(function, classmethod)
        is_bound = False
        while isinstance(function, MethodType) or hasattr(function, "__wrapped__"):
            is_bound = is_bound or isinstance(function, MethodType)
            function = function.__func__ if isinstance(function, MethodType) else function.__wrapped__
        code = getattr(function, "__code__", None)
        self._names: tuple[str, ...] = ()
        self._rest: str | None = "args"
        self._takes_any = True
        self._skip = False
        self._defaults: dict[str, Any] = {}
        if code is None:
            return
        count, keywords = code.co_argcount, code.co_kwonlyargcount
        self._names = code.co_varnames[1 if is_bound else 0 : count]
        self._keywords = code.co_varnames[count : count + keywords]
        self._rest = code.co_varnames[count + keywords] if code.co_flags & 0x04 else None
        self._takes_any = bool(code.co_flags & 0x08)
        defaults = function.__defaults__ or ()
        self._defaults = dict(zip(code.co_varnames[count - len(defaults) : count], defaults, strict=True))
        self._defaults |= function.__kwdefaults__ or {}
        of_class = "." in function.__qualname__.rpartition("<locals>.")[2]
        first = self._names[:1]
        self._skip = not is_bound and (takes_class or first == ("self",) or (of_class and first == ("cls",)))

    def owner(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The object whose method is called, which the call may change, too."""
        return args[:1] if self._skip and self._names[:1] == ("self",) else ()

    def take_call_id(self, kwargs: dict[str, Any]) -> str | None:
        """A call id the caller passed beyond what the function takes; removed from `kwargs`."""
        if self._takes_any or not kwargs:
            return None
        for name in _CALL_IDS:
            if name in kwargs and name not in self._names and name not in self._keywords:
                return str(kwargs.pop(name))
        return None

    def rebind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], input: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that say `input`: those it has as they were keep the caller's own objects."""
        before = jsonable.plain(self.bind(args, kwargs))
        named = dict(zip(self._names, args, strict=False))
        changed = {
            name: value for name, value in input.items() if name not in before or before[name] != value
        }
        places = tuple(changed.pop(name) if name in changed else value for name, value in named.items())
        rest = changed.pop(self._rest, args[len(self._names) :]) if self._rest else args[len(self._names) :]
        kept = {name: value for name, value in kwargs.items() if name in input or name not in before}
        return (*places, *rest), {**kept, **changed}

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if not self._names and self._takes_any:
            return {**({"args": args} if args else {}), **kwargs}
        given = dict(zip(self._names, args, strict=False))
        if len(args) > len(self._names) and self._rest is not None:
            given[self._rest] = args[len(self._names) :]
        given |= kwargs
        given |= {name: value for name, value in self._defaults.items() if name not in given}
        if self._skip and self._names:
            given.pop(self._names[0], None)
        return given
