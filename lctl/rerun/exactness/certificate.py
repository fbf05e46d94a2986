"""The certificate: how far a rerun was the recorded run, and where it was not."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any


class Tally:
    """Counts crossings by how they were answered. Safe from several threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        #: Reads of the surroundings that were served.
        self.reads = 0
        self._lock = threading.Lock()

    def add(self, how: str) -> None:
        with self._lock:
            self._counts[how] += 1

    def total(self) -> int:
        """Of all, reads too."""
        return self.reads + self._counts.total()

    def __getitem__(self, how: str) -> int:
        return self._counts[how]


@dataclass(frozen=True)
class Difference:
    """The first event in which the new log is not the recorded one.

    Attributes:
        seq: of the event; in the log that is shorter there may be none.
        recorded: its type and agent there, None where the recording had ended.
        now: the same of the rerun, None where the rerun had ended.
        fields: dotted names of what differs, with both values: (name, recorded, now).
    """

    seq: int
    recorded: str | None
    now: str | None
    fields: tuple[tuple[str, Any, Any], ...] = ()

    def __str__(self) -> str:
        if self.recorded is None:
            return f"event {self.seq}: {self.now} is not in the recording, which ends before it"
        if self.now is None:
            return f"event {self.seq}: {self.recorded} was recorded and did not happen"
        if self.recorded != self.now:
            return f"event {self.seq}: recorded {self.recorded}, now {self.now}"
        told = "; ".join(f"{name}: {_short(old)} -> {_short(new)}" for name, old, new in self.fields[:3])
        return f"event {self.seq}: {self.now}: {told}"


@dataclass(frozen=True)
class Certificate:
    """Of one rerun or fork.

    Attributes:
        of: id of the recorded chain.
        log: path of the new log.
        events: how many it has.
        recorded: how many the recording has.
        exact: crossings answered by the recorded answer to the same request.
        recalled: those of them that are tools of a fork behind its point, given out of their turn.
        reads: of clock, chance, environment, served as recorded.
        drift: by the recorded answer to another request at the same place.
        moved: by the recorded answer to the same request at another place in its lane.
        edited: by an edited answer.
        live: requests that were let out.
        executed: tools that were run and reads that were made, for the tape did not serve them.
        again: the recorded tool calls among them, with why the tape could not serve them.
        dry: tools of a fork that were not run and gave a stand-in.
        unmatched: what was asked and refused.
        unaddressed: edits of a fork that changed nothing, and why.
        unused: recorded crossings that were not asked for: "event 12: call 2 of lane 0".
        blocked: side effects the guard refused, with the code that tried.
        aside: files that it wrote in the rerun's own folder.
        files: those that were given to it as they were recorded, and are not as that any more.
        changed: other files it opened, and that were written since the recording began.
        violations: deliveries that had to be made in another order than recorded.
        output_equal: of what the program wrote to its standard streams; None where it was not recorded.
        stderr_differs: how what libraries wrote to standard error is not as recorded; None where it is. It
            tells of connections and objects thrown away, which a rerun has not, and makes no rerun inexact.
        reordered: events that tasks and threads told of themselves in another order; nothing that the program
            sees is in it, and the log has the recorded one.
        log_equal: every event is the recorded one, but for the places in the program's code that label some
            of them, and none is missing.
        moved_lines: such places that are others now: "agent.py:12 -> agent.py:13".
        first_difference: where not.
        stopped: why the rerun ended before the program did; None where it did not.
        until: the event the rerun was to stop at, and did; or the last one of a recording cut off.
        standing: the user's lines the program was in then, outermost first.
        seconds: how long it took.
    """

    of: str = ""
    log: str = ""
    events: int = 0
    recorded: int = 0
    exact: int = 0
    recalled: int = 0
    reads: int = 0
    drift: int = 0
    moved: int = 0
    edited: int = 0
    live: int = 0
    executed: int = 0
    dry: int = 0
    unmatched: int = 0
    unaddressed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    output_equal: bool | None = None
    stderr_differs: str | None = None
    reordered: int = 0
    log_equal: bool = False
    moved_lines: tuple[str, ...] = ()
    first_difference: Difference | None = None
    again: tuple[str, ...] = ()
    stopped: str | None = None
    until: int | None = None
    standing: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """All exact, and all equal."""
        inexact = (
            self.drift + self.moved + self.edited + self.live + self.executed + self.dry + self.unmatched
        )
        extra = self.unused or self.blocked or self.violations or self.stopped
        return not inexact and not extra and self.log_equal and self.output_equal is not False

    def to_dict(self) -> dict[str, Any]:
        """For the log's tail and for `--json`."""
        made = {"ok": self.ok, **asdict(self)}
        return {name: value for name, value in made.items() if value not in (None, (), "") or name == "ok"}

    @classmethod
    def of_dict(cls, data: dict[str, Any]) -> Certificate:
        """The inverse of `to_dict`."""
        known = {key: value for key, value in data.items() if key in cls.__dataclass_fields__}
        found = known.get("first_difference")
        if isinstance(found, dict):
            fields = tuple(tuple(one) for one in found.get("fields", ()))
            known["first_difference"] = Difference(
                found["seq"], found.get("recorded"), found.get("now"), fields
            )
        for name in (
            "unaddressed",
            "unused",
            "blocked",
            "aside",
            "files",
            "changed",
            "violations",
            "standing",
            "again",
            "moved_lines",
        ):
            known[name] = tuple(known.get(name, ()))
        return cls(**known)


def differing(recorded: Any, now: Any, name: str = "") -> list[tuple[str, Any, Any]]:
    """Every leaf in which two JSON values differ: (dotted name, recorded, now)."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        found: list[tuple[str, Any, Any]] = []
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            inner = f"{name}.{key}" if name else str(key)
            found += differing(recorded.get(key), now.get(key), inner)
        return found
    if isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        found = []
        for n, (old, new) in enumerate(zip(recorded, now, strict=True)):
            found += differing(old, new, f"{name}.{n}")
        return found
    return [] if recorded == now else [(name, recorded, now)]


def _short(value: Any, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
