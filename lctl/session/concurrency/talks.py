"""WebSockets that somebody outside opened to servers of the program's: what comes over each.

What opens one is a request (`arrivals`); all that is said over it is answered in the lane of that. Who
records all that comes from outside is told of each message when it is whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lctl.session.concurrency import framing, processes
from lctl.session.concurrency.frames import BINARY, CLOSE, PING, PONG, TEXT, Frames, Said, Unreadable

#: Kinds beside the opcodes of messages: the client has gone; nothing of it is read any more.
GONE, UNREAD = 256, 257
#: How the log names them.
KINDS = {
    TEXT: "text",
    BINARY: "binary",
    CLOSE: "close",
    PING: "ping",
    PONG: "pong",
    GONE: "gone",
    UNREAD: "unread",
}
#: Data of GONE where the client broke it off.
RESET = b"reset"

#: Is called where arrivals are recorded, with the first line of the request that opened the connection, the
#: path of its lane, and what was said.
Tell = Callable[[str, str, Said], None]

_Key = tuple[str, int, int]
_open: dict[_Key, _Talk] = {}
#: In a rerun: the lanes of those that are opened again.
again: set[str] = set()
#: In a rerun: whether some were open when the recorded server was ended.
were_open = False
#: Whether the server has begun to close them, as it ends.
are_ending = False
#: In a rerun: is called then, before the server does anything else.
on_ending: Callable[[], object] | None = None
#: Is called, where that is recorded, with the signal that ends a server before it closes them.
on_end: Callable[[str], object] | None = None


class _Talk:
    """One that is open.

    Attributes:
        is_begun: something has come since it was asked for.
    """

    __slots__ = ("frames", "is_begun", "over", "target")

    def __init__(self, target: str, over: str, largest: int) -> None:
        self.target = target
        self.over = over
        self.frames = Frames(largest)
        self.is_begun = False


def are_any() -> bool:
    """Whether one is open that somebody outside has asked for."""
    return bool(_open)


def are_open() -> bool:
    """As `are_any`, or a rerun has."""
    return bool(_open or again)


def has(key: _Key) -> bool:
    """Whether that connection is."""
    return key in _open


def begin(key: _Key, target: str, over: str, largest: int) -> None:
    """A request asks for one: `target` names it, `over` its lane."""
    _open[key] = _Talk(target, over, largest)


def receive(key: _Key, data: Any, tell: Tell) -> bool:
    """Whether `data` was said over one that is open. Where the server has not opened it, requests go on."""
    talk = _open.get(key)
    if talk is None:
        return False
    if not talk.is_begun:
        if framing.may_begin(data):
            _open.pop(key, None)
            return False
        talk.is_begun = True
    try:
        for said in talk.frames.feed(data):
            tell(talk.target, talk.over, said)
    except Unreadable as error:
        _open.pop(key, None)
        tell(talk.target, talk.over, Said(UNREAD, str(error).encode()))
    return True


def end(key: _Key, is_reset: bool, tell: Tell | None) -> None:
    """No more comes over that connection."""
    talk = _open.pop(key, None)
    if talk is not None and tell is not None:
        tell(talk.target, talk.over, Said(GONE, RESET if is_reset else b""))


def forget(key: _Key) -> None:
    """The connection is closed by the server."""
    _open.pop(key, None)


processes.renewals += (_open.clear,)
