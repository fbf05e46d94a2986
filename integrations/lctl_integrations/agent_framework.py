"""agent-framework: runs of agents as steps, function tools."""

from __future__ import annotations

from inspect import iscoroutinefunction
from types import ModuleType
from typing import Any

from lctl.guard import guard, guarded
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Tool, around_tool
from lctl.instrument.structure.subagents import around_subagent
from lctl.session import context
from lctl.session.default import get_session
from lctl.session.steps import StepScope

_PLACE = "a run of Agent Framework"
_TOOL = "a tool of Agent Framework"


class AgentFramework:
    """agent-framework-core 1."""

    name = "agent-framework-core"
    supported = ">=1,<2"
    modules = ("agent_framework._agents", "agent_framework._tools")

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "agent_framework._tools":
            # Beneath the thread that a function is run in: what threads hand to the loop is recorded, too.
            patches.wrap(module, "FunctionTool.__call__", around_tool(_TOOL, _sync_tool))
            patches.wrap(module, "FunctionTool._invoke_function", _invoked)
        else:
            patches.wrap(module, "Agent.run", _run)


def _run(wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A plain function that gives an awaitable, or a stream, which is awaited and iterated."""
    made = wrapped(*args, **kwargs)
    if get_session() is None or not hasattr(made, "__await__"):
        return made
    if hasattr(made, "__aiter__"):
        _follow(made, agent)
        return made
    return _awaited(made, agent)


@guarded(_PLACE)
def _follow(stream: Any, agent: Any) -> None:
    """A stream's step is where each of its items is asked for, until it has ended or was closed."""
    before = context.raw()
    try:
        scope = _begun(agent)
        frame = context.current()
    finally:
        context.set_current(before)
    if scope is not None and frame is not None:
        stream._pull_context_manager_factories.append(lambda: context.pinned(frame))
        stream._cleanup_hooks.append(lambda: scope.end(stream._stream_error))


def _begun(agent: Any) -> StepScope | None:
    session = get_session()
    return None if session is None else session.step(str(agent.name or "agent"), "run", kind="agent").begin()


async def _awaited(made: Any, agent: Any) -> Any:
    scope: StepScope | None = None
    with guard(_PLACE):
        guard.rehearse(_PLACE)
        scope = _begun(agent)
    try:
        result = await made
    except BaseException as error:
        if scope is not None:
            scope.end(error)
        raise
    if scope is not None:
        scope.end()
    return result


def _sync_tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """`__call__(**arguments)`, in a thread where the model asked for it."""
    return None if _is_async(tool) else Tool(str(tool.name), dict(kwargs))


def _async_tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """`_invoke_function(arguments)`, which calls and awaits"""
    given = args[0] if args else kwargs.get("call_kwargs")
    return Tool(str(tool.name), dict(given or {})) if _is_async(tool) else None


def _invoked(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An agent that was given as a tool works in a rerun, too."""
    is_agent = getattr(tool.func, "__module__", None) == "agent_framework._agents"
    return (_agent_called if is_agent else _function_called)(wrapped, tool, args, kwargs)


_function_called = around_tool(_TOOL, _async_tool)
_agent_called = around_subagent(_TOOL, _async_tool)


def _is_async(tool: Any) -> bool:
    function = tool.func
    while isinstance(function, type(tool)):
        function = function.func
    return iscoroutinefunction(function)
