"""Counts of tokens, as providers and tracing tools name them."""

from __future__ import annotations

from typing import Any

from lctl.importing.values import mapping
from lctl.spans import conventions as names

_INPUT = ("input", "input_tokens", "prompt_tokens", "promptTokens")
_OUTPUT = ("output", "output_tokens", "completion_tokens", "completionTokens")
_TOTAL = ("total", "total_tokens", "totalTokens")
_PARTS = {
    names.CACHE_READ: ("input_cached_tokens", "cache_read_input_tokens", "input_cache_read"),
    names.CACHE_WRITE: (
        "input_cache_write", "cache_creation_input_tokens", "input_cache_creation",
    ),
    names.REASONING: ("output_reasoning_tokens", "output_reasoning"),
}  # fmt: skip
#: Where OpenAI tells how much of a count was what: it is part of the count then.
_DETAILS = {
    names.CACHE_READ: (("prompt_tokens_details", "input_tokens_details"), "cached_tokens"),
    names.REASONING: (("completion_tokens_details", "output_tokens_details"), "reasoning_tokens"),
}


def counts_of(usage: dict[str, Any]) -> dict[str, int]:
    """Attributes of a span for what a usage says, `input` with all that the model read.

    Langfuse and Anthropic count what was read from a cache beside `input`, OpenAI in it. A total says which
    it is; without one the names do.
    """
    held = {key: value for key, value in usage.items() if type(value) is int}
    found: dict[str, int] = {}
    for name, keys in {names.INPUT_TOKENS: _INPUT, names.OUTPUT_TOKENS: _OUTPUT, **_PARTS}.items():
        known = next((held[key] for key in keys if key in held), None)
        if known is not None:
            found[name] = known
    for name, (places, key) in _DETAILS.items():
        known = next((mapping(usage.get(place)).get(key) for place in places if place in usage), None)
        if type(known) is int:
            found.setdefault(name, known)
    if names.INPUT_TOKENS in found and _is_beside(held, found):
        for name, keys, whole in (
            (names.INPUT_TOKENS, _INPUT, ("input_", "cache_")),
            (names.OUTPUT_TOKENS, _OUTPUT, ("output_",)),
        ):
            rest = sum(n for key, n in held.items() if key.startswith(whole) and key not in keys)
            if name in found:
                found[name] += rest
    return found


def _is_beside(held: dict[str, int], found: dict[str, int]) -> bool:
    """Whether its parts are counted beside `input` and `output`, not in them."""
    if "prompt_tokens" in held or "promptTokens" in held:
        return False
    total = next((held[key] for key in _TOTAL if key in held), None)
    return total is None or total != found[names.INPUT_TOKENS] + found.get(names.OUTPUT_TOKENS, 0)
