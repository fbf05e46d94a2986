"""Edits of a request as Bedrock's Converse takes it: blocks of content, tools and settings in places of
their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lctl.patch import Before, Edit, Unaddressed, change
from lctl.patch.edits import Segment
from lctl.rerun.edits.contents import parts_of
from lctl.rerun.edits.texts import change_in, change_text

Document = dict[str, Any]
#: What a request says beside its inference config.
_BESIDE = frozenset({"messages", "system", "toolConfig", "guardrailConfig", "additionalModelRequestFields",
    "additionalModelResponseFieldPaths", "promptVariables", "requestMetadata", "performanceConfig",
    "schemaVersion", "inferenceConfig", "outputConfig", "serviceTier"})  # fmt: skip
_SETTINGS = {
    "max_tokens": "maxTokens",
    "max_output_tokens": "maxTokens",
    "max_completion_tokens": "maxTokens",
    "top_p": "topP",
    "top_k": "topK",
    "stop": "stopSequences",
    "stop_sequences": "stopSequences",
}


def edit_params(document: Document, edit: Edit) -> Document:
    name, *inside = edit.path
    if name in _BESIDE:
        return change_in(document, edit.path, edit)
    return change_in(document, ("inferenceConfig", _SETTINGS.get(str(name), name), *inside), edit)


def edit_prompt(document: Document, edit: Edit) -> Document:
    if edit.operator == "del" or isinstance(document.get("system"), str):
        return change_in(document, ("system",), edit)
    if not document.get("system"):
        if edit.operator not in ("=", "+="):
            raise Unaddressed("there is no system prompt")
        return {**document, "system": parts_of(edit.value)}
    return _change_blocks(document, ("system",), edit)


def edit_message(document: Document, edit: Edit) -> Document:
    messages = document.get("messages")
    if not isinstance(messages, list):
        raise Unaddressed("the request has no messages")
    which, *inside = edit.path
    at = _place(messages, which)
    if not inside and edit.operator != "del":
        if isinstance(at, Before) or not isinstance(edit.value, str):
            return change(document, ("messages", at), edit.operator, _message(edit.value))  # type: ignore[no-any-return]
        inside = ["content"]
    if inside == ["content"] and edit.operator != "del":
        return _change_blocks(document, ("messages", at, "content"), edit)
    return change_in(document, ("messages", at, *inside), edit)


def edit_tools(document: Document, edit: Edit) -> Document:
    which, *inside = edit.path
    config = document.get("toolConfig")
    tools = config.get("tools") if isinstance(config, dict) else None
    if isinstance(which, Before):
        place = ("toolConfig", "tools", which)
        made = {**document, "toolConfig": {**(config or {}), "tools": tools or []}}
        return change(made, place, "=", _tool(edit.value))  # type: ignore[no-any-return]
    if not isinstance(config, dict) or not isinstance(tools, list) or not tools:
        raise Unaddressed("the request offers no tools")
    names = [str(spec.get("name")) if isinstance(spec := _spec(tool), dict) else "" for tool in tools]
    if not isinstance(which, int) and which not in names:
        raise Unaddressed(f"no tool {which} is offered; there are: {', '.join(filter(None, names))}")
    at = which if isinstance(which, int) else names.index(str(which))
    if not inside and edit.operator == "del":
        left = change(tools, (at,), "del", None)
        kept = {name: value for name, value in document.items() if name != "toolConfig"}
        return {**kept, "toolConfig": {**config, "tools": left}} if left else kept
    if inside[:1] == ["parameters"]:
        inside = ["inputSchema", "json", *inside[1:]]
    spec = ["toolSpec"] if inside and inside[0] != "toolSpec" else []
    return change_in(document, ("toolConfig", "tools", at, *spec, *inside), edit)


def _spec(tool: Any) -> Any:
    return tool.get("toolSpec") if isinstance(tool, dict) else None


def _tool(value: Any) -> Any:
    """A tool as Converse offers it; also one that is written as OpenAI writes it."""
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict):
        return value
    spec = {name: one for name, one in function.items() if name != "parameters"}
    return {"toolSpec": {**spec, "inputSchema": {"json": function.get("parameters") or {"type": "object"}}}}


def _change_blocks(document: Document, path: tuple[Segment, ...], edit: Edit) -> Document:
    if edit.operator == "=":
        return change(document, path, "=", parts_of(edit.value))  # type: ignore[no-any-return]
    return change_text(document, path, edit, typed=False)


def _message(value: Any) -> Any:
    """A text is a message of the user."""
    if isinstance(value, str):
        return {"role": "user", "content": parts_of(value)}
    return (
        {**value, "content": parts_of(value["content"])}
        if isinstance(value, dict) and "content" in value
        else value
    )


def _place(messages: list[Any], which: Segment) -> Segment:
    """See `amending`: the last message of a role, but one that only carries results of tools."""
    if not isinstance(which, str):
        return which
    found = [
        n
        for n, one in enumerate(messages)
        if isinstance(one, dict) and one.get("role") == which and not _is_results(one.get("content"))
    ]
    if not found:
        raise Unaddressed(f"there is no message of role {which}")
    return found[-1]


def _is_results(blocks: Any) -> bool:
    listed = blocks if isinstance(blocks, list) else []
    return bool(listed) and all(isinstance(block, dict) and "toolResult" in block for block in listed)


EDITORS: dict[str, Callable[[Document, Edit], Document]] = {
    "params": edit_params,
    "prompt": edit_prompt,
    "message": edit_message,
    "tools": edit_tools,
}
