"""A lane of the program (`lctl.session.concurrency.lanes`): what it is part of, and what it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

    from lctl.session.tooling.beneath import Beneath
    from lctl.session.tooling.signalling import Signals
    from lctl.session.tooling.wrote import Sink

_counters = RLock()  # held while a counter is made

#: Characters of a path beyond which it is replaced by its digest.
_LONGEST = 160


class Lane:
    """One strand of the program. Counting is safe from several threads.

    Attributes:
        path: its name.
        parent: what started it; None of a main flow, and now and then in an endless line of lanes that
            each start the next.
        index: the last number of `path`; 0 of what libraries start for themselves.
        spawned: how many lanes it has started.
        is_apart: no two runs have in common what is done in it.
        is_live: for a fork: it does not follow the tape any more. What it starts from then on is live too.
        is_reserved: it was given in advance, to the next task started in it.
        inside: (first, last) seqs of what is recorded in it, where it is the body of a tool; the lanes it
            starts share the list.
        tool: the tool whose body it is, or is part of; and the `input` of that call.
        beneath: that call as it is seen a layer below, where it is one of an MCP server's tool.
        is_decorated: `@lctl.tool` reported that call, and no framework.
        signals: is told what is done in it that others wait for, where it is a tool's body.
        wrote: is told what is written to standard output and error in it, where it is a tool's body.
        chance: of what libraries draw in it: the run's seed and the generator, once one has drawn.
    """

    __slots__ = (
        "_aside",
        "_calls",
        "_children",
        "beneath",
        "chance",
        "index",
        "input",
        "inside",
        "is_decorated",
        "is_live",
        "is_reserved",
        "parent",
        "path",
        "signals",
        "tool",
        "wrote",
    )

    is_apart = False

    def __init__(self, path: str, parent: Lane | None = None, index: int = 0) -> None:
        self.path = path
        self.parent = parent
        self.index = index
        self.is_live = False
        self.is_reserved = False
        self._aside: Lane | None = None
        self.inside: list[tuple[int, int]] | None = None if parent is None else parent.inside
        self.tool: str | None = None if parent is None else parent.tool
        self.input: Mapping[str, Any] | None = None if parent is None else parent.input
        self.beneath: Beneath | None = None if parent is None else parent.beneath
        self.is_decorated: bool = parent is not None and parent.is_decorated
        self.wrote: Sink | None = None if parent is None else parent.wrote
        self.signals: Signals | None = None if parent is None else parent.signals
        self.chance: tuple[str | None, Random] | None = None
        # Most lanes start nothing and call little: their counters are made when one counts.
        self._children: Callable[[], int] | None = None
        self._calls: dict[str, Callable[[], int]] | None = None

    def spawn(self) -> Lane:
        """The lane of the next thing this one starts."""
        index = (self._children or self._counting())()
        if len(self.path) > _LONGEST:
            path, parent = f"{_shortened(self.path)}.{index}", None
        else:
            path, parent = f"{self.path}.{index}", self
        return self._within(Lane(path, parent, index))

    def _within(self, lane: Lane) -> Lane:
        """That lane, as part of what this one is part of."""
        lane.is_live = self.is_live
        lane.inside, lane.tool, lane.input, lane.wrote = self.inside, self.tool, self.input, self.wrote
        lane.beneath, lane.signals, lane.is_decorated = self.beneath, self.signals, self.is_decorated
        return lane

    def _counting(self) -> Callable[[], int]:
        with _counters:
            if self._children is None:
                self._children = count(1).__next__
            return self._children

    def aside(self) -> Lane:
        """Where what a library starts for itself runs. It is not counted: `0.0`."""
        if self.parent is not None and not self.index:
            return self
        lane = self._aside
        if lane is None:
            lane = self._aside = Lane(f"{self.path}.0", self)
        lane.is_live = self.is_live
        return lane

    def apart(self) -> Lane:
        """As `aside`, of what no two runs have in common: all that is started there stays there."""
        lane = Apart(f"{self.path}.0", self)
        lane.is_live = self.is_live
        return lane

    def telling(self) -> Lane:
        """Where tools of observability send what they gathered: apart, and counted with what is aside."""
        lane = Telling(f"{self.path}.0", self.aside())
        lane.is_live = self.is_live
        return lane

    def body(self, number: int, tool: str, input: Mapping[str, Any] | None = None) -> Lane:
        """The lane of the body of this one's `number`th tool call: a rerun that serves the call has no
        such lane, and its going missing moves nothing in this one."""
        lane = Lane(f"{self.path}/t{number}", self)
        lane.inside = []
        lane.tool, lane.input, lane.beneath, lane.is_decorated = tool, input, None, False
        return lane

    def request(self, what: int, number: int | None = None) -> Request:
        """The lane of what answers this one's next request for `what` (or the `number`th), in a server of the
        same process. A tool that asks it does what is done there."""
        number = self.number(f"s{what}") if number is None else number
        lane = Request(self.path_of(what, number), self, number)
        self._within(lane)
        return lane

    def path_of(self, what: int, number: int) -> str:
        """That of the lane of this one's `number`th request for `what`."""
        above = self.path if len(self.path) <= _LONGEST else _shortened(self.path)
        return f"{above}/s{what:x}.{number}"

    def number(self, kind: str) -> int:
        """Count one more call of that kind in this lane: 1, 2, ..."""
        calls = self._calls
        counter = None if calls is None else calls.get(kind)
        if counter is None:
            with _counters:
                if self._calls is None:
                    self._calls = {}
                counter = self._calls.setdefault(kind, count(1).__next__)
        return counter()

    @property
    def spawned(self) -> int:
        counter = getattr(self._children, "__self__", None)
        return 0 if counter is None else int(repr(counter)[6:-1]) - 1  # count(3)


class Request(Lane):
    """Of what answers a request of the program's own.

    Attributes:
        under: the lane of the server, in which it was taken.
        asked: what for, where it came from outside: `GET /ask`.
        is_left: its client has gone before it had the whole answer.
    """

    __slots__ = ("asked", "is_left", "under")

    def __init__(self, path: str, parent: Lane, index: int) -> None:
        super().__init__(path, parent, index)
        self.under: Lane | None = None
        self.asked = ""
        self.is_left = False


class Accepting(Lane):
    """Of a connection to a server of the program's, until a request is read from it. A rerun has others, at
    other times: it sends each request over one of its own."""

    __slots__ = ()


class Apart(Lane):
    __slots__ = ()

    is_apart = True

    def spawn(self) -> Lane:
        return self

    def aside(self) -> Lane:
        return self


class Drawing(Apart):
    """Of a thread that draws on the terminal, over what it drew before: what it writes is in no order."""

    __slots__ = ()


class Telling(Apart):
    __slots__ = ()

    def number(self, kind: str) -> int:
        assert self.parent is not None
        return self.parent.number(kind)


def after_fork() -> None:
    """In the child: another thread of the parent may have held it."""
    global _counters
    _counters = RLock()


def _shortened(path: str) -> str:
    from hashlib import blake2b

    return f"0.~{blake2b(path.encode(), digest_size=10).hexdigest()}"
