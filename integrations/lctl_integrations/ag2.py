"""ag2 1.x: turns of agents as steps, tools as tool calls, agents that a tool lets work as sub-agents.

Those are agents given as tools, and those of the network (`delegate`, `say`, ...). A middleware of ours is
the innermost of every turn. Model calls are the wire's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable
from copy import copy
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import reads
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Step, Tool, around_step, guarded
from lctl.instrument.structure.subagents import begin_subagent
from lctl.session import border
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.sources import NAMED
from lctl.session.tooling.toolcalls import Pause
from lctl.session.tooling.toolruns import begin_tool
from lctl_integrations import ag2_doings, ag2_workflows
from lctl_integrations.ag2_doings import Doings

_TURN = "an agent's turn of ag2"
_TOOL = "a tool call of ag2"

#: Functions of tools that let an agent work, by how ag2 names the source of a tool.
_AGENTS = ("function:ag2.tools.subagents.", "function:ag2.agent:")
#: Those of the network that let agents in this process hear of something, and by which of their actions;
#: all else there only looks, and is a tool like any other.
_NETWORK = "function:ag2.network.client.tools."
_ACTIONS: dict[str, tuple[str | None, ...]] = {
    "channels": ("open", "close"),
    "delegate": (None,),
    "say": (None,),
    "tasks": ("progress", "complete", "cancel"),
}
_IDS = "ag2.network.ids"
_WORKFLOWS = "ag2.network.adapters.workflow"
#: Names that ag2 makes up.
_SUBTASK = re.compile(r"\Asubtask-[0-9a-f]{8}\Z")
#: Of what the tape holds: a call that is left to who asked the agent, a browser or another process.
_CLIENT = "client"
_OUTSIDE = "a result from outside"
#: Of an exception: the text that ag2 made of it for the model, on its way to the tape.
_TEXT = "lctl_shown"

Call = Callable[[Any, Any], Awaitable[Any]]


class AG2:
    """ag2 1.x, the rewrite; `autogen`, as it was before, is another library."""

    name = "ag2"
    supported = ">=1.2,<2"
    modules = ("ag2.agent", "ag2.context", _IDS, _WORKFLOWS)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == _IDS:
            patches.wrap(module, "make_id", _named)
            patches.wrap(module, "_MonotonicIds.__call__", _named)
        elif module.__name__ == _WORKFLOWS:
            patches.wrap(module, "WorkflowAdapter.build_round_envelope", ag2_workflows.built)
        elif module.__name__ == "ag2.context":
            patches.wrap(module, "ConversationContext.send", ag2_doings.sent)
            patches.wrap(module, "ConversationContext.enqueue", ag2_doings.enqueued)
        else:
            patches.wrap(module, "Agent._drive_scope", _scoped)


def _named(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An id of the network's. Tools show them to models, which ask by them."""
    return reads.read(NAMED, _IDS, sys._getframe(1), wrapped, always=True)


