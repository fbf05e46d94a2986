"""Answers nobody wrote: a pure function of a seed and of what the request says.

The same seed and prompt give the same answer whenever and in whatever order requests arrive, so a
program that calls models from many threads is still reproducible. Ids of earlier messages do not
count, what was said does.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from random import Random
from typing import Any

import orjson

from lctl.testing.replies import Reply, ToolCall
from lctl.testing.request import Request
from lctl.testing.schema import value_for

_ROUNDS = 3  # tool rounds after one user message; then the model answers in words


class Seeded:
    """Makes replies. With `fresh` every call gives another one, seed or not."""

    def __init__(self, seed: int, *, fresh: bool = False) -> None:
        self.seed = seed
        self.fresh = fresh

    def digest(self, *parts: Any) -> bytes:
        """32 bytes that depend on the seed and the parts only (or on nothing, when fresh)."""
        salt = os.urandom(16).hex() if self.fresh else ""
        return hashlib.sha256(orjson.dumps([self.seed, salt, *parts], default=str)).digest()

    def random(self, *parts: Any) -> Random:
        return Random(self.digest(*parts))

    def reply(self, request: Request, choice: int = 0) -> Reply:
        """The answer to a request for text, tools or structured output."""
        said = [(t.role, t.text, [c[1:] for c in t.calls], [r[1] for r in t.results]) for t in request.turns]
        schema = answer_schema(request.body)
        tools = request.schemas
        random = self.random(request.model, said, schema, tools, choice)
        words = topic_words(request.last_text)
        reasoning = prose(random, words, 2) if wants_reasoning(request.body, request.model) else None
        names = _called(request, list(tools), random)
        if names:
            calls = tuple(ToolCall(name, value_for(tools[name], random, words)) for name in names)
            return Reply(tool_calls=calls, reasoning=reasoning)
        if schema is not None:
            return Reply(json=value_for(schema, random, words), reasoning=reasoning)
        return _cut(prose(random, words, random.randint(2, 5)), request.body, reasoning)


def answer_schema(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The JSON Schema that the answer must fit; {} for "any JSON object"; None for plain text."""
    text = body.get("text")
    config = body.get("output_config")
    for form in (
        body.get("response_format"),
        text.get("format") if isinstance(text, dict) else None,
        config.get("format") if isinstance(config, dict) else None,
        body.get("output_format"),
    ):
        if isinstance(form, dict) and form.get("type") == "json_schema":
            schema = form.get("json_schema", form).get("schema")
            return schema if isinstance(schema, dict) else {}
        if isinstance(form, dict) and form.get("type") == "json_object":
            return {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    return None


def wants_reasoning(body: Mapping[str, Any], model: str) -> bool:
    """The request switches thinking on, or goes to a model that always thinks."""
    thinking = body.get("thinking")
    if isinstance(thinking, dict):
        return thinking.get("type") in ("enabled", "adaptive")
    asked = body.get("reasoning")
    effort = body.get("reasoning_effort") or (asked.get("effort") if isinstance(asked, dict) else None)
    if effort is not None:
        return bool(effort != "none")
    return asked is not None or re.match(r"(o\d|gpt-[5-9])", model) is not None


def topic_words(text: str) -> list[str]:
    """The longer words of a text, each once, in order."""
    return list(dict.fromkeys(re.findall(r"[A-Za-z_]{5,}", text)))[:24] or ["question", "answer"]


def prose(random: Random, words: list[str], sentences: int) -> str:
    """A few plain sentences around some of `words`."""
    said: list[str] = []
    for _ in range(sentences):
        first, second = random.sample(words, 2) if len(words) > 1 else words * 2
        sentence = random.choice(_SENTENCES).format(
            a=first, b=second, n=random.randint(2, 90), adj=random.choice(_ADJECTIVES)
        )
        said.append(sentence[0].upper() + sentence[1:])
    return " ".join(said)


def _called(request: Request, names: list[str], random: Random) -> list[str]:
    """Which of the tools the model calls now."""
    choice = request.body.get("tool_choice")
    kind = choice.get("type") if isinstance(choice, dict) else choice
    if not names or kind == "none":
        return []
    if isinstance(choice, dict) and kind in ("function", "tool"):
        return [choice.get("name") or choice["function"]["name"]]
    rounds = len(request.tool_results)
    chance = 0.8 if rounds == 0 else 0.35
    forced = kind in ("required", "any")
    if not forced and (rounds >= _ROUNDS or random.random() > chance):
        return []
    alone = request.body.get("parallel_tool_calls") is False or (
        isinstance(choice, dict) and bool(choice.get("disable_parallel_tool_use"))
    )
    count = 1 if alone or random.random() < 0.6 else 2
    return [random.choice(names) for _ in range(count)]


def _cut(text: str, body: Mapping[str, Any], reasoning: str | None) -> Reply:
    """The text, ended where the request's token limit ends it."""
    limit = body.get("max_completion_tokens") or body.get("max_output_tokens") or body.get("max_tokens")
    if isinstance(limit, int) and len(text) > limit * 4:
        return Reply(text[: limit * 4], reasoning=reasoning, finish_reason="length")
    return Reply(text, reasoning=reasoning)


_ADJECTIVES = ("clear", "likely", "narrow", "plain", "safe", "sound", "stable", "useful", "weak")
_SENTENCES = (
    "The {adj} reading of {a} rests on {b}.",
    "In {n} of the cases seen, {a} follows from {b}.",
    "I would check {a} first, then {b}.",
    "There is a {adj} link between {a} and {b}.",
    "{a} and {b} differ in {n} places.",
    "Nothing here contradicts {a}, and {b} is {adj}.",
    "A {adj} next step is to compare {a} with {b}.",
    "With {n} examples the picture of {a} becomes {adj}.",
)


def embedding(seed: int, model: str, text: str, dimensions: int) -> list[float]:
    """A unit vector; texts that share words lie near each other. Never fresh, as no real one is."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [""]:
        random = Random(hashlib.sha256(f"{seed}\0{model}\0{word}".encode()).digest())
        for _ in range(16):
            vector[random.randrange(dimensions)] += random.choice((-1.0, 1.0))
    length = sum(v * v for v in vector) ** 0.5 or 1.0
    return [v / length for v in vector]
