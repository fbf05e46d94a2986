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
from lctl.otel.answers import Answers


class Quiet:
    """An exporter of the SDK's, for which this stands in; what it logs while it works is kept to one line,
    and what it sends to requests of a size that receivers take.

    Attributes:
        answer: what was answered last that is no success; "" where it was one, or nobody answered.
        reason: what it logged first of what it did last; later words say only that it gave up.
    """

    def __init__(self, exporter: Any, answers: Answers | None = None, *, tells: bool = True) -> None:
        self._exporter = exporter
        self._answers = answers
        self._tells = tells
        self.answer = self.reason = ""
        for cls in type(exporter).__mro__:  # that of gRPC logs by its base
            _listen(cls.__module__)

    def export(self, *args: Any, **kwargs: Any) -> Any:
        with self.at_work():
            if args and isinstance(args[0], list | tuple):
                return self._in_parts(list(args[0]))
            return self._sent(*args, **kwargs)

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
                sent = self._sent(items[start:n])
                if sent.value:  # the first member of the result's enumeration is success
                    return sent
                start, size = n, 0
            size += heavy
        return self._sent(items[start:])

    def _sent(self, *args: Any, **kwargs: Any) -> Any:
        """What became of it: not a success that the answer belies."""
        self.reason = ""
        if self._answers is None:
            return self._exporter.export(*args, **kwargs)
        self._answers.forget()
        result = self._exporter.export(*args, **kwargs)
        self.answer = self._answers.trouble()
        if not self.answer or result.value:  # the first member of the enumeration is success
            return result
        if self._tells:
            say(self.answer)
        return type(result).FAILURE

    def heard(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            said = record.getMessage()[:300]
            self.reason = self.reason or said
            if self._tells:
                say(said)

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
