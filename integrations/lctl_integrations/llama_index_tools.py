"""Tools of llama-index: which call there is, and who makes it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from lctl.guard import guard
from lctl.instrument.structure import Tool, guarded, step_aside
from lctl.session import border, jsonable
from lctl.session.default import get_session
from lctl.session.runs import context, wrappedruns, wrapping
from lctl.session.tooling.toolruns import begin_tool
from lctl_integrations.llama_index_doings import Doings

TOOL = "a tool call of LlamaIndex"

#: Tools whose own functions are followed; others are where an agent calls them.
FOLLOWED = {
    "llama_index.core.tools.function_tool": "FunctionTool",
    "llama_index.core.tools.query_engine": "QueryEngineTool",
    "llama_index.core.tools.retriever_tool": "RetrieverTool",
}


class _Asked(NamedTuple):
    """The call of a tool that an agent is about to make."""

    call_id: str | None
    agent: str | None


_NOBODY = _Asked(None, None)
_asked: ContextVar[_Asked] = ContextVar("lctl_llama_index_call", default=_NOBODY)


# -- who calls -----------------------------------------------------------------------------


async def calling(wrapped: Any, workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (ctx, ev). Which agent calls, and the model's id of the call."""
    found = await _who(workflow, args, kwargs)
    token = _asked.set(found)
    frame = context.current()
    place = None
    if found.agent is not None and frame is not None and frame.agent != found.agent:
        place = context.enter(_acting(frame, found.agent))
    try:
        return await wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        if place is not None:
            context.leave(place)
        _asked.reset(token)


async def _who(workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Asked:
    with guard(TOOL):
        guard.rehearse(TOOL)
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


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str) -> Any:
    return args[place] if len(args) > place else kwargs[name]


# -- which call ----------------------------------------------------------------------------


def other_tool(workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """Signature of the wrapped: (ctx, tool, tool_input)."""
    tool, input = _argument(args, kwargs, 1, "tool"), _argument(args, kwargs, 2, "tool_input")
    if any(base.__name__ in FOLLOWED.values() for base in type(tool).__mro__):
        return None
    name, call_id = tool.metadata.get_name(), _asked.get().call_id
    return Tool(name, dict(input), call_id, _said, wraps=_wraps(name, input))


def tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    hidden = getattr(tool, "ctx_param_name", None)
    given = {name: value for name, value in kwargs.items() if name != hidden}
    input = {**({"args": list(args)} if args else {}), **given}
    function = getattr(tool, "_real_fn", None)
    name, call_id = tool.metadata.get_name(), _asked.get().call_id
    return Tool(name, input, call_id, _said, _waits, function=function, wraps=_wraps(name, given))


def _said(output: Any) -> Any:
    return getattr(output, "raw_output", output)


def _wraps(name: str, given: Mapping[str, Any]) -> Callable[[Any], Any]:
    def wrap(value: Any) -> Any:
        output = sys.modules["llama_index.core.tools.types"].ToolOutput
        content = value if isinstance(value, str) else str(value)
        return output(tool_name=name, content=content, raw_input={"kwargs": dict(given)}, raw_output=value)

    return wrap


def _waits(error: BaseException) -> Any:
    """What `ctx.wait_for_event` waits for; the tool is called again when it has come."""
    add = getattr(error, "add", None) if type(error).__name__ == "WaitingForEvent" else None
    if add is None:
        return None
    said = {} if add.waiter_event is None else add.waiter_event.model_dump()
    asks = jsonable.plain((said.pop("_data", None) or {}) | said)
    return {"event": jsonable.name_of(add.event_type), "asks": asks, "waiter_id": add.waiter_id}


async def called(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    described = _described(tool, args, kwargs)
    if described is None:
        return await wrapped(*args, **kwargs)
    name, input, call_id = described.name, described.input, described.call_id
    function, wraps = described.function, described.wraps
    doings = Doings(kwargs.get(getattr(tool, "ctx_param_name", None) or ""))
    asked = dict(kwargs)

    async def body() -> Any:
        try:
            return await doings.watched(wrapped, args, asked)
        except BaseException as error:
            step_aside(error)
            raise

    def begin(args: Any, kwargs: Any) -> wrappedruns.Run | None:
        beside = (doings.done, *_returns())
        doings.run = begin_tool(
            name,
            input,
            call_id=call_id,
            shown=_said,
            paused=_waits,
            beside=beside,
            function=function,
            wraps=wraps,
            rebind=None if args else asked.update,
        )
        return doings.run

    try:
        given = await wrapping.wrap(body, begin)()
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        await doings.done_again()
    if name == "handoff":
        await _hand_off(doings.ctx, input)
    return given


@guarded(TOOL)
def _described(of: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    return None if get_session() is None and border.player() is None else tool(of, args, kwargs)


async def _hand_off(ctx: Any, input: Mapping[str, Any]) -> None:
    """A hand-off that the tool refused is none: who comes next is in the store of one that it accepted."""
    with guard("a hand-off of LlamaIndex"):
        session, to = get_session(), input.get("to_agent")
        if session is None or ctx is None or to is None:
            return
        if await ctx.store.get("next_agent", default=None) == to:
            session.handoff(str(to), reason=input.get("reason"))


def _returns() -> list[Any]:
    """What the step that calls the tool tells its workflow beside its result: that it waits no longer."""
    results = sys.modules.get("workflows.runtime.types.results")
    here = getattr(results, "StepWorkerStateContextVar", None)
    worker = None if here is None else here.get(None)
    return [] if worker is None else [worker.returns.return_values]
