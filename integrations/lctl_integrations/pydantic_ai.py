"""pydantic-ai: agent runs through a capability of our own, function tools where their toolset calls them.

Functions that a model calls to give its output are tools, too.

A capability that only wraps runs leaves the requests as they are; one that listens to events would turn
them into streams.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from importlib import import_module
from types import ModuleType
from typing import Any

from lctl.guard import guard, guarded
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import ModelCall, Tool, around_tool, changeable, step_aside
from lctl.session.default import get_session
from lctl_integrations import mcp_names

_TOOLS = "pydantic_ai.toolsets.function"
_OUTPUT = "pydantic_ai._output"
_SERVERS = "pydantic_ai.mcp"
#: What hands a call on to a toolset; toolsets of the program's own are seen there.
_PASSING = {
    "pydantic_ai.toolsets.combined": "CombinedToolset",
    "pydantic_ai.toolsets.wrapper": "WrapperToolset",
}
_TOOL = "a Pydantic AI tool"
#: Models that make no call on a wire that is read.
_INSIDE = {"pydantic_ai.models.test": "TestModel", "pydantic_ai.models.function": "FunctionModel"}


class PydanticAI:
    """pydantic-ai 2 (also as pydantic-ai-slim)."""

    name = "pydantic-ai-slim"
    supported = ">=2,<3"
    modules = ("pydantic_ai.agent", _TOOLS, _SERVERS, _OUTPUT, *_PASSING, *_INSIDE)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == _TOOLS:
            patches.wrap(module, "FunctionToolset.call_tool", around_tool(_TOOL, _tool))
        elif module.__name__ == _SERVERS:
            if hasattr(module, "MCPToolset"):
                patches.wrap(module, "MCPToolset.call_tool", _passed_on)
        elif module.__name__ == _OUTPUT:
            patches.wrap(module, "execute_output_function", around_tool("a Pydantic AI output", _output))
        elif module.__name__ in _PASSING:
            patches.wrap(module, f"{_PASSING[module.__name__]}.call_tool", around_tool(_TOOL, _own))
        elif module.__name__ in _INSIDE:
            patches.wrap(module, f"{_INSIDE[module.__name__]}.request", _told)
            patches.wrap(module, f"{_INSIDE[module.__name__]}.request_stream", _told_stream)
        else:
            patches.wrap(module, "Agent._prepare_run", _prepared)
            patches.wrap(module, "Agent._resolve_run_capabilities", _with_ours)


#: The call that a toolset of the program's was last given.
_working_for: ContextVar[str | None] = ContextVar("lctl_pydantic_ai_call", default=None)

#: What the run that is being prepared goes on with, after one that waited.
_resume: ContextVar[list[dict[str, Any]] | None] = ContextVar("lctl_resume_of_pydantic_ai", default=None)


async def _prepared(wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    token = _resume.set(_decisions(kwargs))
    try:
        return await wrapped(*args, **kwargs)
    finally:
        _resume.reset(token)


@guarded("what a Pydantic AI run goes on with")
def _decisions(given: dict[str, Any]) -> list[dict[str, Any]] | None:
    """What was decided of the calls that an earlier run stopped at, and what came of them outside."""
    made = given.get("deferred_tool_results")
    if made is None or get_session() is None:
        return None
    parts = [part for message in given.get("message_history") or () for part in message.parts]
    asked = {part.tool_call_id: part for part in parts if part.part_kind == "tool-call"}

    def shown(what: str, call_id: str) -> dict[str, Any]:
        part = asked.get(call_id)
        call = {} if part is None else {"tool": part.tool_name, "input": part.args_as_dict()}
        return {"for": what, **call, "call_id": call_id}

    approvals = [
        {**shown("approval", call_id), **_decision(said)} for call_id, said in made.approvals.items()
    ]
    outputs = [
        {**shown("a result from outside", call_id), "output": _shown(value)}
        for call_id, value in made.calls.items()
    ]
    return approvals + outputs


def _decision(said: Any) -> dict[str, Any]:
    """`True`, `False`, or an object that says more."""
    if isinstance(said, bool):
        return {"approved": said}
    more = {"message": getattr(said, "message", None), "changed": getattr(said, "override_args", None)}
    approved = type(said).__name__ == "ToolApproved"
    return {"approved": approved, **{name: value for name, value in more.items() if value is not None}}


def _with_ours(wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if get_session() is not None:
        with guard("a Pydantic AI run"):
            guard.rehearse("a Pydantic AI run")
            # Its base class is pydantic-ai's, which is whole only now.
            ours = import_module("lctl_integrations.pydantic_ai_runs").RecordedRun(_resume.get())
            kwargs = {**kwargs, "extra_capabilities": [*kwargs["extra_capabilities"], ours]}
    return wrapped(*args, **kwargs)


def _own(toolset: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """The call, if it goes to a toolset of a class of the program's; Pydantic AI's are seen within."""
    tool = args[3] if len(args) > 3 else kwargs.get("tool")
    to: Any = getattr(tool, "source_toolset", None) or getattr(toolset, "wrapped", None)
    theirs = [kind.__name__ for kind in type(to).__mro__ if kind.__module__.startswith("pydantic_ai.")]
    if theirs != ["AbstractToolset"]:
        return None
    made = _tool(to, args, kwargs)
    if made is not None:
        made = made._replace(function=to.call_tool)
        _working_for.set(made.call_id)  # no two have one id, so it may stay
    return made


def _tool(toolset: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    given = dict(zip(("name", "tool_args", "ctx", "tool"), args, strict=False)) | kwargs
    context = given["ctx"]
    call_id = getattr(context, "tool_call_id", None)
    if call_id is not None and call_id == _working_for.get():
        return None  # the program's toolset has another one do it
    # A toolset around this one may have the model know the tool by another name (`prefixed`, `renamed`), and
    # hands its own name on to here.
    name = _asked(context, call_id) or getattr(context, "tool_name", None) or given["name"]
    schema = getattr(getattr(given.get("tool"), "call_func", None), "__self__", None)
    function = getattr(schema, "function", None)
    return Tool(str(name), given["tool_args"], call_id, _shown, _paused, _beside(context), function)


async def _passed_on(wrapped: Any, toolset: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a tool of an MCP server gives can be more than a tape holds: its client's call is recorded."""
    made: Tool | None = None
    with guard(_TOOL):
        made = _tool(toolset, args, kwargs)
    tool = args[0] if args else kwargs["name"]
    try:
        if made is None:
            return await wrapped(*args, **kwargs)
        with mcp_names.asked(tool, made.name, made.call_id):
            return await wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise


