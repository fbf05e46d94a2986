"""Wrappers that make each run of a framework's function a step, or a tool call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lctl.guard import guard
from lctl.instrument.patches import Wrapper
from lctl.session.default import get_session, is_untold
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.runs.steps import StepScope
from lctl.session.tooling.toolruns import begin_tool


class Step(NamedTuple):
    """A run that is about to begin.

    Attributes:
        agent: whose step it is; None: the enclosing step's.
        kind: "agent", "task", "chain", "node", ...
        intent: what for, in a word.
        data: more of its `step_start`.
        result: gives more of its `step_end`, of what the function returned; of the last item of a
            generator.
        told_by_items: an item of a generator of which `result` gives an outcome ends the step: consumers
            leave it there, and do not close it.
    """

    agent: str | None
    kind: str = "agent"
    intent: str | None = None
    data: Mapping[str, Any] = {}
    result: Callable[[Any], Mapping[str, Any]] | None = None
    told_by_items: bool = False


class Tool(NamedTuple):
    """A tool call that is about to be made.

    Attributes:
        input: the arguments by name.
        call_id: the model's, where the framework knows it.
        shown: what the event says of what it gave, where the value itself is the framework's wrapping
            of it; a rerun gives the value.
        paused: what an exception waits for that leaves the tool to be gone on with later (a question to
            a human); None of an exception that is a failure.
        beside: what the tool can change though it is no argument of the call (the program's context, the
            totals of usage); a rerun changes it alike.
        function: the program's function that is called, where it is known: of a method's object a rerun
            changes what the call changed.
        wraps: the way back from `shown`: makes of a result that a fork puts in place of the recorded one what
            the function would give.
        mcp: of a tool of an MCP server, the server's name for it: the client's call of it is this one, and
            the server's word that it failed stands, whatever the framework makes of it.
    """

    name: str
    input: dict[str, Any]
    call_id: str | None = None
    shown: Callable[[Any], Any] | None = None
    paused: Callable[[BaseException], Any] | None = None
    beside: tuple[Any, ...] = ()
    function: Any = None
    wraps: Callable[[Any], Any] | None = None
    mcp: str | None = None

    def begin(self, agent: bool = False) -> wrappedruns.Run | None:
        """See `begin_tool`. `agent`: its body is an agent."""
        return begin_tool(
            self.name,
            self.input,
            call_id=self.call_id,
            shown=self.shown,
            paused=self.paused,
            beside=self.beside,
            function=self.function,
            wraps=self.wraps,
            agent=agent,
            mcp=self.mcp,
        )


#: Called with (instance, args, kwargs) of a call.
DescribeStep = Callable[[Any, tuple[Any, ...], dict[str, Any]], Step | None]
DescribeTool = Callable[[Any, tuple[Any, ...], dict[str, Any]], Tool | None]


#: Called so, too; begins what a call is told as. None: the call is told as nothing.
Begin = Callable[[Any, tuple[Any, ...], dict[str, Any]], wrappedruns.Run | None]


def around(place: str, begin: Begin) -> Wrapper:
    """A wrapper under which each run of a function is what `begin` begins, where something is recorded or
    served; `place` is what a failure is counted under."""

    def wrapper(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def begun(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
            if is_untold():
                return None
            with guard(place):
                guard.rehearse(place)
                return begin(instance, args, kwargs)
            return None

        try:
            return wrapping.wrap(wrapped, begun)(*args, **kwargs)
        except BaseException as error:
            wrappedruns.step_aside(error)
            raise

    return wrapper


def around_step(place: str, describe: DescribeStep) -> Wrapper:
    """A wrapper under which each run of a function is a step."""

    def begin(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        session = get_session()
        step = None if session is None else describe(instance, args, kwargs)
        if session is None or step is None:
            return None
        scope = session.step(step.agent, step.intent, kind=step.kind, **step.data)
        return _StepRun(place, scope.begin(), step.result, step.told_by_items)

    return around(place, begin)


def around_tool(place: str, describe: DescribeTool) -> Wrapper:
    """A wrapper under which each run of a function is a tool call: recorded, or served."""

    def begin(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        tool = describe(instance, args, kwargs)
        return None if tool is None else tool.begin()

    return around(place, begin)


def changeable(*found: Any) -> tuple[Any, ...]:
    """For `Tool.beside`: objects of a program, and the lists, sets and dicts that their attributes are."""
    held = [value for one in found for value in getattr(one, "__dict__", {}).values()]
    return *found, *(value for value in held if isinstance(value, list | dict | set))


class _StepRun(wrappedruns.Run):
    """One run as a step."""

    def __init__(
        self,
        place: str,
        scope: StepScope,
        result: Callable[[Any], Mapping[str, Any]] | None,
        told_by_items: bool,
    ) -> None:
        self._place = place
        self._scope = scope
        self._result = result
        self._told_by_items = told_by_items
        self._last: Any = None

    def yielded(self, value: Any) -> None:
        if self._result is None:
            return
        self._last = value
        if self._told_by_items:
            with guard(self._place):
                told = self._result(value)
                if "outcome" in told:
                    self._scope.update(**told)
                    self._scope.end()

    def failed(self, error: BaseException) -> None:
        self._scope.end(error)

    def returned(self, value: Any) -> None:
        if self._result is not None:
            with guard(self._place):
                self._scope.update(**self._result(self._last if value is None else value))
        self._scope.end()
