"""What the bodies of tools write to standard output and error: kept with the call, written again when served.

A piece is (stream, at, text). `at` says how many characters had been written to that stream before, by
whomever: so pieces of calls that are served at once, and what the program itself prints meanwhile, come in
the recorded order. A piece is written as soon as the stream has come that far, and at the latest before its
call gives its result.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import RLock
from typing import Any, NamedTuple

from lctl.guard import guard
from lctl.session import hooks, processes
from lctl.session.interleaving import Following, Order, Turn

#: Characters of one call that are kept.
LIMIT = 1 << 18
#: Seconds that a fork waits for who writes.
_PATIENCE = 0.5

#: Tools that wrote what is not kept -> how many calls of theirs.
dropped: dict[str, int] = {}


class Piece(NamedTuple):
    stream: str
    at: int
    text: str


class Body:
    """What one call's body writes; what a call within it writes is also written in the `outer` one."""

    __slots__ = ("_outer", "_pieces", "_size", "_told", "_whole")

    def __init__(self, outer: Sink | None = None) -> None:
        self._outer = outer
        self._pieces: list[tuple[str, int, list[str]]] = []
        self._size = 0
        self._whole = True
        self._told = False

    def has(self, stream: str, text: str) -> bool:
        return False

    def add(self, stream: str, at: int, text: str | None, size: int) -> None:
        """`size` characters were written behind the first `at`.

        Args:
            text: None of what JSON cannot keep.
        """
        if self._outer is not None:
            self._outer.add(stream, at, text, size)
        self._size += size
        if text is None or self._size > LIMIT:
            self._whole = False
            self._pieces.clear()
        if not self._whole or not text:
            return
        last = next((piece for piece in reversed(self._pieces) if piece[0] == stream), None)
        if last is not None and last[1] + sum(map(len, last[2])) == at:
            last[2].append(text)
            if len(last[2]) > _JOINED:
                last[2][:] = ["".join(last[2])]
        else:
            self._pieces.append((stream, at, [text]))

    def tape(self, tool: str) -> list[list[Any]] | None:
        """For the `tape` of the call; None where nothing was written, or not all of it is kept."""
        with streams.lock:
            if not self._whole:
                if not self._told:
                    dropped[tool] = dropped.get(tool, 0) + 1
                self._told = True
                return None
            return [[stream, at, "".join(texts)] for stream, at, texts in self._pieces] or None


#: Texts of a piece that are joined.
_JOINED = 16


class Again:
    """A served call, and what of its text is yet to be written.

    What a framework does about the call runs again, in the lane of the recorded body (`ToolRun.around`),
    and had written its share of the text: that is not written twice.
    """

    def __init__(self, pieces: Iterable[Piece], outer: Sink | None, lane: str) -> None:
        self.left = deque(pieces)
        self._outer = outer
        self._lane = lane  # the body's
        #: Of each stream: what the framework has not written again, and how much of all is not written.
        self._unclaimed: dict[str, str] = defaultdict(str)
        self._unwritten: dict[str, int] = defaultdict(int)
        for piece in self.left:
            self._unclaimed[piece.stream] += piece.text
            self._unwritten[piece.stream] += len(piece.text)
        self.is_ended = False

    def begin(self) -> None:
        with streams.lock:
            streams.pending.append(self)
            streams.write_due()

    def end(self, give_all: bool) -> None:
        """The call is about to give its result: write what is left, if it is to `give_all`; but what comes
        after the text of others, who are known to be still at it."""
        with streams.lock:
            waits = [piece for piece in self.left if give_all and streams.is_awaited(piece)]
            while give_all and self.left:
                if self.left[0] in waits:
                    piece = self.left.popleft()
                    self.add(piece.stream, piece.at, piece.text, len(piece.text))
                else:
                    self.write_next()
            self.left.clear()
            self.left.extend(waits)
            self.is_ended = True
            if not waits and self in streams.pending:
                streams.pending.remove(self)
            streams.write_due()

    def write_next(self) -> None:
        piece = self.left.popleft()
        at = streams.positions[piece.stream]
        streams.write(piece, self._lane)
        self._unwritten[piece.stream] -= len(piece.text)
        if not self.is_ended:
            self.add(piece.stream, at, piece.text, len(piece.text))

    def has(self, stream: str, text: str) -> bool:
        """Whether `text`, which the framework is about to write, is of the recorded text: then that is
        written, and stands for it."""
        unclaimed = self._unclaimed.get(stream, "")
        at = unclaimed.find(text)
        if not text or at < 0:
            return False
        rest = unclaimed[at + len(text) :]
        while self._unwritten[stream] > len(rest) and not streams.is_awaited(self.left[0]):
            self.write_next()
        self._unclaimed[stream] = rest
        return True

    def add(self, stream: str, at: int, text: str | None, size: int) -> None:
        if self._outer is not None:
            self._outer.add(stream, at, text, size)


