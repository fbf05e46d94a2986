"""litellm: mocked calls, which send nothing.

All others are read on the wire, whichever client makes them. Streams of its own clients it leaves open at
their end (before 1.110), so it is asked when that was. The prices that it fetches when it is imported are
read as any request of `lctl run`; how often it asks again in a thread of its own hangs on how long the
program lives, so that is no part of a recording, and a rerun does without. Which ids it draws for tool calls
is kept (`litellm_ids`), which of several deployments a router draws, and when it asks again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FrameType, ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import reads
from lctl.instrument.patches import PatchSet
from lctl.instrument.readout import stream_was_read
from lctl.instrument.structure import ModelCall
from lctl.session import border
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.runs.silence import REPORTED, end_silence, silence
from lctl.session.sources import SETTINGS
from lctl_integrations import litellm_ids

_MOCK = "a mocked call of litellm"
_STREAM = "the end of a stream of litellm"
_ROUTE = "what a router of litellm draws"
_PRICES = "litellm.litellm_core_utils.get_model_cost_map"
_AFTER = "_restore_consumer_correlation_context"  # of a stream, when its reader has gone; not before 1.106
_RUST = "litellm.router_rust.core"  # the router of 1.110, whose core is in Rust


class LiteLLM:
    """litellm 1.x."""

    name = "litellm"
    supported = ">=1.81,<2"
    modules = (
        "litellm.main",
        "litellm.router",
        _RUST,
        "litellm.litellm_core_utils.streaming_handler",
        _PRICES,
        *litellm_ids.MODULES,
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "litellm.main":
            patches.wrap(module, "mock_completion", _mocked)
        elif module.__name__ == "litellm.router":
            if hasattr(module, "simple_shuffle"):
                patches.wrap(module, "simple_shuffle", _chosen)
                patches.wrap(module, "Router._time_to_sleep_before_retry", _delay)
        elif module.__name__ == _RUST:
            patches.wrap(module, "_Driver._call", _sent)
            patches.wrap(module, "_sleep_seconds", _delay)
        elif module.__name__ in litellm_ids.MODULES:
            litellm_ids.patch(module, patches)
        elif module.__name__ == _PRICES:
            if hasattr(module, "_retry_remote_fetch_in_background"):  # versions before asked once
                patches.wrap(module, "_retry_remote_fetch_in_background", _asked_again)
        elif hasattr(module.CustomStreamWrapper, _AFTER):
            patches.wrap(module, f"CustomStreamWrapper.{_AFTER}", _read)
        else:
            patches.wrap(module, "CustomStreamWrapper.__next__", _next)
            patches.wrap(module, "CustomStreamWrapper.__anext__", _anext)


def _asked_again(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if border.player() is not None:
        return None
    token = silence(REPORTED)
    try:
        return wrapped(*args, **kwargs)
    finally:
        end_silence(token)


def _read(wrapped: Any, stream: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Called whenever a stream's reader has gone: at its end, just before it says so, sync and async."""
    with guard(_STREAM):
        guard.rehearse(_STREAM)
        if not kwargs.get("guarded"):
            _tell_read(stream)
    return wrapped(*args, **kwargs)


def _next(wrapped: Any, stream: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return wrapped(*args, **kwargs)
    except StopIteration:
        with guard(_STREAM):
            _tell_read(stream)
        raise


async def _anext(wrapped: Any, stream: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return await wrapped(*args, **kwargs)
    except StopAsyncIteration:
        with guard(_STREAM):
            _tell_read(stream)
        raise


def _tell_read(stream: Any) -> None:
    if getattr(stream, "sent_last_chunk", False) and stream.response_id:
        stream_was_read(stream.response_id)


def _chosen(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Around what a router draws one of several deployments with: whichever it is, the same in a rerun.
    Signature of the wrapped: (resolve_model_alias, healthy_deployments, model, request_kwargs)."""
    draw = partial(wrapped, *args, **kwargs)
    offered = args[1] if len(args) > 1 else kwargs.get("healthy_deployments")
    if not isinstance(offered, Sequence) or len(offered) < 2:
        return draw()

    def place(drawn: Any) -> int | None:
        return next((number for number, one in enumerate(offered) if one is drawn), None)

    def at(number: int | None) -> Any:
        return draw() if number is None or number >= len(offered) else offered[number]

    return reads.read(SETTINGS, "litellm router", sys._getframe(1), draw, place, at, always=True)


def _sent(wrapped: Any, driver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As `_chosen`, of a router that draws in Rust: around what makes the request to the drawn deployment.
    Signature of the wrapped: (step)."""
    step = args[0]
    with guard(_ROUTE):
        guard.rehearse(_ROUTE)
        step = _recorded(driver._core.registry(), step, sys._getframe(1))
    return wrapped(step)


def _recorded(registry: Any, step: Mapping[str, Any], frame: FrameType) -> Mapping[str, Any]:
    """The step to the recording's deployment, by its place in the router's list: ids hang on keys."""
    drawn, known = step.get("deployment_id"), registry.names(kind="ids")
    if len(step.get("candidate_ids") or ()) < 2 or drawn not in known:
        return step
    number = reads.read(SETTINGS, "litellm router", frame, partial(known.index, drawn), always=True)
    if number >= len(known) or known[number] == drawn:
        return step
    return {**step, "deployment_id": known[number], "deployment": registry.deployment_dict(known[number])}


def _delay(wrapped: Any, router: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Around what says in how many seconds a router asks again. There is chance in it, and of calls side by
    side it decides which asks first."""
    draw = partial(wrapped, *args, **kwargs)
    return reads.read(SETTINGS, "litellm retry", sys._getframe(1), draw, always=True)


def _mocked(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (model, messages, ..., mock_response=None, ...)."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        if get_session() is None:
            return None
        with guard(_MOCK):
            guard.rehearse(_MOCK)
            given = dict(zip(("model", "messages"), args, strict=False)) | kwargs
            return _Mocked(given)
        return None

    return wrapping.wrap(wrapped, begin)(*args, **kwargs)


class _Mocked(wrappedruns.Run):
    def __init__(self, given: Mapping[str, Any]) -> None:
        self._said = given.get("mock_response")
        self._call = ModelCall.begin(given.get("model"), given.get("messages"))

    def returned(self, value: Any) -> None:
        self._call.end(_text_of(value, self._said), usage=getattr(value, "usage", None))

    def failed(self, error: BaseException) -> None:
        self._call.end(error=error)


def _text_of(response: Any, otherwise: Any) -> Callable[[], Any]:
    def text() -> Any:
        choices = getattr(response, "choices", None)
        message = getattr(choices[0], "message", None) if choices else None
        said = getattr(message, "content", None)
        return said if said is not None else otherwise if isinstance(otherwise, str) else None

    return text
