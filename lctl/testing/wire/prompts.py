"""Prompts of the wires that are neither OpenAI's nor Anthropic's, as turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import orjson

from lctl.conversation.steps import group

#: Operations -> whose they are.
PROVIDERS = {
    "generate_content": "google",
    "generate_content.count_tokens": "google",
    "embed_content": "google",
    "interactions": "google",
    "converse": "bedrock",
    "invoke_model": "bedrock",
    "ollama.chat": "ollama",
    "ollama.generate": "ollama",
    "cohere.chat": "cohere",
}

_CAPITAL = re.compile("[A-Z]")

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
    if operation.startswith("ollama."):
        return body.get("stream") is not False
    return path.endswith((":streamGenerateContent", "-stream")) or body.get("stream") is True


def schemas(operation: str, body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(name, JSON schema) of the functions that are offered."""
    if operation == "converse":
        for tool in (body.get("toolConfig") or {}).get("tools") or ():
            spec = tool.get("toolSpec") or {}
            yield str(spec.get("name")), (spec.get("inputSchema") or {}).get("json") or {}
        return
    for tool in body.get("tools") or ():
        for function in said(tool, "functionDeclarations") or ():
            given = said(function, "parametersJsonSchema") or _lower(function.get("parameters") or {})
            yield str(function.get("name")), given


def _lower(schema: Any) -> Any:
    """A schema of Google's, whose types are in capitals."""
    if isinstance(schema, dict):
        return {k: v.lower() if k == "type" and isinstance(v, str) else _lower(v) for k, v in schema.items()}
    return [_lower(one) for one in schema] if isinstance(schema, list) else schema


def turns(operation: str, body: Mapping[str, Any]) -> Iterator[Parts]:
    if operation == "converse":
        yield from _converse(body)
    elif operation == "interactions":
        yield from _interactions(body)
    else:
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
            [(str(r.get("toolUseId")), texts_of(r.get("content"))) for r in results],
            sum("image" in part for part in parts),
        )


def _google(body: Mapping[str, Any]) -> Iterator[Parts]:
    body = {**body, **(said(body, "generateContentRequest") or {})}
    system = said(body, "systemInstruction") or {}
    if system:
        texts = [str(part.get("text")) for part in system.get("parts") or ()]
        yield "system", "\n".join(texts), [], [], 0
    for content in body.get("contents") or ():
        parts = [part for part in content.get("parts") or () if isinstance(part, dict)]
        calls = [call for part in parts if (call := said(part, "functionCall")) is not None]
        results = [one for part in parts if (one := said(part, "functionResponse")) is not None]
        role = "assistant" if content.get("role") == "model" else "user"
        yield (
            "tool" if results else role,
            "\n".join(str(p["text"]) for p in parts if "text" in p and not p.get("thought")),
            [(str(c.get("id") or c.get("name")), str(c.get("name")), c.get("args")) for c in calls],
            [(str(r.get("id") or r.get("name")), texts_of(r.get("response"))) for r in results],
            sum(bool(said(part, "inlineData") or said(part, "fileData")) for part in parts),
        )


def _interactions(body: Mapping[str, Any]) -> Iterator[Parts]:
    if body.get("system_instruction"):
        yield "system", str(body["system_instruction"]), [], [], 0
    given = body.get("input")
    steps = given if isinstance(given, list) else [] if given is None else [given]
    for message in group(steps)[0]:
        content = message.get("content")
        if message["role"] == "tool":
            yield "tool", "", [], [(str(message["tool_call_id"]), texts_of(content))], 0
            continue
        parts = content if isinstance(content, list) else [content]
        objects = [part for part in parts if isinstance(part, dict)]
        calls = [part for part in objects if part.get("type") == "function_call"]
        said = [texts_of(part.get("content")) for part in objects if part.get("type") == "model_output"]
        own = [part if isinstance(part, str) else part.get("text") for part in parts if part is not None]
        yield (
            message["role"],
            "\n".join(text for text in (*own, *said) if isinstance(text, str) and text),
            [(str(c.get("id")), str(c.get("name")), c.get("arguments")) for c in calls],
            [],
            sum(part.get("type") == "image" for part in objects),
        )


def said(of: Mapping[str, Any], name: str) -> Any:
    """A field of Google's by its name in camel case; its API takes the one with underscores, too."""
    value = of.get(name)
    return of.get(_CAPITAL.sub(lambda found: "_" + found[0].lower(), name)) if value is None else value


def texts_of(value: Any) -> str:
    """The texts of parts; anything else as JSON."""
    if isinstance(value, list) and all(isinstance(one, dict) and "text" in one for one in value):
        return "\n".join(str(one["text"]) for one in value)
    return value if isinstance(value, str) else orjson.dumps(value).decode()
