"""Keys that are read past `sys.stdin`, from the terminal's descriptor, and passwords.

So do click and libraries that wait for one key; they turn the terminal to giving single ones first. In a
rerun the keys come from the tape, and where there is no terminal it is told that it is turned.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from lctl.instrument.ambient import inputs, raised, reads, sleeps, slots, terminals
from lctl.instrument.ambient.values import bytes_of, from_bytes
from lctl.session import border, sources
from lctl.session.concurrency import lanes
from lctl.session.default import get_session
from lctl.session.runs.wrappedruns import step_aside

_getframe = sys._getframe
_KEYS = 0  # standard input
#: What termios says of a terminal that is as it begins.
_USUAL: list[Any] = [
    17664,
    5,
    191,
    35387,
    15,
    15,
    [bytes([n]) for n in b"\x03\x1c\x7f\x15\x04\0\1\0\x11\x13\x1a".ljust(32, b"\0")],
]
_UNTOLD = (
    "the program waits for keys in an event loop (add_reader); what is typed there is not on the tape, but "
    "for Textual's apps and prompt_toolkit's"
)
_modes: dict[int, list[Any]] = {}


def _text(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return bytes_of(value)


class Code(NamedTuple):
    """Of what is read: as JSON, and back."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


PLAIN = Code(lambda value: value, lambda value: value)
BYTES = Code(_text, lambda value: value.encode() if isinstance(value, str) else from_bytes(value))


def install() -> None:
    from lctl.instrument.hooks import on_import

    slots.on_undo(on_import("getpass", _hide).remove)
    if os.name != "posix":
        return
    slots.on_undo(on_import("termios", _turn).remove)
    slots.on_undo(on_import("fcntl", _measure).remove)
    slots.on_undo(on_import("asyncio.selector_events", _await).remove)
    if terminals.has_keys():
        slots.replace_builtin(os, "read", _reading)
        slots.on_undo(on_import("select", _look).remove)


# -- what is read --------------------------------------------------------------------------------


def pressed(key: str, real: Callable[[], Any], code: Code) -> Any:
    """What `real` waits for, recorded, in the program's own thread; when it came is an order of its own, as a
    sleep's end is."""
    if not reads.active() or lanes.current().is_apart:
        return real()
    slept = sleeps.Sleep(key, 0)

    def come() -> Any:
        value = raised.caught(real)
        slept.over()
        return value

    def decode(value: Any) -> Any:
        slept.served()
        slept.over()
        found = raised.decoded(value)
        return found if isinstance(found, raised.Raised) else code.decode(found)

    def encode(value: Any) -> Any:
        return raised.encoded(value) if isinstance(value, raised.Raised) else code.encode(value)

    return raised.given(reads.read(sources.STDIN, key, inputs.reader(_getframe(1)), come, encode, decode))


def _reading(original: Any) -> Callable[..., Any]:
    def read(_: Any, fd: Any, length: Any, /) -> bytes:
        if fd != _KEYS or _is_in_loop():
            return original(fd, length)  # type: ignore[no-any-return]
        return pressed("os.read", lambda: original(fd, length), BYTES)  # type: ignore[no-any-return]

    return read


def _look(select: ModuleType) -> None:
    slots.replace_builtin(select, "select", _looking)


def _looking(original: Any) -> Callable[..., Any]:
    """Whether a key is there, where nothing else is asked."""

    def looking(_: Any, rlist: Any, wlist: Any, xlist: Any, timeout: Any = None, /) -> Any:
        def look() -> bool:
            return bool(original(rlist, wlist, xlist, timeout)[0])

        if not isinstance(rlist, list | tuple) or len(rlist) != 1 or wlist or xlist or _is_in_loop():
            return original(rlist, wlist, xlist, timeout)
        if not _is_keys(rlist[0]):
            return original(rlist, wlist, xlist, timeout)
        if timeout is not None and not timeout:  # asked again and again: of such reads many are one event
            is_there = _polled("select", look)
        else:
            is_there = pressed("select", look, PLAIN)
        return (list(rlist) if is_there else [], [], [])

    return looking


def _polled(key: str, real: Callable[[], Any]) -> Any:
    return reads.read(sources.STDIN, key, inputs.reader(_getframe(1)), real)


def _is_keys(stream: Any) -> bool:
    try:
        return (stream if isinstance(stream, int) else stream.fileno()) == _KEYS
    except (AttributeError, OSError, ValueError):
        return False


