"""smolagents: agents as steps, tools as tool calls, managed agents as tools that are agents.

An agent's code runs again in a rerun, as its variables live on in the executor; the tools that it calls are
served. Model calls are the wire's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextvars import ContextVar
from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Step, Tool, around_step, call_tool, guarded, step_aside
from lctl.instrument.structure.subagents import around_subagent
from lctl.session import border
from lctl.session.default import get_session

_AGENT = "an agent of smolagents"
_TOOL = "a tool call of smolagents"


class SmolAgents:
    """smolagents 1.x."""

    name = "smolagents"
    supported = ">=1.26,<2"
    modules = ("smolagents.agents", "smolagents.tools")

    def __init__(self) -> None:
        self._calls = _Calls()

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "smolagents.tools":
            patches.wrap(module, "Tool.__call__", self._calls.called)
            return
        patches.wrap(module, "MultiStepAgent._run_stream", around_step(_AGENT, _agent))
        patches.wrap(module, "MultiStepAgent.__call__", around_subagent(_TOOL, self._calls.agent))
        patches.wrap(module, "ToolCallingAgent.process_tool_calls", self._calls.processed)
        patches.wrap(module, "ToolCallingAgent.execute_tool_call", self._calls.executed)


def _raw(value: Any) -> Any:
    """The text itself of smolagents' own class of texts, which no tape can hold."""
    return str(value.to_raw()) if type(value).__name__ == "AgentText" else value


def _agent(agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return Step(getattr(agent, "name", None) or type(agent).__name__, "agent", "run")


class _Calls:
    """Which call of the model a tool is called for: its id is not handed down to the tool."""

    def __init__(self) -> None:
        # Of a run, and not of its agent: one agent may have several runs at once. Threads get a copy.
        self._asked: ContextVar[list[Any]] = ContextVar("lctl_smolagents_asked")
        self._id: ContextVar[str | None] = ContextVar("lctl_smolagents_call", default=None)

    def processed(self, wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Signature of the wrapped: (chat_message, memory_step) -> generator."""
        asked = self._asked_in(args[0] if args else kwargs.get("chat_message"))
        items = wrapped(*args, **kwargs)
        return items if asked is None else self._processing(items, asked)

    @guarded(_TOOL)
    def _asked_in(self, message: Any) -> list[Any]:
        return list(message.tool_calls)

    def _processing(self, items: Iterator[Any], asked: list[Any]) -> Iterator[Any]:
        """Only while it works: between two of its items whoever reads a stream may read another run's."""
        try:
            while True:
                token = self._asked.set(asked)
                try:
                    item = next(items)
                except StopIteration:
                    return
                except BaseException as error:
                    step_aside(error)
                    raise
                finally:
                    self._asked.reset(token)
                yield item
        finally:
            close = getattr(items, "close", None)  # of an iterator of a subclass's there is none
            if close is not None:
                close()

    def executed(self, wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Signature of the wrapped: (tool_name, arguments)."""
        token = self._id.set(self._id_of(args, kwargs))
        try:
            return wrapped(*args, **kwargs)
        finally:
            self._id.reset(token)

    @guarded(_TOOL)
    def _id_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        name = args[0] if args else kwargs["tool_name"]
        given = args[1] if len(args) > 1 else kwargs["arguments"]
        asked = self._asked.get([])
        # The arguments are the very object of the model's call; those of two calls may say the same.
        for exactly in (True, False):
            for n, call in enumerate(asked):
                made = call.function
                if made.name == name and (made.arguments is given if exactly else made.arguments == given):
                    del asked[n]
                    return str(call.id)
        return None

    def _take_id(self) -> str | None:
        call_id = self._id.get()
        self._id.set(None)  # what the tool itself calls is another call
        return call_id

    def called(self, wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Signature of the wrapped: (*args, sanitize_inputs_outputs=False, **kwargs)."""
        described = self._described(tool, args, kwargs)
        if described is None:
            return wrapped(*args, **kwargs)
        gave: list[Any] = []
        asked = args, kwargs

        def run() -> Any:
            try:
                gave.append(wrapped(*asked[0], **asked[1]))
            except BaseException as error:
                step_aside(error)
                raise
            return _raw(gave[0])

        def rebind(input: dict[str, Any]) -> None:
            nonlocal asked
            own = "sanitize_inputs_outputs"
            asked = (), {**input, **({own: kwargs[own]} if own in kwargs else {})}

        try:
            value = call_tool(
                described.name,
                described.input,
                run,
                call_id=described.call_id,
                function=getattr(tool, "forward", None),
                rebind=rebind,
            )
        except BaseException as error:
            step_aside(error)
            raise
        if gave:
            return gave[0]
        if not kwargs.get("sanitize_inputs_outputs"):
            return value
        return sys.modules["smolagents.agent_types"].handle_agent_output_types(value, tool.output_type)

    @guarded(_TOOL)
    def _described(self, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
        if get_session() is None and border.player() is None:
            return None
        given = {name: value for name, value in kwargs.items() if name != "sanitize_inputs_outputs"}
        if len(args) == 1 and not given and isinstance(args[0], dict) and set(args[0]) <= set(tool.inputs):
            given = args[0]
        else:
            given = {**dict(zip(tool.inputs, args, strict=False)), **given}
        return Tool(tool.name, given, self._take_id())

    def agent(self, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
        """Signature of the wrapped: (task, **kwargs)."""
        given = {**({"task": args[0]} if args else {}), **kwargs}
        return Tool(agent.name or type(agent).__name__, given, self._take_id())
