"""A request as the model server received it, and what it says in words no provider owns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from lctl.testing.wire import prompts


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a prompt: who, the text in it, tool calls made and tool results given."""

    role: str
    text: str = ""
    calls: tuple[tuple[str, str, Any], ...] = ()  # (id, name, arguments)
    results: tuple[tuple[str, str], ...] = ()  # (call id, text)
    images: int = 0


@dataclass(frozen=True)
class Request:
    """One HTTP request. `number` counts from 1 since the server started or was reset.

    Attributes:
        operation: "chat.completions", "responses", "completions", "embeddings", "messages",
            "messages.count_tokens", "models", or "" for a path no provider has.
        headers: by lower-case name.
        body: the decoded JSON object; {} when there is none or it is broken (see `raw`).
        at: arrival, UTC.
        earlier: turns of the stored conversation that `previous_response_id`, or a `thread`, continues.
        offered: the tools of a `thread`, which are said with its first request only.
    """

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    raw: bytes
    at: str
    operation: str
    earlier: tuple[Turn, ...] = field(default=(), repr=False)
    offered: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    @property
    def provider(self) -> str:
        """ "anthropic", "openai", "google", "bedrock", "ollama" or "cohere"; of a path that the first two
        share, the one whose headers were sent."""
        if self.operation in prompts.PROVIDERS:
            return prompts.PROVIDERS[self.operation]
        return "anthropic" if self.operation.startswith("messages") or self._anthropic else "openai"

    @property
    def _anthropic(self) -> bool:
        return "anthropic-version" in self.headers

    @property
    def model(self) -> str:
        named = self.body.get("model")
        if self.provider in ("google", "bedrock") and self.operation != "interactions":
            named = prompts.model_of(self.operation, self.path)
        return str(named or "")

    @property
    def stream(self) -> bool:
        if self.operation in prompts.PROVIDERS:
            return prompts.is_stream(self.operation, self.path, self.body)
        return self.body.get("stream") is True

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages (or Responses input items) as sent."""
        found = self.body.get("messages") or self.body.get("input") or self.body.get("contents") or []
        return [m for m in found if isinstance(m, dict)] if isinstance(found, list) else []

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """The whole prompt, system prompt first."""
        own = tuple(read_turns(self.operation, self.body))
        # Instructions are said anew with what goes on, and hold from the beginning.
        lead = 1 if self.earlier and own and own[0].role == "system" else 0
        return own[:lead] + self.earlier + own[lead:]

    @property
    def text(self) -> str:
        """Everything the prompt says, tool results included, one turn per line."""
        return "\n".join(part for t in self.turns for part in (t.text, *(r for _, r in t.results)) if part)

    @property
    def last_text(self) -> str:
        """What the user said last."""
        return next((t.text for t in reversed(self.turns) if t.role == "user" and t.text), "")

    @property
    def system(self) -> str:
        """The system (or developer) prompt."""
        return "\n".join(t.text for t in self.turns if t.role in ("system", "developer"))

    @property
    def tools(self) -> list[str]:
        """Names of the tools offered."""
        return list(self.schemas)

    @property
    def schemas(self) -> dict[str, Mapping[str, Any]]:
        """JSON schemas of the arguments of the tools offered, by name."""
        body = {**self.body, "tools": list(self.offered)} if self.offered else self.body
        return dict(tool_schemas(body))

    @property
    def tool_results(self) -> list[str]:
        """Texts of the tool results since the user's last words, in order."""
        found: list[str] = []
        for turn in reversed(self.turns):
            if turn.role == "user" and not turn.results:
                break
            found[:0] = [text for _, text in turn.results]
        return found


def tool_schemas(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(name, JSON schema of the arguments) of each function tool offered, whatever the dialect."""
    yield from prompts.schemas("generate_content" if "contents" in body else "converse", body)
    for tool in body.get("tools") or ():
        inner = tool.get("function", tool) if isinstance(tool, dict) else {}
        name = inner.get("name")
        schema = inner.get("parameters") or inner.get("input_schema")
        # Server-side tools (web search, ...) have a name but no schema: nothing for a caller to run.
        if name and (isinstance(schema, dict) or tool.get("type") == "function"):
            yield name, schema or {}


def read_turns(operation: str, body: Mapping[str, Any]) -> Iterator[Turn]:
    """The turns of a request body."""
    if operation in ("converse", "generate_content", "generate_content.count_tokens", "interactions"):
        yield from (
            Turn(r, text, tuple(c), tuple(o), n) for r, text, c, o, n in prompts.turns(operation, body)
        )
        return
    anthropic = operation.startswith("messages") or "anthropic_version" in body
    prompted = operation == "ollama.generate"
    head = body.get("system") if anthropic or prompted else body.get("instructions")
    if head:
        yield _turn("system", head)
    if operation == "completions" or prompted or (operation == "invoke_model" and "prompt" in body):
        yield _turn("user", body.get("prompt"))
    elif operation == "responses" and isinstance(body.get("input"), str):
        yield _turn("user", body["input"])
    else:
        found = body.get("input") if operation == "responses" else body.get("messages")
        for message in found if isinstance(found, list) else ():
            if isinstance(message, dict):
                yield _read(message)


def _read(message: Mapping[str, Any]) -> Turn:
    kind = message.get("type")
    if kind == "function_call":
        call = (str(message.get("call_id")), str(message.get("name")), _decoded(message.get("arguments")))
        return Turn("assistant", calls=(call,))
    if kind == "function_call_output":
        return Turn("tool", results=((str(message.get("call_id")), _text(message.get("output"))),))
    role = str(message.get("role") or "")
    if role == "tool":
        id = message.get("tool_call_id") or message.get("tool_name")
        return Turn("tool", results=((str(id), _text(message.get("content"))),))
    turn = _turn(role, message.get("content"))
    calls = tuple(_chat_calls(message.get("tool_calls") or ()))
    return Turn(turn.role, turn.text, turn.calls + calls, turn.results, turn.images)


def _turn(role: str, content: Any) -> Turn:
    parts = [p for p in content if isinstance(p, dict)] if isinstance(content, list) else []
    return Turn(
        role,
        _text(content),
        tuple(
            (str(p.get("id")), str(p.get("name")), p.get("input"))
            for p in parts
            if p.get("type") == "tool_use"
        ),
        tuple(
            (str(p.get("tool_use_id")), _text(p.get("content")))
            for p in parts
            if p.get("type") == "tool_result"
        ),
        sum("image" in str(p.get("type")) for p in parts),
    )


def _chat_calls(calls: Iterable[Any]) -> Iterator[tuple[str, str, Any]]:
    for call in calls:
        function = call.get("function") or {}
        yield str(call.get("id")), str(function.get("name")), _decoded(function.get("arguments"))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (p if isinstance(p, str) else p.get("text") for p in content if isinstance(p, (str, dict)))
    return "\n".join(p for p in parts if isinstance(p, str))


def _decoded(arguments: Any) -> Any:
    try:
        return orjson.loads(arguments)
    except (orjson.JSONDecodeError, TypeError):
        return arguments
