"""strands-agents: agents, graphs and swarms as steps, tools as tool calls, hand-offs of swarms.

Sync, async and streamed runs all go through `stream_async`. A decorated tool is recorded where its function
is called, so that Strands makes the same result of what a rerun serves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet, Wrapper
from lctl.instrument.structure import Failure, Step, Tool, around_step, around_tool, guarded
from lctl.instrument.structure.subagents import begin_subagent
from lctl.session import border, jsonable
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.tooling.toolruns import begin_tool
from lctl_integrations import strands_ids
from lctl_integrations.strands_models import asked_model

_AGENT = "an agent of Strands"
_TEAM = "a graph or swarm of Strands"
_TOOL = "a tool call of Strands"
_HANDOFF = "a hand-off of Strands"

#: Modules whose own tools only let agents work, or change one that works: they run again in a rerun.
_WITHIN = (
    "strands.multiagent.",
    "strands.vended_tools.notebook",
    "strands.vended_tools.stop",
    "strands.vended_tools.subagent",
    "strands.vended_tools.swarm",
)
#: What Strands itself keeps in the state of an invocation.
_STATE = ("agent", "model", "messages", "system_prompt", "tool_config")


class Strands:
    """strands-agents 1."""

    name = "strands-agents"
    supported = ">=1.40,<2"
    modules = (
        "strands.agent.agent",
        "strands.agent._agent_as_tool",
        "strands.event_loop.event_loop",
        strands_ids.MODULE,
        "strands.multiagent.graph",
        "strands.multiagent.swarm",
        "strands.tools.decorator",
        "strands.tools.mcp.mcp_client",
        "strands.tools.tools",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == strands_ids.MODULE:
            strands_ids.patch(module, patches)
            return
        for path, wrapper in _HOOKS[module.__name__.removeprefix("strands.")].items():
            patches.wrap(module, path, wrapper)


def _agent(agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return Step(str(agent.name), "agent", "run", result=_ended)


def _structured(agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return Step(str(agent.name), "agent", "structured_output")


def _team(team: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return Step(str(team.id), "chain", type(team).__name__, {"nodes": sorted(team.nodes)}, _ended)


def _node(team: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    """Signature of the wrapped: (node, ...)."""
    node = args[0] if args else kwargs["node"]
    return Step(str(node.node_id), "node", "node", result=_ended)


def _ended(last: Any) -> Mapping[str, Any]:
    """The last item of a run: the result of it, or of its node."""
    found = last if isinstance(last, dict) else {}
    result = found.get("result") or found.get("node_result")
    waits = getattr(result, "interrupts", None) or found.get("interrupts")
    return {"outcome": "paused", "interrupts": [_asked(one) for one in waits]} if waits else {}


def _asked(interrupt: Any) -> dict[str, Any]:
    return {"name": interrupt.name, "reason": jsonable.plain(interrupt.reason)}


def _paused(error: BaseException) -> Any:
    return _asked(error.interrupt) if type(error).__name__ == "InterruptException" else None  # type: ignore[attr-defined]


def _handed_off(wrapped: Any, swarm: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (target_node, message, context)."""
    value = wrapped(*args, **kwargs)
    with guard(_HANDOFF):
        guard.rehearse(_HANDOFF)
        session, here = get_session(), swarm.state.current_node
        target = args[0] if args else kwargs["target_node"]
        if session is not None and swarm.state.handoff_node is target and here is not None:
            message = args[1] if len(args) > 1 else kwargs.get("message")
            session.handoff(str(target.node_id), from_=str(here.node_id), reason=message)
    return value


# -- tools --------------------------------------------------------------------------------


