"""What a process that another one started does for it as a server, and how it is ended when all is answered.

A server that is started anew for each change (Django's, Flask's) waits for the process that answers, and
does as that did. One that has workers is ended, and ends those. Several workers answer at one socket, and
who is first there is the system's affair: in a rerun each has a socket of its own in its place.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lctl.rerun.exactness import results
from lctl.rerun.guarding import keyboard
from lctl.rerun.tape import siblings
from lctl.rerun.tape.tape import Tape
from lctl.session import ownports
from lctl.session.concurrency import processes
from lctl.session.sources import REQUEST

if TYPE_CHECKING:
    from socket import socket

#: The exit code by which servers that watch their own files ask to be started anew.
_ANEW = 3


@dataclass(frozen=True)
class Role:
    """
    Attributes:
        tape: of the process.
        is_started: it was started as a program of its own, and who did so waits for its end.
        is_last: it was not started anew.
        many: so many processes of the same parent were asked something.
    """

    tape: Tape
    is_started: bool
    is_last: bool
    many: int

    def begin(self) -> None:
        """Before the program does anything. Of workers that nobody asked anything there is no log."""
        if not self.is_started:
            for each in ownports.inherited():
                _part(each)
            _part_what_comes()

    def end(self, leave: Callable[[int], None], folder: str | None) -> Callable[[], None] | None:
        """What ends the server when all is answered; None where the process is ended as the recorded was."""
        if not self.is_started:
            return lambda: self._end_parent(folder)
        return None if self.is_last else lambda: leave(_ANEW)

    def _end_parent(self, folder: str | None) -> None:
        if folder and not results.say_done(Path(folder), self.many):
            return  # others are still asked
        if keyboard.was_pressed(self.tape):  # a terminal tells all of them
            keyboard.press()
            os.kill(os.getppid(), signal.SIGINT)
        else:
            os.kill(os.getppid(), signal.SIGTERM)


def role(tape: Tape) -> Role | None:
    """Of this process, whose tape that is; None where nothing is to be asked: the program has asked itself,
    or others were started beside it."""
    parent = siblings.parent(tape)
    if parent is None or _asks_itself(parent, tape):
        return None
    family = sorted(siblings.servers(parent), key=_began)
    is_started = not processes.forks and not any("multiprocessing" in word for word in sys.orig_argv)
    at = next((n for n, one in enumerate(family) if one.log.id == tape.log.id), len(family))
    if is_started and any(_began(one) < _ended(before) for before, one in pairwise(family)):
        return None
    return Role(tape, is_started, at >= len(family) - 1, len(family))


def _asks_itself(parent: Tape, tape: Tape) -> bool:
    """Whether the program was a client of this server: then the tape has the answers."""
    came = (tape.log.event(seq).data for seq in tape.arrivals)
    ports = {int(data["value"]["server"][1]) for data in came if data.get("source") == REQUEST}
    asked = (urlsplit(entry.name.partition(" ")[2]) for entry in parent.entries if entry.kind == "exchange")
    return any(ownports.is_here(url.hostname or "") and url.port in ports for url in asked)


def _began(tape: Tape) -> str:
    return tape.log.event(tape.arrivals[0]).timestamp


def _ended(tape: Tape) -> str:
    return tape.log.event(tape.arrivals[-1]).timestamp


def _part(shared: socket) -> None:
    """Put another socket beneath it, at a port of its own; it listens as that does."""
    import _socket  # the program's own are counted

    if shared.family != _socket.AF_INET or shared.type != _socket.SOCK_STREAM:
        return
    made = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    made.bind(("127.0.0.1", 0))
    if shared.getsockopt(_socket.SOL_SOCKET, _socket.SO_ACCEPTCONN):
        made.listen()
    made.setblocking(shared.getblocking())
    os.dup2(made.fileno(), shared.fileno(), os.get_inheritable(shared.fileno()))
    made.close()


def _part_what_comes() -> None:
    """What multiprocessing hands over to this process."""
    if processes.forks:
        return
    import multiprocessing.reduction as reduction

    known: Any = reduction
    original = known._rebuild_socket

    def rebuilt(*args: Any) -> Any:
        made = original(*args)
        if made.family and _is_bound(made):
            _part(made)
        return made

    known._rebuild_socket = rebuilt


def _is_bound(one: socket) -> bool:
    """To a port, and not connected: somebody is to be answered there."""
    try:
        port = one.getsockname()[1]
    except (OSError, IndexError):
        return False
    try:
        one.getpeername()
    except OSError:
        return isinstance(port, int) and port > 0
    return False
