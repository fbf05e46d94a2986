"""Where items come from that processes share: pipes of `multiprocessing`'s queues, and queues of managers.

In a rerun a process takes from there what it took when it was recorded (`awaited`). What it is to take later
it keeps, so that there is room for others; what is another's it puts back, at the end: nothing else can be
done with a pipe.
"""

from __future__ import annotations

import pickle
import queue
import select
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from hashlib import blake2b
from io import BytesIO
from typing import Any, NamedTuple, NoReturn, Protocol

import orjson

from lctl.clock import sleep
from lctl.session.concurrency import lanes

#: Real seconds between two looks: at first, and where it is long in coming.
_SOON, _LATE = 0.0002, 0.05
#: So many bytes a pipe that can be written to takes without a wait.
_AT_ONCE = select.PIPE_BUF - 4 if hasattr(select, "PIPE_BUF") else 0
#: Where a queue has what this process has taken early.
_KEPT = "_lctl_kept"
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


class Got(NamedTuple):
    """An item, and its digest; none was there in time where that is empty."""

    item: Any
    digest: str


class Source(Protocol):
    """Of the items of one queue, pickled.

    Attributes:
        queue: the program's.
        lock: that whoever takes one holds.
    """

    queue: Any
    lock: Any

    def take(self) -> bytes:
        """Waits for one; it does not count as taken."""
        ...

    def count(self) -> None:
        """It does."""
        ...

    def put_back(self, raw: bytes) -> None: ...

    def settle(self, keep: Callable[[bytes], bool]) -> None:
        """Return when all that was put back can be taken by others. `keep`: keeps what is not for them."""
        ...


class Pipe:
    """Of a `Queue`, `JoinableQueue` or `SimpleQueue`."""

    def __init__(self, of: Any) -> None:
        self.queue = of
        self.lock = of._rlock

    def take(self) -> bytes:
        raw: bytes = self.queue._reader.recv_bytes()
        return raw

    def count(self) -> None:
        if hasattr(self.queue, "_sem"):
            self.queue._sem.release()

    def put_back(self, raw: bytes) -> None:
        if len(raw) <= _AT_ONCE and select.select((), (self.queue._writer,), (), 0)[1]:
            self._send(raw)
            return
        token = lanes.enter(lanes.current().aside())
        try:  # who else reads it may be about to write, too; the process ends behind it
            threading.Thread(target=self._send, args=(raw,), daemon=False).start()
        finally:
            lanes.leave(token)

    def settle(self, keep: Callable[[bytes], bool]) -> None:
        pass  # it is, or will be

    def _send(self, raw: bytes) -> None:
        with self.queue._wlock or nullcontext():
            self.queue._writer.send_bytes(raw)


class Managed:
    """Of a queue that a manager has.

    Args:
        call: of its proxy, a method.
    """

    def __init__(self, proxy: Any, call: Callable[..., Any]) -> None:
        self.queue = proxy
        self.lock = nullcontext()
        self._call = call
        self._back: list[bytes] = []  # for which there is no room yet

    def take(self) -> bytes:
        while self._back and not self._has_room():
            try:
                return dumps(self._call(self.queue, "get", (False,)))
            except queue.Empty:
                sleep(_SOON)
        return dumps(self._call(self.queue, "get"))

    def count(self) -> None:
        pass

    def put_back(self, raw: bytes) -> None:
        self._back.append(raw)
        self._has_room()

    def settle(self, keep: Callable[[bytes], bool]) -> None:
        """Who puts may always be faster, and others may do as this one does: so more is taken."""
        while not self._has_room():
            try:
                raw = dumps(self._call(self.queue, "get", (False,)))
                if not keep(raw):
                    self._back.append(raw)
            except queue.Empty:
                pass
            sleep(_SOON)

    def _has_room(self) -> bool:
        """Whether all of it is back."""
        while self._back:
            try:
                self._call(self.queue, "put", (loads(self._back[0]), False))
            except queue.Full:
                return False
            del self._back[0]
        return True


def awaited(source: Source, said: tuple[str | None, Mapping[str, int]]) -> Got:
    """The item of a digest, once it is there; for None, waits for ever.

    Args:
        said: as of `sources.ITEMS`.
    """
    digest, later = said
    if digest is None:
        _wait_for_ever()
    if not digest:
        return Got(None, "")
    kept: dict[str, list[bytes]] = source.queue.__dict__.setdefault(_KEPT, {})
    pause, seen, wanted = _SOON, set[str](), {digest}

    def keep(raw: bytes) -> bool:
        found = digest_of(raw)
        mine = kept.setdefault(found, [])
        if found not in wanted and len(mine) >= later.get(found, 0):
            return False
        mine.append(raw)
        return True

    while (early := _early(kept, digest)) is None:
        with source.lock:
            if kept.get(digest):  # another thread had it
                continue
            raw = source.take()
        if keep(raw):
            source.count()
            continue
        source.put_back(raw)
        found = digest_of(raw)
        pause = min(pause * 2, _LATE) if found in seen else _SOON
        seen.add(found)
        sleep(pause)
    wanted.clear()  # it is there: another one of that digest is another's
    source.settle(keep)
    return Got(loads(early), digest)


def taken_early(source: Source) -> Got | None:
    """What this process has taken early, for who goes on behind the point of a fork."""
    early = _early(source.queue.__dict__.get(_KEPT, {}), "")
    return None if early is None else Got(loads(early), digest_of(early))


def _early(kept: dict[str, list[bytes]], digest: str) -> bytes | None:
    """Of that digest, or of any where it is empty; None where nothing was taken early."""
    for found in (digest,) if digest else tuple(kept):
        try:
            return kept[found].pop(0)
        except (KeyError, IndexError):
            pass
    return None


def _wait_for_ever() -> NoReturn:
    lock = threading.Lock()
    while True:
        lock.acquire()


def loads(raw: bytes) -> Any:
    return sys.modules["multiprocessing.reduction"].ForkingPickler.loads(raw)


def dumps(item: Any) -> bytes:
    return bytes(sys.modules["multiprocessing.reduction"].ForkingPickler.dumps(item))


class _Plain(pickle.Unpickler):
    """Makes nothing that is of a class."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(name)


def digest_of(raw: bytes) -> str:
    """Of what it says, where that is plain: two objects or one twice are other bytes. Else of the bytes:
    making the object may take something out of this process (a file, a lock)."""
    try:
        said = orjson.dumps(_Plain(BytesIO(raw)).load(), option=_OPTIONS)
    except Exception:
        said = raw
    return blake2b(said, digest_size=8).hexdigest()
