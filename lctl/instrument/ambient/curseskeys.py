"""curses: the keys that a program is given, and a screen for it in a rerun that nobody sees.

curses writes and reads past Python. Where nobody sits at a rerun, its two streams are those of a terminal of
its own from `initscr` to `endwin`: of the recorded size, and what is drawn there is thrown away.
"""

from __future__ import annotations

import os
import sys
from _thread import start_new_thread
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from lctl.instrument.ambient import inputs, keyboard, raised, reads, slots, terminals
from lctl.session import border, sources

_getframe = sys._getframe
#: Of a window; each waits as long as that was told.
_KEYS = ("getch", "get_wch", "getkey", "getstr")
_WAITING = ("nodelay", "timeout")
_USUAL_SIZE = 80, 24
_USUAL_TERM = "xterm-256color"
_NO_TERM = ("", "dumb", "unknown")
_NOBODY = "nobody sits there to press the keys that come behind the tape: fork it on a terminal"
_saved: list[tuple[int, int]] = []  # a stream's descriptor, and where it went
#: The windows that do not wait at all.
_polled: set[int] = set()


def install() -> None:
    from lctl.instrument.hooks import on_import

    if os.name == "posix":
        slots.on_undo(on_import("curses", _watch).remove)


def _watch(curses: ModuleType) -> None:
    known: Any = sys.modules.get("_curses")
    if known is None or not reads.active():
        return
    slots.replace(curses, "initscr", _beginning(curses.initscr, curses))
    slots.replace(curses, "endwin", _ending(curses.endwin))
    for name in _KEYS:
        _replace_method(known.window, name, _pressing)
    for name in _WAITING:
        _replace_method(known.window, name, _telling)
    slots.replace_builtin(curses, "getmouse", _pointing)


def _replace_method(window: Any, name: str, make: Callable[[Any, str], Callable[..., Any]]) -> None:
    original = window.__dict__.get(name)
    if original is not None and not isinstance(original, FunctionType):
        slots.replace_in_type(window, name, slots.like(make(original, name), original, name))


# -- keys ----------------------------------------------------------------------------------------


def _pressing(original: Any, name: str) -> Callable[..., Any]:
    def press(window: Any, /, *args: Any) -> Any:
        def real() -> Any:
            player = border.player()
            if _saved and player is not None:
                raise player.stopped(_NOBODY)
            return original(window, *args)

        key = f"curses.{name}"
        if id(window) not in _polled:
            return keyboard.pressed(key, real, _KEY)
        return raised.given(
            reads.read(
                sources.STDIN,
                key,
                inputs.reader(_getframe(1)),
                lambda: raised.caught(real),
                lambda value: raised.encoded(value) if isinstance(value, raised.Raised) else _told(value),
                lambda value: raised.decoded(_key(value)),
            )
        )

    return press


def _telling(original: Any, name: str) -> Callable[..., Any]:
    """Who does not wait asks again and again: of such reads many are one event."""

    def tell(window: Any, /, *args: Any) -> Any:
        waits = bool(args) and (not args[0] if name == "nodelay" else args[0] != 0)
        (_polled.discard if waits else _polled.add)(id(window))
        return original(window, *args)

    return tell


def _pointing(original: Any) -> Callable[..., Any]:
    def getmouse(_: Any, /) -> Any:
        if not reads.active():
            return original()
        frame = inputs.reader(_getframe(1))
        return reads.read(sources.STDIN, "curses.getmouse", frame, original, list, tuple)

    return getmouse


def _told(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if _is_resize(value):
        return {"key": value, "size": list(_size())}
    return value


def _key(value: Any) -> Any:
    if isinstance(value, dict) and "bytes" in value:
        return str(value["bytes"]).encode("latin-1")
    if isinstance(value, dict) and "size" in value:
        import curses

        columns, lines = value["size"]
        if _saved:
            curses.resizeterm(lines, columns)
        return value["key"]
    return value


_KEY = keyboard.Code(_told, _key)


def _is_resize(value: Any) -> bool:
    import curses

    return value in (curses.KEY_RESIZE, "KEY_RESIZE")


def _size() -> tuple[int, int]:
    import curses

    return curses.COLS, curses.LINES


# -- the screen ----------------------------------------------------------------------------------


def _beginning(real: Any, curses: Any) -> Callable[[], Any]:
    def initscr() -> Any:
        if border.player() is None or terminals.is_shown or not terminals.has_keys():
            return real()
        _hide()
        term = os.environ.get("TERM", "")
        if term in _NO_TERM:
            os.environ["TERM"] = _USUAL_TERM
        try:
            return real()
        finally:
            if term in _NO_TERM:
                os.environ["TERM"] = term

    return slots.like(initscr, real)


def _ending(real: Any) -> Callable[[], Any]:
    def endwin() -> Any:
        made = real()
        _show()
        return made

    return slots.like(endwin, real)


def _hide() -> None:
    if _saved:
        return
    outer, inner = os.openpty()
    _resize(inner, (terminals.recorded.size if terminals.recorded else None) or _USUAL_SIZE)
    sys.stdout.flush()
    for descriptor in (0, 1):
        _saved.append((descriptor, os.dup(descriptor)))
        os.dup2(inner, descriptor)
        terminals.hidden.add(descriptor)
    os.close(inner)
    start_new_thread(_throw_away, (outer,))


def _show() -> None:
    if _saved:
        sys.stdout.flush()
    while _saved:
        descriptor, before = _saved.pop()
        os.dup2(before, descriptor)
        terminals.hidden.discard(descriptor)
        os.close(before)


def _resize(terminal: int, size: tuple[int, int]) -> None:
    from fcntl import ioctl
    from struct import pack
    from termios import TIOCSWINSZ

    ioctl(terminal, TIOCSWINSZ, pack("HHHH", size[1], size[0], 0, 0))


def _throw_away(terminal: int) -> None:
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:  # nobody has the other end any more
        pass
    os.close(terminal)
