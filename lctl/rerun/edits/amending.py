"""Edits of a request, on the body each provider's API takes.

Bodies are changed where the edit says and nowhere else: keys, blanks, numbers and escapes around it stay
as the program sent them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from lctl.instrument.codecs.assistants import RUN
from lctl.instrument.codecs.bodies import read_object
from lctl.patch import Before, Edit, Unaddressed, change, rewrite
from lctl.patch.edits import Segment
from lctl.rerun.edits import contents, converse, stepedits
from lctl.rerun.edits.texts import change_in, change_text

_CONVERSATIONS = {
    "chat.completions": "messages",
    "messages": "messages",
    "responses": "input",
    "interactions": "input",
    "cohere.chat": "messages",
    "ollama.chat": "messages",
    "conversations": "inputs",
    RUN: "additional_messages",
}
_NAMED_IN_URLS = (
    "generate_content",
    "generate_content.count_tokens",
    "embed_content",
    "converse",
    "invoke_model",
)
_SYSTEM_ROLES = ("system", "developer")
#: Models that refuse `max_tokens` for chat completions.
_REASONING = re.compile(r"(o\d|gpt-[5-9])")
#: What a request to Ollama says beside its options.
_OF_OLLAMA = frozenset({"options", "format", "keep_alive", "think", "stream", "template", "raw", "suffix",
    "images", "logprobs", "top_logprobs", "truncate", "dimensions"})  # fmt: skip
#: What a request to Mistral's conversations says beside its completion args.
_OF_CONVERSATIONS = frozenset({"agent_id", "agent_version", "store", "stream", "name", "description",
    "metadata", "handoff_execution", "guardrails", "completion_args"})  # fmt: skip
# What a request without tools may not say either.
_OF_TOOLS = ("tools", "functions", "tool_choice", "parallel_tool_calls", "function_call")


def amend(operation: str, body: bytes, edits: Sequence[Edit]) -> bytes:
    """The request body with each edit made, in order.

    Raises:
        Unaddressed: it has nothing where an edit would change it.
        ValueError: it is not a JSON object.
    """
    document: dict[str, Any] = read_object(body)
    for edit in edits:
        document = amended(operation, document, edit)
    return rewrite(body, document)


def is_of_url(operation: str, edit: Edit) -> bool:
    """Whether what an edit changes stands in the URL of such a request: models of Google and Bedrock."""
    return edit.root == "model" and operation in _NAMED_IN_URLS


def amended(operation: str, document: dict[str, Any], edit: Edit) -> dict[str, Any]:
    """The document of a request with one edit made; the one given stays as it is.

    Raises:
        Unaddressed: it has nothing where the edit would change it.
    """
    kind = operation.partition(".input_tokens")[0].partition(".count_tokens")[0]
    if kind == "generate_content" and edit.root in contents.EDITORS:
        return contents.EDITORS[edit.root](document, edit)
    if kind == "converse" and edit.root in converse.EDITORS:
        return converse.EDITORS[edit.root](document, edit)
    return _EDITORS[edit.root](kind, document, edit)


def _model(kind: str, document: dict[str, Any], edit: Edit) -> dict[str, Any]:
    if "model" not in document and not (kind == RUN and edit.operator == "="):
        raise Unaddressed("the request names no model in its body")
    return change_in(document, ("model",), edit)


def _body(kind: str, document: dict[str, Any], edit: Edit) -> dict[str, Any]:
    return change_in(document, edit.path, edit)


def _params(kind: str, document: dict[str, Any], edit: Edit) -> dict[str, Any]:
    name = edit.path[0]
    if name in ("max_tokens", "max_output_tokens", "max_completion_tokens"):
        name = _limit(kind, document, str(name))
    inside = ("options",) if kind.startswith("ollama.") and name not in _OF_OLLAMA else ()
    if kind == "interactions" and name not in document and name not in stepedits.TOP:
        inside = ("generation_config",)
    if kind == "conversations" and name not in document and name not in _OF_CONVERSATIONS:
        inside = ("completion_args",)
    return change_in(document, (*inside, name, *edit.path[1:]), edit)


def _limit(kind: str, document: dict[str, Any], name: str) -> str:
    """What this API calls the most tokens of an answer."""
    if kind in ("responses", "interactions"):
        return "max_output_tokens"
    if kind.startswith("ollama."):
        return "num_predict"
    if kind == RUN:
        return "max_completion_tokens"
    if kind != "chat.completions":
        return "max_tokens"
    for known in ("max_completion_tokens", "max_tokens"):
        if known in document:
            return known
    if name == "max_completion_tokens" or _REASONING.match(str(document.get("model"))):
        return "max_completion_tokens"
    return "max_tokens"


# -- the system prompt ---------------------------------------------------------------------------


def _prompt(kind: str, document: dict[str, Any], edit: Edit) -> dict[str, Any]:
    if kind in ("messages", "ollama.generate"):
        return change_text(document, ("system",), edit)
    if kind not in _CONVERSATIONS:
        raise Unaddressed(f"a request for {kind} has no system prompt")
    if kind == RUN and edit.operator == "+=" and not document.get("instructions"):
        return change_text(document, ("additional_instructions",), edit)  # behind the assistant's own
    if kind in ("conversations", RUN):
        return change_text(document, ("instructions",), edit)
    key = _CONVERSATIONS[kind]
    said = document.get(key)
    messages = said if isinstance(said, list) else []
    at = next(
        (n for n, m in enumerate(messages) if isinstance(m, dict) and m.get("role") in _SYSTEM_ROLES), None
    )
    if kind == "interactions":
        return change_text(document, ("system_instruction",), edit)
    if kind == "responses" and (at is None or document.get("instructions")):
        return change_text(document, ("instructions",), edit)
    if at is not None:
        if edit.operator == "del":
            return change(document, (key, at), "del", None)  # type: ignore[no-any-return]
        return change_text(document, (key, at, "content"), edit)
    if edit.operator not in ("=", "+="):
        raise Unaddressed("there is no system prompt")
    message = {"role": "system", "content": edit.value}
    return change(document, (key, Before(0)), "=", message)  # type: ignore[no-any-return]


# -- messages ------------------------------------------------------------------------------------


def _message(kind: str, document: dict[str, Any], edit: Edit) -> dict[str, Any]:
    key = _CONVERSATIONS.get(kind)
    if key is None:
        raise Unaddressed(f"a request for {kind} has no messages")
    which, *inside = edit.path
    messages = document.get(key)
    if kind == RUN and messages is None and isinstance(which, Before):
        messages = []
        document = {**document, key: messages}
    if isinstance(messages, str):  # the short form of one message of the user
        if inside == ["content"] and which in (0, -1, "user") and edit.operator != "del":
            return change_text(document, (key,), edit)
        message = {"role": "user", "content": messages}
        document = {**document, key: [stepedits.step_of(message) if kind == "interactions" else message]}
    elif not isinstance(messages, list):
        raise Unaddressed("the request has no messages")
    value = edit.value
    at = _place(document[key], which)
    if not inside and edit.operator == "=" and isinstance(value, str):
        if not isinstance(at, Before):
            inside = ["content"]
        else:
            value = {"role": "user", "content": value}
    if kind == "interactions":
        inside, value = stepedits.addressed(document[key], at, inside, value)
    if inside in (["content"], ["result"]) and edit.operator not in ("=", "del"):
        return change_text(document, (key, at, *inside), edit)
    return change(document, (key, at, *inside), edit.operator, value)  # type: ignore[no-any-return]


def _place(messages: list[Any], which: Segment) -> Segment:
    """`user` is the last message of that role; one that only carries results of tools is not the user's."""
    if not isinstance(which, str):
        return which
    found = [
        n
        for n, one in enumerate(messages)
        if isinstance(one, dict)
        and which in (one.get("role"), stepedits.role_of(one))
        and not _is_results(one.get("content"))
    ]
    if not found:
        raise Unaddressed(f"there is no message of role {which}")
    return found[-1]


