"""The log of a rerun, compared with the recorded one while it is written.

An event that says what the recorded one at its seq says is stored as the recorded line: an exact rerun's
events are the recording's to the byte, timestamps included; also where tasks reported of themselves in
another order (see `window`). From the first difference on the new lines stand, and that difference is
kept. What libraries write to standard error is no difference: the recorded line stands, and `stderr_differs`
tells.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import orjson

from lctl.record.journal import Durability, JournalStore
from lctl.record.recorder import Recorder
from lctl.rerun.exactness.asides import first_unlike, said_by_libraries
from lctl.rerun.exactness.certificate import Difference
from lctl.rerun.exactness.comparing import described, difference
from lctl.rerun.exactness.labels import Labels
from lctl.rerun.exactness.past import Block, Past
from lctl.rerun.exactness.reordering import Names
from lctl.rerun.exactness.window import Window
from lctl.rerun.guarding.halting import Halt
from lctl.rerun.tape.drawnids import DrawnIds
from lctl.rerun.tape.ownlogs import OwnLines
from lctl.rerun.tape.tape import Tape
from lctl.session.concurrency import lanes


def _nothing() -> None:
    pass


class EchoStore(JournalStore):
    """The journal of one session of a rerun.

    Attributes:
        tape: what it is compared with; None for a recording that the tape does not know.
        difference: the first event that is not the recorded one.
        stderr_differs, reordered, labels: see Certificate (`moved_lines`).
        shared: of a fork: the last event that is stored as the recorded line. What comes after has its own
            times, also where it says the same: two clocks in one log would tell a wrong order.
        mark: `reached` is called once when this event has been stored: in the program's own thread, inside
            the recording of the event.
        cut: nothing after `mark` is stored.
        closing: gives the `rerun` part of the tail.
        recorder: what numbers its events.
        ids: that the process draws where the recording has others.
        moment: how far the tape has come, in milliseconds from the recording's beginning.
        halt: once the rerun has reached its end, what its program still does is not stored.
    """

    def __init__(
        self,
        path: Path,
        chain: dict[str, Any] | None,
        tape: Tape | None,
        equivalent: Collection[int] = (),
        *,
        durability: Durability = "process",
    ) -> None:
        super().__init__(path, chain, durability=durability)
        self.tape = tape
        self.difference: Difference | None = None
        self.stderr_differs: str | None = None
        self.reordered = 0
        self.shared: int | None = None
        self.mark: int | None = None
        self.cut = False
        self.reached: Callable[[], None] | None = None
        self.closing: Callable[[EchoStore], dict[str, Any]] | None = None
        self.recorder: type[Recorder] = Recorder
        self.halt: Halt | None = None
        self.ids: DrawnIds | None = None
        self.moment: Callable[[], float] | None = None
        self.stored = 0
        #: Called once as many events are stored, by the thread that stores the last of them.
        self.once_stored: dict[int, Callable[[], None]] = {}
        self._equivalent = equivalent
        self.labels = Labels()
        self._names = Names()
        self._past = Past()
        self._window: Window | None = None
        self._first: Difference | None = None  # that opened the window
        self._lines: Iterator[bytes] = tape.log.lines() if tape is not None else iter(())
        self._seen = 0 if tape is None else tape.log.first_seq - 1  # seq of the last line compared
        self._own: OwnLines | None = None
        self._unshared: list[bytes] = []  # what the recording has beyond `shared` while a window is open
        self._missing: bytes | None = None  # the recorded line that `finish` did not find
        self._write = self.append
        self.append = self._echo  # type: ignore[method-assign]

    @property
    def known_as(self) -> str:
        """The chain's id as the program is to see it."""
        return str(self.chain.get("known_as") or self.chain.get("id", ""))

    @property
    def own(self) -> OwnLines:
        """What the program has recorded, for itself to read."""
        if self._own is None:
            self._own = OwnLines(self)
        return self._own

    @property
    def held(self) -> list[bytes]:
        """What has been recorded and is not stored yet."""
        return [] if self._window is None else self._window.held[self._window.before :]

    def go_on_from(self, before: EchoStore) -> None:
        """It is the same log, which had been closed."""
        self.stored, self._seen = before.stored, before._seen
        self.stderr_differs, self.reordered = before.stderr_differs, before.reordered
        self.shared, self.mark = before.shared, before.mark
        self.cut, self.reached = before.cut, before.reached
        self._names, self._past, self._lines = before._names, before._past, before._lines
        self.labels = before.labels
        self.difference = before.difference
        if before._missing is not None:  # it came to an end there, and goes on now
            self._lines, self.difference = chain((before._missing,), self._lines), None

    def _echo(self, block: bytes, count: int = 1) -> None:
        if self.halt is not None and self.halt.reached:
            return
        lines = [block] if count == 1 else [line.rstrip(b",") for line in block.split(b"\n")]
        if self.cut and self.mark is not None:
            lines = lines[: max(0, self.mark - self.stored)]
            if not lines:
                return
        if self._own is not None and self._names.are_many:
            self._own.keep(lines)  # what they refer to has another number in the log
        if self.tape is not None:
            lines = [line for one in lines for line in self._compared(one)]
        self._store(lines)

    def _store(self, lines: list[bytes]) -> None:
        if not lines:
            return
        self._write(b",\n".join(lines), len(lines))
        before, self.stored = self.stored, self.stored + len(lines)
        if self.once_stored:
            for seq in range(before + 1, self.stored + 1):
                self.once_stored.pop(seq, _nothing)()
        if self.reached is not None and self.mark is not None and self.stored >= self.mark:
            reached, self.reached = self.reached, None
            reached()

    def fill(self, seq: int) -> int:
        """Store what the recording has from event `seq` on of the bodies of served tools, which do not run;
        how many events that was. Bodies of several tools may lie in one another."""
        count = 0
        while self._window is not None and self._window.owed:
            self._store(self._closed(self._window, self._window.serve(seq + count)))
            count += 1
        while self._seen + 1 == seq + count and self._is_served_next():
            line = None if self.cut and self.stored == self.mark else next(self._lines, None)
            if line is None:
                break
            self._seen += 1
            window = self._window
            if window is None:
                self._past.add(Block([line], [line], [""], {0: 0}))
                self._store([line])
            else:
                window.owe(line)
                self._store(self._closed(window, window.serve(self._seen)))
            count += 1
        return count

    def _is_served_next(self) -> bool:
        """Whether the recording goes on with an event that `fill` is to store."""
        return self.tape is not None and self._seen + 1 in self.tape.inside and self.fills(self._seen + 1)

    def fills(self, seq: int) -> bool:
        """Whether recorded event `seq` is stored by `fill`, or has been stored."""
        if self.tape is None or (self.shared is not None and seq > self.shared):
            return False
        return seq <= self._seen or (self.difference is None and not (self.halt and self.halt.reached))

    def recorded_seq(self, seq: int) -> int:
        """The recording's seq of the event that this run gave `seq`."""
        return self._names.seq(seq)

    @property
    def is_reordering(self) -> bool:
        """Whether events are held back, so that `recorded_seq` does not know of the newest."""
        return self._window is not None

    def _compared(self, line: bytes) -> list[bytes]:
        """What is to be stored now that `line` has come: it or the recorded one; nothing while a window is
        open, and all of it when it closes."""
        said = said_by_libraries(line)
        if self.difference is not None:
            return [] if said == "" else [self._line(line)]
        if said is None and self.recorder is not Recorder and self.tape is not None and self.tape.inside:
            self._owe_served(line)
        recorded = next(self._lines, None)
        if said is not None:
            if recorded is not None and said_by_libraries(recorded) is None:  # missing now, as `finish` sees
                self._lines, recorded = chain((recorded,), self._lines), None
            return [*self._give_up(), *self._aside(recorded, line, said)]
        if recorded is None:
            if self._window is not None and self.shared is not None and self._seen >= self.shared:
                return self._beyond(None, line)
            held = self._give_up()
            if self.difference is None:
                now = orjson.loads(line)
                self.difference = Difference(now["seq"], None, described(now))
            return [*held, self._line(line)]
        self._seen += 1
        return self._paired(recorded, line)

    def _owe_served(self, line: bytes) -> None:
        """`fill` could not store what the recording has here: `line` is of one write with that before."""
        while self._is_served_next() and (recorded := next(self._lines, None)) is not None:
            if self._window is None:
                self._first = self._difference(recorded, self._line(line))
                self._window = Window(self._names, self._same, self._past)
            self._seen += 1
            self._window.owe(recorded)

    def _paired(self, recorded: bytes, line: bytes) -> list[bytes]:
        is_shared = self.shared is None or self._seen <= self.shared
        lane = lanes.current().path
        if self._window is None:
            now_line, ids = self._names.line(line), self.ids
            if ids is not None:
                now_line = ids.as_recorded(now_line)
            found = difference(recorded, now_line, self._equivalent, ids)
            if found is None:
                if is_shared:
                    self._past.add_one(recorded, line, lane)
                return [self.labels.of_now(recorded, now_line) if is_shared else now_line]
            self._first = found
            if not is_shared:
                self.difference = found
                return [now_line]
            self._window = Window(self._names, self._same, self._past)
        elif not is_shared:
            return self._beyond(recorded, line)
        return self._closed(self._window, self._window.add(recorded, line, lane))

    def _beyond(self, recorded: bytes | None, line: bytes) -> list[bytes]:
        """Of a fork, behind what it shares with the recording, and some of that is not there yet."""
        assert self._window is not None
        if recorded is not None:
            self._unshared.append(recorded)
        return self._closed(self._window, self._window.add(None, line, lanes.current().path))

    def _closed(self, window: Window, whole: bool) -> list[bytes]:
        """What is to be stored of the window: all of it, as recorded or as it came, when it has closed."""
        if whole:
            self._window = None
            lines = [self.labels.of_now(recorded, now) for recorded, now in window.close()]
            rest = window.rest()
            self.reordered += len(lines)
            if self._own is not None:
                self._own.keep(window.held[window.before :])
            return lines + self._behind(rest)
        return self._give_up() if window.is_lost else []

    def _behind(self, rest: list[bytes]) -> list[bytes]:
        """Of a fork, what had come before all that it shares with the recording was there."""
        lines = [line if self.ids is None else self.ids.as_recorded(line) for line in rest]
        for then, now in zip_longest(self._unshared, lines):
            if self.difference is None and now is not None:
                event = orjson.loads(now)
                new = Difference(event["seq"], None, described(event))
                self.difference = new if then is None else self._difference(then, now)
        return lines

    def _line(self, line: bytes) -> bytes:
        """`line` as the recording would say it: its references, and ids that stand for recorded ones."""
        named = self._names.line(line)
        return named if self.ids is None else self.ids.as_recorded(named)

    def _difference(self, recorded: bytes, now: bytes) -> Difference | None:
        return difference(recorded, now, self._equivalent, self.ids)

    def _same(self, recorded: bytes, now: bytes) -> bool:
        said = now if self.ids is None else self.ids.as_recorded(now)
        return self._difference(recorded, said) is None

    def _give_up(self) -> list[bytes]:
        """What was held back is another history: as it came, from the first difference on."""
        window, self._window = self._window, None
        if window is None:
            return []
        self.difference = self._first
        return window.give_up()

    def _let_go(self) -> None:
        """The end has come while a window was open."""
        self._store(self._give_up())

    def _aside(self, recorded: bytes | None, line: bytes, now: str) -> list[bytes]:
        """The recorded line of what libraries wrote; in a fork that has left the recording, its own."""
        then = None if recorded is None else said_by_libraries(recorded)
        if now != (then or ""):
            self.stderr_differs = first_unlike(then or "", now)
        if self.shared is not None:
            return [line] if now else []
        return [recorded] if recorded is not None and then is not None else []

    def finish(self, reached: bool) -> Difference | None:
        """The first difference; what the recording has beyond this log's end counts too, unless it was to
        end there."""
        self._let_go()
        if self.difference is None and self.tape is not None and not reached:
            left = next(self._lines, None)
            if left is not None and said_by_libraries(left) is None:
                self._missing = left
                event = orjson.loads(left)
                self.difference = Difference(event["seq"], described(event), None)
        return self.difference

    def close(self, tail: dict[str, Any] | None = None) -> None:
        self._let_go()
        made = tail or {}
        if self.closing is not None:
            closing, self.closing = self.closing, None
            made = {**made, "rerun": closing(self)}
        super().close(made)
