"""The guard around everything of ours that runs inside a user's call.

A failure of ours there is caught, counted by place, reported once on stderr, and shown by
`lctl doctor`; the user's call goes on as if lctl were not there. Under test the same guard raises
(`Guard(policy="raise")`, or LCTL_STRICT=1 in the environment), so that no test passes over a failure.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal

from lctl.errors import RecordingError
from lctl.interrupts import is_interrupt, let_through
from lctl.notices import tell

Policy = Literal["report", "raise"]


class Guard:
    """`with guard("place"):` swallows and counts any Exception raised in the block."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy: Policy = policy or ("raise" if os.environ.get("LCTL_STRICT") == "1" else "report")
        self.failures: dict[str, int] = {}
        self.examples: dict[str, str] = {}
        #: Reported already: a full disk fails at one place after the other, and is one thing to say.
        self._refusals: dict[str, str] = {}
        self.listeners: list[Callable[[str, BaseException], None]] = []
        #: One for each thread that reports just now. A child forked then finds the stream's own lock taken.
        self.reporting: list[None] = []
        #: A test's: called in each guarded function, beneath its guard, to raise there.
        self.trial: Callable[[str], None] | None = None
        #: Takes secrets out of what is reported; a session that redacts sets it.
        self.clean: Callable[[str], str] = str

    def __call__(self, place: str) -> _Guarded:
        return _Guarded(self, place)

    def rehearse(self, place: str) -> None:
        """Let a test's `trial` raise, inside a `with guard(place):` block."""
        if self.trial is not None:
            self.trial(place)

    def failed(self, place: str, error: BaseException) -> None:
        """Count one failure at `place`; the first one of each place is reported.

        Raises:
            error: a signal handler of the program raised it, which is no failure of ours.
        """
        let_through(error)
        self.failures[place] = self.failures.get(place, 0) + 1
        if place not in self.examples:
            said = self._described(error)
            # Of two threads that come at once one is the first: what `setdefault` took is its own.
            is_first = self.examples.setdefault(place, said) is said
            if is_first and not self._is_refused_elsewhere(place, error, said):
                self._report(place)
        for listener in self.listeners:
            listener(place, error)

    def _is_refused_elsewhere(self, place: str, error: BaseException, said: str) -> bool:
        return isinstance(error, RecordingError) and self._refusals.setdefault(said, place) != place

    def _described(self, error: BaseException) -> str:
        try:
            return self.clean(f"{type(error).__name__}: {error}")[:500]
        except Exception:  # its text cannot be had, or not cleaned
            return type(error).__name__

    def _report(self, place: str) -> None:
        is_refused = place in self._refusals.values()  # nothing in the log can say so
        missed = "this is in no log" if is_refused else "'lctl doctor' shows what was missed"
        text = (
            f"lctl: could not record {place} ({self.examples[place]}). "
            f"Your program is not affected; {missed}.\n"
        )
        self.reporting.append(None)
        try:
            tell(text)  # where it cannot be written, the count is still kept for doctor
        finally:
            self.reporting.pop()

    def total(self) -> int:
        return sum(self.failures.values())


class _Guarded:
    __slots__ = ("_guard", "_place")

    def __init__(self, guard: Guard, place: str) -> None:
        self._guard = guard
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception):
            return False  # KeyboardInterrupt, SystemExit, CancelledError are the host's own
        if self._guard.policy == "raise" or is_interrupt(error):
            return False
        self._guard.failed(self._place, error)
        return True


guard = Guard()


def guarded(place: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator form of `guard`: the function returns None where it failed."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def inner(*args: Any, **kwargs: Any) -> Any:
            with guard(place):
                guard.rehearse(place)
                return function(*args, **kwargs)
            return None

        return inner

    return wrap
