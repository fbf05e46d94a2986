"""The stream of a graph as a tool in it has it, by the tool's configuration: who hears tokens
(`stream_mode="messages"`), and where graphs within send their chunks (`subgraphs=True`).

What is sent is kept as [namespace, ..., the tool's own namespace]: a tool's place in its graph has another
name in every run. Nothing of LangGraph is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_STREAM, _NAMESPACE = "__pregel_stream", "checkpoint_ns"  # in `configurable`
_HANDLER = "StreamMessagesHandler"
_BETWEEN = "|"


def stream_of(config: Any) -> Any:
    """Of the graph around, if it streams what graphs within do."""
    return _configured(config, _STREAM)


def of_token(config: Any, handler: Any, meta: Any, message: Any) -> list[Any] | None:
    """What `repeat_token` takes; None where the handler is not one of a graph around the tool."""
    handlers = _handlers(config)
    if handler not in handlers:
        return None
    names, metadata = meta
    return [handlers.index(handler), _BETWEEN.join(names), dict(metadata), message, _namespace(config)]


def repeat_token(config: Any, value: list[Any]) -> None:
    at, names, metadata, message, then = value
    now, handlers = _namespace(config), _handlers(config)
    if at < len(handlers):
        moved = {name: _moved(one, then, now) for name, one in metadata.items()}
        handlers[at]._emit((_split(_moved(names, then, now)), moved), message)


def of_chunk(config: Any, chunk: Any) -> list[Any]:
    """What `repeat_chunk` takes."""
    names, mode, payload = chunk
    return [_BETWEEN.join(names), mode, payload, _namespace(config)]


def repeat_chunk(config: Any, value: list[Any]) -> None:
    names, mode, payload, then = value
    stream = stream_of(config)
    if stream is not None and mode in stream.modes:
        stream((_split(_moved(names, then, _namespace(config))), mode, payload))


def _moved(value: Any, then: str, now: str) -> Any:
    return value.replace(then, now) if then and isinstance(value, str) else value


def _split(names: str) -> tuple[str, ...]:
    return tuple(names.split(_BETWEEN)) if names else ()


def _configured(config: Any, name: str) -> Any:
    inside = config.get("configurable") if isinstance(config, Mapping) else None
    return inside.get(name) if isinstance(inside, Mapping) else None


def _namespace(config: Any) -> str:
    return str(_configured(config, _NAMESPACE) or "")


def _handlers(config: Any) -> list[Any]:
    """Those that hear of the tool, the outermost graph's first."""
    callbacks = config.get("callbacks") if isinstance(config, Mapping) else None
    found = getattr(callbacks, "handlers", callbacks) or ()
    return [one for one in found if any(cls.__name__ == _HANDLER for cls in type(one).__mro__)]
