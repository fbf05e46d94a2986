"""semantic-kernel: agents, orchestrations and prompt functions as steps, kernel functions as tool calls.

A kernel function is recorded where its method is called, beneath the filters: what a filter holds back does
not run. Model calls are the wire's; of a service that has none, the whole request stands as one.
"""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from contextvars import ContextVar
from copy import copy
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import ModelCall, Step, Tool, around_step, guarded, step_aside
from lctl.instrument.structure.subagents import begin_subagent
from lctl.session import border
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.tooling.toolruns import begin_tool
from lctl_integrations.semantic_kernel_teams import TEAMS, Teams

_AGENT = "an agent of Semantic Kernel"
_FUNCTION = "a kernel function"
_MODEL = "a model call of Semantic Kernel"
_AGENTS = "semantic_kernel.agents."

#: Classes of agents, by the end of their module's name.
_CLASSES = {
    "autogen.autogen_conversable_agent": "AutoGenConversableAgent",
    "azure_ai.azure_ai_agent": "AzureAIAgent",
    "bedrock.bedrock_agent": "BedrockAgent",
    "chat_completion.chat_completion_agent": "ChatCompletionAgent",
    "copilot_studio.copilot_studio_agent": "CopilotStudioAgent",
    "open_ai.openai_assistant_agent": "OpenAIAssistantAgent",
    "open_ai.openai_responses_agent": "OpenAIResponsesAgent",
}
_CHATS = {"group_chat.agent_group_chat": "AgentGroupChat"}
#: Arguments that the kernel gives of its own.
_OWN = ("kernel", "service", "execution_settings", "arguments")

#: What parts a plugin's name from its function's, here in one way and there in another.
_SIGNS = re.compile(r"[\W_]")

#: Names that the kernel made up for prompts without one, until such a prompt runs.
_made_up: deque[str] = deque(maxlen=256)

#: The function that the model asks for, and the id of its call.
_asked: ContextVar[tuple[str, str] | None] = ContextVar("lctl_semantic_kernel_call", default=None)


class SemanticKernel:
    """semantic-kernel 1."""

    name = "semantic-kernel"
    supported = ">=1.35,<2"
    modules = (
        "semantic_kernel.kernel",
        "semantic_kernel.functions.kernel_function",
        "semantic_kernel.functions.kernel_function_from_method",
        "semantic_kernel.connectors.ai.chat_completion_client_base",
        *(_AGENTS + name for name in (*_CLASSES, *_CHATS)),
        *TEAMS,
    )

    def __init__(self) -> None:
        self._teams = Teams()

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        name = module.__name__
        agents = name.removeprefix(_AGENTS)
        if agents in _CLASSES:
            for method in ("get_response", "invoke", "invoke_stream"):
                if hasattr(getattr(module, _CLASSES[agents], None), method):
                    patches.wrap(module, f"{_CLASSES[agents]}.{method}", around_step(_AGENT, _agent))
        elif agents in _CHATS:
            for method in ("invoke", "invoke_stream"):
                patches.wrap(module, f"{_CHATS[agents]}.{method}", around_step(_AGENT, _chat))
        elif name in TEAMS:
            self._teams.patch(module, patches)
        elif name.endswith(".kernel"):
            patches.wrap(module, "Kernel.invoke_function_call", _asked_for)
            patches.wrap(module, "generate_random_ascii_name", _name_made)
        elif name.endswith(".kernel_function"):
            step = around_step(_FUNCTION, _prompt_function)
            patches.wrap(module, "KernelFunction.invoke", step)
            patches.wrap(module, "KernelFunction.invoke_stream", step)
        elif name.endswith("_from_method"):
            patches.wrap(module, "KernelFunctionFromMethod._invoke_internal", _called)
            patches.wrap(module, "KernelFunctionFromMethod._invoke_internal_stream", _called_streaming)
        else:
            client = "ChatCompletionClientBase.get_"
            patches.wrap(module, f"{client}chat_message_contents", _asked_model)
            patches.wrap(module, f"{client}streaming_chat_message_contents", _asked_model)


