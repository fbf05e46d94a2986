"""Tool calls: `@lctl.tool`, and the one place every call of a tool goes through.

Where a player serves the program (`lctl.session.border`), a recorded call gives what it gave and its
body does not run. The body has a lane of its own: what it does is skipped with it.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, overload

from lctl.errors import RerunStopped
from lctl.guard import guard
from lctl.record.recorder import Build, Draft
from lctl.session import border, context, hooks, jsonable, lanes, toolresults, wrapping
from lctl.session.default import get_session
from lctl.session.faithful import Given
from lctl.session.lanes import Lane
from lctl.session.session import LCTLSession
from lctl.session.toolresults import Items
from lctl.session.wrapping import Rewritten, Run, Served

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_CALL_IDS = ("call_id", "tool_call_id")


class ToolCall(NamedTuple):
    """A call about to be made.

    Attributes:
        input: a copy of the arguments by name: the tool may change them.
        given: the arguments themselves.
    """

    tool: str
    input: dict[str, Any]
    call_id: str | None
    given: Given | None = None


class Failure(NamedTuple):
    """What `shown` gives of a value by which a framework tells that the tool failed."""

    type: str
    message: str


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
        if get_session() is None and border.player() is None:
            return None
        given = arguments.bind(args, kwargs)
        roots = [*given.values(), *arguments.owner(args)]
        if call_id is None:
            call_id = next((str(given[n]) for n in _CALL_IDS if given.get(n) is not None), None)
        plain = jsonable.plain(given)
        if _is_reported(called, plain):
            return None
        run = ToolRun(ToolCall(called, plain, call_id, Given(roots)))
        if isinstance(run.served, Rewritten):
            run.arguments = arguments.rebind(args, kwargs, run.served.input)
            run.rewrite(run.served.input)
        return run

    wrapped = wrapping.wrap(function, begin)
    getattr(wrapped, "__func__", wrapped).__lctl_tool__ = True
    return wrapped


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
) -> T:
    """Call `run()` as the tool `name` with `input`: recorded, or served.

    Args:
        shown: what the event says of the value, where that is a framework's wrapping of it. A rerun gives
            the value itself.
    """
    return wrapping.wrap(run, _begin(name, input, call_id, shown))()  # type: ignore[no-any-return]


async def call_tool_async(
    name: str,
    input: dict[str, Any],
    run: Callable[[], Awaitable[T]],
    *,
    call_id: str | None = None,
    shown: Callable[[Any], Any] | None = None,
) -> T:
    """`call_tool` for a tool that is awaited."""

    async def awaited() -> T:
        return await run()

    return await wrapping.wrap(awaited, _begin(name, input, call_id, shown))()  # type: ignore[no-any-return]


def begin_tool(
    name: str,
    input: dict[str, Any],
    *,
    call_id: str | None = None,
    shown: Callable[[Any], Any] | None = None,
    paused: Callable[[BaseException], Any] | None = None,
    beside: Iterable[Any] = (),
) -> ToolRun | None:
    """A call of the tool `name` begins, for `wrapping.wrap`. None where it is reported already: a call made
    in the body of another of the same name, with its input, is that call seen a layer below.

    Args:
        paused: of an exception that leaves the tool to be gone on with later, what it waits for; None of
            one that is a failure.
        beside: what the tool can change though it is no argument of its call.
    """
    plain = jsonable.plain(input)
    if _is_reported(name, plain):
        return None
    return ToolRun(ToolCall(name, plain, call_id, Given(input.values(), beside)), shown, paused)


def _begin(
    name: str, input: dict[str, Any], call_id: str | None, shown: Callable[[Any], Any] | None
) -> wrapping.Begin:
    return lambda args, kwargs: begin_tool(name, input, call_id=call_id, shown=shown)


def _is_reported(name: str, input: Mapping[str, Any]) -> bool:
    lane = lanes.current()
    if lane.tool != name or lane.input is None:
        return False
    # A layer below knows what a call left to its defaults.
    return all(key in input and input[key] == value for key, value in lane.input.items())


class ToolRun(Run):
    """One call of a tool; becomes a `tool_call` event in the step it was made in."""

    def __init__(
        self,
        call: ToolCall,
        shown: Callable[[Any], Any] | None = None,
        paused: Callable[[BaseException], Any] | None = None,
    ) -> None:
        self._call = call
        self._shown, self._paused = shown, paused
        self._given = call.given or Given(())
        self._items: Items | None = None
        self._asked: dict[str, Any] | None = None
        self._session: LCTLSession | None = get_session()
        if self._session is not None:
            place = self._session.frame()
            self._agent, self._step = place.agent, place.step
            self._moment = self._session.under_way.begin()
        self.frame = context.raw()
        lane = lanes.current()
        number = lane.number("tool")
        player = border.player()
        self._made_before = False
        if player is not None:
            self.served = _asked(player, call, lane, number)
        elif self._session is not None and self._session.answers is not None:
            self._ask_earlier(self._session, call)
        self._outer, self._number = lane, number
        if self.served is None:
            self.lane = lane.body(number, call.tool, call.input)

    def _ask_earlier(self, session: LCTLSession, call: ToolCall) -> None:
        """A call that an earlier process made is in the log already."""
        made = None
        with guard("a tool call made before"):
            made = session.answers(call.tool, call.input, call.call_id) if session.answers else None
        if made is not None:
            self.served, self._made_before = Served(made.value), True

    def around(self) -> Lane:
        """The lane of what a framework does about a call that is served: the recorded body's."""
        return self._outer.body(self._number, self._call.tool, self._call.input)

    def rewrite(self, input: dict[str, Any]) -> None:
        """The tool runs with other arguments than it was called with."""
        self.served = None
        self.lane = self._outer.body(self._number, self._call.tool, input)
        self._asked = self._call.input
        self._call = self._call._replace(input=jsonable.plain(input))

    def yielded(self, value: Any) -> None:
        if self._items is None:
            self._items = Items(self._given)
        self._items.add(value)

    def returned(self, value: Any) -> None:
        if self._items is None:
            self._record({"output": value})
        else:
            self._record({} if value is None else {"returned": value})

    def failed(self, error: BaseException) -> None:
        if isinstance(error, RerunStopped):
            if self._session is not None:
                self._session.under_way.end(self._moment)
        elif self._items is not None and isinstance(error, GeneratorExit):
            self._record({}, closed_early=True)
        else:
            self._record({"error": error})

    def _record(self, parts: dict[str, Any], closed_early: bool = False) -> None:
        session = self._session
        if session is None:
            return
        session.under_way.end(self._moment)
        if self._made_before:
            return
        data: dict[str, Any] = {"tool": self._call.tool, "input": self._call.input}
        served = self.served
        if served is not None and self._is_as_recorded(parts, closed_early, served.outcome):
            data |= served.outcome.fields or {}
        else:
            data |= self._result(parts, closed_early)
        data["duration_ms"] = round((session.clock.monotonic_ns() - self._moment.ns) / 1e6, 3)
        if self._asked is not None:
            data["asked"] = self._asked
        if self._call.call_id is not None:
            data["call_id"] = self._call.call_id
        data |= session.under_way.fields(self._moment, _is_full())
        if served is not None and served.match is not None:
            data["match"] = served.match
        if served is not None and served.events:
            session.emit_many(
                _with_body(
                    session, served.events, ("tool_call", self._agent, data, self._step), served.placed
                )
            )
            return
        returning = session.returns.begin()
        if served is not None and served.placed:
            call = ("tool_call", self._agent, data, self._step)
            seq = session.emit_many(_with_body(session, (), call, served.placed))
        else:
            seq = session.emit("tool_call", data, agent=self._agent, step=self._step)
        if self._outer.inside is not None:
            if served is not None:
                self._outer.inside.extend(served.outcome.inside)
            elif self.lane is not None:
                self._outer.inside.extend(self.lane.inside or ())
        session.returns.end(returning, seq)

    def _result(self, parts: dict[str, Any], closed_early: bool) -> dict[str, Any]:
        """What the event says of how the call ended, and its tape."""
        result: dict[str, Any] = {}
        error = parts.get("error")
        waits = None if error is None or self._paused is None else self._paused(error)
        if waits is not None:
            result["paused"] = waits
        elif error is not None:
            result["error"] = {
                "type": jsonable.name_of(type(error)),
                "message": jsonable.text_of_error(error),
            }
        if closed_early:
            result["closed_early"] = True
        if self._items is not None:
            result["output"] = self._items.shown
        elif "output" in parts:
            shown = parts["output"]
            if self._shown is not None:
                with guard("what a tool's result says"):  # the result itself is there all the same
                    shown = self._shown(shown)
            if isinstance(shown, Failure):
                result["error"] = shown._asdict()
            else:
                result["output"] = shown
        is_shown = self._items is not None or result.get("output") is parts.get("output")
        tape = toolresults.tape_of(self._call.tool, self._given, parts, self._items, is_shown)
        if self.lane is not None and self.lane.inside:
            tape = {**(tape or {}), "inside": _ranges(self.lane.inside)}
        if tape is not None:
            result["tape"] = tape
        return result

    def _is_as_recorded(self, parts: dict[str, Any], closed_early: bool, outcome: wrapping.Outcome) -> bool:
        """Whether a served call ended as the recorded one: a program may leave a generator earlier."""
        fields = outcome.fields
        if fields is None or closed_early != outcome.closed_early:
            return False
        if self._items is not None and self._items.count != len(outcome.value or ()):
            return False
        error = parts.get("error")
        return error is outcome.error or (
            error is not None and jsonable.name_of(type(error)) == (fields.get("error") or {}).get("type")
        )