def _scoped(wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    ours = _middleware(agent)
    if ours is not None:
        kwargs = {**kwargs, "additional_middleware": (*kwargs.get("additional_middleware", ()), ours)}
    return wrapped(*args, **kwargs)


@guarded(_TURN)
def _middleware(agent: Any) -> Any:
    """A factory, as ag2 asks it for each turn."""
    base: Any = sys.modules["ag2.middleware.base"].BaseMiddleware

    class Recording(base):  # type: ignore[misc]
        async def on_turn(self, call_next: Call, event: Any, context: Any) -> Any:
            return await around_step(_TURN, lambda *_: Step(_name_of(agent), "agent", "turn", result=_waits))(
                call_next, agent, (event, context), {}
            )

        async def on_tool_execution(self, call_next: Call, event: Any, context: Any) -> Any:
            return await _executed(call_next, event, context)

    return Recording


def _name_of(agent: Any) -> str:
    """The same in each run: ag2 calls a sub-task's agent by a number that it makes up."""
    return _SUBTASK.sub("subtask", str(agent.name))


def _waits(response: Any) -> dict[str, Any]:
    """Of a turn that ended with calls which are not run here: what it waits for."""
    asked = getattr(response, "tool_calls", None)
    if not asked or not response.response_force:
        return {}
    waits = [
        {"for": _OUTSIDE, "tool": call.name, "input": _input_of(call), "call_id": call.id}
        for call in asked.calls
    ]
    return {"outcome": "paused", "interrupts": waits}


def _input_of(event: Any) -> dict[str, Any]:
    try:
        given = event.serialized_arguments
    except ValueError:  # no JSON; ag2 tells the model so
        given = event.arguments
    return given if isinstance(given, dict) else {"arguments": given}


async def _executed(call_next: Call, event: Any, context: Any) -> Any:
    events = sys.modules["ag2.events.tool_events"]
    gave: list[Any] = []
    doings = Doings(context)
    asked = event

    def rebind(input: dict[str, Any]) -> None:
        nonlocal asked
        asked = copy(event)
        asked.serialized_arguments = input

    async def run() -> Any:
        """What the tool gave, or what it raised: ag2 makes results of both."""
        with doings:
            result = await call_next(asked, context)
        gave.append(result)
        if isinstance(result, events.ToolErrorEvent):
            raise _marked(result)
        if isinstance(result, events.ClientToolCallEvent):
            return {_CLIENT: [result.id, result.name, result.arguments]}
        return _plain(result.result)

    try:
        try:
            result = await wrapping.wrap(run, lambda args, kwargs: _begun(event, doings, call_next, rebind))()
        finally:
            await doings.repeat()
    except Exception as error:
        if not gave and not hasattr(error, _TEXT):
            raise  # not the tool's
        text = error.__dict__.pop(_TEXT, None)
        if gave:
            return gave[0]
        return events.ToolErrorEvent(
            parent_id=event.id, name=event.name, error=error, result=events.ToolResult(text)
        )
    if gave:
        return gave[0]
    if isinstance(result, dict) and _CLIENT in result:
        call_id, name, arguments = result[_CLIENT]
        return events.ClientToolCallEvent(id=call_id, name=name, arguments=arguments)
    return events.ToolResultEvent(parent_id=event.id, name=event.name, result=_result(events, result))


def _marked(result: Any) -> Exception:
    error: Exception = result.error
    said = _said(result.result)
    if isinstance(said, str):
        error.__dict__[_TEXT] = said
    return error


def _begun(
    event: Any, doings: Doings, call_next: Call, rebind: Callable[[dict[str, Any]], None]
) -> wrappedruns.Run | None:
    if get_session() is None and border.player() is None:
        return None
    with guard(_TOOL):
        guard.rehearse(_TOOL)
        input = _input_of(event)
        if _is_of_agents(str(event.source), event.name, input):
            return begin_subagent(Tool(event.name, input, event.id, _said))
        doings.run = begin_tool(
            event.name,
            input,
            call_id=event.id,
            shown=_said,
            beside=doings.beside,
            function=_function_of(call_next),
            mcp=_of_server(call_next),
            wraps=_wrapped,
            rebind=rebind,
        )
        return doings.run
    return None


def _function_of(call_next: Any) -> Any:
    """The program's function behind a tool; None where it is not found."""
    return getattr(getattr(_innermost(call_next), "model", None), "call", None)


def _of_server(call_next: Any) -> str | None:
    """An MCP server's name for the tool, where it is one's."""
    found = getattr(_innermost(call_next), "_remote_name", None)
    return found if isinstance(found, str) else None


def _innermost(call_next: Any) -> Any:
    """The tool itself. Middlewares of its own are around it, in functions of ag2's."""
    for _ in range(10):
        names = getattr(getattr(call_next, "__code__", None), "co_freevars", ())
        if "inner" not in names:
            break
        call_next = call_next.__closure__[names.index("inner")].cell_contents
    return call_next


def _is_of_agents(source: str, name: str, input: dict[str, Any]) -> bool:
    """Whether the tool lets others work, who are recorded beside it."""
    if source.startswith(_NETWORK):
        return input.get("action") in _ACTIONS.get(name, ())
    return source.startswith(_AGENTS)


#: The parts of a result that a tape can hold, and what they are made of.
_PARTS = {"TextInput": "content", "DataInput": "data"}


def _plain(result: Any) -> Any:
    """A result as plain values, as far as it is made of texts and data."""
    kinds = [type(part).__name__ for part in result.parts]
    if not set(kinds) <= set(_PARTS):
        return result
    parts = [[kind, getattr(part, _PARTS[kind])] for kind, part in zip(kinds, result.parts, strict=True)]
    return {"parts": parts, "final": result.final, "metadata": result.metadata}


def _wrapped(value: Any) -> Any:
    """What a fork puts in a result's place, as a result is on the tape."""
    made = sys.modules["ag2.events.tool_events"].ToolResult
    return _plain(made(value if isinstance(value, str | dict | list) else str(value)))


def _result(events: Any, plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    inputs = sys.modules["ag2.events.input_events"]
    parts = [getattr(inputs, kind)(value) for kind, value in plain["parts"]]
    return events.ToolResult(parts=parts, final=plain["final"], metadata=plain["metadata"])


def _said(given: Any) -> Any:
    """What a tool gave, for the log: its parts, without what they are wrapped in."""
    if isinstance(given, dict) and _CLIENT in given:
        return Pause({"for": _OUTSIDE})
    if isinstance(given, dict):
        said = [value for _, value in given["parts"]]
    else:
        said = [getattr(part, "content", getattr(part, "data", part)) for part in given.parts]
    return said[0] if len(said) == 1 else said
