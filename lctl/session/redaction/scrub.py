"""What is done to a line between serialising and storing it: limits, secrets, numbers JSON lacks.

Nearly every line needs nothing, so the work is in finding that out: a few substring searches over the
bytes. Only a line that one of them stops at is taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from lctl.session import jsonable
from lctl.session.redaction.redact import Redactor
from lctl.session.redaction.suspicion import SHAPE

#: Characters of one string that are kept.
MAX_STRING = 1 << 20
#: A rerun needs what entered the program whole: these types hold longer strings.
_TAPE = ("exchange", "blob", "ambient", "output")
_TAPE_FACTOR = 32
#: A limit that has room for the mark of what was cut.
_ROOM = 512

#: No event's line has anything of the user's before this: `{"seq":1,"type":"","timestamp":"<27>","agent":"`.
_ENVELOPE = 64

#: (line, event) -> the line as it may be stored.
Scrub = Callable[[bytes, dict[str, Any]], bytes]

#: Bytes of a line that is worth remembering: looking for it costs a quarter of looking at it.
_SHORT = 256

_dumps = orjson.dumps


class Scrubber:
    """`scrub(line, event)`: the line as it may be stored. The scrubber itself may be called for it.

    A string over the limit keeps its first three quarters of the limit and its last quarter, with a
    line between them that says how much was cut.
    """

    def __init__(self, redactor: Redactor | None, max_string: int = MAX_STRING) -> None:
        self._redactor = redactor
        self._max = max_string
        # Longer ones are shortened, whatever another session of the same redactor has found.
        self._short = min(_SHORT, max_string + 1) if redactor is not None else 0
        self.scrub = self._scrubbing(redactor)

    def __call__(self, line: bytes, event: dict[str, Any]) -> bytes:
        return self.scrub(line, event)

    def _scrubbing(self, redactor: Redactor | None) -> Scrub:
        """`scrub`, as a closure: every event passes it."""
        limit = self._max
        suspects = redactor.suspicion if redactor is not None else None

        def scrub(line: bytes, event: dict[str, Any]) -> bytes:
            shape = b""
            if len(line) < self._short:
                shape = line.translate(SHAPE)
                if redactor is not None and redactor.is_familiar(shape):
                    return line
            seen = line[_ENVELOPE:]
            text = seen.lower().decode("latin-1")
            if "null" in text:
                shape = b""
                if jsonable.has_nonfinite(event):
                    line = jsonable.encode(event)
                    seen = line[_ENVELOPE:]
                    text = seen.lower().decode("latin-1")
            if len(line) > limit:
                shape = b""
                line = self._shortened(line)
            if redactor is None or suspects is None:
                return line
            if suspects(seen, text):
                redacted = redactor.event(orjson.loads(line))
                return line if redacted is None else _dumps(redacted)
            if shape:
                self._note(redactor, shape)
            return line

        return scrub

    def _note(self, redactor: Redactor, shape: bytes) -> None:
        if not redactor.note(shape):
            self._short = 0

    def passes(self, block: bytes, finite: bool) -> bool:
        """Whether no line of `block` needs anything; False where that takes a closer look.

        Args:
            finite: no value in it was NaN or infinite (see `Recorder.record_many`).
        """
        redactor, size = self._redactor, len(block)
        if size > self._max:
            return False
        shape = block.translate(SHAPE) if size < self._short else b""
        if shape and redactor is not None and redactor.is_familiar(shape):
            return True
        text = block.lower().decode("latin-1")
        if not finite and "null" in text:
            return False
        if redactor is None:
            return True
        if redactor.suspicion(block, text):
            return False
        if shape and "null" not in text:
            self._note(redactor, shape)
        return True

    def _shortened(self, line: bytes) -> bytes:
        event = orjson.loads(line)
        limit = self._max * (_TAPE_FACTOR if event["type"] in _TAPE else 1)
        data = event["data"]
        shorter = shortened(data, limit)
        if shorter is data:
            return line
        if event["type"] == "tool_call" and "tape" in data:
            shorter = {**shorter, "tape": shortened(data["tape"], self._max * _TAPE_FACTOR)}
        event["data"] = shorter
        return _dumps(event)


def _cut(count: int, of: int) -> str:
    return f"\n[lctl: {count} of {of} characters cut here]\n"


def shortened(value: Any, limit: int) -> Any:
    """`value` with no string over `limit` characters; `value` itself when there was none."""
    if isinstance(value, str):
        if len(value) <= limit:
            return value
        tail = limit // 4
        head = limit - tail
        if limit > _ROOM:  # so that it is not cut again, where it is recorded again
            head -= len(_cut(len(value), len(value)))
        mark = _cut(len(value) - head - tail, len(value))
        return f"{value[:head]}{mark}{value[-tail:]}"
    if isinstance(value, dict):
        made = {key: shortened(item, limit) for key, item in value.items()}
        return made if any(made[key] is not item for key, item in value.items()) else value
    if isinstance(value, list):
        items = [shortened(item, limit) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value
