"""SQLite's files that the program or its libraries open: as they were before, for a rerun that writes aside.

Agents keep conversations, checkpoints and memories in them, by libraries mostly; so whoever opens one is
asked, once for each file and process. Only of those below the working directory or the program's own; not
what a tool opens first.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from lctl.instrument import settings
from lctl.instrument.ambient import callers, databasetimes, filelooks, filereaders, reads, slots
from lctl.session import border
from lctl.session.concurrency import lanes, processes
from lctl.session.ownpackages import installed_as
from lctl.session.sources import DATABASE

#: Bytes of a database up to which its content is kept.
_MOST = 1 << 20
#: Hidden files, and what observes the program or has it typed, are not the program's; what is in DSPy's cache
#: is on the tape already.
_NOT_ASKED = re.compile(r"(?:^|[/\\])\.|\.lctl")
_NOT_OF = re.compile(r"IPython|ipykernel|jupyter|notebook|coverage|dspy")
#: Keeps what others give it.
_KEEPER = "diskcache"

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
    if path in (None, ":memory:") or frame is None or callers.is_lctl(frame.f_code.co_filename):
        return given
    if _NOT_OF.match(_package(frame)):
        return given
    assert path is not None
    key = filelooks.key_of(os.path.abspath(path))  # noqa: PTH100
    if os.path.isabs(key) or key.startswith("tmp:") or _NOT_ASKED.search(key):  # noqa: PTH117
        return given
    value = _first(key, path, original, frame) if lanes.current().tool is None else filereaders.UNKNOWN
    player = border.player()
    place = None if player is None else player.beside(path, filelooks.kept(value), value is None, frame)
    return given if place is None else place


def _package(frame: FrameType | None) -> str:
    """The installed package that opens it; "" for the program."""
    package = _KEEPER
    while frame is not None and package == _KEEPER:
        package, frame = installed_as(frame.f_code.co_filename) or "", frame.f_back
    return package


def _first(key: str, path: str, original: Callable[..., Any], frame: FrameType) -> Any:
    """What it was when it was opened first; UNKNOWN later."""
    asked = id(border.player()), key  # another rerun in this process begins anew
    if asked in _asked:
        return filereaders.UNKNOWN
    _asked.add(asked)
    token = lanes.enter(lanes.RUN)
    try:
        return filereaders.looked(
            DATABASE, key, frame, lambda: _recorded(path, original), filelooks.stored_again
        )
    finally:
        lanes.leave(token)


def _recorded(path: str, original: Callable[..., Any]) -> Any:
    if not os.path.isfile(path):  # noqa: PTH113
        return None
    size = os.path.getsize(path)  # noqa: PTH202
    content: bytes | None = b""  # of one that is still to be made
    if size:
        content = _content(path, original) if size <= _MOST else None
    return (
        {"size": size} if content is None else filelooks.value_of(path, content, reads.session_here(), _MOST)
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
