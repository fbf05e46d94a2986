"""What was written to a standard stream, as an event has it: size, beginning, and a hash without what differs
in each run.
"""

from __future__ import annotations

import re
from typing import Any

from lctl.instrument.ambient.standing import Standing
from lctl.instrument.ambient.tracebacks import Tracebacks

#: Bytes of the beginning that go into the event as text.
_TEXT = 1 << 15
#: Where an object is in memory, as its `repr` says it: elsewhere in each run, and not hashed. What may be the
#: beginning of one, at the end of what has left, waits for the rest.
_ADDRESS = re.compile(rb"(?<= at )0x[0-9a-f]{6,16}(?=>)")
_BEGUN = re.compile(rb" (?:a(?:t(?: (?:0(?:x[0-9a-f]{0,16})?)?)?)?)?\Z")
_LONGEST = len(" at 0x") + 16
#: Which number the system gave to a thread, as its `repr` says it; likewise.
_THREAD = re.compile(rb"(?<=(?:started|stopped|.daemon) )\d{9,20}(?=\)>)")


class Written:
    """What was written to one stream since somebody began to count; by libraries, if `by` says so. Of a
    terminal, what stands there in the end."""

    __slots__ = ("_begun", "_hash", "_standing", "_tracebacks", "beginning", "by", "size")

    def __init__(self, by: str | None = None, standing: Standing | None = None) -> None:
        from hashlib import sha256

        self.by = by
        self._standing = standing
        self._hash = sha256()
        self._begun = b""
        self._tracebacks = Tracebacks()
        self.size = 0
        self.beginning = bytearray()

    def add(self, data: bytes | memoryview) -> None:
        if self._standing is None:
            self._take(data)
        elif gone := self._standing.add(bytes(data)):
            self._take(gone)

    def _take(self, data: bytes | memoryview) -> None:
        left = self._begun + self._tracebacks.without_places(bytes(data))
        begun = _BEGUN.search(left, max(0, len(left) - _LONGEST))
        self._begun = b"" if begun is None else begun[0]
        told = _ADDRESS.sub(b"0x", left[: len(left) - len(self._begun)])
        self._hash.update(_THREAD.sub(b"", told) if b")>" in told else told)
        self.size += len(data)
        if len(self.beginning) < _TEXT:
            self.beginning += data[: _TEXT - len(self.beginning)]

    def settle(self) -> Written:
        """Nothing more comes that could draw over it."""
        if self._standing is not None:
            self._take(self._standing.end())
        return self

    def event(self, stream: str) -> dict[str, Any]:
        text = bytes(self.beginning).decode("utf-8", "replace")
        hash = self._hash.copy()
        hash.update(self._begun)
        made = {"stream": stream, "hash": f"sha256:{hash.hexdigest()}", "size": self.size, "text": text}
        if self._standing is not None:
            made["on"] = "terminal"
        return made if self.by is None else {"by": self.by, **made}
