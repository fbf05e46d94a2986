"""SQLite's files that the program or its libraries open: as they were before, for a rerun that writes aside.

Agents keep conversations, checkpoints and memories in them, by libraries mostly; so whoever opens one is
asked, once for each file and process; wherever it lies, but for what is installed or temporary, and not what
a tool opens first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from lctl.instrument import settings
from lctl.instrument.ambient import callers, databasekeys, databasetimes, filelooks, filereaders, reads, slots
from lctl.session import border
from lctl.session.concurrency import lanes, processes
from lctl.session.sources import DATABASE

#: Bytes of a database up to which its content is kept.
MOST = 1 << 20
_asked: set[tuple[int, str]] = set()
processes.renewals += (_asked.clear,)


def install() -> None:
    from lctl.instrument.hooks import on_import

    _asked.clear()
    slots.on_undo(on_import("sqlite3", _replace).remove)


def _replace(module: ModuleType) -> None:
    if not reads.active():
        return
    make = _connecting
    slots.replace_builtin(module, "connect", make)
    slots.replace(sys.modules["sqlite3.dbapi2"], "connect", module.connect)


def _connecting(original: Any) -> Callable[..., Any]:
    def connect(_: Any, database: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if settings.files and reads.active():
                uri = kwargs.get("uri") or any(args[6:7])
                database = (_place_of_uri if uri else _place)(database, original, sys._getframe().f_back)
            connection = original(database, *args, **kwargs)
            databasetimes.tell(connection, original)
            return connection
        except BaseException as error:
            error.__traceback__ = filereaders.below(error.__traceback__)
            raise

    return connect


def _place_of_uri(given: Any, original: Callable[..., Any], frame: FrameType | None) -> Any:
    """As `_place`, of an address `file:...`."""
    if not isinstance(given, str) or not given.startswith("file:"):
        return _place(given, original, frame)
    from urllib.parse import parse_qs, quote, unquote, urlsplit

    parts = urlsplit(given)
    path = unquote(parts.path)
    if path in ("", ":memory:") or "memory" in parse_qs(parts.query).get("mode", ()):
        return given
    place = _place(path, original, frame)
    return given if place is path else parts._replace(netloc="", path=quote(place)).geturl()


def _place(given: Any, original: Callable[..., Any], frame: FrameType | None) -> Any:
    """What to open in the place of that; records what it is before."""
    path = filereaders.path_of(given)
    if path is None or path == ":memory:" or frame is None or callers.is_lctl(frame.f_code.co_filename):
        return given
    key = databasekeys.key_of(path, frame)
    if key is None:
        return given
    value = first(key, frame, lambda: _recorded(path, original))
    player = border.player()
    place = None if player is None else player.beside(path, filelooks.kept(value), value is None, frame)
    return given if place is None else place


def first(key: str, frame: FrameType, real: Callable[[], Any]) -> Any:
    """What a database was when it was opened first; UNKNOWN later, and where a tool opens it."""
    asked = id(border.player()), key  # another rerun in this process begins anew
    if lanes.current().tool is not None or asked in _asked:
        return filereaders.UNKNOWN
    _asked.add(asked)
    token = lanes.enter(lanes.RUN)
    try:
        return filereaders.looked(DATABASE, key, frame, real, filelooks.stored_again)
    finally:
        lanes.leave(token)


def _recorded(path: str, original: Callable[..., Any]) -> Any:
    if not os.path.isfile(path):  # noqa: PTH113
        return None
    size = os.path.getsize(path)  # noqa: PTH202
    content: bytes | None = b""  # of one that is still to be made
    if size:
        content = _content(path, original) if size <= MOST else None
    return (
        {"size": size} if content is None else filelooks.value_of(path, content, reads.session_here(), MOST)
    )


def _content(path: str, original: Callable[..., Any]) -> bytes | None:
    """With what its journal holds; None of what is no database, or is written to by others just now."""
    try:
        connection = original(f"{Path(path).absolute().as_uri()}?mode=ro", timeout=0.0, uri=True)
        try:
            return bytes(connection.serialize())
        finally:
            connection.close()
    except Exception:  # SQLite's own: the program is about to hear of it, if it matters
        return None
