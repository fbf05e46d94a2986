"""What is done to a line between serialising and storing it: limits, secrets, numbers JSON lacks.

Nearly every line needs nothing, so the work is in finding that out: a few substring searches over the
bytes. Only a line that one of them stops at is taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from lctl.session import jsonable
from lctl.session.redact import Redactor

#: Characters of one string that are kept.
MAX_STRING = 1 << 20
#: A rerun needs what entered the program whole: these types hold longer strings.
_TAPE = ("exchange", "blob", "ambient", "output")
_TAPE_FACTOR = 32

#: No event's line has anything of the user's before this: `{"seq":1,"type":"","timestamp":"<27>","agent":"`.
_ENVELOPE = 64

#: (line, event) -> the line as it may be stored.
Scrub = Callable[[bytes, dict[str, Any]], bytes]

_dumps = orjson.dumps


class Scrubber:
    """`scrub(line, event)`: the line as it may be stored. The scrubber itself may be called for it.

    A string over the limit keeps its first three quarters of the limit and its last quarter, with a
    line between them that says how much was cut.
    """

    def __init__(self, redactor: Redactor | None, max_string: int = MAX_STRING) -> None:
        self._redactor = redactor
        self._suspects = redactor.suspicion if redactor is not None else None
        self._max = max_string
        self.scrub = self._scrubbing(redactor)

    def __call__(self, line: bytes, event: dict[str, Any]) -> bytes:
        return self.scrub(line, event)

    def _scrubbing(self, redactor: Redactor | None) -> Scrub:
        """`scrub`, as a closure: every event passes it."""
        limit, suspects = self._max, self._suspects

        def scrub(line: bytes, event: dict[str, Any]) -> bytes:
            seen = line[_ENVELOPE:]
            text = seen.lower().decode("latin-1")
            if "null" in text and jsonable.has_nonfinite(event):
                line = jsonable.encode(event)
                seen = line[_ENVELOPE:]
                text = seen.lower().decode("latin-1")
            if len(line) > limit:
                line = self._shortened(line)
            if suspects is not None and suspects(seen, text):
                assert redactor is not None
                redacted = redactor.event(orjson.loads(line))
                if redacted is not None:
                    return _dumps(redacted)
            return line

        return scrub

    def passes(self, block: bytes, finite: bool) -> bool:
        """Whether no line of `block` needs anything; False where that takes a closer look.

        Args:
            finite: no value in it was NaN or infinite (see `Recorder.record_many`).
        """
        if len(block) > self._max:
            return False
        text = block.lower().decode("latin-1")
        if not finite and "null" in text:
            return False
        return self._suspects is None or not self._suspects(block, text)

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


def shortened(value: Any, limit: int) -> Any:
    """`value` with no string over `limit` characters; `value` itself when there was none."""
    if isinstance(value, str):
        if len(value) <= limit:
            return value
        tail = limit // 4
        head = limit - tail
        cut = len(value) - limit
        return f"{value[:head]}\n[lctl: {cut} of {len(value)} characters cut here]\n{value[-tail:]}"
    if isinstance(value, dict):
        made = {key: shortened(item, limit) for key, item in value.items()}
        return made if any(made[key] is not item for key, item in value.items()) else value
    if isinstance(value, list):
        items = [shortened(item, limit) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value