Sink = Body | Again


class Streams:
    """The standard streams of this process that are watched. Whoever writes to one holds the `lock`.

    Attributes:
        writers: of each, what writes to it past those who watch. Empty: nothing is kept.
        positions: characters written to each.
        pending: the calls that are being served.
        orders: of those streams whose writers' order is kept.
        following: of those where it is followed.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.writers: dict[str, Callable[[str], object]] = {}
        self.positions: dict[str, int] = defaultdict(int)
        self.pending: list[Again] = []
        self.orders: dict[str, Order] = {}
        self.following: dict[str, Following] = {}
        self._plain: dict[str, Callable[[str], object]] = {}
        self._turns: dict[str, Sequence[Turn]] = {}
        self._is_held = False

    def follow(self, stream: str, turns: Sequence[Turn]) -> None:
        """Its writers are to write in this order. Before anybody writes."""
        if not turns:
            return
        if stream in self._plain:
            self.following[stream] = Following(turns, self._plain[stream])
        else:
            self._turns[stream] = turns

    def watch(
        self, stream: str, writer: Callable[[str], object], plain: Callable[[str], object], ordered: bool
    ) -> None:
        """The stream is watched from now on; `writer` and `plain` write past those who watch."""
        self.writers[stream] = writer
        if ordered:
            self._plain[stream] = plain
            self.orders[stream] = Order()
            self.follow(stream, self._turns.pop(stream, ()))

    def leave(self, stream: str) -> None:
        self.release(stream)
        for each in (self.writers, self._plain, self.orders, self.following):
            each.pop(stream, None)

    def release(self, stream: str) -> None:
        """No more is waited for: write what waits for others."""
        follows = self.following.get(stream)
        if follows is None:
            return
        with self.lock, guard("what a tool wrote"):
            for call in list(self.pending):
                while call.left:
                    call.write_next()
            follows.pass_over()

    def in_turn(self, stream: str, lane: str, text: str) -> None:
        """A lane writes to a stream whose order is followed; see `Following`."""
        follows = self.following[stream]
        follows.take(lane, text)
        self.positions[stream] = follows.position
        self.write_due()

    def is_awaited(self, piece: Piece) -> bool:
        """Whether others are to write before this is."""
        follows = self.following.get(piece.stream)
        return follows is not None and not follows.is_over and follows.position < piece.at

    def passed(self, stream: str, text: str | None, size: int, sink: Sink | None) -> None:
        """Somebody wrote `text`; `sink` is that of the writer's lane."""
        at = self.positions[stream]
        self.positions[stream] = at + size
        if sink is not None:
            sink.add(stream, at, text, size)
        if self.pending:
            self.write_due()

    def write_due(self) -> None:
        """Write the pieces whose places the streams have reached."""
        go_on = True
        while go_on:
            go_on = False
            for call in self.pending:
                while call.left and call.left[0].at == self.positions[call.left[0].stream]:
                    call.write_next()
                    go_on = True
        if self.following:
            self.pending = [call for call in self.pending if call.left or not call.is_ended]

    def write(self, piece: Piece, lane: str) -> None:
        """Write a served call's text where its body, in `lane`, wrote it."""
        stream = piece.stream
        self.positions[stream] += len(piece.text)
        if stream in self.orders:  # a fork's log has its place
            self.orders[stream].note(lane, len(piece.text))
        writer = self.writers.get(stream)
        if writer is not None:
            with guard("what a tool wrote"):
                writer(piece.text)
        follows = self.following.get(stream)
        if follows is not None:
            if follows.position == piece.at:
                follows.served(len(piece.text))
                follows.go_on()
            self.positions[stream] = follows.position

    def hold(self) -> None:
        """Before a fork: a child has the streams' own locks as they are now. Who writes to a reader that does
        not read is not waited for."""
        self._is_held = self.lock.acquire(timeout=_PATIENCE)

    def let_go(self) -> None:
        """In the parent."""
        if self._is_held:
            self.lock.release()

    def renew(self) -> None:
        """In a forked child: what it writes is its own."""
        self.lock = RLock()
        self.positions.clear()
        self.pending.clear()
        self.orders = {stream: Order() for stream in self.orders}
        self.following.clear()


streams = Streams()
processes.gates.append((streams.hold, streams.let_go))
processes.renewals.append(streams.renew)


def pieces(tape: Mapping[str, Any]) -> Sequence[Piece]:
    """Of a `tool_call`'s `tape`."""
    found = tape.get("wrote")
    return [Piece(*one) for one in found if _is_piece(one)] if isinstance(found, list) else ()


def _is_piece(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != len(_KINDS):
        return False
    return all(isinstance(part, kind) for part, kind in zip(value, _KINDS, strict=True))


_KINDS = (str, int, str)


def _report() -> dict[str, Any]:
    return {"output_dropped": dict(dropped)} if dropped else {}


hooks.reports.append(_report)
