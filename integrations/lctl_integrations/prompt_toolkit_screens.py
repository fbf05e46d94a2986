"""prompt_toolkit's full-screen applications: what is typed goes on the tape, key by key.

A prompt gives something, and that is recorded; such an application is a program, whose key handlers ask
models. It runs again in a rerun: it is given the same keys, each in its turn, and draws nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import reads, screens
from lctl.session import border
from lctl.session.concurrency import turns

_KEY = "prompt_toolkit"
_HIDDEN = "x"
#: The inputs that such applications read, by which of them.
_reading: dict[int, Any] = {}


def run(
    wrapped: Any, app: Any, args: tuple[Any, ...], kwargs: dict[str, Any], is_hidden: Callable[[Any], bool]
) -> Awaitable[Any]:
    """`Application.run_async` of one."""

    async def draw() -> Any:
        with _heard(app, is_hidden), nullcontext() if border.player() is None else _typed(app):
            return await wrapped(*args, **kwargs)

    return draw()


def is_on() -> bool:
    """Whether one runs."""
    return bool(_reading)


def read(wrapped: Any, given: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`Input.read_keys`, in the loop: also nothing, upon which the application does something, too."""
    return _told(wrapped(*args, **kwargs), given, "keys")


def flush(wrapped: Any, given: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`Input.flush_keys`: what might have begun something has stood alone for some time."""
    keys = wrapped(*args, **kwargs)
    return _told(keys, given, "flushed") if keys else keys


def _told(keys: Any, given: Any, how: str) -> Any:
    known = _reading.get(id(given))
    if known is None or not reads.active():
        return keys
    if screens.drops():
        return []
    app, is_hidden = known
    with guard("what is typed"):
        hides = is_hidden(app)
        screens.came(_KEY, {how: [_pair(press, hides) for press in keys]})
    return keys


def _pair(press: Any, hides: bool) -> list[str]:
    key = getattr(press.key, "value", press.key)
    if hides and press.data and press.data.isprintable():
        return [_HIDDEN if len(key) == 1 else key, _HIDDEN * len(press.data)]
    return [key, press.data]


@contextmanager
def _heard(app: Any, is_hidden: Callable[[Any], bool]) -> Iterator[None]:
    """What it reads is recorded."""
    real = app.input
    _reading[id(real)] = app, is_hidden
    try:
        yield
    finally:
        _reading.pop(id(real), None)


@contextmanager
def _typed(app: Any) -> Iterator[None]:
    """In a rerun and a fork: it reads what the tape types, too."""
    real = app.input
    app.input = given = _given(real)

    def take(key: str, value: Any) -> screens.Taken | None:
        return _give(app, given, value) if key == _KEY else None

    screens.takers.append(take)
    try:
        yield
    finally:
        screens.takers.remove(take)
        app.input = real


def _give(app: Any, given: Any, value: Any) -> screens.Taken:
    taken: list[bool] = []
    presses = [_press(*pair) for pair in value.get("keys", value.get("flushed"))]

    def begin() -> None:
        turns.arrived()
        taken.append(True)
        if "keys" in value:
            given.typed.append(presses)
            given.ready()
        else:
            app.context.copy().run(_process, app, presses)

    with turns.apart():
        app.loop.call_soon_threadsafe(begin)
    return lambda: bool(taken)


def _process(app: Any, presses: list[Any]) -> None:
    app.key_processor.feed_multiple(presses)
    app.key_processor.process_keys()


def _press(key: str, data: str) -> Any:
    from prompt_toolkit.key_binding.key_processor import KeyPress
    from prompt_toolkit.keys import Keys

    names: dict[str, Any] = {one.value: one for one in Keys}
    return KeyPress(names.get(key, key), data)


def _given(real: Any) -> Any:
    from prompt_toolkit.input.base import DummyInput

    class Given(DummyInput):
        """What the tape types; where somebody sees it, also what he types."""

        @property
        def closed(self) -> bool:
            return False

        def __init__(self) -> None:
            self.typed: list[Any] = []
            self.ready: Callable[[], None] = list  # type: ignore[assignment]
            self.is_seen = not screens.is_unseen()

        def attach(self, input_ready_callback: Callable[[], None]) -> Any:
            self.ready = input_ready_callback
            return real.attach(input_ready_callback) if self.is_seen else nullcontext()

        def read_keys(self) -> Any:
            if self.typed:
                return self.typed.pop(0)
            return real.read_keys() if self.is_seen else []

        def flush_keys(self) -> Any:
            return real.flush_keys() if self.is_seen else []

        def raw_mode(self) -> Any:
            return real.raw_mode() if self.is_seen else nullcontext()

    return Given()
