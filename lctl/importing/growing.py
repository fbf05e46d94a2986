"""From model calls to a tree: each call's prompt is found again among what was said, the rest is new.

Messages are matched as the wire capture matches them (CONVERSATIONS D9): role, content, name, tool calls
and the call they answer; null, [] and {} are the same as nothing. The longest matching path wins.

Tracing tools tell an answer that is read again in other words than when it was given. So it is also found
where its thoughts are left out or told otherwise, and where it is left out itself, by the calls that the tool
results behind it answer.
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from lctl.codec.lines import encode_value
from lctl.importing.draft import Call, Draft
from lctl.importing.values import dicts, function_call, mapping, text, without
from lctl.spans.langchain import beside_calls

_KEYS = ("role", "content", "parts", "name", "tool_calls", "tool_call_id", "reasoning")
_NESTED = (list, dict, type(None))
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


class Growing:
    """The tree that grows with every call, in the order they were made."""

    def __init__(self, draft: Draft, prefix: str = "m") -> None:
        self._draft = draft
        self._prefix = prefix
        self._newest: str | None = None
        self._below: dict[tuple[str | None, bytes], str] = {}  # (parent, what it says) -> newest such message
        self._given: dict[tuple[str | None, bytes], str] = {}  # the same of answers, without their thoughts
        self._asking: dict[tuple[str | None, str], str] = {}  # (parent, id of a call) -> answer that asks it
        self._above: set[str | None] = set()  # messages that have some below them
        self._chained: set[str | None] = set()  # tool results, and what they answer

    def after(self, message: dict[str, Any], **about: Any) -> None:
        """A message after the newest one."""
        self._newest = self._add(message, self._newest, None, **about)

    def call(
        self, prompt: list[dict[str, Any]] | None, answers: list[dict[str, Any]], call: Call, **about: Any
    ) -> None:
        """One call: the messages it read (None: not known, it goes on after the newest one), and what it
        answered (several are alternatives)."""
        parent = self.read(prompt, **about)
        if not answers and call.error and parent is not None:
            self._draft.fail(parent, call, at=about.get("at"), agent=about.get("agent", ""))
        self.gave(answers, parent, call, **about)

    def read(self, prompt: list[dict[str, Any]] | None, after: str | None = None, **about: Any) -> str | None:
        """The messages a call read, those that are new added; id of the last. `after`: where they go on."""
        parent = self._newest if prompt is None else after
        for message in prompt or ():
            if message.get("tool_call_id"):
                parent = self._asking.get((parent, message["tool_call_id"]), parent)
            parent = self._known(message, parent) or self._add(message, parent, None, **about)
        return parent

    def gave(self, answers: list[dict[str, Any]], parent: str | None, call: Call, **about: Any) -> list[str]:
        """The messages a call answered; their ids."""
        given = [self._add(answer, parent, call, **about) for answer in answers]
        self._newest = given[-1] if given else self._newest
        return given

    def _known(self, message: dict[str, Any], parent: str | None) -> str | None:
        found = self._below.get((parent, _said(message)))
        if found is None and message.get("role") == "assistant":
            return self._given.get((parent, _said(_without_thoughts(message))))
        return found

    def _add(self, message: dict[str, Any], parent: str | None, call: Call | None, **about: Any) -> str:
        id = f"{self._prefix}{len(self._draft) + 1}"
        if message.get("role") == "tool":
            self._chained |= {id, parent}
        if parent in self._above and parent in self._chained:
            about["exact"] = True  # a reader would put it below the last of the tool results
        self._above.add(parent)
        self._draft.add(id, message, parent, call=call, **about)
        self._below[parent, _said(message)] = id
        if call is not None and message.get("role") == "assistant":
            self._given[parent, _said(_without_thoughts(message))] = id
            for asked in dicts(message.get("tool_calls")):
                self._asking[parent, text(asked.get("id"))] = id
        return id


def _said(message: dict[str, Any]) -> bytes:
    """A digest of what a message says: the same for messages that say the same."""
    seen: dict[str, Any] = {}
    for key in _KEYS:
        value = message.get(key)
        if value in (None, [], {}) or (key == "content" and value == "" and message.get("tool_calls")):
            continue
        calls = key == "tool_calls" and isinstance(value, list)
        seen[key] = [_call(one) for one in value] if calls else _told(value)
    says = encode_value(seen, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    return hashlib.blake2b(says, digest_size=16).digest()


def _told(value: Any) -> Any:
    """A value without the keys in it that say nothing."""
    if isinstance(value, list):
        return [_told(one) for one in value]
    if not isinstance(value, dict):
        return value
    if not any(isinstance(one, _NESTED) for one in value.values()):
        return value
    return {
        key: _told(one) if isinstance(one, list | dict) else one
        for key, one in value.items()
        if one not in (None, [], {})
    }


def _without_thoughts(message: dict[str, Any]) -> dict[str, Any]:
    """What an assistant's message says and asks, in anyone's words: its text is one, its calls no parts."""
    content, calls = message.get("content"), message.get("tool_calls")
    if isinstance(content, list):
        calls = calls or [
            function_call(text(part.get("id")), text(part.get("name")), part.get("input", {}))
            for part in dicts(content)
            if part.get("type") == "tool_use"
        ]
        content = beside_calls(content) if calls else content
        parts = [part for part in content if text(mapping(part).get("type")) not in _THOUGHTS]
        is_text = all(mapping(part).get("type") == "text" for part in parts)
        content = "".join(str(part.get("text") or "") for part in parts) if is_text else parts
    return {**without(message, "reasoning", "content"), "content": content or None, "tool_calls": calls}


def _call(call: Any) -> Any:
    """A tool call with its arguments as a value: how they were spelled makes no difference."""
    inner = mapping(mapping(call).get("function"))
    arguments = inner.get("arguments")
    try:
        arguments = orjson.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        pass
    return [mapping(call).get("id"), inner.get("name"), arguments] if inner else call
