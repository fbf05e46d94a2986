"""Samples in the forms that trainers read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import orjson

from lctl.codec.lines import encode_value
from lctl.training.dialects import Chat, flat
from lctl.training.sample import Sample

Row = dict[str, Any]

#: In `lost`: answers that are context, as they are one message with words that are not trained.
PARTLY = "answer that is the model's in part"


class Form(Protocol):
    """One form: makes rows of samples, and counts in `lost` what the form has no room for."""

    @property
    def lost(self) -> Counter[str]: ...

    def rows(self, sample: Sample) -> Iterator[Row]: ...


class Chats:
    """What forms of chat messages share."""

    def __init__(self) -> None:
        self.chat = Chat()

    @property
    def lost(self) -> Counter[str]:
        return self.chat.lost

    def converted(self, sample: Sample) -> tuple[list[Row], list[int | None]]:
        """Chat messages of a sample, and of each its weight; None of what is nobody's answer."""
        messages: list[Row] = []
        weights: list[int | None] = []
        rests = {call["message_index"] for call in sample.calls if call.get("continues")}
        for place, made in enumerate(self.chat.conversation(sample.messages)):
            weight = sample.weights[place]
            if place in rests and made[0]["role"] == "assistant" == messages[-1]["role"]:
                weights[-1] = self._join(messages[-1], made[0], weights[-1], weight)
                continue
            messages += made
            weights += [weight if one["role"] == "assistant" else None for one in made]
        return messages, weights

    def _join(self, begun: Row, rest: Row, before: int | None, weight: int) -> int:
        """Make one message of an answer's beginning and its rest; its weight. A message has one weight: with
        words that are not trained the others are not, either."""
        begun["content"] = flat(begun.get("content")) + flat(rest.get("content")) or None
        for key in ("tool_calls", "reasoning_content"):
            if rest.get(key):
                begun[key] = begun[key] + rest[key] if begun.get(key) else rest[key]
        if weight != before:
            self.lost[PARTLY] += 1
        return min(weight, before or 0)

    def with_tools(self, row: Row, tools: list[Any] | None) -> Row:
        """The row, and the tools if there are any."""
        made = self.chat.tools(tools)
        return {**row, "tools": made} if made else row


class Calls(Chats):
    """Everything a sample says, in the dialects of the providers: the others can be made of it."""

    def rows(self, sample: Sample) -> Iterator[Row]:
        row: Row = {
            "sample_id": sample.id,
            "trajectory_id": sample.trajectory_id,
            "n_samples": sample.n_samples,
            "messages": sample.messages,
            "message_ids": sample.message_ids,
            "loss_mask": sample.weights,
            "calls": sample.calls,
            "break_reason": sample.break_reason,
            "reward": sample.reward,
            "model": sample.model,
            "tools": sample.tools,
        }
        if sample.prompt is not None:
            row["prompt"] = sample.prompt
        if sample.skipped:
            row["skipped"] = sample.skipped
        if sample.token_ids is not None:
            row |= {"token_ids": sample.token_ids, "token_mask": sample.token_mask}
            if sample.logprobs is not None:
                row["logprobs"] = sample.logprobs
        yield row


class OpenAI(Chats):
    """Chat messages with a weight on each of the assistant's."""

    def rows(self, sample: Sample) -> Iterator[Row]:
        messages, weights = self.converted(sample)
        for message, weight in zip(messages, weights, strict=True):
            if message.pop("reasoning_content", None):
                self.lost["reasoning"] += 1
            if weight is not None:
                message["weight"] = weight
        _cut_tail(messages)
        yield self.with_tools({"messages": messages}, sample.tools)


