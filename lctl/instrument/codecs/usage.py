"""Token counts under one set of names, from every provider's usage object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# Parts of what was read and written, of OpenAI's chats, responses and Realtime.
_READ = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_WRITTEN = ("completion_tokens_details", "output_tokens_details", "output_token_details")
# Where each count stands, by precedence; a pair is (object, key inside it).
_PLACES: dict[str, tuple[tuple[str, str | None], ...]] = {
    "input": (("prompt_tokens", None), ("input_tokens", None)),
    "output": (("completion_tokens", None), ("output_tokens", None)),
    "cache_read": (
        ("prompt_tokens_details", "cached_tokens"),
        ("input_tokens_details", "cached_tokens"),
        ("input_token_details", "cached_tokens"),  # of OpenAI's Realtime
        ("cache_read_input_tokens", None),
        ("prompt_cache_hit_tokens", None),
        ("prompt_token_details", "cached_tokens"),  # Mistral
        ("cached_tokens", None),  # Moonshot, Together
    ),
    "cache_write": (
        ("cache_creation_input_tokens", None),
        ("prompt_tokens_details", "cache_write_tokens"),
        ("input_tokens_details", "cache_write_tokens"),
        ("prompt_tokens_details", "cache_creation_input_tokens"),  # Alibaba
    ),
    "reasoning": (
        ("completion_tokens_details", "reasoning_tokens"),
        ("output_tokens_details", "reasoning_tokens"),
        ("output_tokens_details", "thinking_tokens"),  # Anthropic
        ("reasoning_tokens", None),  # Perplexity
    ),
    "total": (("total_tokens", None),),
}
# What most calls have none of: the objects it may stand in, and its key there.
_RARE: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "cache_write_1h": ((("cache_creation",), "ephemeral_1h_input_tokens"),),  # Anthropic
    "input_audio": tuple(((outer,), "audio_tokens") for outer in _READ),
    "cache_read_audio": tuple(((outer, "cached_tokens_details"), "audio_tokens") for outer in _READ),
    "output_audio": tuple(((outer,), "audio_tokens") for outer in _WRITTEN),
    "output_image": tuple(((outer,), "image_tokens") for outer in _WRITTEN),
    "web_searches": ((("server_tool_use",), "web_search_requests"),),  # Anthropic
}
_OUTER = frozenset({"cache_creation", "server_tool_use", *_READ, *_WRITTEN})


def read_tokens(usage: Any, *, cache_apart: bool = False) -> dict[str, int] | None:
    """Counts that the provider reported, None when it reported none.

    Args:
        usage: the provider's usage object.
        cache_apart: `input` leaves cached tokens out there (Anthropic); here it holds them.
    """
    if not isinstance(usage, dict):
        return None
    tokens: dict[str, int] = {}
    if len(usage) == 3:
        # What most servers send: three numbers and no more.
        read, written, total = (
            usage.get("prompt_tokens"),
            usage.get("completion_tokens"),
            usage.get("total_tokens"),
        )
        if (
            type(read) is int
            and type(written) is int
            and type(total) is int
            and min(read, written, total) >= 0
        ):
            return {"input": read, "output": written, "total": total}
    for name, places in _PLACES.items():
        for outer, inner in places:
            value = usage.get(outer)
            if value is None:
                continue
            if inner is not None:
                value = value.get(inner) if isinstance(value, dict) else None
            count = _count(value)
            if count is not None:
                tokens[name] = count
                break
    if not _OUTER.isdisjoint(usage):
        tokens.update(_rare(usage))
    if cache_apart and "input" in tokens:
        tokens["input"] += tokens.get("cache_read", 0) + tokens.get("cache_write", 0)
    return tokens or None


def _count(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _rare(usage: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """What most calls have none of, and only where there is some of it."""
    for name, places in _RARE.items():
        for path, key in places:
            value: Any = usage
            for part in path:
                value = value.get(part) if isinstance(value, dict) else None
            count = _count(value.get(key)) if isinstance(value, dict) else None
            if count:
                yield name, count
                break


def count_modalities(usage: Any, places: Mapping[str, str]) -> dict[str, int]:
    """Of Google's lists of counts by modality (TEXT, AUDIO, IMAGE ...) what has a price of its own.

    Args:
        places: list -> the count whose part it is: input, cache_read, output.
    """
    found: dict[str, int] = {}
    for place, of in places.items():
        for one in usage.get(place) or () if isinstance(usage, dict) else ():
            if not isinstance(one, dict):
                continue
            kind, count = one.get("modality"), _count(one.get("tokenCount", one.get("tokens")))
            name = f"{of}_{kind.lower()}" if isinstance(kind, str) else ""
            if name in _RARE and count:
                found[name] = found.get(name, 0) + count
    return found


def sum_tokens(usage: Any, places: Mapping[str, Sequence[str]]) -> dict[str, int] | None:
    """Counts of providers that report apart what belongs together: each is the sum of what its places say.
    None where none is reported."""
    if not isinstance(usage, dict):
        return None
    tokens: dict[str, int] = {}
    for name, keys in places.items():
        counts = [usage[key] for key in keys if type(usage.get(key)) is int and usage[key] >= 0]
        if counts:
            tokens[name] = sum(counts)
    return tokens or None
