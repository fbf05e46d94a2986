"""What the model server is told to answer, in words that no provider owns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from lctl.testing.faults import Fault

if TYPE_CHECKING:
    from lctl.testing.request import Request


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of an answer. `arguments` as a string is sent as it is, valid JSON or not."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None

    @property
    def json(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return orjson.dumps(dict(self.arguments)).decode()


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model. The server writes it in the provider's own shape, streamed or not.

    Attributes:
        text: what the model says. None with tool calls only.
        tool_calls: `ToolCall`s or `(name, arguments)` pairs; several are parallel calls.
        reasoning: thinking text. Sent where the provider has a place for it; always counted.
        json: a value sent as JSON text instead of `text`, for structured output.
        refusal: the model declines with this text.
        finish_reason: in any provider's word ("length" and "max_tokens" are the same); None: what follows
            from the answer.
        usage: overrides of the counted tokens: input (cached included), output, cache_read, cache_write,
            reasoning; and what is none otherwise: cache_write_1h, web_searches (Anthropic), input_audio,
            output_audio (chat completions).
        model: the model that answers, where it is not the one that was asked.
        chunks: how `text` is cut when it is streamed; None: word by word.
        choices: the further answers when the request has n > 1; missing ones repeat this one.
        fault: what goes wrong while this answer is sent.
        headers: response headers added to the provider's own.
    """

    text: str | None = None
    tool_calls: Sequence[ToolCall | tuple[str, Mapping[str, Any] | str]] = ()
    reasoning: str | None = None
    json: Any = None
    refusal: str | None = None
    finish_reason: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    model: str | None = None
    chunks: Sequence[str] | None = None
    choices: Sequence[Reply | str] = ()
    fault: Fault | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """The text that is sent: `text`, or `json` as JSON."""
        if self.json is not None:
            return orjson.dumps(self.json).decode()
        if self.text is None and self.chunks is not None:
            return "".join(self.chunks)
        return self.text or ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, each a `ToolCall`."""
        return tuple(c if isinstance(c, ToolCall) else ToolCall(*c) for c in self.tool_calls)

    def nth(self, index: int) -> Reply:
        """The answer of choice `index` of a request with n > 1."""
        if index == 0 or not self.choices:
            return self
        chosen = self.choices[min(index, len(self.choices)) - 1]
        return chosen if isinstance(chosen, Reply) else replace(self, text=chosen, choices=(), chunks=None)


#: What a script takes for one answer: a text, a `Reply`, a `Fault`, or a function of the request that
#: gives one of them, or None to leave the request to what comes next.
Answer: TypeAlias = "str | Reply | Fault | Callable[[Request], str | Reply | Fault | None]"
