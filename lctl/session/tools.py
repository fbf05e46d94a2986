"""Tool calls: `@lctl.tool`, and the one place every call of a tool goes through.

`intercept` may serve a call from a recording instead of running it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar, overload

from lctl.session import context, jsonable, wrapping
from lctl.session.default import get_session
from lctl.session.session import LCTLSession
from lctl.session.wrapping import Run, Served

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_ITEMS = 1000  # of a generator tool's output that are kept
_CALL_IDS = ("call_id", "tool_call_id")


class ToolCall(NamedTuple):
    """A call about to be made. `input` is a copy: the tool may change its arguments."""

    tool: str
    input: dict[str, Any]
    call_id: str | None


#: Asked before each call; what it returns is served, and the tool does not run.
intercept: Callable[[ToolCall], Served | None] | None = None


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
    passed on only if the function takes it. Outside any session the function just runs.
    """
    if isinstance(function, str):
        function, name = None, function
    if function is None:
        return lambda decorated: _wrapped(decorated, name)
    return _wrapped(function, name)


def _wrapped(function: Any, name: str | None) -> Any:
    called = name or wrapping.name_of(function)
    arguments = _Arguments(function)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
        call_id = arguments.take_call_id(kwargs)
        if get_session() is None and intercept is None:
            return None
        given = arguments.bind(args, kwargs)
        if call_id is None:
            call_id = next((str(given[n]) for n in _CALL_IDS if given.get(n) is not None), None)
        return ToolRun(ToolCall(called, jsonable.plain(given), call_id))

    return wrapping.wrap(function, begin)


def call_tool(name: str, input: dict[str, Any], run: Callable[[], T], *, call_id: str | None = None) -> T:
    """Call `run()` as the tool `name` with `input`: recorded, or served."""
    return wrapping.wrap(run, _begin(name, input, call_id))()  # type: ignore[no-any-return]


async def call_tool_async(
    name: str, input: dict[str, Any], run: Callable[[], Awaitable[T]], *, call_id: str | None = None
) -> T:
    """`call_tool` for a tool that is awaited."""

    async def awaited() -> T:
        return await run()

    return await wrapping.wrap(awaited, _begin(name, input, call_id))()  # type: ignore[no-any-return]


def _begin(name: str, input: dict[str, Any], call_id: str | None) -> wrapping.Begin:
    return lambda args, kwargs: ToolRun(ToolCall(name, jsonable.plain(input), call_id))


class ToolRun(Run):
    """One call of a tool; becomes a `tool_call` event in the step it was made in."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self._items: list[Any] | None = None
        self._session: LCTLSession | None = get_session()
        if self._session is not None:
            place = self._session.frame()
            self._agent, self._step = place.agent, place.step
            self._started = self._session.clock.monotonic_ns()
        self.frame = context.raw()
        if intercept is not None:
            self.served = intercept(call)

    def yielded(self, value: Any) -> None:
        if self._items is None:
            self._items = []
        if len(self._items) < _ITEMS:
            self._items.append(jsonable.plain(value))

    def returned(self, value: Any) -> None:
        self._record(output=value if self._items is None else self._items)

    def failed(self, error: BaseException) -> None:
        data: dict[str, Any] = {
            "error": {"type": jsonable.name_of(type(error)), "message": jsonable.text_of_error(error)}
        }
        if self._items is not None:
            data["output"] = self._items  # what came before
            if isinstance(error, GeneratorExit):
                del data["error"]
                data["closed_early"] = True
        self._record(**data)

    def _record(self, **result: Any) -> None:
        session = self._session
        if session is None:
            return
        data: dict[str, Any] = {"tool": self._call.tool, "input": self._call.input, **result}
        data["duration_ms"] = round((session.clock.monotonic_ns() - self._started) / 1e6, 3)
        if self._call.call_id is not None:
            data["call_id"] = self._call.call_id
        session.emit("tool_call", data, agent=self._agent, step=self._step)


class _Arguments:
    """Names for the arguments of a call, from the function's code (`inspect` costs 10 ms to import)."""

    def __init__(self, function: Any) -> None:
        bound = isinstance(function, classmethod)
        function = getattr(function, "__func__", function)
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        code = getattr(function, "__code__", None)
        self._names: tuple[str, ...] = ()
        self._rest: str | None = "args"
        self._takes_any = True
        self._defaults: dict[str, Any] = {}
        if code is None:
            return
        count, keywords = code.co_argcount, code.co_kwonlyargcount
        self._names = code.co_varnames[:count]
        self._keywords = code.co_varnames[count : count + keywords]
        self._rest = code.co_varnames[count + keywords] if code.co_flags & 0x04 else None
        self._takes_any = bool(code.co_flags & 0x08)
        defaults = function.__defaults__ or ()
        self._defaults = dict(zip(self._names[count - len(defaults) :], defaults, strict=True))
        self._defaults |= function.__kwdefaults__ or {}
        self._skip = bound or self._names[:1] in (("self",), ("cls",))

    def take_call_id(self, kwargs: dict[str, Any]) -> str | None:
        """A call id the caller passed beyond what the function takes; removed from `kwargs`."""
        if self._takes_any or not kwargs:
            return None
        for name in _CALL_IDS:
            if name in kwargs and name not in self._names and name not in self._keywords:
                return str(kwargs.pop(name))
        return None

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
