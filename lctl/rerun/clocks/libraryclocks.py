"""Virtual time for libraries that measure their own waits.

A limit in seconds, a delay before the next try or a rate is kept by asking a clock, and by waiting on an
event loop or in `time.sleep`. Waits take no real time in a rerun: by a clock that goes with the world a
limit of a second would not come before an hour of waiting was over, and a loop that asks whether its time
has come would ask without end. What the program itself reads of clocks is on the tape; all else stays real.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, tzinfo
from types import FunctionType, ModuleType
from typing import Any

from lctl.instrument.hooks import Hook, on_import

#: Modules whose `time` is to be virtual: each waits by an event loop, a lock or `time.sleep` alone.
MODULES = (
    "autogen_agentchat.conditions._terminations",
    "google.genai._gaos.utils.retries",
    "langchain.agents.agent",
    "langchain_classic.agents.agent",
    "langchain_core.rate_limiters",
    "langgraph.pregel._retry",
    "langgraph.pregel._runner",
    "llama_index.core.rate_limiter",
    "mistralai.azure.client.utils.retries",
    "mistralai.client.utils.retries",
    "mistralai.gcp.client.utils.retries",
    "smolagents.utils",
    "tenacity",
    "workflows.context.internal_context",
    "workflows.plugins.basic",
    "workflows.runtime.control_loop.reduce",
    "workflows.runtime.types.step_function",
)
#: Modules whose `datetime.now` is to be: they ask for dates, and wait for them so long.
DATES = (
    "apscheduler.executors.base",
    "apscheduler.schedulers.base",
    "apscheduler.triggers.cron",
    "apscheduler.triggers.date",
    "apscheduler.triggers.interval",
)
#: Functions that have `time.monotonic` as a default of an argument, by module.
DEFAULTS = {"cachetools": ("TTLCache.__init__", "TLRUCache.__init__")}
_wall = time.time


class LibraryClocks:
    """In place of `time` in `MODULES`, whenever one is imported.

    Args:
        monotonic: the virtual clock, in seconds.
        wall: what the clock on the wall said, in seconds, where `monotonic` says 0.
    """

    def __init__(self, monotonic: Callable[[], float], wall: float) -> None:
        self._time: Any = _VirtualTime(monotonic)
        self._dates = _virtual_dates(monotonic, wall)
        self._hooks: list[Hook] = []
        self._replaced: list[tuple[ModuleType, str, Any, Any]] = []  # where, what, and instead of what
        self._defaults: list[tuple[FunctionType, tuple[Any, ...]]] = []

    def install(self) -> None:
        self._hooks = [on_import(name, self._replace) for name in MODULES]
        self._hooks += [on_import(name, self._replace_dates) for name in DATES]
        self._hooks += [on_import(name, self._replace_defaults) for name in DEFAULTS]

    def uninstall(self) -> None:
        while self._hooks:
            self._hooks.pop().remove()
        while self._replaced:
            module, name, ours, before = self._replaced.pop()
            if module.__dict__.get(name) is ours:
                module.__dict__[name] = before
        while self._defaults:
            function, before = self._defaults.pop()
            function.__defaults__ = before

    def _replace(self, module: ModuleType) -> None:
        self._put(module, "time", self._time, time)

    def _replace_dates(self, module: ModuleType) -> None:
        self._put(module, "datetime", self._dates, datetime)

    def _put(self, module: ModuleType, name: str, ours: Any, before: Any) -> None:
        if module.__dict__.get(name) is before:
            module.__dict__[name] = ours
            self._replaced.append((module, name, ours, before))

    def _replace_defaults(self, module: ModuleType) -> None:
        for path in DEFAULTS[module.__name__]:
            owner, _, name = path.partition(".")
            function = getattr(getattr(module, owner, None), name, None)
            before = getattr(function, "__defaults__", None)
            if isinstance(function, FunctionType) and before:
                self._defaults.append((function, before))
                function.__defaults__ = tuple(
                    self._time.monotonic if one is time.monotonic else one for one in before
                )


def _virtual_dates(monotonic: Callable[[], float], wall: float) -> type[datetime]:
    """The class `datetime`, but for what it says of now. What it makes are Python's own."""

    class Kind(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, datetime)

    class Dates(datetime, metaclass=Kind):
        def __new__(cls, *args: Any, **options: Any) -> Any:
            return datetime(*args, **options)

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.fromtimestamp(wall + monotonic(), tz)

    Dates.__name__ = Dates.__qualname__ = "datetime"
    return Dates


class _VirtualTime:
    """The module `time`, but for what `MODULES` ask how much has passed (none asks for nanoseconds)."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.monotonic = self.perf_counter = monotonic
        self._epoch = _wall() - monotonic()

    def time(self) -> float:
        return self._epoch + self.monotonic()

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)
