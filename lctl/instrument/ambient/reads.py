"""A read of the surroundings: recorded, or served from a recording.

The first reads after another event of their lane are events of their own. A program that goes on reading
(a loop on the clock) has further ones gathered into batches of 16, 32, ... up to 512 reads, one event
each, written when full or before the next other event of the lane. The boundaries depend on what the
lane does and on nothing else, so a rerun makes the same events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from threading import get_ident
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from lctl.clock import monotonic_ns as _monotonic_ns
from lctl.guard import guard
from lctl.instrument.ambient import places
from lctl.payloads.tape import reads_of
from lctl.session import border, default, hooks
from lctl.session.concurrency import collector, lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.runs import context

if TYPE_CHECKING:
    from lctl.session import LCTLSession
    from lctl.session.concurrency.underway import UnderWay

T = TypeVar("T")

#: Reads that are events of their own, and the reads of the first and of the largest batch.
ALONE, FIRST_BATCH, LARGEST_BATCH = 8, 16, 512

_active = False
_ended = False
_aside: set[int] = set()  # threads
_logs: WeakKeyDictionary[Any, Log] = WeakKeyDictionary()

#: source, key, file, line
What = tuple[str, str, str, int]


def activate(on: bool) -> None:
    global _active, _ended
    _active, _ended = on, False
    (collector.watch if on else collector.unwatch)(__name__)


def active() -> bool:
    return _active and (me := get_ident()) not in _aside and me != collector.thread


@contextmanager
def aside() -> Iterator[None]:
    """What this thread reads in the block is somebody else's business (a debugger's), not the program's."""
    me = get_ident()
    _aside.add(me)
    try:
        yield
    finally:
        _aside.discard(me)


def session_here() -> LCTLSession | None:
    """The session the running code records into. Once the program's own one is closed, none is opened:
    what runs at exit is not recorded."""
    frame = context.current()
    if frame is not None:
        return None if frame.session.closed else frame.session
    return None if _ended else default.get_session()


def closing(session: LCTLSession) -> None:
    """Called as a session closes."""
    global _ended
    _flush(session)
    if context.current() is None or session is default.closing:  # a step may be open still
        _ended = True


def read(
    source: str,
    key: str,
    frame: FrameType,
    real: Callable[[], T],
    encode: Callable[[T], Any] | None = None,
    decode: Callable[[Any], T] | None = None,
    always: bool = False,
) -> T:
    """Read `real()` for the program's code in `frame`, recorded; or what the recording has in its place.

    Args:
        encode: the value as JSON; None if it is.
        decode: the value back from it.
        always: in recordings by `auto_instrument()`, too: what a model is asked next depends on it.
    """
    if not (_active or always) or (me := get_ident()) in _aside or me == collector.thread:
        return real()
    lane = lanes.current()
    if lane.is_apart:
        return real()
    player = border.player()
    if player is None:
        value = real()
    else:
        served = player.ambient(source, key, lane, lane.number(f"ambient:{source}"))
        value = real() if served is None else served[0] if decode is None else decode(served[0])
    try:
        note(source, key, frame, lane, value if encode is None else encode(value))
    except Exception as error:
        failed("a read of the surroundings", error)
    return value


def note(source: str, key: str, frame: FrameType, lane: Lane, value: Any) -> None:
    """Record what the program's code in `frame` has read."""
    session = session_here()
    if session is not None:
        log = _logs.get(session) or _log(session)
        log.add(lane.path, (source, key, frame.f_code.co_filename, frame.f_lineno), value)


def early(source: str, key: str, frame: FrameType, real: Callable[[], Any]) -> Any:
    """As `read`, of what a library reads as it is imported, for the whole process and in every recording. It
    opens no log: it is written when one is opened."""
    lane, player = lanes.LIBRARIES, border.player()
    served = None
    if player is not None:
        served = player.ambient(source, key, lane, lane.number(f"ambient:{source}"))
    value = real() if served is None else served[0]
    what = (source, key, frame.f_code.co_filename, frame.f_lineno)

    def tell(session: LCTLSession) -> None:
        if tell in hooks.on_open:
            hooks.on_open.remove(tell)
        _log(session).add(lane.path, what, value)

    session = default.running()
    if session is None:
        hooks.on_open.append(tell)
    else:
        tell(session)
    return value


def failed(place: str, error: Exception) -> None:
    if guard.policy == "raise":
        raise error
    guard.failed(place, error)


