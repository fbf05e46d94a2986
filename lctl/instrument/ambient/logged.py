"""The times of log lines that libraries say and the program shows on its standard output; numbers of threads
and processes in them.

What libraries log is not the program's, and neither is the clock they read for it. A program whose `logging`
goes to standard output prints both (`12:00:01 httpx HTTP Request: ...`), so those times are recorded: by the
logger's name, and apart from the program's own reads. A rerun need not have the same lines, and is not
stopped where it has others. So are the numbers that the system gave to a thread or process, which are others
in each run; of threads in the program's own lines, too. Whoever asks for his own elsewhere gets the real one:
it may be what he finds his thread by.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, NamedTuple

from lctl.instrument.ambient import slots, stamps
from lctl.instrument.hooks import Hook, on_import

_MAKER = "LogRecord.__init__"
_hooks: list[Hook] = []


def shown(frame: FrameType) -> str | None:
    """The name of the logger whose record `frame` makes, if its time comes to be seen on standard output."""
    return _logger(frame, _shows_time)


def numbered(frame: FrameType, what: str) -> str | None:
    """Likewise, of the number of its `thread` or `process`."""
    return _logger(frame, lambda handler, logging: _shows_number(handler, logging, what))


def _logger(frame: FrameType, shows: Callable[[Any, Any], bool]) -> str | None:
    if frame.f_code.co_qualname != _MAKER or frame.f_globals.get("__name__") != "logging":
        return None
    logging: Any = sys.modules.get("logging")
    if logging is None:  # the interpreter ends, and an object says so as it goes
        return None
    name = frame.f_locals.get("name")
    logger: Any = logging.root.manager.loggerDict.get(name, logging.root)
    while isinstance(logger, logging.Logger):
        if any(shows(handler, logging) for handler in logger.handlers):
            return str(name)
        logger = logger.parent if logger.propagate else None
    return None


def _shows_time(handler: Any, logging: Any) -> bool:
    file = getattr(handler, "stream", None)
    if file is None:  # rich's has a console
        file = getattr(getattr(handler, "console", None), "file", None)
        return file is not None and file in (sys.stdout, sys.__stdout__)
    form = handler.formatter
    if form is None or file not in (sys.stdout, sys.__stdout__):
        return False
    return type(form) is not logging.Formatter or bool(form.usesTime())


def _shows_number(handler: Any, logging: Any, what: str) -> bool:
    form = handler.formatter
    if form is None or getattr(handler, "stream", None) not in (sys.stdout, sys.__stdout__):
        return False
    text = str(getattr(form, "_fmt", ""))
    return type(form) is not logging.Formatter or any(sign + what in text for sign in ("%(", "{", "$"))


class _Threading:
    """The module `threading`, as `logging` has it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)

    def get_ident(self) -> int:
        reader = sys._getframe(1)
        logger = numbered(reader, "thread")
        if logger is None:
            return threading.get_ident()
        return stamps.read(f"{logger}: thread", reader, threading.get_ident)


class _Numbered(NamedTuple):
    """The thread or process that loguru puts into a record, of which it takes these."""

    ident: int | None
    name: str


def _numbered(what: str, original: Callable[[], Any]) -> Callable[[], _Numbered]:
    def current() -> _Numbered:
        found = original()
        return _Numbered(
            stamps.read(f"loguru: {what}", sys._getframe(1), lambda: found.ident),
            found.name,
        )

    return current


def install() -> None:
    _hooks[:] = [on_import("logging", _replace), on_import("loguru._logger", _replace_numbers)]


def uninstall() -> None:
    for hook in _hooks:
        hook.remove()
    _hooks.clear()


def _replace(logging: ModuleType) -> None:
    if vars(logging).get("threading") is threading:
        slots.replace(logging, "threading", _Threading())


def _replace_numbers(logger: ModuleType) -> None:
    for what in ("thread", "process"):
        original = getattr(logger, f"current_{what}", None)
        if original is not None:
            slots.replace(logger, f"current_{what}", _numbered(what, original))
