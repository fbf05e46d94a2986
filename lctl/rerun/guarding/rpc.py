"""gRPC's calls in a rerun. Its sockets are C's own, of which Python tells no audit hook: each call is told as
the connection that it needs, and refused or let through as any other.

What OpenTelemetry's exporter sends is let be: it is no part of what the program does.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.rerun.guarding.unheard import Unheard

_CALLS = {
    "grpc._channel": (
        "_UnaryUnaryMultiCallable.__call__",
        "_UnaryUnaryMultiCallable.with_call",
        "_UnaryUnaryMultiCallable.future",
        "_SingleThreadedUnaryStreamMultiCallable.__call__",
        "_UnaryStreamMultiCallable.__call__",
        "_StreamUnaryMultiCallable.__call__",
        "_StreamUnaryMultiCallable.with_call",
        "_StreamUnaryMultiCallable.future",
        "_StreamStreamMultiCallable.__call__",
    ),
    "grpc.aio._channel": (
        "UnaryUnaryMultiCallable.__call__",
        "UnaryStreamMultiCallable.__call__",
        "StreamUnaryMultiCallable.__call__",
        "StreamStreamMultiCallable.__call__",
    ),
}
_TELEMETRY = "/opentelemetry.proto.collector."


def rpcs() -> Unheard:
    """What tells of the calls."""
    return Unheard(_CALLS, _patch)


def _patch(module: ModuleType, patches: PatchSet) -> None:
    for name in _CALLS[module.__name__]:
        if hasattr(module, name.partition(".")[0]):
            patches.wrap(module, name, _called)


def _called(wrapped: Any, callable: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    method = _text(getattr(callable, "_method", ""))
    if not method.startswith(_TELEMETRY):
        sys.audit("socket.connect", None, _address(_target(callable)))
    return wrapped(*args, **kwargs)


def _target(callable: Any) -> str:
    """As the channel was given it: `host:port`, `dns:///host:port`, `unix:path`."""
    told = getattr(callable, "_target", None)
    if told is None:  # of an asynchronous one the channel knows
        told = getattr(getattr(callable, "_channel", None), "target", "gRPC")
    return _text(told)


def _address(target: str) -> tuple[str, int] | str:
    if target.startswith("unix:"):
        return target.removeprefix("unix:")
    host, colon, port = target.rpartition("/")[2].rpartition(":")
    return (host.strip("[]"), int(port)) if colon and port.isdigit() else (port, 443)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
