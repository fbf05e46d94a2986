"""llama-index: workflows and agents as steps, tools as tool calls, the `handoff` tool as hand-offs.

A workflow's run goes on after `run()` has returned: its step lasts until its handler has the result. What
a tool that takes the workflow's context leaves in its store is part of what it gives: it is on the tape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import ModuleType
from typing import Any, NamedTuple

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Step, Tool, around_step, around_tool, call_tool_async, guarded
from lctl.session import border, context
from lctl.session.default import get_session
from lctl.session.steps import StepScope

_RUN = "a run of a workflow of LlamaIndex"
_TURN = "an agent's turn of LlamaIndex"
_TOOL = "a tool call of LlamaIndex"
_QUERY = "a query of LlamaIndex"

#: Tools whose own functions are followed; others are where an agent calls them.
_FUNCTION = "llama_index.core.tools.function_tool"
_FOLLOWED = {
    _FUNCTION: "FunctionTool",
    "llama_index.core.tools.query_engine": "QueryEngineTool",
    "llama_index.core.tools.retriever_tool": "RetrieverTool",
}


class _Asked(NamedTuple):
    """The call of a tool that an agent is about to make."""

    call_id: str | None
    agent: str | None


_NOBODY = _Asked(None, None)
_asked: ContextVar[_Asked] = ContextVar("lctl_llama_index_call", default=_NOBODY)


class Workflows:
    """llama-index-workflows, on which the agents of llama-index-core stand."""

    name = "llama-index-workflows"
    supported = ">=2.26,<3"
    modules = ("workflows.workflow",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "Workflow.run", _run)


class LlamaIndex:
    """llama-index-core."""

    name = "llama-index-core"
    supported = ">=0.14,<0.15"
    modules = (
        "llama_index.core.agent.workflow.base_agent",
        "llama_index.core.agent.workflow.multi_agent_workflow",
        *_FOLLOWED,
        "llama_index.core.base.base_retriever",
        "llama_index.core.base.base_query_engine",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        match module.__name__.rpartition(".")[2]:
            case "base_agent":
                patches.wrap(module, "BaseWorkflowAgent.call_tool", _calling)
                patches.wrap(module, "BaseWorkflowAgent._call_tool", around_tool(_TOOL, _other_tool))
            case "multi_agent_workflow":
                patches.wrap(module, "AgentWorkflow.run_agent_step", around_step(_TURN, _turn))
                patches.wrap(module, "AgentWorkflow.call_tool", _calling)
                patches.wrap(module, "AgentWorkflow._call_tool", around_tool(_TOOL, _other_tool))
            case "base_retriever":
                patches.wrap(module, "BaseRetriever.retrieve", around_step(_QUERY, _query("retriever")))
                patches.wrap(module, "BaseRetriever.aretrieve", around_step(_QUERY, _query("retriever")))
            case "base_query_engine":
                patches.wrap(module, "BaseQueryEngine.query", around_step(_QUERY, _query("chain")))
                patches.wrap(module, "BaseQueryEngine.aquery", around_step(_QUERY, _query("chain")))
            case _:
                tool = _FOLLOWED[module.__name__]
                patches.wrap(module, f"{tool}.call", around_tool(_TOOL, _tool))
                patches.wrap(module, f"{tool}.acall", _called)


# -- workflows and agents ------------------------------------------------------------------


def _run(wrapped: Any, workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (...) -> WorkflowHandler."""
    before = context.raw()
    scope = _begun(workflow)
    try:
        handler = wrapped(*args, **kwargs)
    except BaseException as error:
        _ended(scope, error)
        raise
    finally:
        context.set_current(before)
    if scope is not None:
        _follow(handler, scope)
    return handler


@guarded(_RUN)
def _begun(workflow: Any) -> StepScope | None:
    session = get_session()
    if session is None:
        return None
    name = getattr(workflow, "name", None) if hasattr(workflow, "take_step") else None
    agent = name if isinstance(name, str) else type(workflow).__name__
    return session.step(agent, "run", kind="chain" if name is None else "agent").begin()


@guarded(_RUN)
def _ended(scope: StepScope | None, error: BaseException | None) -> None:
    if scope is not None:
        scope.end(error)


@guarded(_RUN)
def _follow(handler: Any, scope: StepScope) -> None:
    def done(task: Any) -> None:
        if task.cancelled():
            scope.update(outcome="cancelled")
            _ended(scope, None)
        else:
            _ended(scope, task.exception())

    handler._result_task.add_done_callback(done)