def _output(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """Signature of the wrapped: (function_schema, *, run_context, args). With a text no model asks to have it
    called; how often it is with one answer that is not whole yet depends on the time."""
    context = kwargs["run_context"]
    call_id = getattr(context, "tool_call_id", None)
    if call_id is None or getattr(context, "partial_output", False):
        return None
    name = _asked(context, call_id) or context.tool_name  # a streamed answer is no message yet
    function = getattr(args[0] if args else kwargs["function_schema"], "function", None)
    return Tool(str(name), kwargs["args"], call_id, None, _paused, _beside(context), function)


def _beside(context: Any) -> tuple[Any, ...]:
    return changeable(getattr(context, "deps", None), getattr(context, "usage", None))


def _asked(context: Any, call_id: str | None) -> str | None:
    """By which name the model asked for the tool; None where no model did (a tool that calls another one)."""
    if call_id is None:
        return None
    messages: Any = getattr(context, "messages", None) or ()
    for message in reversed(messages):
        for part in message.parts:
            if part.part_kind == "tool-call" and part.tool_call_id == call_id:
                return str(part.tool_name)
    return None


def _shown(value: Any) -> Any:
    if type(value).__name__ == "ToolReturn" and hasattr(value, "return_value"):
        return value.return_value
    return value


def _paused(error: BaseException) -> Any:
    """What a tool waits for that ended its call to be gone on with later."""
    kind = type(error).__name__
    if kind not in ("CallDeferred", "ApprovalRequired"):
        return None
    return {"for": "approval" if kind == "ApprovalRequired" else "a result from outside"}


async def _told(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    call = _begin(model, args, kwargs)
    try:
        response = await wrapped(*args, **kwargs)
    except BaseException as error:
        _end(call, error=error)
        raise
    _end(call, lambda: response)
    return response


@asynccontextmanager
async def _told_stream(
    wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> AsyncIterator[Any]:
    call = _begin(model, args, kwargs)
    try:
        async with wrapped(*args, **kwargs) as stream:
            yield stream
    except BaseException as error:
        _end(call, error=error)
        raise
    _end(call, stream.get)


@guarded("a Pydantic AI model")
def _begin(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ModelCall:
    messages = args[0] if args else kwargs["messages"]
    return ModelCall.begin(model.model_name, lambda: _prompt(messages), provider=model.system)


@guarded("the answer of a Pydantic AI model")
def _end(
    call: ModelCall | None, answered: Callable[[], Any] | None = None, error: BaseException | None = None
) -> None:
    if call is None:
        return
    if answered is None:
        call.end(error=error)
        return
    response = answered()
    usage = {"input": response.usage.input_tokens, "output": response.usage.output_tokens}
    call.end(lambda: _answer(response), usage=usage)


def _prompt(messages: Any) -> list[dict[str, Any]]:
    """Messages in the shape of the OpenAI API."""
    made: list[dict[str, Any]] = []
    for one in messages:
        if one.kind == "response":
            made.append(_answer(one))
            continue
        for part in one.parts:
            kind = part.part_kind
            if kind == "tool-return":
                made.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": part.content})
            else:
                made.append(
                    {"role": "system" if kind == "system-prompt" else "user", "content": part.content}
                )
    return made


def _answer(response: Any) -> dict[str, Any]:
    text = "".join(part.content for part in response.parts if part.part_kind == "text")
    calls = [
        {
            "id": part.tool_call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": part.args_as_json_str()},
        }
        for part in response.parts
        if part.part_kind == "tool-call"
    ]
    made: dict[str, Any] = {"role": "assistant", "content": text or None}
    return made | {"tool_calls": calls} if calls else made