def _log(session: LCTLSession) -> Log:
    log = _logs.get(session)
    if log is not None:
        return log
    log = _logs[session] = Log(session)
    session.before_event = log.before_event
    session.body_ended = log.body_ended
    if _flush not in hooks.on_closing:  # recordings by `auto_instrument()` have but a few such reads
        hooks.on_closing.append(_flush)
    return log


def _flush(session: LCTLSession) -> None:
    """What is gathered is written."""
    log = _logs.get(session)
    if log is not None:
        log.flush_all()


def after_fork() -> None:
    """In the child: what is gathered is the parent's to write."""
    for log in _logs.values():
        log.forget()


class Log:
    """The reads of one session, on their way into its events."""

    def __init__(self, session: LCTLSession) -> None:
        self._session = session
        self._runs: dict[str, _Run] = {}

    def add(self, lane: str, what: What, value: Any) -> None:
        run = self._runs.get(lane)
        if run is None:
            run = self._runs[lane] = _Run()
        run.count += 1
        if run.count <= ALONE:
            self._write(_single(what, value), lane, _monotonic_ns(), *self._place())
            return
        if not run.values:
            run.at = _monotonic_ns()
            run.place = self._place()
        number = run.whats.get(what)
        if number is None:
            number = run.whats[what] = len(run.whats)
        run.order.append(number)
        run.values.append(value)
        if len(run.values) >= run.limit:
            run.limit = min(2 * run.limit, LARGEST_BATCH)
            self._flush(lane, run)

    def before_event(self) -> None:
        """Another event of the current lane is about to be recorded."""
        run = self._runs.get(lanes.current().path)
        if run is not None and run.count:
            run.count, run.limit = 0, FIRST_BATCH
            if run.values:
                self._flush(lanes.current().path, run)

    def body_ended(self, lane: Lane) -> None:
        """What was read in a tool's body, and in what that has started, is of its call: written before it."""
        started = (f"{lane.path}.", f"{lane.path}/")
        token = lanes.enter(lane)
        try:
            for path, run in list(self._runs.items()):
                if path == lane.path or path.startswith(started):
                    self._runs.pop(path, None)
                    if run.values:
                        self._flush(path, run)
        finally:
            lanes.leave(token)

    def forget(self) -> None:
        self._runs.clear()

    def flush_all(self) -> None:
        for lane, run in list(self._runs.items()):
            run.count = 0
            if run.values:
                self._flush(lane, run)

    def _flush(self, lane: str, run: _Run) -> None:
        whats, order, values = list(run.whats), run.order, run.values
        run.whats, run.order, run.values = {}, [], []
        self._write(batch(whats, order, values), lane, run.at, *run.place)

    def _place(self) -> tuple[str, int | None]:
        frame = self._session.frame()
        return frame.agent, frame.step

    def _write(self, data: dict[str, Any], lane: str, at_ns: int, agent: str, step: int | None) -> None:
        if lane != "0":
            data["lane"] = lane
        under_way: UnderWay | None = getattr(self._session, "under_way", None)
        if under_way is not None:
            data["at"] = max(0.0, under_way.ms(at_ns))
        self._session.record_read(agent, data, step)


class _Run:
    """Reads of one lane since its last other event."""

    __slots__ = ("at", "count", "limit", "order", "place", "values", "whats")

    def __init__(self) -> None:
        self.count = 0
        self.limit = FIRST_BATCH
        self.whats: dict[What, int] = {}
        self.order: list[int] = []
        self.values: list[Any] = []
        self.at = 0
        self.place: tuple[str, int | None] = ("main", None)


def _single(what: What, value: Any) -> dict[str, Any]:
    source, key, file, line = what
    return {"source": source, "key": key, "value": value, "place": places.name(file, line)}


def batch(whats: list[What], order: list[int], values: list[Any]) -> dict[str, Any]:
    """The data of an event for several reads (see `lctl.payloads.tape.reads_of`)."""
    sources = {what[0] for what in whats}
    data: dict[str, Any] = {"source": sources.pop() if len(sources) == 1 else "several"}
    data["reads"] = [[source, key, places.name(file, line)] for source, key, file, line in whats]
    if len(whats) > 1:
        data["order"] = order
    if all(type(value) is int for value in values):
        # Clocks go on in small steps.
        data["steps"] = [values[0], *(b - a for a, b in pairwise(values))]
    else:
        data["values"] = values
    return data


#: The reads an event of `batch` stands for.
expanded = reads_of
