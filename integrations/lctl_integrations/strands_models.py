"""Strands' model calls, which stand in the log where no exchange is seen beneath them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.guard import guard
from lctl.instrument.readout import stream_was_read
from lctl.instrument.structure import ModelCall
from lctl.session import jsonable
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping

_MODEL = "a model call of Strands"


def asked_model(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (model, system_prompt, messages, tool_specs, ...)."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        if get_session() is None:
            return None
        with guard(_MODEL):
            guard.rehearse(_MODEL)
            return _Asked(dict(zip(("model", "system_prompt", "messages"), args, strict=False)) | kwargs)
        return None

    return wrapping.wrap(wrapped, begin)(*args, **kwargs)


class _Asked(wrappedruns.Run):
    """One call of a model."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        config = given["model"].get_config() or {}
        found = config.get("model_id") if isinstance(config, dict) else None
        self._call = ModelCall.begin(
            str(found or type(given["model"]).__name__),
            lambda: _prompt(given.get("system_prompt"), given.get("messages") or []),
        )
        self._last: Any = None

    def yielded(self, value: Any) -> None:
        self._last = value

    def returned(self, value: Any) -> None:
        stream_was_read()  # of the Responses API, Strands leaves it at its last event, and does not close it
        stop = self._last.get("stop") if isinstance(self._last, dict) else None
        if stop is None:
            self._call.end()
        else:
            self._call.end(lambda: _message(stop[1]), usage=_tokens(stop[2]))

    def failed(self, error: BaseException) -> None:
        self._call.end(error=error)


_TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadInputTokens",
    "cache_write": "cacheWriteInputTokens",
}


def _tokens(usage: Mapping[str, int]) -> dict[str, int]:
    return {name: usage[key] for name, key in _TOKENS.items() if key in usage}


def _prompt(system: Any, messages: list[Any]) -> list[dict[str, Any]]:
    first = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    return [*first, *(_message(message) for message in messages)]


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """As Bedrock's Converse has it, which is Strands' own form."""
    return {"role": message["role"], "content": jsonable.plain(message["content"])}
