"""What a tool of ag2 does beside its result: events it sends to the stream of the conversation (a human's
answer to `context.input` is one), messages it puts into its inbox, and what it changes of the variables and
the dependencies. On the tape with its call; a rerun, which does not run the tool, does it again.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import Any

from lctl.faithful import Unfaithful, decode, encode
from lctl.guard import guard
from lctl.session.concurrency import lanes
from lctl.session.tooling.toolruns import ToolRun

_DONE = "what a tool of ag2 does beside its result"
_SENT, _ENQUEUED = "sent", "enqueued"
#: Events by which agents and tools work: what comes of them is recorded as such.
_WORK = (
    "ModelRequest",
    "ModelResponse",
    "ToolCallEvent",
    "ToolCallsEvent",
    "ToolResultEvent",
    "ToolResultsEvent",
)
#: A question to a human: who answers it is not asked again, and sends the answer as an event of its own.
_QUESTION = "HumanInputRequest"


@dataclass
class Event:
    """One of ag2's, with what is in it: for the tape."""

    kind: type
    fields: dict[str, Any]


class Doings:
    """Of one call of a tool.

    Attributes:
        done: [kind, value] of each, in order; a served call fills it with the recorded ones.
        run: the call, once it has begun.
    """

    def __init__(self, context: Any) -> None:
        self.done: list[list[Any]] = []
        self.run: ToolRun | None = None
        self._context = context
        self._token: Token[Doings | None] | None = None

    @property
    def beside(self) -> tuple[Any, ...]:
        """The containers are in a list, so that what cannot be kept of one is no hindrance."""
        return self.done, [self._context.variables, self._context.dependencies]

    def is_of(self, context: Any) -> bool:
        return context.stream is self._context.stream

    def note(self, kind: str, value: Any) -> None:
        with guard(_DONE):
            try:
                self.done.append([kind, decode(encode(_kept(value)))])  # as it is now
            except Unfaithful:
                pass

    def __enter__(self) -> None:
        self._token = _running.set(self)

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            _running.reset(self._token)

    async def repeat(self) -> None:
        """In a rerun, where the body has not run."""
        if self.run is None or self.run.served is None or not self.done:
            return
        place = lanes.enter(self.run.around())
        try:
            with guard(_DONE):
                for kind, value in self.done[:]:
                    if kind == _SENT:
                        await self._context.send(_made(value))
                    elif kind == _ENQUEUED:
                        self._context.enqueue(*_made(value))
        finally:
            lanes.leave(place)


#: The call of a tool in whose body the running code is.
_running: ContextVar[Doings | None] = ContextVar("lctl_ag2_doings", default=None)


async def sent(wrapped: Any, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`ConversationContext.send(event)`. What those who hear of an event send is sent again by them."""
    doings = _running.get()
    event = args[0] if args else kwargs.get("event")
    if doings is None or not doings.is_of(context) or _is_a(event, _QUESTION):
        return await wrapped(*args, **kwargs)
    if not _is_a(event, *_WORK):
        doings.note(_SENT, event)
    token = _running.set(None)
    try:
        return await wrapped(*args, **kwargs)
    finally:
        _running.reset(token)


def enqueued(wrapped: Any, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`ConversationContext.enqueue(*content)`, which tells of it by an event."""
    doings = _running.get()
    if doings is None or not doings.is_of(context):
        return wrapped(*args, **kwargs)
    doings.note(_ENQUEUED, list(args))
    token = _running.set(None)
    try:
        return wrapped(*args, **kwargs)
    finally:
        _running.reset(token)


def _is_a(event: Any, *names: str) -> bool:
    return any(cls.__name__ in names for cls in type(event).__mro__)


def _kept(value: Any) -> Any:
    if isinstance(value, list):
        return [_kept(item) for item in value]
    if isinstance(value, dict):
        return {key: _kept(item) for key, item in value.items()}
    if isinstance(value, sys.modules["ag2.events.base"].BaseEvent):
        return Event(type(value), _kept(vars(value)))
    return value


def _made(value: Any) -> Any:
    if isinstance(value, list):
        return [_made(item) for item in value]
    if isinstance(value, dict):
        return {key: _made(item) for key, item in value.items()}
    if isinstance(value, Event):
        event: Any = object.__new__(value.kind)
        event.__dict__.update(_made(value.fields))
        return event
    return value
