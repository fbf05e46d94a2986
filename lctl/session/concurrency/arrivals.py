"""Requests that come from outside to a server of the program's: each is answered in a lane of its own.

Its name is what is asked for, and how many asked for that before: `o/s<what>.<n>`, whichever connection it
comes by. Who records all that comes from outside is told of it when it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

from lctl.session.concurrency import framing, lanes, processes, talks
from lctl.session.concurrency.framing import Coming, Message
from lctl.session.concurrency.lane import Lane, Request

OUTSIDE = Lane("o")
_BELOW = f"{OUTSIDE.path}/"

_HEAD = re.compile(rb"[A-Z]{3,10} \S+ HTTP/1\.[01]\r\n")
#: What clients draw for each run (gradio's name a session by it) is not what they ask for.
_UUID = re.compile(rb"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.IGNORECASE)
#: How many counters a lane needs at most: a program may ask for a million things.
_KINDS = 4096

#: Is called where arrivals are recorded, with the addresses of client and server, what came (the last of it
#: cut off, where the client went away), a number for what is asked for, and how many asked for that so far.
tell: Callable[[Any, Any, Sequence[Message], bool, int, int], None] | None = None
#: Likewise, of what comes over the WebSockets that such requests open.
tell_said: talks.Tell | None = None
#: Whether one was.
any_told = False

#: What is not whole yet, by the addresses of client and server.
_coming: dict[tuple[str, int, int], _Arrival] = {}
#: The last that was whole, likewise.
_whole: dict[tuple[str, int, int], Request] = {}
#: So many are waited for at once: of a client that is gone the rest may never come. And so many are answered.
_MANY, _MANY_ANSWERED = 512, 8192
#: Larger ones are not kept: the program has them in memory, too, or wrote them to a file because it has not.
_LARGEST = 64 << 20


class _Arrival(Coming):
    __slots__ = ("asked", "number", "request")

    def __init__(self) -> None:
        super().__init__()
        self.asked = self.number = 0
        self.request: Request | None = None


def what(data: Any) -> int | None:
    """A number for what a request asks for, of its first bytes; None if they begin none."""
    head = _HEAD.match(memoryview(data)[: framing.LONGEST])
    if head is None:
        return None
    asked = _UUID.sub(b"", head[0])
    return int.from_bytes(blake2b(asked, digest_size=4).digest()) % _KINDS


def receive(client: Any, server: Any, data: Any) -> None:
    """`data` came from outside: begin its request, or go on with it. Where nobody is told of it, each piece
    that looks like a request's first one is."""
    if tell is None:
        asked = what(data)
        if asked is not None:
            enter(lane_of(asked, *_line(data)))
        return
    key = _key(client, server)
    if talks.are_any() and tell_said is not None and talks.receive(key, data, tell_said):
        return
    coming = _coming.get(key)
    if coming is None:
        if not framing.may_begin(data):
            return
        coming = _coming[key] = _Arrival()
        if len(_coming) > _MANY:
            _coming.pop(next(iter(_coming)), None)  # the one that began first
    whole = coming.feed(data)
    if not coming.number and not _begin(coming):
        if not framing.may_begin(coming.data):
            _coming.pop(key, None)
    elif len(coming.data) > _LARGEST:
        _coming.pop(key, None)
    elif whole:
        _coming.pop(key, None)
        tell(client, server, coming.found, False, coming.asked, coming.number)
        if coming.beyond is not None:
            _open(key, coming, coming.beyond)
        else:
            _keep(key, coming.request)


def _open(key: tuple[str, int, int], coming: _Arrival, beyond: bytes) -> None:
    """The last of the requests asks for a WebSocket. A client waits until the server has opened it."""
    method, target = coming.found[-1].head.split(b" ", 2)[:2]
    lane = OUTSIDE.path_of(coming.asked, coming.number)
    talks.begin(key, f"{method.decode()} {target.decode('latin-1')}", lane, _LARGEST)
    if beyond and tell_said is not None:
        talks.receive(key, beyond, tell_said)


def _begin(coming: _Arrival) -> bool:
    """Whether its first line is there; it is answered in a lane of its own from now on."""
    asked = what(coming.data)
    if asked is None:
        return False
    request = lane_of(asked, *_line(coming.data))
    coming.asked, coming.number, coming.request = asked, request.index, request
    enter(request)
    return True


def _keep(key: tuple[str, int, int], request: Request | None) -> None:
    if request is not None:
        _whole[key] = request
        if len(_whole) > _MANY_ANSWERED:
            _whole.pop(next(iter(_whole)), None)


def answered(client: Any, server: Any) -> Request | None:
    """The request that came last over a connection that is lost now."""
    return _whole.pop(_key(client, server), None)


def _line(data: Any) -> tuple[str, str]:
    """Method and target of a request whose first line is there."""
    method, target = bytes(data[: framing.LONGEST]).split(b" ", 2)[:2]
    return method.decode(), target.decode("latin-1")


def lane_of(what: int, method: str, target: str, number: int | None = None) -> Request:
    """The lane of what answers the next request for `what` (or the `number`th)."""
    request = OUTSIDE.request(what, number)
    request.asked = f"{method} {target.partition('?')[0]}"  # nobody knows what follows a question mark
    return request


def end(client: Any, server: Any, is_reset: bool = False) -> None:
    """No more comes over that connection. `is_reset`: the client has broken it off."""
    key = _key(client, server)
    if talks.are_any():
        talks.end(key, is_reset, tell_said)
    coming = _coming.pop(key, None)
    rest = None if coming is None else coming.rest()
    if coming is not None and rest is not None and tell is not None:
        tell(client, server, [*coming.found, rest], True, coming.asked, coming.number)


def forget(client: Any, server: Any) -> None:
    """A connection begins, or is closed here: what came from that address before was another one's."""
    key = _key(client, server)
    _coming.pop(key, None)
    _whole.pop(key, None)
    talks.forget(key)


def is_talk(client: Any, server: Any) -> bool:
    """Whether that connection is a WebSocket, or is asked to become one."""
    return talks.are_any() and talks.has(_key(client, server))


def _key(client: Any, server: Any) -> tuple[str, int, int]:
    return client[0], client[1], server[1]


def answered_in(lane: Lane) -> Request | None:
    """The request from outside that is answered by what is done in that lane, and in those above."""
    at: Lane | None = lane if lane.path.startswith(_BELOW) else None
    while at is not None and type(at) is not Request:
        at = at.parent
    return at


def enter(request: Request) -> None:
    """What this thread or connection does from now on answers `request`."""
    here = lanes.raw()
    request.under = here.under if type(here) is Request else here
    lanes.enter(request)


processes.renewals += (_coming.clear, _whole.clear)