def _turn(workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    """Signature of the wrapped: (ctx, ev)."""
    return Step(_argument(args, kwargs, 1, "ev").current_agent_name, "agent", "turn")


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str) -> Any:
    return args[place] if len(args) > place else kwargs[name]


def _query(kind: str) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], Step]:
    def describe(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
        asked = args[0] if args else next(iter(kwargs.values()), None)
        text = getattr(asked, "query_str", asked)
        return Step(None, kind, type(instance).__name__, {"query": text} if isinstance(text, str) else {})

    return describe


# -- tools ---------------------------------------------------------------------------------


async def _calling(wrapped: Any, workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (ctx, ev). Which agent calls, and the model's id of the call."""
    found = await _who(workflow, args, kwargs)
    token = _asked.set(found)
    frame = context.current()
    place = None
    if found.agent is not None and frame is not None and frame.agent != found.agent:
        place = context.enter(_acting(frame, found.agent))
    try:
        return await wrapped(*args, **kwargs)
    finally:
        if place is not None:
            context.leave(place)
        _asked.reset(token)


async def _who(workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Asked:
    with guard(_TOOL):
        guard.rehearse(_TOOL)
        if get_session() is None and border.player() is None:
            return _Asked(None, None)
        ctx, event = _argument(args, kwargs, 0, "ctx"), _argument(args, kwargs, 1, "ev")
        agent = None
        if not hasattr(workflow, "take_step"):
            agent = await ctx.store.get("current_agent_name", default=None)
        return _Asked(event.tool_id, agent)
    return _Asked(None, None)


def _acting(frame: context.Frame, agent: str) -> context.Frame:
    """The same step, in which `agent` acts."""
    here = context.Frame(frame.session, frame.step, agent, frame)
    here.started_ns = frame.started_ns
    return here


def _other_tool(workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """Signature of the wrapped: (ctx, tool, tool_input)."""
    tool, input = _argument(args, kwargs, 1, "tool"), _argument(args, kwargs, 2, "tool_input")
    if any(base.__name__ in _FOLLOWED.values() for base in type(tool).__mro__):
        return None
    return Tool(tool.metadata.get_name(), dict(input), _asked.get().call_id, _said)


def _tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    hidden = getattr(tool, "ctx_param_name", None)
    given = {name: value for name, value in kwargs.items() if name != hidden}
    input = {**({"args": list(args)} if args else {}), **given}
    return Tool(tool.metadata.get_name(), input, _asked.get().call_id, _said)


def _said(output: Any) -> Any:
    return getattr(output, "raw_output", output)


async def _called(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    described = _described(tool, args, kwargs)
    if described is None:
        return await wrapped(*args, **kwargs)
    name, input, call_id, *_ = described
    ctx = kwargs.get(getattr(tool, "ctx_param_name", None) or "")
    if name == "handoff":
        _hand_off(input)
    if ctx is None:
        return await call_tool_async(
            name, input, lambda: wrapped(*args, **kwargs), call_id=call_id, shown=_said
        )

    async def run() -> tuple[Any, dict[str, Any]]:
        before = await _plain_state(ctx)
        output = await wrapped(*args, **kwargs)
        after = await _plain_state(ctx)
        return output, {key: value for key, value in after.items() if before.get(key) != value}

    output, changed = await call_tool_async(
        name, input, run, call_id=call_id, shown=lambda given: _said(given[0])
    )
    now = await _plain_state(ctx)
    for key, value in changed.items():
        if now.get(key) != value:  # served
            await ctx.store.set(key, value)
    return output


@guarded(_TOOL)
def _described(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    return None if get_session() is None and border.player() is None else _tool(tool, args, kwargs)


@guarded("a hand-off of LlamaIndex")
def _hand_off(input: Mapping[str, Any]) -> None:
    session = get_session()
    if session is not None and "to_agent" in input:
        session.handoff(str(input["to_agent"]), reason=input.get("reason"))


async def _plain_state(ctx: Any) -> dict[str, Any]:
    """What the context's store holds that JSON can say."""
    with guard(_TOOL):
        state = await ctx.store.get_state()
        fields = getattr(state, "_data", None) or dict(state)
        return {key: value for key, value in fields.items() if _is_plain(value)}
    return {}


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and _is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, str | int | float | bool)
