"""What threads hand to event loops: kept back until its recorded turn, where that is known.

Called with the door shut, as all of the `Stage` is.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from lctl.rerun.order.idleloop import IdleLoop
from lctl.rerun.order.moments import START
from lctl.rerun.order.parties import Held
from lctl.rerun.order.stage import Stage
from lctl.rerun.order.waiting import Key
from lctl.session.concurrency.lane import Lane
from lctl.session.concurrency.lanes import SHARED
from lctl.session.concurrency.pooljobs import HEARD, SOURCE

#: What a thread asks for: after it, what it hands to a loop is an answer (see `turns.crossing`).
_CALLS = frozenset({"exchange", "tool", "sleep"})


class Handing:
    """Which job or call a thread's next hand-over to a loop comes of, and what follows it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._score = stage.score
        marks = {lane.partition(":")[0] + ":" for lane in self._score.lanes() if ":" in lane}
        self._marks = sorted(marks)
        self._handed: dict[tuple[int, int], Held] = {}  # the last by this thread, to this loop
        self._crossed: dict[int, str] = {}  # lane of a thread's job or last call, until it wakes a loop
        self._wakes: Counter[str] = Counter()

    def begin_job(self, lane: Lane) -> None:
        """This thread takes up a job of a pool."""
        if lane.index:
            self._crossed[threading.get_native_id()] = lane.path
        else:
            self._crossed.pop(threading.get_native_id(), None)

    def lane_here(self) -> str | None:
        """Of this thread's job or last call, until it wakes a loop."""
        lane = self._crossed.get(threading.get_native_id())
        return None if lane is None else lane.rpartition(":")[2]

    def end_of_job(self, lane: Lane) -> float | None:
        """When the job in `lane` ended, in milliseconds from the recording's origin, where that is still to
        come."""
        place = self._place(lane.path, SOURCE, 1) if lane.index else None
        return None if place is None else self._score.at(place)

    def begin_apart(self) -> Callable[[], object]:
        """See `turns.on_apart`."""
        mine = threading.get_native_id()
        lane = self._crossed.pop(mine, None)
        return lambda: None if lane is None else self._crossed.setdefault(mine, lane)

    def begin(self, key: Key) -> None:
        """This thread, in no loop, asks for a delivery. Pieces of a stream are of a call that has begun; a
        step that begins or ends is none, nor is what others may have asked instead."""
        if key[1] in _CALLS and key[3] in (START, 0) and key[0].rpartition(":")[2] != SHARED.path:
            self._crossed[threading.get_native_id()] = key[0]

    def hold(self, loop: IdleLoop, job: Lane | None, make: Callable[[], Any]) -> Any:
        """See `Conductor.hold`."""
        mine = threading.get_native_id()
        lane = self._crossed.pop(mine, None) if mine != loop.tid else None
        lane = lane if job is None else job.path
        place = None
        if lane is not None:
            self._wakes[lane] += 1
            place = self._place(lane, "wake", self._wakes[lane])
            if place is None and job is not None:
                place = self._place(lane, HEARD, 1)
        if place is None:
            before = self._handed.get((mine, id(loop)))
            handle = None if before is None else make()
            return handle if before is not None and before.follow(handle) else None
        handle = make()
        held = Held(place, loop.loop, loop.tid, handle)
        self._handed[mine, id(loop)] = self._stage.waiting[place] = held
        self._stage.watch.soon()
        return handle

    def _place(self, lane: str, kind: str, number: int) -> int | None:
        """Where a lane's `number`th wake stands. A job does not know whose it is of several sessions."""
        marks = self._marks if lane[:1] == "0" else ()
        places = (self._score.place((mark + lane, kind, number, 0)) for mark in ("", *marks))
        return next((place for place in places if place is not None), None)
