"""readline's list of the lines that were typed: as long in a rerun as it was, and its files left alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lctl.instrument.ambient import reads, slots
from lctl.instrument.ambient.callers import own
from lctl.session import border, sources

_getframe = sys._getframe
_READ = ("get_current_history_length", "get_history_item")
_WRITTEN = ("write_history_file", "append_history_file")
_adds = True


def install() -> None:
    from lctl.instrument.hooks import on_import

    slots.on_undo(on_import("readline", _watch).remove)


def _watch(readline: ModuleType) -> None:
    global _adds
    if not reads.active():
        return
    _adds = True
    for name in _READ:
        slots.replace_builtin(readline, name, _reading(name))
    for name in _WRITTEN:
        slots.replace_builtin(readline, name, _writing)
    slots.replace_builtin(readline, "set_auto_history", _setting)


def add(line: str) -> None:
    """A line comes from the tape: as readline adds one that is typed."""
    readline: Any = sys.modules.get("readline")
    if readline is None or not _adds or not line:
        return
    length = readline.get_current_history_length.__func__.original()
    if not length or readline.get_history_item.__func__.original(length) != line:
        readline.add_history(line)


def _reading(name: str) -> Callable[[Any], Callable[..., Any]]:
    """What stood in the file is read as it was: a program adds to it as it ends."""

    def make(original: Any) -> Callable[..., Any]:
        def read(_: Any, /, *args: Any) -> Any:
            frame = own(_getframe(1))
            if frame is None:
                return original(*args)
            return reads.read(sources.STDIN, f"readline.{name}", frame, lambda: original(*args))

        read.original = original  # type: ignore[attr-defined]
        return read

    return make


def _writing(original: Any) -> Callable[..., Any]:
    def write(_: Any, /, *args: Any) -> Any:
        return original(*args) if border.player() is None else None

    return write


def _setting(original: Any) -> Callable[..., Any]:
    def set_auto_history(_: Any, enabled: Any, /) -> Any:
        global _adds
        _adds = bool(enabled)
        return original(enabled)

    return set_auto_history
