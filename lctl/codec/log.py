"""An opened log: its header, its events at any seq, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from typing import Any, NamedTuple, Protocol

from lctl.codec.bytesource import Bytes
from lctl.errors import UsageError
from lctl.events import Event


class Problem(NamedTuple):
    """One thing in a log that is not as the protocol says.

    `seq` is of the event it concerns, `line` the line of the file, counted from 1; None where there
    is none to name.
    """

    seq: int | None
    line: int | None
    text: str

    def __str__(self) -> str:
        place = [f"line {self.line}"] if self.line is not None else []
        if self.seq is not None:
            place.append(f"event {self.seq}")
        return ", ".join(place) + (": " if place else "") + self.text


class Recovery(NamedTuple):
    """The log had no proper end. `text` says what was missing; all `events` whole ones were read."""

    events: int
    text: str

    def __str__(self) -> str:
        return f"recovered: {self.events} event{'' if self.events == 1 else 's'}, {self.text}"


class Lines(NamedTuple):
    """Event lines that can be cut without decoding them.

    Between `begin` and `end` of `source` there are only event lines, each beginning with `{"seq":N,`, seqs
    one higher each time, ended by a line feed with or without a comma before it (the last one perhaps
    without). They were found so at both ends and by count; a line in the middle may yet be damaged.
    """

    source: Bytes
    begin: int
    end: int

    @property
    def data(self) -> bytes | mmap:
        """All up to `end`, for who searches through it: each asking maps the file anew."""
        return self.source.view(self.end)


class Events(Protocol):
    """Where a log's events come from. Ranges are start <= seq < stop; None is to the end."""

    def __len__(self) -> int: ...

    @property
    def first_seq(self) -> int: ...

    @property
    def last_seq(self) -> int: ...

    @property
    def problems(self) -> list[Problem]: ...

    @property
    def tail(self) -> dict[str, Any] | None: ...

    def line_of(self, seq: int, /) -> int | None: ...

    def events(self, start: int, stop: int | None) -> Iterator[Event]: ...

    def lines(self, start: int, stop: int | None) -> Iterator[bytes]: ...

    def stored(self) -> Iterator[bytes]:
        """Every line as it stands, in the order of the file, damaged ones too: what the hash covers."""
        ...

    def buffer(self) -> Lines | None: ...


class Log:
    """A log as it was when opened; events recorded later are not in it (open it again: it is quick).

    Attributes:
        source: where its events come from.
        path: as given to `open_log`; "-" for standard input, None for bytes.
        name: what messages call it.
        version: the version the log says it is, "3.0" also when its events were upgraded.
        chain: the header's chain: `id`, and perhaps `name`, `parent` and others.
        extra: top-level keys lctl does not know, kept for writing.
        form: "journal", "json", "jsonl" or "yaml".
        recovered: what was missing at its end, None for a whole log.
        open: a journal without its closing: being written, or its program ended abruptly.
    """

    def __init__(
        self,
        source: Events,
        *,
        path: str | None,
        name: str,
        version: str,
        chain: dict[str, Any],
        extra: dict[str, Any],
        form: str,
        recovered: Recovery | None = None,
        open: bool = False,
        notes: tuple[Problem, ...] = (),
    ) -> None:
        self.source = source
        self._notes = list(notes)
        self.path = path
        self.name = name
        self.version = version
        self.chain = chain
        self.extra = extra
        self.form = form
        self.recovered = recovered
        self.open = open

    def __len__(self) -> int:
        return len(self.source)

    def __bool__(self) -> bool:
        return True  # a log without events is still a log

    def __repr__(self) -> str:
        return f"<Log {self.name}: {len(self)} event{'' if len(self) == 1 else 's'}, version {self.version}>"

    @property
    def id(self) -> str:
        """The chain's id, "" when the log names none."""
        return str(self.chain.get("id") or "")

    @property
    def origin(self) -> int:
        """The seq the chain should begin with: 1, or one after the event it was forked at."""
        return origin_of(self.chain, self.first_seq)

    @property
    def first_seq(self) -> int:
        """Of the first event there is; 0 when there are no events."""
        return self.source.first_seq

    @property
    def last_seq(self) -> int:
        """0 when there are no events."""
        return self.source.last_seq

    @property
    def problems(self) -> list[Problem]:
        """What could not be taken as it stands. Reads the whole log the first time (1 s a million
        events)."""
        return self._notes + self.source.problems

    def line_of(self, seq: int) -> int | None:
        """Line of the file where an event begins, counted from 1; None where lines mean nothing."""
        return self.source.line_of(seq)

    @property
    def tail(self) -> dict[str, Any] | None:
        """`state`, `summary`, `hash` and what else follows the events; None when nothing does."""
        return self.source.tail

    def events(self, start: int = 0, stop: int | None = None) -> Iterator[Event]:
        """Events with start <= seq < stop, by ascending seq, each seq once."""
        return self.source.events(start, stop)

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The same events as JSON lines, without comma and line end: the original bytes where the file
        is line by line, else the canonical form. A damaged line of a closed journal may be among them
        until `problems` has been read; `events` never gives one."""
        return self.source.lines(start, stop)

    def stored(self) -> Iterator[bytes]:
        """Every line as it stands in the file, in the file's order: what the rolling hash covers."""
        return self.source.stored()

    def buffer(self) -> Lines | None:
        """The lines in one piece, for readers that go through millions; None where the log is not line
        by line, or not in order."""
        return self.source.buffer()

    def line(self, seq: int) -> bytes:
        """The line of event `seq`; b"" where there is none."""
        return next(self.source.lines(seq, seq + 1), b"")

    def event(self, seq: int) -> Event:
        """The event numbered `seq`.

        Raises:
            UsageError: the log has no such event.
        """
        for event in self.source.events(seq, seq + 1):
            return event
        raise UsageError(
            f"{self.name}: there is no event {seq}; "
            + (f"it has {self.first_seq} to {self.last_seq}" if len(self) else "it has no events")
        )


def origin_of(chain: dict[str, Any], first: object) -> int:
    """The seq a chain with this header begins with, `first` being the seq of its first event.

    A fork that refers to its parent's prefix goes on after the event it was forked at. A child process's
    chain, and a fork that holds its prefix itself, have a parent too and begin with 1.
    """
    parent = chain.get("parent")
    seq = parent.get("seq") if isinstance(parent, dict) else None
    return seq + 1 if isinstance(seq, int) and 0 <= seq < 10**18 and first != 1 else 1
