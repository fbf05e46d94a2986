"""The end of a rerun in a worker of `multiprocessing.Pool`.

Such a worker sends its parent the exceptions of jobs, and dies of what is none, as a stop is not. Another
takes its place, and the parent would wait for ever for the job. So the stop is sent, as an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from lctl.errors import RerunStopped
from lctl.instrument.hooks import on_import
from lctl.session import border


def watch() -> None:
    """Have stops sent, in this process and those that it forks."""
    on_import("multiprocessing.pool", _send_stops)


def _send_stops(pool: Any) -> None:
    original = pool.worker

    @wraps(original)  # who spawns workers names it
    def worker(inqueue: Any, *args: Any, **kwargs: Any) -> Any:
        return original(_Jobs(inqueue, pool._helper_reraises_exception), *args, **kwargs)

    pool.worker = worker


class _Jobs:
    """The queue of jobs, each of which raises an exception where it would end the rerun."""

    def __init__(self, queue: Any, apart: Any) -> None:
        self._queue = queue
        self._apart = apart  # the worker knows it by itself, and it runs nothing of the program

    def get(self) -> Any:
        task = self._queue.get()
        if task is None or task[2] is self._apart:
            return task
        job, number, function, args, kwargs = task
        return job, number, _stopping(function), args, kwargs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


def _stopping(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except RerunStopped as stop:
            raise _Sent(str(stop)) from None

    return call


class _Sent(Exception):
    """Is the stop again where it arrives."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, self.args


def _arrived(why: str) -> RerunStopped:
    player = border.player()
    return RerunStopped(why) if player is None else player.stopped(why)