def _agent(agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return Step(str(agent.name), "agent", "run")


def _chat(chat: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return Step(type(chat).__name__, "chain", "chat", {"agents": [str(agent.name) for agent in chat.agents]})


def _prompt_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step | None:
    return Step(None, "chain", _name_of(function)) if function.is_prompt else None


def _name_of(function: Any) -> str:
    """The same in each run: a name that the kernel makes up for `invoke_prompt` is another each time."""
    name = str(function.name)
    if name not in _made_up:
        return str(function.fully_qualified_name)
    with suppress(ValueError):  # another thread's prompts may have pushed it out
        _made_up.remove(name)
    said = function.prompt_template.prompt_template_config.name
    return str(said) if said and said != name else "prompt"


def _name_made(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (length=16) -> str."""
    name = wrapped(*args, **kwargs)
    with guard(_FUNCTION):
        guard.rehearse(_FUNCTION)
        if get_session() is not None:
            _made_up.append(name)
    return name


# -- kernel functions ---------------------------------------------------------------------


async def _asked_for(wrapped: Any, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (function_call, chat_history, ...)."""
    token = _asked.set(_id_of(args, kwargs))
    try:
        return await wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        _asked.reset(token)


@guarded(_FUNCTION)
def _id_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str] | None:
    call = args[0] if args else kwargs["function_call"]
    name = str(call.name)
    return None if call.id is None or _is_place(str(call.id), name) else (name, str(call.id))


def _is_place(id: str, name: str) -> bool:
    """Whether it says the function and which part of the answer asks for it, as of Google's calls, which have
    no id: so it is the same in every answer."""
    function, _, number = id.rpartition("_")
    return number.isdigit() and _SIGNS.sub("", function) == _SIGNS.sub("", name)


async def _called(wrapped: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (context). It calls `function.method`, which is recorded in a copy."""
    recorded = _recorded(function, "method")
    if recorded is None:
        return await wrapped(*args, **kwargs)
    asked = _asked.get()
    try:
        return await wrapped.__func__(recorded, *args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        _asked.set(asked)  # a filter that calls it again does so for the same call


def _called_streaming(wrapped: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    recorded = _recorded(function, "stream_method")
    return wrapped(*args, **kwargs) if recorded is None else wrapped.__func__(recorded, *args, **kwargs)


@guarded(_FUNCTION)
def _recorded(function: Any, attribute: str) -> Any:
    method = getattr(function, attribute)
    if method is None or (get_session() is None and border.player() is None):
        return None
    made = copy(function)
    made.__dict__[attribute] = wrapping.wrap(method, lambda args, kwargs: _begun(function, method, kwargs))
    return made


def _begun(function: Any, method: Any, given: dict[str, Any]) -> wrappedruns.Run | None:
    asked = _asked.get()
    _asked.set(None)  # what the function itself calls is another call
    # So is another function that a filter calls.
    call_id = asked[1] if asked is not None and _is_name(asked[0], function) else None
    mcp = _remote_name(method)
    name = mcp or str(function.fully_qualified_name)
    input = {key: value for key, value in given.items() if key not in _OWN}
    if _is_within(method):
        return begin_subagent(Tool(name, input, call_id, _shown))
    beside = _arguments(given)
    return begin_tool(name, input, call_id=call_id, shown=_shown, beside=beside, function=method, mcp=mcp)


def _is_name(name: str, function: Any) -> bool:
    """Whether the model asks for the function by this name."""
    return _SIGNS.sub("", name) == _SIGNS.sub("", str(function.fully_qualified_name))


def _remote_name(method: Any) -> str | None:
    """The name that a tool of an MCP server has there, as the call that is made of it says."""
    module = str(getattr(getattr(method, "func", None), "__module__", ""))
    return str(method.args[0]) if module == "semantic_kernel.connectors.mcp" and method.args else None


def _is_within(method: Any) -> bool:
    """Whether it only lets agents work, or changes those that do: it runs again in a rerun."""
    while hasattr(method, "func"):
        method = method.func
    return str(getattr(method, "__module__", "")).startswith(_AGENTS)


def _arguments(given: dict[str, Any]) -> list[Any]:
    """The kernel's arguments, where the function takes them: it can change them."""
    return [given["arguments"]] if "arguments" in given else []


def _shown(value: Any) -> Any:
    """What the event says: the text of a message, the value of a function's result."""
    if type(value).__name__ == "FunctionResult":
        value = value.value
    kind = type(value)
    is_content = kind.__module__.startswith("semantic_kernel.contents.")
    return str(value) if is_content else value


# -- models without a wire ----------------------------------------------------------------


def _asked_model(wrapped: Any, service: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (chat_history, settings, **kwargs)."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        if get_session() is None:
            return None
        with guard(_MODEL):
            guard.rehearse(_MODEL)
            return _Asked(service, args[0] if args else kwargs["chat_history"])
        return None

    return wrapping.wrap(wrapped, begin)(*args, **kwargs)


class _Asked(wrappedruns.Run):
    """One request to a chat service; it stands where no exchange is seen beneath it."""

    def __init__(self, service: Any, history: Any) -> None:
        self._call = ModelCall.begin(str(service.ai_model_id), [_message(one) for one in history.messages])
        self._pieces: list[Any] = []

    def yielded(self, value: Any) -> None:
        self._pieces += [str(value[0])] if isinstance(value, list) and value else []

    def returned(self, value: Any) -> None:
        said = "".join(self._pieces) if value is None else "\n".join(str(one) for one in value)
        self._call.end(said)

    def failed(self, error: BaseException) -> None:
        self._call.end(error=error)


def _message(message: Any) -> dict[str, Any]:
    return {"role": str(getattr(message.role, "value", message.role)), "content": str(message)}
