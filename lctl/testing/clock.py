"""Clocks and ids that give the same log every time."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone


class FixedClock:
    """Each reading is `tick_ms` later than the one before, from `start` on (wall and monotonic alike)."""

    def __init__(self, start: str = "2026-01-01T00:00:00Z", tick_ms: float = 1.0) -> None:
        self._at = datetime.fromisoformat(start).astimezone(timezone.utc)  # noqa: UP017
        self._tick = timedelta(milliseconds=tick_ms)
        self._ns = 0

    def now(self) -> str:
        at = self._at
        self._at = at + self._tick
        self._ns += int(self._tick / timedelta(microseconds=1)) * 1000
        return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def monotonic_ns(self) -> int:
        return self._ns

    def advance(self, ms: float) -> None:
        """Let `ms` milliseconds pass."""
        self._at += timedelta(milliseconds=ms)
        self._ns += int(ms * 1_000_000)


class SequentialIds:
    """`<name>-1`, `<name>-2`, ..."""

    def __init__(self) -> None:
        self._n = 0

    def chain_id(self, name: str) -> str:
        self._n += 1
        return f"{name}-{self._n}"
