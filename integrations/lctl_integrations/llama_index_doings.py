"""What tools of llama-index do with the workflow's context, which is part of what they give.

What such a tool leaves in the store, writes to the stream and sends to other steps is on the tape with its
result, and so is what it waits for: in a rerun its body does not run, and the workflow hears of it all the
same.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import orjson

from lctl.guard import guard
from lctl.instrument.structure import step_aside
from lctl.session.concurrency import lanes
from lctl.session.faithful import Unfaithful, decode, encode
from lctl.session.tooling.toolruns import ToolRun

_STATE = "what a tool of LlamaIndex leaves in the store"
_FRAMEWORK = "llama_index.core."
#: What is in a store, by key, with its JSON if it is plain; the rest is looked at where it may have changed.
_State = dict[str, tuple[Any, bytes | None]]


class Doings:
    """What one call of a tool does with the context that it was given, if it takes one.

    Attributes:
        done: "state": what it leaves in the store, by key; "removed": keys that it takes from there;
            "edited": it has edited the store as a whole, by which all that is in there is copied; "told":
            the calls by which it writes to the stream or sends events: [method, args, kwargs].
        run: the call, once it has begun.
        put: keys that it has set.
    """

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx
        self.done: dict[str, Any] = {}
        self.run: ToolRun | None = None
        self.put: set[str] = set()

    async def watched(self, wrapped: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.ctx is None:
            try:
                return await wrapped(*args, **kwargs)
            except BaseException as error:
                step_aside(error)
                raise
        before = await self._state()
        token = _doing.set(self)
        try:
            value = await wrapped(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            if isinstance(error, Exception):
                await self._note(before)
            raise
        finally:
            _doing.reset(token)
        await self._note(before)
        return value

    async def _note(self, before: _State) -> None:
        after = await self._state()
        with guard(_STATE):
            changed = {key: _kept(*now) for key, now in after.items() if self._is_new(key, before, now)}
            if changed:
                self.done["state"] = changed
            if after and (removed := [key for key in before if key not in after]):
                self.done["removed"] = removed

    def _is_new(self, key: str, before: _State, now: tuple[Any, bytes | None]) -> bool:
        if key not in before or key in self.put:
            return True
        value, text = before[key]
        if text is not None or now[1] is not None:
            return text != now[1]
        if "edited" in self.done:
            return bool(_code(value) != _code(now[0]))
        return value is not now[0]

    def tell(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.done.setdefault("told", []).append([method, list(args), dict(kwargs)])

    async def done_again(self) -> None:
        """In a rerun, where the body has not run."""
        if self.ctx is None or self.run is None or self.run.served is None:
            return
        changed, removed = self.done.get("state", {}), self.done.get("removed", ())
        if removed or "edited" in self.done:
            async with self.ctx.store.edit_state() as state:
                for key in removed:
                    # `del state[key]` finds no `__delitem__`.
                    del state._data[key]
                for key, value in changed.items():
                    setattr(state, key, value)
        else:
            for key, value in changed.items():
                await self.ctx.store.set(key, value)
        lane = lanes.enter(self.run.around())
        try:
            for method, args, kwargs in self.done.get("told", ()):
                getattr(self.ctx, method)(*args, **kwargs)
        finally:
            lanes.leave(lane)

    async def _state(self) -> _State:
        with guard(_STATE):
            state = await self.ctx.store.get_state()
            fields = getattr(state, "_data", None) or dict(state)
            return {key: (value, _text(value)) for key, value in fields.items() if not _is_theirs(value)}
        return {}


#: The call of a tool in whose body the running code is.
_doing: ContextVar[Doings | None] = ContextVar("lctl_llama_index_doings", default=None)


def told(wrapped: Any, ctx: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Around the methods of a context that tell a workflow's steps or its caller of an event."""
    doings = _doing.get()
    if doings is not None and doings.ctx is ctx:
        with guard(_STATE):
            doings.tell(wrapped.__name__, args, kwargs)
    return wrapped(*args, **kwargs)


def edited(wrapped: Any, store: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Around `edit_state` of a store."""
    doings, editing = _doing.get(), wrapped(*args, **kwargs)
    return editing if doings is None else _noted(editing, doings)


@asynccontextmanager
async def _noted(editing: Any, doings: Doings) -> AsyncIterator[Any]:
    """An edit that raises is none: the store keeps what it had, and copies nothing."""
    async with editing as state:
        yield state
    doings.done["edited"] = True


def put(wrapped: Any, store: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Around `set` of a store. Signature of the wrapped: (path, value)."""
    doings = _doing.get()
    if doings is not None:
        with guard(_STATE):
            doings.put.add(str(args[0] if args else kwargs["path"]).partition(".")[0])
    return wrapped(*args, **kwargs)


def _text(value: Any) -> bytes | None:
    return orjson.dumps(value) if _is_plain(value) else None


def _code(value: Any) -> Any:
    """JSON for it; None where there is none."""
    try:
        return encode(value)
    except Unfaithful:
        return None


def _kept(value: Any, text: bytes | None) -> Any:
    """As it is now. Of what cannot be kept, itself: the call is then one that a rerun makes again."""
    if text is not None:
        return orjson.loads(text)
    code = _code(value)
    return value if code is None else decode(code)


def _is_theirs(value: Any) -> bool:
    """Whether it is the framework's own, as the memory, and messages so far: no tool's, and large."""
    if isinstance(value, list):
        return bool(value) and _is_theirs(value[0])
    return type(value).__module__.startswith(_FRAMEWORK)


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and _is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, str | int | float | bool)