def _is_in_loop() -> bool:
    asyncio: Any = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def _await(events: ModuleType) -> None:
    loop = events.BaseSelectorEventLoop
    slots.replace(loop, "_add_reader", _awaiting(loop._add_reader))


def _awaiting(real: Any) -> Callable[..., Any]:
    """In a rerun: nobody types what a loop waits for. What has left the tape may find that nobody does."""

    def _add_reader(self: Any, fd: Any, *args: Any) -> Any:
        player = border.player()
        is_typed = terminals.has_keys() and not terminals.is_shown and _is_keys(fd)
        if player is not None and is_typed and not player.is_live(lanes.current()):
            raise player.stopped(_UNTOLD)
        try:
            return real(self, fd, *args)
        except BaseException as error:
            step_aside(error)
            raise

    return slots.like(_add_reader, real)


# -- passwords -----------------------------------------------------------------------------------


def _hide(getpass: ModuleType) -> None:
    if reads.active() and getpass.getpass.__module__ == getpass.__name__:  # and no kernel's
        slots.replace(getpass, "getpass", _asking(getpass.getpass))


def _asking(real: Any) -> Callable[..., Any]:
    def ask(*args: Any, **kwargs: Any) -> str:
        if not reads.active():
            return real(*args, **kwargs)  # type: ignore[no-any-return]
        frame = inputs.reader(_getframe(1))
        return str(
            raised.given(
                reads.read(
                    sources.PROMPT,
                    "getpass",
                    frame,
                    lambda: raised.caught(lambda: _aside(real, args, kwargs)),
                    _hidden,
                    raised.decoded,
                )
            )
        )

    return slots.like(ask, real)


def _aside(real: Any, args: Any, kwargs: Any) -> Any:
    """What it reads, and says where there is no terminal, is part of it."""
    with inputs.asked_for():
        return real(*args, **kwargs)


def _hidden(value: Any) -> Any:
    if isinstance(value, raised.Raised):
        return raised.encoded(value)
    session = get_session()
    redactor = None if session is None else session.redactor
    return value if redactor is None or not value else redactor.value(value, "password")


# -- what it is turned to ------------------------------------------------------------------------


def _turn(termios: ModuleType) -> None:
    """`tty` has its own names of these, and may be there already."""
    tty: Any = sys.modules.get("tty")
    for name, act in _TURNS.items():
        before = getattr(termios, name, None)
        slots.replace_builtin(termios, name, _instead(act))
        if tty is not None and before is not None and getattr(tty, name, None) is before:
            slots.replace(tty, name, getattr(termios, name))


def _instead(act: Callable[..., Any]) -> Callable[[Any], Callable[..., Any]]:
    def make(original: Any) -> Callable[..., Any]:
        def turn(_: Any, fd: Any, /, *args: Any) -> Any:
            descriptor = terminals.stands_for(fd)
            if descriptor is not None:
                return act(descriptor, *args)
            try:
                return original(fd, *args)
            except BaseException as error:
                step_aside(error)
                raise

        return turn

    return make


def _ask_mode(descriptor: int) -> list[Any]:
    mode = _modes.get(descriptor, _USUAL)
    return [list(part) if isinstance(part, list) else part for part in mode]


def _set_mode(descriptor: int, when: Any, mode: list[Any]) -> None:
    _modes[descriptor] = list(mode)


def _size(descriptor: int) -> tuple[int, int]:
    columns, lines = os.get_terminal_size(descriptor)
    return lines, columns


_TURNS: dict[str, Callable[..., Any]] = {
    "tcgetattr": _ask_mode,
    "tcsetattr": _set_mode,
    "tcgetwinsize": _size,
    **dict.fromkeys(("tcflush", "tcdrain", "tcflow", "tcsendbreak"), lambda descriptor, *_: None),
}


def _measure(fcntl: ModuleType) -> None:
    slots.replace_builtin(fcntl, "ioctl", _controlling)


def _controlling(original: Any) -> Callable[..., Any]:
    def ioctl(_: Any, fd: Any, request: Any, arg: Any = 0, mutate_flag: Any = True, /) -> Any:
        from struct import pack
        from termios import TIOCGWINSZ

        descriptor = terminals.stands_for(fd) if request == TIOCGWINSZ else None
        if descriptor is None:
            try:
                return original(fd, request, arg, mutate_flag)
            except BaseException as error:
                step_aside(error)
                raise
        size = pack("HHHH", *_size(descriptor), 0, 0)
        if isinstance(arg, int | bytes | str):
            return size
        with memoryview(arg) as view, view.cast("B") as target:
            target[: len(size)] = size
        return 0

    return ioctl