def _is_results(content: Any) -> bool:
    parts = content if isinstance(content, list) else []
    return bool(parts) and all(isinstance(one, dict) and one.get("type") == "tool_result" for one in parts)


# -- tools ---------------------------------------------------------------------------------------


def _tools(kind: str, document: dict[str, Any], edit: Edit) -> dict[str, Any]:
    key = "functions" if "functions" in document and "tools" not in document else "tools"
    which, *inside = edit.path
    tools = document.get(key)
    if kind == RUN and not isinstance(tools, list):
        raise Unaddressed(
            "the run has its assistant's tools; it takes others by body.tools=[...], all of them"
        )
    if isinstance(which, Before):
        tool = stepedits.tool_of(edit.value) if kind == "interactions" else edit.value
        return change({**document, key: tools or []}, (key, which), "=", tool)  # type: ignore[no-any-return]
    if not isinstance(tools, list):
        raise Unaddressed("the request offers no tools")
    at = (
        which if isinstance(which, int) else next((n for n, t in enumerate(tools) if _name(t) == which), None)
    )
    if at is None:
        names = ", ".join(filter(None, map(_name, tools)))
        raise Unaddressed(f"no tool {which} is offered; there are: {names}")
    if not inside and edit.operator == "del":
        left = change(tools, (at,), "del", None)
        if left:
            return {**document, key: left}
        return {name: value for name, value in document.items() if name not in _OF_TOOLS}
    tool = tools[at] if -len(tools) <= at < len(tools) else None
    if inside and isinstance(tool, dict):
        nested = isinstance(tool.get("function"), dict)
        if inside[0] == "parameters" and "input_schema" in tool:
            inside[0] = "input_schema"
        inside = ["function", *inside] if nested and inside[0] != "function" else inside
    return change_in(document, (key, at, *inside), edit)


def _name(tool: Any) -> str:
    inner = tool.get("function", tool) if isinstance(tool, dict) else {}
    return str(inner.get("name") or "") if isinstance(inner, dict) else ""


_EDITORS: dict[str, Callable[[str, dict[str, Any], Edit], dict[str, Any]]] = {
    "model": _model,
    "body": _body,
    "params": _params,
    "prompt": _prompt,
    "message": _message,
    "tools": _tools,
}