class HuggingFace(Chats):
    """For trainers without weights: a conversation if all of the assistant's messages train, else a prompt
    and its completion for each one that does."""

    def rows(self, sample: Sample) -> Iterator[Row]:
        messages, weights = self.converted(sample)
        if sample.prompt is not None:
            if weights == [1]:
                yield {"prompt": sample.prompt, "completion": messages[0]["content"]}
            return
        made = [hf_message(message) for message in messages]
        if 0 not in weights:
            yield self.with_tools({"messages": made}, sample.tools)
            return
        for place, weight in enumerate(weights):
            if weight:
                row = {"prompt": made[:place], "completion": [made[place]]}
                yield self.with_tools(row, sample.tools)


class Axolotl(Chats):
    """Chat messages, each with whether it trains (`message_field_training: train`)."""

    def rows(self, sample: Sample) -> Iterator[Row]:
        messages, weights = self.converted(sample)
        for message, weight in zip(messages, weights, strict=True):
            self.drop_images(message)
            message["content"] = flat(message["content"])
            message["train"] = weight == 1
        yield self.with_tools({"messages": messages}, sample.tools)

    def drop_images(self, message: Row) -> None:
        if isinstance(message.get("content"), list):
            self.lost["image"] += sum(part["type"] != "text" for part in message["content"])


class ShareGPT(Axolotl):
    """Turns of human and gpt, which must alternate; there are no weights."""

    def rows(self, sample: Sample) -> Iterator[Row]:
        messages, weights = self.converted(sample)
        untold = sum(weight == 0 for weight in weights)
        if untold:
            self.lost["weight 0"] += untold
        system: list[str] = []
        turns: list[Row] = []
        for message in messages:
            self.drop_images(message)
            if message.pop("reasoning_content", None):
                self.lost["reasoning"] += 1
            if message["role"] == "system" and not turns:
                system.append(flat(message["content"]))
                continue
            self._add(turns, message)
        row: Row = {"conversations": turns}
        if system:
            row["system"] = "\n".join(system)
        tools = self.chat.tools(sample.tools)
        if tools:
            row["tools"] = encode_value([tool["function"] for tool in tools]).decode()
        yield row

    def _add(self, turns: list[Row], message: Row) -> None:
        who, value = self._turn(message)
        if turns and who == turns[-1]["from"] and who in ("human", "observation"):
            turns[-1]["value"] += "\n" + value
            self.lost["border between messages"] += 1
        else:
            turns.append({"from": who, "value": value})

    def _turn(self, message: Row) -> tuple[str, str]:
        words = flat(message["content"])
        calls = message.get("tool_calls")
        if calls:
            if words:
                self.lost["text beside a tool call"] += 1
            made = [
                {"name": call["function"]["name"], "arguments": decoded(call["function"]["arguments"])}
                for call in calls
            ]
            return "function_call", encode_value(made[0] if len(made) == 1 else made).decode()
        if message["role"] == "system":
            self.lost["system message after the first"] += 1
        names = {"assistant": "gpt", "tool": "observation"}
        return names.get(message["role"], "human"), words


def hf_message(message: Row) -> Row:
    """As chat templates read it: arguments as objects, content never null, images as `image` parts."""
    made = {**message, "content": message.get("content") or ""}
    if isinstance(made["content"], list):
        made["content"] = [
            {"type": "image", "url": part["image_url"]["url"]} if part["type"] == "image_url" else part
            for part in made["content"]
        ]
    if "tool_calls" in made:
        made["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": decoded(call["function"]["arguments"])}}
            for call in made["tool_calls"]
        ]
    return made


def decoded(arguments: str) -> Any:
    try:
        return orjson.loads(arguments)
    except ValueError:
        return arguments


def _cut_tail(messages: list[Row]) -> None:
    """A row ends with what it trains: what follows the last trained message is read by nobody."""
    while messages and messages[-1].get("weight") != 1:
        messages.pop()


#: Forms of samples; those of pairs are in `lctl.training.preferences`, pages in `lctl.training.pages`.
FORMS: dict[str, Callable[[], Form]] = {
    "calls": Calls,
    "openai": OpenAI,
    "hf": HuggingFace,
    "axolotl": Axolotl,
    "sharegpt": ShareGPT,
}
