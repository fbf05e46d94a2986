"""Textual: the keys, the mouse and whatever else the terminal says to an app.

The app itself runs again in a rerun, without a terminal: it is given the same, each in its turn, and what it
draws is thrown away.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import reads, screens
from lctl.instrument.patches import PatchSet
from lctl.session.concurrency import lanes, turns

_KEY = "textual"
_RESIZED = "resized"
_PLAIN = (str, int, float, bool, type(None))
#: Stands for each character of a password.
_HIDDEN = "x"


class Textual:
    """Textual 1 to 8."""

    name = "textual"
    supported = ">=1,<9"
    modules = ("textual.driver", "textual.drivers.linux_driver", "textual.drivers.linux_inline_driver")

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        for path, wrapper in _HOOKS[module.__name__].items():
            owner, _, name = path.partition(".")
            if name in vars(getattr(module, owner, object)):
                patches.wrap(module, path, wrapper)


# -- what the terminal says ----------------------------------------------------------------------


def _send_message(wrapped: Any, driver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """In the thread that reads the terminal; in the app's own, where the program presses keys (`Pilot`)."""
    if not reads.active() or asyncio._get_running_loop() is driver._loop:
        return wrapped(*args, **kwargs)
    if screens.drops():
        return None
    message = args[0] if args else kwargs["message"]
    with turns.apart():
        with guard("what is typed"):
            value = _told(driver._app, message)
            driver._loop.call_soon_threadsafe(screens.came, _KEY, value)
        return wrapped(*args, **kwargs)


def _told(app: Any, message: Any) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name in _parameters(type(message)):
        value = getattr(message, f"_{name}", None)
        value = getattr(message, name, None) if value is None else value
        if isinstance(value, tuple) and all(isinstance(one, int) for one in value):
            given[name] = list(value)
        elif isinstance(value, _PLAIN) and value is not None:
            given[name] = value
    if getattr(getattr(app, "focused", None), "password", False) is True:
        _hide(given)
    return {"type": type(message).__name__, "given": given}


def _hide(given: dict[str, Any]) -> None:
    """What is typed is a password: it is not shown."""
    if "text" in given:
        given["text"] = _HIDDEN * len(given["text"])
    character = given.get("character")
    if isinstance(character, str) and character.isprintable():
        given["key"] = given["character"] = _HIDDEN


def _parameters(kind: type) -> list[str]:
    return list(inspect.signature(kind.__init__).parameters)[1:]  # type: ignore[misc]


def _message(value: Any) -> Any:
    """`_told` back: of Textual's own messages only."""
    from textual import events, messages
    from textual.geometry import Size
    from textual.message import Message

    name = str(value["type"])
    kind: Any = getattr(events, name, None) or getattr(messages, name)
    if not issubclass(kind, Message):
        raise TypeError(f"{name} is no message of Textual's")
    given = {key: Size(*one) if isinstance(one, list) else one for key, one in dict(value["given"]).items()}
    known = inspect.signature(kind.__init__).parameters
    missing = [n for n, p in list(known.items())[1:] if n not in given and p.default is p.empty]
    return kind(**dict.fromkeys(missing), **given)


# -- in a rerun ----------------------------------------------------------------------------------


def _start(wrapped: Any, driver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of the application mode: from now on it is told what is typed."""
    if not reads.active():
        return wrapped(*args, **kwargs)
    driver._lctl_take = _taker(driver)
    screens.takers.append(driver._lctl_take)
    if screens.is_unseen():
        driver._file = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    else:
        driver._file = _uncounted(driver._file)
    return wrapped(*args, **kwargs)


def _uncounted(stream: Any) -> Any:
    """Drawing is not the program's output: a stream of its own to where `stream` writes."""
    with guard("what is drawn"):
        stream.flush()
        return open(
            stream.fileno(), "w", encoding=stream.encoding, errors=stream.errors, newline="", closefd=False
        )
    return stream


def _stop(wrapped: Any, driver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    take = getattr(driver, "_lctl_take", None)
    if take is not None and take in screens.takers:
        screens.takers.remove(take)
    return wrapped(*args, **kwargs)


def _taker(driver: Any) -> screens.Taker:
    def take(key: str, value: Any) -> screens.Taken | None:
        if key != _KEY:
            return None
        taken: list[bool] = []

        def begin() -> None:
            turns.arrived()
            if _RESIZED in value:
                driver._lctl_size = tuple(value[_RESIZED])
                handler = signal.getsignal(signal.SIGWINCH)
                if callable(handler):
                    handler(signal.SIGWINCH, None)
            taken.append(True)

        with turns.apart():
            driver._loop.call_soon_threadsafe(begin)
            if _RESIZED not in value:
                message = _message(value)
                message.set_sender(driver._app)
                asyncio.run_coroutine_threadsafe(driver._app._post_message(message), loop=driver._loop)
        return lambda: bool(taken)

    return take


def _measure(wrapped: Any, driver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """How large the terminal is: asked at first, and when it has become another."""
    known = getattr(driver, "_lctl_size", None)
    if screens.is_unseen() and known is not None:
        return known
    driver._lctl_size = size = wrapped(*args, **kwargs)
    if known is not None and reads.active():
        driver._loop.call_soon_threadsafe(screens.came, _KEY, {_RESIZED: list(size)})
    return size


def _run_input_thread(wrapped: Any, driver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if screens.is_unseen():
        return None
    lanes.enter(lanes.current().apart())  # what it reads is told as what it means
    return wrapped(*args, **kwargs)


_DRIVER: dict[str, Callable[..., Any]] = {
    "start_application_mode": _start,
    "stop_application_mode": _stop,
    "run_input_thread": _run_input_thread,
    "_get_terminal_size": _measure,
}
_HOOKS: dict[str, dict[str, Any]] = {
    "textual.driver": {"Driver.send_message": _send_message},
    "textual.drivers.linux_driver": {f"LinuxDriver.{name}": hook for name, hook in _DRIVER.items()},
    "textual.drivers.linux_inline_driver": {
        f"LinuxInlineDriver.{name}": hook for name, hook in _DRIVER.items()
    },
}