def _function_called(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (tool_use, invocation_state, **kwargs). It calls the tool's function as what
    that is (coroutine, generator, ...), so what runs is a copy of the tool, of which the function is
    recorded."""
    if get_session() is None and border.player() is None:
        return wrapped(*args, **kwargs)
    recorded = _recorded(tool, args, kwargs)
    return wrapped(*args, **kwargs) if recorded is None else wrapped.__func__(recorded, *args, **kwargs)


@guarded(_TOOL)
def _recorded(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    use, state = _use_of(args, kwargs)
    run = _begun(str(tool.tool_name), tool._tool_func, use, state)
    made = object.__new__(type(tool))  # `copy` leaves a note of its own in the class
    made.__dict__.update(tool.__dict__)
    made._tool_func = wrapping.wrap(tool._tool_func, lambda args, kwargs: run())
    return made


def _begun(name: str, function: Any, use: Any, state: Any) -> Callable[[], wrappedruns.Run | None]:
    """Begins the call `use` of a tool, once it is known that its arguments are good."""
    given = dict(use.get("input") or {})
    called = Tool(name, given, use.get("toolUseId"), _shown, _paused)
    module = str(getattr(function, "__module__", ""))
    if module.startswith(_WITHIN):
        return lambda: begin_subagent(called)
    return lambda: begin_tool(
        name,
        given,
        call_id=called.call_id,
        shown=_shown,
        paused=_paused,
        beside=_changeable(state),
        function=function,
    )


def _changeable(state: dict[str, Any]) -> list[Any]:
    """What a tool can change beside its arguments: what the caller gave along, its agent's state, its
    questions to a human, its word that the loop is to end."""
    agent = state.get("agent")
    found = [value for key, value in state.items() if key not in _STATE and not key.startswith("event_loop")]
    found.append(getattr(getattr(agent, "state", None), "_data", None))
    found.append(getattr(getattr(agent, "_interrupt_state", None), "interrupts", None))
    return found


def _shown(value: Any) -> Any:
    """What the event says of a result in Strands' own form."""
    if not (isinstance(value, dict) and "status" in value and isinstance(value.get("content"), list)):
        return value
    said = [
        next(iter(part.values())) for part in value["content"] if isinstance(part, dict) and len(part) == 1
    ]
    shown = said[0] if len(said) == 1 else said
    return Failure("ToolError", str(shown)) if value["status"] == "error" else shown


def _remote_tool(client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    """Signature of the wrapped: (tool_use_id, name, arguments=None, ...)."""
    given = dict(zip(("tool_use_id", "name", "arguments"), args, strict=False)) | kwargs
    call_id = given["tool_use_id"]

    def wraps(value: Any) -> Any:
        part = {"text": value} if isinstance(value, str) else {"json": value}
        return {"status": "success", "toolUseId": call_id, "content": [part]}

    return Tool(str(given["name"]), dict(given.get("arguments") or {}), call_id, _shown, wraps=wraps)


def _agent_called(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (tool_use, invocation_state, **kwargs)."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        with guard(_TOOL):
            guard.rehearse(_TOOL)
            use, _ = _use_of(args, kwargs)
            given = use.get("input")
            input = dict(given) if isinstance(given, dict) else {"input": given}
            called = Tool(str(tool.tool_name), input, use.get("toolUseId"), _shown, _waited)
            run = begin_subagent(called)
            return None if run is None else _AgentCall(run)
        return None

    return wrapping.wrap(wrapped, begin)(*args, **kwargs)


class _Waits(Exception):
    """An agent that was called as a tool asks a human."""


def _waited(error: BaseException) -> Any:
    return error.args[0] if isinstance(error, _Waits) else None


class _AgentCall(wrappedruns.Run):
    """A call of an agent as a tool: who called it leaves it at its result."""

    def __init__(self, run: wrappedruns.Run) -> None:
        self._run: wrappedruns.Run | None = run

    def yielded(self, value: Any) -> None:
        result = getattr(value, "tool_result", None)
        asked = value.get("tool_interrupt_event") if isinstance(value, dict) else None
        run = self._run
        if run is not None and (result is not None or asked is not None):
            self._run = None
            if asked is None:
                run.returned(result)
            else:
                run.failed(_Waits([_asked(one) for one in asked["interrupts"]]))

    def failed(self, error: BaseException) -> None:
        if self._run is not None:
            self._run.failed(error)


def _use_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    use = args[0] if args else kwargs["tool_use"]
    state = args[1] if len(args) > 1 else kwargs.get("invocation_state")
    return use, state or {}


_HOOKS: dict[str, dict[str, Wrapper]] = {
    "agent.agent": {
        "Agent.stream_async": around_step(_AGENT, _agent),
        "Agent.structured_output_async": around_step(_AGENT, _structured),
    },
    "agent._agent_as_tool": {"_AgentAsTool.stream": _agent_called},
    "event_loop.event_loop": {"stream_messages": asked_model},
    "multiagent.graph": {
        "Graph.stream_async": around_step(_TEAM, _team),
        "Graph._execute_node": around_step(_TEAM, _node),
    },
    "multiagent.swarm": {
        "Swarm.stream_async": around_step(_TEAM, _team),
        "Swarm._execute_node": around_step(_TEAM, _node),
        "Swarm._handle_handoff": _handed_off,
    },
    "tools.decorator": {"DecoratedFunctionTool.stream": _function_called},
    "tools.mcp.mcp_client": {"MCPClient.call_tool_async": around_tool(_TOOL, _remote_tool)},
    "tools.tools": {"PythonAgentTool.stream": _function_called},
}
