"""What the program reads of its surroundings (clocks, chance, environment), as it was recorded."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lctl.rerun.clocks.steadyclocks import SteadyClocks
from lctl.rerun.serving import misses
from lctl.session.concurrency import processes
from lctl.session.concurrency.jobshares import Taken
from lctl.session.concurrency.pooljobs import Seen
from lctl.session.sources import (
    BEFORE,
    COMMAND,
    DATABASE,
    FILE,
    ITEMS,
    LISTING,
    LOGGED,
    MADE,
    OVERDUE,
    PORT,
    THERE,
)

if TYPE_CHECKING:
    from lctl.rerun.exactness.certificate import Tally
    from lctl.rerun.guarding.halting import Halt
    from lctl.rerun.order.livelanes import LiveLanes
    from lctl.rerun.settings import Settings
    from lctl.rerun.tape.entries import Entry, Read
    from lctl.rerun.tape.tape import Tape
    from lctl.session.concurrency.lane import Lane


#: What stands for a secret differs from one run to the next.
_REDACTED = re.compile(r"(?<=\[redacted:)[^]]*")
_OF_DISK = (FILE, THERE, LISTING, DATABASE, MADE, BEFORE)


class Reads:
    """Of one tape, in the order of each lane and source."""

    def __init__(self, tape: Tape, settings: Settings, tally: Tally, halt: Halt, live: LiveLanes) -> None:
        self._tape = tape
        self._settings = settings
        self._tally = tally
        self._halt = halt
        self._live = live
        self._seen: dict[str, list[Seen]] = {}
        for lane, *seen in (tape.jobs.get("value") or {}).get("seen") or ():
            self._seen.setdefault(lane, []).append(Seen(lane, *seen))
        self._served: dict[tuple[str, str], int] = {}  # how many of a lane and source
        self._of_files: dict[tuple[str, str], Iterator[Read]] = {}
        self._commands: dict[str, dict[str, deque[tuple[Read, Entry]]]] = {}
        self._given: set[int] = set()  # seqs of commands
        self._clocks = SteadyClocks()
        self._items = Counter(
            read.value for (_, source), row in tape.reads.items() if source == ITEMS for read in row
        )

    def ambient(self, source: str, key: str, lane: Lane) -> tuple[Any] | None:
        """What the program reads, in a tuple: the recorded value, or that of a clock which goes on from the
        recorded ones; None: read it for real.

        Raises:
            RerunStopped: the tape does not hold it.
        """
        found = self._recorded(source, key, lane)
        if source != "clock":
            return found
        if found is not None:
            self._clocks.told(key, found[0])
            return found
        now = self._clocks.on(key)
        return None if now is None else (now,)

    def _recorded(self, source: str, key: str, lane: Lane) -> tuple[Any] | None:
        if lane in self._live:
            return None
        place = (lane.path, source)
        row = self._tape.reads.get(place, ())
        at = self._served.get(place, 0)
        if source == ITEMS and at == len(row) and self._waited_on(row):
            return ((None, self._items),)
        if not (self._tape.has_ambient or row):
            return None
        self._halt.check()
        if source in _OF_DISK:
            if self._settings.files == "now":
                return None
            return self._of_file(source, key, lane.path)
        if source == LOGGED:  # libraries need not say the same again
            at = next((n for n in range(at, len(row)) if row[n].key == key), len(row))
            if at == len(row):
                return None
        if at < len(row) and row[at].key == key:
            self._served[place] = at + 1
            self._tally.reads += 1
            if source == ITEMS:
                self._items[row[at].value] -= 1
                return ((row[at].value, self._items),)
            return (row[at].value,)
        if (source == ITEMS and not row) or source == PORT:
            return None  # older logs have none of them; any port will do
        if at >= len(row) and self._tape.log.open and self._settings.at is None:
            raise self._halt.at_end_of(self._tape.log)
        if self._settings.policy == "strict" and self._settings.on_miss == "stop":
            self._tally.add("unmatched")
            recorded = row[at] if at < len(row) else None
            raise self._halt.stop(misses.of_read(source, key, lane.path, at + 1, recorded))
        self._tally.add("executed")
        return None

    def _of_file(self, source: str, key: str, lane: str) -> tuple[Any] | None:
        """What that lane found there the next time. It need not look at files in the recorded order; those of
        which it is not told there are as they are now."""
        place = (lane, f"{source}:{key}")
        if place not in self._of_files:
            self._of_files[place] = iter(
                [read for read in self._tape.reads.get((lane, source), ()) if read.key == key]
            )
        read = next(self._of_files[place], None)
        if read is None:
            return None
        self._tally.reads += 1
        return (read.value,)

    def command(self, key: str, lane: Lane) -> Entry | None:
        """The next command of that line in `lane`; None where the recording has no more of it there, or not
        all of what it said. They are told apart by when they began: their events tell of their ends."""
        if lane in self._live:
            return None
        if lane.path not in self._commands:
            self._commands[lane.path] = self._commands_of(lane.path)
        row = self._commands[lane.path].get(_REDACTED.sub("", key))
        if not row:
            return None
        self._halt.check()
        read, entry = row[0]
        if not isinstance(read.value, dict) or "size" in read.value:
            return None
        row.popleft()
        self._given.add(read.seq)
        self._tally.reads += 1
        return entry

    def _commands_of(self, lane: str) -> dict[str, deque[tuple[Read, Entry]]]:
        """By their lines, in the order in which they began."""
        reads = {read.seq: read for read in self._tape.reads.get((lane, COMMAND), ())}
        found: dict[str, deque[tuple[Read, Entry]]] = {}
        for entry in sorted(self._tape.lanes.get((lane, COMMAND), ()), key=lambda one: one.at or 0.0):
            read = reads[entry.seq]
            found.setdefault(_REDACTED.sub("", read.key), deque()).append((read, entry))
        return found

    def _waited_on(self, row: Sequence[Read]) -> bool:
        """Whether the process or thread waited for an item, that never came, when the program ended: also a
        process of which there is no log."""
        if self._halt.why is not None:
            return False
        return not self._tape.log.open if row else self._tape.is_nobodys and processes.parent() is not None

    def _next(self, source: str, lane: Lane) -> Read | None:
        """What `lane` is given next of that source; None where the tape has no more."""
        place = (lane.path, source)
        row, at = self._tape.reads.get(place, ()), self._served.get(place, 0)
        return row[at] if at < len(row) else None

    def overdue(self, lane: Lane, number: int) -> bool:
        """Whether the limit of time that `lane` sets as its `number`th was over then."""
        if lane in self._live:
            return False
        read = self._next(OVERDUE, lane)
        if read is None or read.value != number:
            return False
        place = (lane.path, OVERDUE)
        self._served[place] = self._served.get(place, 0) + 1
        self._tally.reads += 1
        return True

    def seen(self, key: str, of: str, lane: Lane) -> list[int] | None:
        """See `lctl.session.border.Player.seen`. All need not be asked for: some libraries look once more, or
        once less, as threads come to run."""
        if lane in self._live:
            return None
        self._halt.check()
        left = self._seen.get(lane.path, [])
        at = next((n for n, one in enumerate(left) if (one.key, one.of) == (key, of)), None)
        return None if at is None else left.pop(at).jobs

    def taken(self, lane: Lane) -> Taken | None:
        """See `lctl.session.border.Player.taken`."""
        value = self._tape.jobs.get("value") or {}
        took = value.get("took")
        return None if lane in self._live or not took else Taken(took, value.get("starts") or [])

    def jobs(self) -> dict[str, Any] | None:
        """See `lctl.session.border.Player.jobs`."""
        if self._settings.at is not None or self._live:
            return None
        return {} if self._halt.why is not None else self._tape.jobs

    def shown(self) -> list[dict[str, Any]] | None:
        """See `lctl.session.border.Player.shown`."""
        if self._settings.at is not None or self._live:
            return None
        return [] if self._halt.why is not None else self._tape.shown

    def unused(self, skipped: Container[int]) -> list[str]:
        """What was recorded and not read, but for the events `skipped`."""
        found = []
        for (lane, source), row in self._tape.reads.items():
            left = sum(
                one.seq not in skipped and one.seq not in self._given
                for one in row[self._served.get((lane, source), 0) :]
            )
            # A seed is taken from the header of each session, not asked for.
            if left and source not in ("seed", LOGGED, PORT, *_OF_DISK):
                what = f"{left} {source} read{'' if left == 1 else 's'} of lane {lane}"
                found.append(f"event {row[-left].seq}: {what}")
        return found
