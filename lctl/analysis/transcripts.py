"""A chain's conversations as text, and as messages in OpenAI's form.

A conversation is a path through the tree of messages, from a root to a leaf; a chain has as many as it has
leaves. Messages stay in their provider's dialect in the log; `lctl.state.messages` reads them all. A path
that is broken raises `BrokenChain`, unless what there is of it is asked for (`partial`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import lctl.state.messages as dialects
from lctl.analysis.log import Log, text
from lctl.analysis.wording import block, compact, plain
from lctl.conversation.node import Node
from lctl.conversation.tree import Tree
from lctl.errors import BrokenChain, UsageError
from lctl.training.dialects import Chat

Data = Mapping[str, Any]


def conversations(log: Log) -> list[str]:
    """Ids of the last messages of a chain's conversations, in the order of the log."""
    return [node.id for node in _tree(log).leaves]


def openai_messages(log: Log, leaf: str | None = None, *, partial: bool = False) -> list[dict[str, Any]]:
    """One conversation as OpenAI chat messages: the one to `leaf`, by default to the newest message.

    Raises:
        UsageError: the log has no message of that id.
        BrokenChain: a message on the way is not in the log.
    """
    tree = _tree(log)
    return [message for node in _path(tree, leaf, partial) for message in _chat(node)]


def transcript_json(log: Log, *, partial: bool = False) -> list[dict[str, Any]]:
    """Every conversation of a chain: `{"leaf", "agent", "messages"}`, messages in OpenAI's form. One whose
    path is broken has `"missing"`, too: the message that is not in the log.

    Raises:
        BrokenChain: there is one, and `partial` is False.
    """
    tree = _tree(log)
    found = []
    for leaf in tree.leaves:
        missing = {}
        try:
            path = tree.path(leaf.id)
        except BrokenChain as error:
            if not partial:
                raise _told(error) from None
            path, missing = error.partial, {"missing": error.missing}
        said = [message for node in path for message in _chat(node)]
        found.append({"leaf": leaf.id, "agent": log.event(leaf.seq).agent, **missing, "messages": said})
    return found


def transcript_text(log: Log, leaf: str | None = None, *, partial: bool = False) -> str:
    """One conversation to read; `leaf` and what is raised as in `openai_messages`. "" for a log without
    messages."""
    return "\n".join(
        part for node in _path(_tree(log), leaf, partial) for part in readable(node.data, node.status)
    )


def transcripts(log: Log) -> Iterator[tuple[str, str, str]]:
    """(id of the last message, text, the message that is missing or ""), of the newest conversation first."""
    tree = _tree(log)
    for leaf in reversed(tree.leaves):
        missing = ""
        try:
            path = tree.path(leaf.id)
        except BrokenChain as error:
            path, missing = error.partial, error.missing
        yield leaf.id, "\n".join(part for node in path for part in readable(node.data, node.status)), missing


def _tree(log: Log) -> Tree:
    from lctl.chain import tree_of

    return tree_of(log)


def _path(tree: Tree, leaf: str | None, partial: bool) -> list[Node]:
    if leaf is None:
        if not len(tree):
            return []
        leaf = tree.forest.ids[len(tree) - 1]
    if leaf not in tree:
        known = ", ".join(node.id for node in tree.leaves[:8])
        raise UsageError(f"no message {leaf!r} in this log; conversations end at {known or 'none'}")
    try:
        return tree.path(leaf, strict=not partial)
    except BrokenChain as error:
        raise _told(error) from None


def _told(error: BrokenChain) -> BrokenChain:
    """The same in the words of a command."""
    text = str(error).replace("strict=False gives", "--partial gives")
    return BrokenChain(text, error.missing, error.partial)


#: Parts of content that OpenAI's chat messages have.
_PARTS = frozenset({"text", "image_url", "input_audio", "file", "refusal"})
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def _chat(node: Node) -> Iterator[dict[str, Any]]:
    """A message in OpenAI's form; one that has it already as it was written, without empty keys."""
    message = node.message
    if _is_chat(message):
        yield {
            key: value for key, value in message.items() if key == "content" or value not in (None, [], {})
        }
    elif text(message.get("role")):
        yield from Chat().messages(message)
    else:
        yield from _openai(message)


def _is_chat(message: Data) -> bool:
    content = message.get("content")
    if text(message.get("role")) not in _ROLES or "parts" in message or "content" not in message:
        return False
    if not isinstance(content, list):
        return content is None or isinstance(content, str)
    return all(
        isinstance(part, Mapping) and text(part.get("type")) in _PARTS and "cache_control" not in part
        for part in content
    )


def _openai(data: Data) -> Iterator[dict[str, Any]]:
    """A message of any dialect; several tool results in one become one "tool" message each."""
    results = dialects.tool_results_of(data)
    for result in results:
        yield {
            "role": "tool",
            "tool_call_id": result.get("call_id") or "",
            "content": _result_text(result.get("output")),
        }
    words = "" if results and text(data.get("role")) in ("tool", "function") else dialects.text_of(data)
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


def _role(data: Data) -> str:
    role = text(data.get("role"))
    if not role:
        return "assistant" if text(data.get("type")) in ("function_call", "reasoning") else "user"
    return {"model": "assistant", "human": "user", "ai": "assistant"}.get(role, role)


def readable(data: Data, status: str = "complete") -> Iterator[str]:
    """A message to read: who, and what; several tool results in one come one after the other. Of one that was
    left, or is still streamed, that too: its words are not all there would have been."""
    unfinished = "" if status in ("", "complete") else f", {plain(status, 20)}"
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
        yield f"[{plain(who, 80)}{unfinished}]\n" + "\n".join(words) + "\n"


def _result_text(output: object) -> str:
    """Parts that are all text as that text; anything else as JSON."""
    if isinstance(output, list) and output:
        words = [dialects.text_of({"content": [part]}) for part in output]
        if all(words):
            return "\n".join(words)
    return _as_text(output)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else compact(value)
