"""Cost and time of a long log up to any seq: sums at once, what takes a whole reading a little later.

What agents, models and tools used is in the state of every seq. Percentiles, the critical path and what was
wasted need every step at once: a process of its own works them out for the seq that is wanted, answers and
ends. Only the newest wish is worth it: another ends what is under way.
"""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec

from lctl.codec import Log, open_log
from lctl.debugger.building import beside
from lctl.debugger.shapes.findings import Costs
from lctl.events import Event

_SETTLED = 0.4  # seconds for which a wish must stand before it is worked out
_KEPT = 12

_decode = msgspec.json.Decoder(Costs).decode


class Costing:
    """Costs of one log by seq, as far as they have been worked out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Condition()
        self._found: OrderedDict[int, Costs] = OrderedDict()
        self._wanted: int | None = None
        self._worker: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def want(self, seq: int) -> Costs | None:
        """The costs up to a seq; None where they are now being worked out."""
        with self._lock:
            found = self._found.get(seq)
            if found is not None:
                self._found.move_to_end(seq)
                return found
            if self._wanted != seq:
                self._wanted = seq
                if self._process is not None:
                    self._process.kill()
                self._lock.notify()
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._work, name="lctl-costs", daemon=True)
                self._worker.start()
        return None

    def _work(self) -> None:
        while (seq := self._next()) is not None:
            answer = self._ask(seq)
            with self._lock:
                if answer is not None:
                    self._found[seq] = answer
                    while len(self._found) > _KEPT:
                        self._found.popitem(last=False)
                if self._wanted == seq:
                    self._wanted = None  # also where it failed: the next to ask has it tried again

    def _next(self) -> int | None:
        """The wish, once it stands still."""
        with self._lock:
            seq = self._wanted
            while seq is not None:
                self._lock.wait(_SETTLED)
                if self._wanted == seq:
                    return seq
                seq = self._wanted
        return None

    def _ask(self, seq: int) -> Costs | None:
        command = [sys.executable, "-m", "lctl.debugger.costing", str(self._path), str(seq)]
        with self._lock:
            if self._wanted != seq:
                return None
            try:
                self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            except OSError:
                return None
        with self._process as process:
            assert process.stdout is not None
            said = process.stdout.read()  # its input stays open: it ends with us
        with self._lock:
            self._process = None
        with contextlib.suppress(ValueError):
            return _decode(said)
        return None


class Prefix:
    """A log as it was after event `seq`, its lines as they stand."""

    def __init__(self, log: Log, seq: int) -> None:
        self._log = log
        self._seq = seq
        self.tail = log.tail if seq >= log.last_seq else None

    @property
    def chain(self) -> Mapping[str, Any]:
        return self._log.chain

    def events(self, start: int = 0, stop: int | None = None) -> Iterator[Event]:
        last = self._seq if stop is None else min(self._seq, stop - 1)
        return takewhile(lambda event: event.seq <= last, self._log.events(start))

    def lines(self) -> Iterator[bytes]:
        return self._log.lines(0, self._seq + 1)

    def event(self, seq: int) -> Event:
        return self._log.event(seq)

    def __len__(self) -> int:
        return sum(1 for _ in self.lines())


def main(path: str, seq: str) -> None:
    """The process: one answer."""
    from lctl.analysis.prices import Prices
    from lctl.debugger.views.costs import worked_out

    beside()
    gc.disable()  # a million small objects that all stay
    answer = worked_out(Prefix(open_log(path), int(seq)), Prices())
    sys.stdout.buffer.write(msgspec.json.encode(answer))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main(*sys.argv[1:])
