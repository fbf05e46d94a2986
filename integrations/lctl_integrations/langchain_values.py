"""LangChain's and LangGraph's values as a reader wants them: messages, states, commands, interrupts.

Nothing of LangChain is imported: its classes are known by the modules that are loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

#: The id of what removes all messages.
_ALL = "__remove_all__"


def _is_a(value: Any, module: str, name: str) -> bool:
    """Whether it is an instance of that class; of a module that is not loaded nothing is."""
    found = getattr(sys.modules.get(module), name, None)
    return isinstance(found, type) and isinstance(value, found)


def is_message(value: Any) -> bool:
    return _is_a(value, "langchain_core.messages.base", "BaseMessage")


def message(value: Any) -> dict[str, Any]:
    """A message in the shape of the OpenAI API; of one that this does not know, its type and what it says."""
    from langchain_core.messages.utils import convert_to_openai_messages  # pyright: ignore[reportMissingImports]

    if value.type == "remove":  # no message, but one that is to go; ids of others are not in the log
        return {"role": "remove", "id": value.id} if value.id == _ALL else {"role": "remove"}
    try:
        made = convert_to_openai_messages(value)
    except ValueError:
        return {"role": str(value.type), "content": value.content}
    return made if isinstance(made, dict) else {"content": made}


def shown(value: Any) -> Any:
    """A state, an update, an answer: messages in the shape of the API, everything else as it is."""
    if is_message(value):
        return message(value)
    if _is_a(value, "langgraph.types", "Command"):
        return _command(value, shown)
    if _is_a(value, "langgraph.types", "Send"):
        return {"node": value.node, "arg": shown(value.arg)}
    if _is_a(value, "langgraph.types", "Interrupt"):
        return {"value": shown(value.value)}
    if isinstance(value, Mapping):
        return {str(name): shown(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [shown(part) for part in value]
    return value


def shown_state(value: Any) -> Any:
    """A whole state: of a history of messages the last one, as the others are in the log already."""
    if not isinstance(value, Mapping):
        return shown(value)
    return {
        str(name): [shown(part[-1])] if _is_history(part) else shown(part)
        for name, part in value.items()
        if name != "__interrupt__"
    }


def shown_result(value: Any) -> Any:
    """What a tool's result says: the content of the message that the framework made of it."""
    if _is_a(value, "langchain_core.messages.tool", "ToolMessage"):
        return value.content
    return _command(value, shown_state) if is_command(value) else shown(value)


def _command(value: Any, updated: Callable[[Any], Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name in ("graph", "update", "resume", "goto"):
        part = getattr(value, name, None)
        if part is not None and part != ():
            made[name] = updated(part) if name == "update" else shown(part)
    return made


def _is_history(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(is_message(part) for part in value)


def is_command(value: Any) -> bool:
    return _is_a(value, "langgraph.types", "Command")


def commands_in(value: Any) -> list[Any]:
    """The commands in what a node gave, or in what it raised for the graph around it."""
    if is_command(value):
        return [value]
    if _is_a(value, "langgraph.errors", "ParentCommand"):
        return [part for part in value.args if is_command(part)]
    if isinstance(value, list | tuple):
        return [part for part in value if is_command(part)]
    return []


def destinations(command: Any) -> list[str]:
    """The nodes a command sends the work to, "__end__" left out."""
    goto = command.goto
    each = goto if isinstance(goto, list | tuple) else [goto]
    names = [str(getattr(one, "node", one)) for one in each]
    return [name for name in names if name and not name.startswith("__")]


def is_bubble(error: Any) -> bool:
    """Whether an exception is LangGraph's way of leaving a node, and no failure."""
    return _is_a(error, "langgraph.errors", "GraphBubbleUp")


def interrupts_in(value: Any) -> list[Any]:
    """What is waited for: by an interrupt that was raised, or of a graph that stopped at one."""
    if _is_a(value, "langgraph.errors", "GraphInterrupt"):
        found = value.args[0] if value.args else ()
    elif isinstance(value, Mapping):
        found = value.get("__interrupt__") or ()
    else:
        return []
    return [shown(one.value) if hasattr(one, "value") else shown(one) for one in found]


def paused(error: BaseException) -> Any:
    """What a tool that raised `error` waits for; None of a failure."""
    if _is_a(error, "langgraph.errors", "GraphInterrupt"):
        return interrupts_in(error)
    return "the graph" if is_bubble(error) else None
