"""Prompts of the wires that are neither OpenAI's nor Anthropic's, as turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import orjson

#: Operations -> whose they are.
PROVIDERS = {
    "generate_content": "google",
    "generate_content.count_tokens": "google",
    "embed_content": "google",
    "converse": "bedrock",
    "invoke_model": "bedrock",
    "ollama.chat": "ollama",
    "cohere.chat": "cohere",
}

#: role, text, calls (id, name, arguments), results (id, text), images
Parts = tuple[str, str, list[tuple[str, str, Any]], list[tuple[str, str]], int]


def model_of(operation: str, path: str) -> str:
    """The model that Google and Bedrock name in the path."""
    path = path.partition("?")[0]
    if PROVIDERS[operation] == "bedrock":
        return unquote(path.rpartition("/model/")[2].partition("/")[0])
    return path.rpartition("odels/")[2].rpartition(":")[0]


def is_stream(operation: str, path: str, body: Mapping[str, Any]) -> bool:
    path = path.partition("?")[0]
    if operation == "ollama.chat":
        return body.get("stream") is not False
    return path.endswith((":streamGenerateContent", "-stream")) or body.get("stream") is True


def schemas(operation: str, body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(name, JSON schema) of the functions that are offered."""
    if operation == "converse":
        for tool in (body.get("toolConfig") or {}).get("tools") or ():
            spec = tool.get("toolSpec") or {}
            yield str(spec.get("name")), (spec.get("inputSchema") or {}).get("json") or {}
        return
    for tool in _camel(body.get("tools")) or ():
        for function in tool.get("functionDeclarations") or ():
            given = function.get("parametersJsonSchema") or _lower(function.get("parameters") or {})
            yield str(function.get("name")), given


def _lower(schema: Any) -> Any:
    """A schema of Google's, whose types are in capitals."""
    if isinstance(schema, dict):
        return {k: v.lower() if k == "type" and isinstance(v, str) else _lower(v) for k, v in schema.items()}
    return [_lower(one) for one in schema] if isinstance(schema, list) else schema


def turns(operation: str, body: Mapping[str, Any]) -> Iterator[Parts]:
    if operation == "converse":
        yield from _converse(body)
    elif operation.startswith("generate_content"):
        yield from _google(body)


def _converse(body: Mapping[str, Any]) -> Iterator[Parts]:
    system = [str(one.get("text")) for one in body.get("system") or () if isinstance(one, dict)]
    if system:
        yield "system", "\n".join(system), [], [], 0
    for message in body.get("messages") or ():
        parts = [part for part in message.get("content") or () if isinstance(part, dict)]
        uses = [part["toolUse"] for part in parts if "toolUse" in part]
        results = [part["toolResult"] for part in parts if "toolResult" in part]
        yield (
            str(message.get("role")),
            "\n".join(str(part["text"]) for part in parts if "text" in part),
            [(str(u.get("toolUseId")), str(u.get("name")), u.get("input")) for u in uses],
            [(str(r.get("toolUseId")), _said(r.get("content"))) for r in results],
            sum("image" in part for part in parts),
        )


#: Google takes names in snake case, too (LiteLLM writes them so).
_NAMES = {
    "file_data": "fileData",
    "function_call": "functionCall",
    "function_declarations": "functionDeclarations",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
    "parameters_json_schema": "parametersJsonSchema",
    "system_instruction": "systemInstruction",
}
#: What is the program's own.
_VALUES = frozenset({"args", "response", "parameters", "parametersJsonSchema"})


def _camel(value: Any) -> Any:
    if isinstance(value, list):
        return [_camel(one) for one in value]
    if not isinstance(value, dict):
        return value
    named = {_NAMES.get(key, key): one for key, one in value.items()}
    return {key: one if key in _VALUES else _camel(one) for key, one in named.items()}


def _google(body: Mapping[str, Any]) -> Iterator[Parts]:
    body = _camel(dict(body))
    body = {**body, **(body.get("generateContentRequest") or {})}
    system = body.get("systemInstruction") or {}
    if system:
        said = [str(part.get("text")) for part in system.get("parts") or ()]
        yield "system", "\n".join(said), [], [], 0
    for content in body.get("contents") or ():
        parts = [part for part in content.get("parts") or () if isinstance(part, dict)]
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        role = "assistant" if content.get("role") == "model" else "user"
        yield (
            "tool" if results else role,
            "\n".join(str(p["text"]) for p in parts if "text" in p and not p.get("thought")),
            [(str(c.get("id") or c.get("name")), str(c.get("name")), c.get("args")) for c in calls],
            [(str(r.get("id") or r.get("name")), _said(r.get("response"))) for r in results],
            sum("inlineData" in part or "fileData" in part for part in parts),
        )


def _said(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, dict) and "text" in one for one in value):
        return "\n".join(str(one["text"]) for one in value)
    return value if isinstance(value, str) else orjson.dumps(value).decode()