def _asked(player: border.Player, call: ToolCall, lane: lanes.Lane, number: int) -> Served | None:
    """What the player gives. Whatever fails there, the tool is not run for it."""
    try:
        return player.tool(call, lane, number)
    except Exception as error:
        raise RerunStopped(
            f"the recorded result of {call.tool} cannot be given: {type(error).__name__}: {error}"
        ) from error


def _with_body(
    session: LCTLSession,
    events: Sequence[Mapping[str, Any]],
    call: Draft,
    placed: Sequence[Mapping[str, Any]] = (),
) -> Build:
    """The events of a served tool's body, as recorded, and then its own; those `placed` are in the log."""

    def build(first: int) -> list[Draft]:
        drafts: list[Draft] = []
        numbers: dict[int, int] = {}
        for event in events:
            numbers[event["seq"]] = first + len(drafts)
            step = event.get("step")
            inner = step if step is None else numbers.get(step, step)
            drafts.append((event["type"], event["agent"], event["data"], inner))
        there = [(event["type"], event["agent"], event["data"], event.get("step")) for event in placed]
        hooks.again(session, [*there, *drafts])
        if session.on_tool_call is not None:
            with guard("a tool call's place in its conversation"):
                session.on_tool_call(call[2])
        return [*drafts, call]

    return build


def _ranges(seqs: list[tuple[int, int]]) -> list[list[int]]:
    """Pairs of first and last seq, those that touch joined."""
    made: list[list[int]] = []
    for first, last in sorted(seqs):
        if made and first <= made[-1][1] + 1:
            made[-1][1] = max(made[-1][1], last)
        else:
            made.append([first, last])
    return made


def _is_full() -> bool:
    """Whether moments are always recorded. (What says so is a floor above, and may not be loaded.)"""
    return bool(getattr(sys.modules.get("lctl.instrument.settings"), "full", False))


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

    def owner(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The object whose method is called, which the call may change, too."""
        return args[:1] if self._names[:1] == ("self",) else ()

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
