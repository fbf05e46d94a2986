"""From model calls to a tree: each call's prompt is found again among what was said, the rest is new.

Messages are matched as the wire capture matches them (CONVERSATIONS D9): role, content, name, tool calls
and the call they answer; null, [] and {} are the same as nothing. The longest matching path wins.
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from lctl.codec.lines import encode_value
from lctl.importing.draft import Call, Draft
from lctl.importing.values import mapping

_KEYS = ("role", "content", "parts", "name", "tool_calls", "tool_call_id", "reasoning")


class Growing:
    """The tree that grows with every call, in the order they were made."""

    def __init__(self, draft: Draft, prefix: str = "m") -> None:
        self._draft = draft
        self._prefix = prefix
        self._newest: str | None = None
        self._below: dict[tuple[str | None, bytes], str] = {}  # (parent, what it says) -> newest such message
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

    def read(self, prompt: list[dict[str, Any]] | None, **about: Any) -> str | None:
        """The messages a call read, those that are new added; id of the last."""
        parent = self._newest if prompt is None else None
        for message in prompt or ():
            parent = self._below.get((parent, _said(message))) or self._add(message, parent, None, **about)
        return parent

    def gave(self, answers: list[dict[str, Any]], parent: str | None, call: Call, **about: Any) -> list[str]:
        """The messages a call answered; their ids."""
        given = [self._add(answer, parent, call, **about) for answer in answers]
        self._newest = given[-1] if given else self._newest
        return given

    def _add(self, message: dict[str, Any], parent: str | None, call: Call | None, **about: Any) -> str:
        id = f"{self._prefix}{len(self._draft) + 1}"
        if message.get("role") == "tool":
            self._chained |= {id, parent}
        if parent in self._above and parent in self._chained:
            about["exact"] = True  # a reader would put it below the last of the tool results
        self._above.add(parent)
        self._draft.add(id, message, parent, call=call, **about)
        self._below[parent, _said(message)] = id
        return id


def _said(message: dict[str, Any]) -> bytes:
    """A digest of what a message says: the same for messages that say the same."""
    seen: dict[str, Any] = {}
    for key in _KEYS:
        value = message.get(key)
        if value in (None, [], {}) or (key == "content" and value == "" and message.get("tool_calls")):
            continue
        seen[key] = (
            [_call(one) for one in value] if key == "tool_calls" and isinstance(value, list) else value
        )
    says = encode_value(seen, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    return hashlib.blake2b(says, digest_size=16).digest()


def _call(call: Any) -> Any:
    """A tool call with its arguments as a value: how they were spelled makes no difference."""
    inner = mapping(mapping(call).get("function"))
    arguments = inner.get("arguments")
    try:
        arguments = orjson.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        pass
    return [mapping(call).get("id"), inner.get("name"), arguments] if inner else call
