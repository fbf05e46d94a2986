"""A back end that is not there is said once, not with every batch.

The SDK's exporters log each attempt, into whatever logging the program has set up. Of ours, the first message
is shown, as lctl shows what it could not do; the program's own exporters log as before.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lctl.notices import tell


class Quiet:
    """An exporter of the SDK's, for which this stands in; what it logs while it works is kept to one line,
    and what it sends to requests of a size that receivers take.

    Attributes:
        reason: what it logged last.
    """

    def __init__(self, exporter: Any, *, tells: bool = True) -> None:
        self._exporter = exporter
        self._tells = tells
        self.reason = ""
        for cls in type(exporter).__mro__:  # that of gRPC logs by its base
            _listen(cls.__module__)

    def export(self, *args: Any, **kwargs: Any) -> Any:
        with self.at_work():
            if args and isinstance(args[0], list | tuple):
                return self._in_parts(list(args[0]))
            return self._exporter.export(*args, **kwargs)

    @contextmanager
    def at_work(self, *modules: str) -> Iterator[None]:
        """What these log in this thread meanwhile is kept to one line, too."""
        for module in modules:
            _listen(module)
        before = getattr(_working, "exporter", None)
        _working.exporter = self
        try:
            yield
        finally:
            _working.exporter = before

    def _in_parts(self, items: list[Any]) -> Any:
        """Export spans or records in requests that a receiver takes: conversations make them large."""
        sent: Any = None
        start = size = 0
        for n, item in enumerate(items):
            heavy = _weight(item)
            if n > start and size + heavy > _LARGEST:
                sent = self._exporter.export(items[start:n])
                if sent.value:  # the first member of the result's enumeration is success
                    return sent
                start, size = n, 0
            size += heavy
        return self._exporter.export(items[start:])

    def heard(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self.reason = record.getMessage()[:300]
            if self._tells:
                say(self.reason)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._exporter, name)


#: Characters of one request: receivers take at least four megabytes.
_LARGEST = 2_000_000


def _weight(item: Any) -> int:
    """About how many characters a span or record comes to."""
    record = getattr(item, "log_record", item)
    said = (record.attributes or {}).values()
    return 500 + sum(len(value) for value in said if isinstance(value, str))


_working = threading.local()
_listened: set[str] = set()
_told = False


def _listen(module: str) -> None:
    if module not in _listened:
        _listened.add(module)
        logging.getLogger(module).addFilter(_passes)


def _passes(record: logging.LogRecord) -> bool:
    """Whether a record is none of our exporters'."""
    exporter = getattr(_working, "exporter", None)
    if exporter is None:
        return True
    exporter.heard(record)
    return False


def say(reason: str) -> None:
    """Once in a program: why spans do not arrive."""
    global _told
    if _told:
        return
    _told = True
    tell(f"lctl: OpenTelemetry: {reason} (said once; the log itself is complete)\n")
