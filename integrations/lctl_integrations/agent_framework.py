"""agent-framework: runs of agents and workflows as steps, function tools, hand-offs."""

from __future__ import annotations

from contextvars import ContextVar
from inspect import iscoroutinefunction
from types import ModuleType
from typing import Any

from lctl.guard import guard, guarded
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Tool, around_step, around_tool, step_aside
from lctl.instrument.structure.subagents import around_subagent
from lctl.session import jsonable
from lctl.session.default import get_session
from lctl.session.runs import context
from lctl.session.runs.steps import StepScope
from lctl_integrations import mcp_names
from lctl_integrations.agent_framework_workflows import executor, run_workflow

_PLACE = "a run of Agent Framework"
_TOOL = "a tool of Agent Framework"

#: Of a tool of an MCP server: where the framework keeps the server's name for it.
_REMOTE = "_mcp_remote_name"

#: The model's call that a function is called for.
_asked: ContextVar[str | None] = ContextVar("lctl_agent_framework_call", default=None)


class AgentFramework:
    """agent-framework-core 1."""

    name = "agent-framework-core"
    supported = ">=1,<2"
    modules = (
        "agent_framework._agents",
        "agent_framework._tools",
        "agent_framework._workflows._executor",
        "agent_framework._workflows._workflow",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "agent_framework._tools":
            # Beneath the thread that a function is run in: what threads hand to the loop is recorded, too.
            patches.wrap(module, "FunctionTool.__call__", around_tool(_TOOL, _sync_tool))
            patches.wrap(module, "FunctionTool._invoke_function", _invoked)
            patches.wrap(module, "FunctionTool.invoke", _asked_for)
        elif module.__name__.endswith("._workflow"):
            patches.wrap(module, "Workflow._run_core", run_workflow)
        elif module.__name__.endswith("._executor"):
            patches.wrap(module, "Executor.execute", around_step("an executor of Agent Framework", executor))
        else:
            patches.wrap(module, "Agent.run", _run)


def _run(wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A plain function that gives an awaitable, or a stream, which is awaited and iterated."""
    if kwargs.get("stream") and get_session() is not None:
        return _streamed(wrapped, agent, args, kwargs)
    made = wrapped(*args, **kwargs)
    return made if get_session() is None or not hasattr(made, "__await__") else _awaited(made, agent)


def _streamed(wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The step begins before the stream is made: the framework's span of the agent is begun there."""
    before = context.raw()
    scope: StepScope | None = None
    try:
        with guard(_PLACE):
            guard.rehearse(_PLACE)
            scope = _begun(agent)
        frame = context.current()
        try:
            stream = wrapped(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            if scope is not None:
                scope.end(error)
            raise
    finally:
        context.set_current(before)
    if scope is not None and frame is not None:
        _follow(stream, scope, frame)
    return stream


@guarded(_PLACE)
def _follow(stream: Any, scope: StepScope, frame: context.Frame) -> None:
    """A stream's step is where each of its items is asked for, until it has ended or was closed."""
    stream._pull_context_manager_factories.append(lambda: context.pinned(frame))
    stream._cleanup_hooks.append(lambda: _ended(scope, stream))


@guarded(_PLACE)
def _ended(scope: StepScope, stream: Any) -> None:
    """A stream that has failed waits for nobody."""
    if stream._stream_error is None:
        with guard(_PLACE):
            scope.update(**_waits([one for update in stream._updates for one in _requests(update)]))
    scope.end(stream._stream_error)


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
        step_aside(error)
        if scope is not None:
            scope.end(error)
        raise
    if scope is not None:
        with guard(_PLACE):
            scope.update(**_waits(_requests(result)))
        scope.end()
    return result


def _requests(said: Any) -> list[Any]:
    """What a response, or a piece of one, asks the user."""
    return list(getattr(said, "user_input_requests", ()))


def _waits(requests: list[Any]) -> dict[str, Any]:
    """Calls that the user has to agree to."""
    calls = [one.function_call for one in requests if one.function_call]
    asked = [{"tool": str(call.name), "input": jsonable.plain(call.parse_arguments())} for call in calls]
    return {"outcome": "paused", "interrupts": asked} if asked else {}


async def _asked_for(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (*, arguments=None, context=None, tool_call_id=None, ...)."""
    token = _asked.set(kwargs.get("tool_call_id"))
    try:
        return await wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        _asked.reset(token)


def _tool(tool: Any, given: dict[str, Any]) -> Tool:
    """The call's context, which functions get that ask for it, is no argument of the model's."""
    call_id = _asked.get()
    _asked.set(None)  # what the function itself calls is another call
    own = tool._context_parameter_name
    input = {name: value for name, value in given.items() if name != own}
    return Tool(str(tool.name), input, call_id, function=getattr(tool, "func", None))


def _sync_tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """`__call__(**arguments)`, in a thread where the model asked for it."""
    return None if _is_async(tool) else _tool(tool, kwargs)


def _async_tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """`_invoke_function(arguments)`, which calls and awaits"""
    given = args[0] if args else kwargs.get("call_kwargs")
    return _tool(tool, dict(given or {})) if _is_async(tool) else None


def _invoked(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An agent that was given as a tool works in a rerun, too. What a tool of an MCP server gives is made of
    objects that no tape holds: its client's call is what is recorded."""
    remote = (getattr(tool, "additional_properties", None) or {}).get(_REMOTE)
    if isinstance(remote, str):
        return _passed_on(wrapped, tool, remote, args, kwargs)
    is_agent = getattr(tool.func, "__module__", None) == "agent_framework._agents"
    return (_agent_called if is_agent else _function_called)(wrapped, tool, args, kwargs)


async def _passed_on(
    wrapped: Any, tool: Any, remote: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    with mcp_names.asked(remote, str(tool.name), _asked.get()):
        try:
            return await wrapped(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            raise


_function_called = around_tool(_TOOL, _async_tool)
_agent_called = around_subagent(_TOOL, _async_tool)


def _is_async(tool: Any) -> bool:
    function = tool.func
    while isinstance(function, type(tool)):
        function = function.func
    return iscoroutinefunction(function)
