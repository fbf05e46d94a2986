"""A chain's conversations as text, and as messages in OpenAI's form.

A conversation is a path through the forest of messages, from a root to a leaf; a chain has as many as it
has leaves. Messages stay in their provider's dialect in the log; `lctl.state.messages` reads them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lctl.state.messages as dialects
from lctl.analysis.log import Log, raw_events, text
from lctl.analysis.wording import block, compact, plain
from lctl.errors import UsageError


class Forest:
    """Messages by id, with their parents, as far as a transcript needs them."""

    def __init__(self, log: Log) -> None:
        self.messages: dict[str, dict[str, Any]] = {}
        self.parents: dict[str, str | None] = {}
        self.agents: dict[str, str] = {}
        last: str | None = None
        for event in raw_events(log):
            if event.get("type") != "message":
                continue
            data = event["data"]
            id = text(data.get("message_id")) or f"#{event['seq']}"
            if id in self.messages:
                continue
            parent = data.get("parent_id", last)
            self.messages[id] = data
            self.parents[id] = parent if isinstance(parent, str) else None
            self.agents[id] = text(event.get("agent"))
            last = id

    def leaves(self) -> list[str]:
        """Messages nothing answers, in the order of the log."""
        answered = set(self.parents.values())
        return [id for id in self.messages if id not in answered]

    def path(self, leaf: str) -> list[str]:
        """From the root to the leaf. A parent that is not in the log ends it; so does a cycle."""
        path: list[str] = []
        seen: set[str] = set()
        at: str | None = leaf
        while at is not None and at in self.messages and at not in seen:
            seen.add(at)
            path.append(at)
            at = self.parents[at]
        return path[::-1]


def conversations(log: Log) -> list[str]:
    """Ids of the last messages of a chain's conversations, in the order of the log."""
    return Forest(log).leaves()


def openai_messages(log: Log, leaf: str | None = None) -> list[dict[str, Any]]:
    """One conversation as OpenAI chat messages: the one to `leaf`, by default to the newest message.

    Raises UsageError when the log has no message of that id.
    """
    forest = Forest(log)
    return [message for id in _path(forest, leaf) for message in _openai(forest.messages[id])]


def transcript_json(log: Log) -> list[dict[str, Any]]:
    """Every conversation of a chain: `{"leaf", "agent", "messages"}`, messages in OpenAI's form."""
    forest = Forest(log)
    return [
        {
            "leaf": leaf,
            "agent": forest.agents[leaf],
            "messages": [message for id in forest.path(leaf) for message in _openai(forest.messages[id])],
        }
        for leaf in forest.leaves()
    ]


def transcript_text(log: Log, leaf: str | None = None) -> str:
    """One conversation to read; `leaf` as in `openai_messages`. "" for a log without messages."""
    forest = Forest(log)
    if leaf is None and not forest.messages:
        return ""
    return "\n".join(part for id in _path(forest, leaf) for part in _readable(forest.messages[id]))


def _path(forest: Forest, leaf: str | None) -> list[str]:
    if leaf is None:
        return forest.path(next(reversed(forest.messages))) if forest.messages else []
    if leaf not in forest.messages:
        known = ", ".join(forest.leaves()[:8])
        raise UsageError(f"no message {leaf!r} in this log; conversations end at {known or 'none'}")
    return forest.path(leaf)


def _openai(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message of any dialect; several tool results in one become one "tool" message each."""
    results = dialects.tool_results_of(data)
    for result in results:
        yield {
            "role": "tool",
            "tool_call_id": result.get("call_id") or "",
            "content": _result_text(result.get("output")),
        }
    words = "" if text(data.get("role")) == "tool" else dialects.text_of(data)
    calls = dialects.tool_calls_of(data)
    if results and not words and not calls:
        return
    message: dict[str, Any] = {"role": _role(data), "content": words if words or not calls else None}
    if text(data.get("name")) and not calls:
        message["name"] = data["name"]
    if calls:
        message["tool_calls"] = [
            {
                "id": call.get("id") or "",
                "type": "function",
                "function": {"name": call.get("name") or "", "arguments": _as_text(call.get("arguments"))},
            }
            for call in calls
        ]
    yield message


def _role(data: dict[str, Any]) -> str:
    role = text(data.get("role"))
    if not role:
        return "assistant" if text(data.get("type")) in ("function_call", "reasoning") else "user"
    return {"model": "assistant", "human": "user", "ai": "assistant"}.get(role, role)


def _readable(data: dict[str, Any]) -> Iterator[str]:
    reasoning = dialects.reasoning_of(data)
    if reasoning:
        yield f"[{_role(data)}, reasoning]\n{block(_as_text(reasoning))}\n"
    for message in _openai(data):
        who = message["role"]
        if who == "tool":
            who = f"tool result {plain(message['tool_call_id'], 60)}".rstrip()
        words = [block(message["content"])] if message["content"] else []
        for call in message.get("tool_calls", ()):
            inner = call["function"]
            words.append(f"-> {plain(inner['name'], 60)}({plain(inner['arguments'], 2000)})")
        yield f"[{plain(who, 80)}]\n" + "\n".join(words) + "\n"


def _result_text(output: object) -> str:
    """Parts that are all text as that text; anything else as JSON."""
    if isinstance(output, list) and output:
        words = [dialects.text_of({"content": [part]}) for part in output]
        if all(words):
            return "\n".join(words)
    return _as_text(output)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else compact(value)
