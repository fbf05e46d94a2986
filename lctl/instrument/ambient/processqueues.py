"""Queues of `multiprocessing` (`Queue`, `JoinableQueue`, `SimpleQueue`): which process took which item.

Who is first at the pipe is the system's affair. So what the program's own code takes is noted, by its digest,
as a read; and in a rerun a process, and a thread of it, takes what it took: what is another's goes back into
the pipe.
"""

from __future__ import annotations

import pickle
import queue
import select
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from hashlib import blake2b
from io import BytesIO
from types import FrameType, ModuleType
from typing import Any, NamedTuple, NoReturn

import orjson

from lctl.clock import sleep
from lctl.instrument.ambient import reads, slots
from lctl.instrument.ambient.callers import own
from lctl.instrument.hooks import on_import
from lctl.session import border
from lctl.session.concurrency import lanes

_getframe = sys._getframe

#: Real seconds between two looks: at first, and where it is long in coming.
_SOON, _LATE = 0.0002, 0.05
#: So many bytes a pipe that can be written to takes without a wait.
_AT_ONCE = select.PIPE_BUF - 4 if hasattr(select, "PIPE_BUF") else 0


_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


#: Where a queue has what this process has taken early.
_KEPT = "_lctl_kept"


class _Got(NamedTuple):
    """An item, and its digest; none was there in time where that is empty."""

    item: Any
    digest: str


class _Last(threading.local):
    raw = b""


_last = _Last()


def install() -> None:
    slots.on_undo(on_import("multiprocessing.queues", _replace).remove)


def _replace(module: ModuleType) -> None:
    if not reads.active():
        return
    for kind in (module.Queue, module.SimpleQueue):
        for name, make in (("get", _get), ("get_nowait", _get_nowait)):
            if name in vars(kind):
                slots.replace(kind, name, slots.like(make(kind.get), vars(kind)[name]))
        for name in ("empty", "full", "qsize"):
            if name in vars(kind):
                slots.replace(kind, name, slots.like(_look(vars(kind)[name]), vars(kind)[name]))


def _get(real: Callable[..., Any]) -> Callable[..., Any]:
    def get(self: Any, *args: Any, **options: Any) -> Any:
        frame = own(_getframe(1))
        return real(self, *args, **options) if frame is None else _taken(self, frame, real, args, options)

    return get


def _get_nowait(real: Callable[..., Any]) -> Callable[..., Any]:
    def get_nowait(self: Any) -> Any:
        frame = own(_getframe(1))
        return real(self, False) if frame is None else _taken(self, frame, real, (False,), {})

    return get_nowait


def _look(real: Callable[[Any], Any]) -> Callable[[Any], Any]:
    key = f"Queue.{real.__name__}"

    def look(self: Any) -> Any:
        frame = own(_getframe(1))
        if frame is None:
            return real(self)
        return reads.read(border.ITEMS, key, frame, lambda: real(self), decode=lambda said: said[0])

    return look


def _taken(self: Any, frame: FrameType, real: Callable[..., Any], args: Any, options: Any) -> Any:
    def take() -> _Got:
        early = _early(self.__dict__.get(_KEPT, {}), "")
        if early is not None:  # behind the point of a fork
            return _Got(_loads(early), _digest(early))
        _watch(self)
        try:
            item = real(self, *args, **options)
        except queue.Empty:
            return _Got(None, "")
        return _Got(item, _digest(_last.raw))

    got = reads.read(border.ITEMS, "Queue.get", frame, take, lambda got: got.digest, partial(_awaited, self))
    if not got.digest:
        raise queue.Empty
    return got.item


def _watch(self: Any) -> None:
    """Have the bytes of an item kept that this thread takes."""
    holder, name = (self, "_recv_bytes") if hasattr(self, "_recv_bytes") else (self._reader, "recv_bytes")
    real = getattr(holder, name)
    if real.__name__ == "kept_bytes":
        return

    def kept_bytes(*args: Any) -> bytes:
        _last.raw = raw = real(*args)
        return raw  # type: ignore[no-any-return]

    setattr(holder, name, kept_bytes)


class _Plain(pickle.Unpickler):
    """Makes nothing that is of a class."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(name)


def _digest(raw: bytes) -> str:
    """Of what it says, where that is plain: two objects or one twice are other bytes. Else of the bytes:
    making the object may take something out of this process (a file, a lock)."""
    try:
        said = orjson.dumps(_Plain(BytesIO(raw)).load(), option=_OPTIONS)
    except Exception:
        said = raw
    return blake2b(said, digest_size=8).hexdigest()


# -- in a rerun ------------------------------------------------------------------------------


def _awaited(self: Any, said: tuple[str | None, Mapping[str, int]]) -> _Got:
    """The item of that digest, once it is there; for None, waits for ever. What this process is to take
    later it keeps, so that there is room for others."""
    digest, later = said
    if digest is None:
        _wait_for_ever()
    if not digest:
        return _Got(None, "")
    kept: dict[str, list[bytes]] = self.__dict__.setdefault(_KEPT, {})
    pause, seen = _SOON, set[str]()
    while (early := _early(kept, digest)) is None:
        with self._rlock:
            if kept.get(digest):  # another thread had it
                continue
            raw = self._reader.recv_bytes()
        found = _digest(raw)
        mine = kept.setdefault(found, [])
        if found == digest or len(mine) < later.get(found, 0):
            mine.append(raw)
            if hasattr(self, "_sem"):
                self._sem.release()
            continue
        _put_back(self, raw)
        pause = min(pause * 2, _LATE) if found in seen else _SOON
        seen.add(found)
        sleep(pause)
    return _Got(_loads(early), digest)


def _early(kept: dict[str, list[bytes]], digest: str) -> bytes | None:
    """Of that digest, or of any where it is empty; None where nothing was taken early."""
    for found in (digest,) if digest else tuple(kept):
        try:
            return kept[found].pop(0)
        except (KeyError, IndexError):
            pass
    return None


def _loads(raw: bytes) -> Any:
    return sys.modules["multiprocessing.reduction"].ForkingPickler.loads(raw)


def _put_back(self: Any, raw: bytes) -> None:
    """At the end: nothing else can be done with a pipe. Not counted, as its taking was not."""
    if len(raw) <= _AT_ONCE and select.select((), (self._writer,), (), 0)[1]:
        _send(self, raw)
        return
    token = lanes.enter(lanes.current().aside())
    try:  # who else reads it may be about to write, too; the process ends behind it
        threading.Thread(target=_send, args=(self, raw), daemon=False).start()
    finally:
        lanes.leave(token)


def _send(self: Any, raw: bytes) -> None:
    with self._wlock or nullcontext():
        self._writer.send_bytes(raw)


def _wait_for_ever() -> NoReturn:
    lock = threading.Lock()
    while True:
        lock.acquire()
