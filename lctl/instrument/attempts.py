"""One attempt: a request that left the process and what came back, as the transport saw it.

A transport makes the calls below as things happen and never touches the host's objects for it. While
a body passes, an attempt only keeps references to its chunks and their times; what they mean is read
once, when the body has ended. Nothing here raises into the host: `never_raises` counts instead.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from lctl.clock import monotonic_ns
from lctl.guard import guard
from lctl.instrument import collecting, settings
from lctl.instrument.headers import all_headers, kept_headers
from lctl.instrument.received import Received
from lctl.session import border
from lctl.session.concurrency import turnplaces, turns
from lctl.session.concurrency.underway import busy_lanes

if TYPE_CHECKING:
    from lctl.session.concurrency.returns import Returning, Returns
    from lctl.session.concurrency.underway import UnderWay

P = ParamSpec("P")
R = TypeVar("R")


def never_raises(place: str) -> Callable[[Callable[P, R]], Callable[P, R | None]]:
    """Decorator: a failure of ours is counted at `place` and None returned (raised under test)."""

    def wrap(function: Callable[P, R]) -> Callable[P, R | None]:
        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R | None:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                if guard.policy == "raise":
                    raise
                guard.failed(place, error)
                return None

        return guarded

    return wrap


#: Parts of content types that are read as they come: server-sent events, AWS's, JSON lines.
_STREAMS = ("event-stream", "amazon.eventstream", "ndjson", "jsonl", "json-seq", "stream+json")


def is_stream(kind: str) -> bool:
    """Whether a body of this content type is a stream of events."""
    return any(name in kind for name in _STREAMS)


class Owner(Protocol):
    """What an attempt belongs to, told once when it is over."""

    def ended(self, attempt: Attempt) -> None: ...

    def interrupted(self, error: BaseException) -> None:
        """Told of what came while it was, or should have been, told of the end."""
        ...

    def keeps(self, attempt: Attempt) -> list[tuple[int, bytes]] | None:
        """Asked when an answer begins to be streamed: what keeps its chunks as they come, if anything."""
        ...

    def keeps_left(self) -> bool:
        """Asked when a stream was collected: whether it may wait for the end of the session."""
        ...


class Attempt(Received):
    """One request and its response.

    Attributes:
        upload: pieces of a request's body that is known only when it has been sent; kept by transports.
        closes: its transport always tells `closed`, also after `end`.
        returning: what to tell, and with what, when the program goes on; where that is at `closed`.
    """

    over = False
    closes = False
    returning: tuple[Returns, Returning, int] | None = None
    upload: list[bytes] | None = None
    _watched = False

    def __init__(
        self,
        owner: Owner,
        number: int,
        http: str,
        method: str,
        url: str,
        request: dict[str, Any],
        under_way: UnderWay,
    ) -> None:
        self.owner = owner
        self.number = number
        self.http = http
        self.method = method
        self.url = url
        self.request = request
        self.headers = {}
        self.chunks = []
        self._under_way = under_way
        self._moment = under_way.begin()
        # One reading where it can be: between two a busy machine may do something else for milliseconds, by
        # which all pieces of this call would seem to have come earlier than those of others.
        self.started_ns = self._moment.ns if under_way.is_real else monotonic_ns()

    # -- told by the transport -------------------------------------------------------------

    def answered(
        self,
        status: int,
        headers: Iterable[tuple[Any, Any]],
        reason: str | None = None,
        head: tuple[int, int | None] | None = None,
    ) -> None:
        """Status and headers came.

        Args:
            headers: (name, value) pairs, text or bytes.
            reason: that was sent with the status.
            head: when they came, where that was before now.
        """
        self.status = status
        try:
            if settings.full:
                self.headers, self.spelled = all_headers(headers)
                self.reason = reason
            else:
                self.headers = kept_headers(headers)
            kept = self.headers
            kind = kept.get("content-type", "")
            if kind != "application/json":
                self.is_stream = is_stream(kind)
                if self.is_stream and not self._watched:
                    self._watched = True
                    collecting.watch()
                if self.is_stream:
                    turn = turns.since() if turns.counting and head is None else None
                    if turn is not None:
                        self._note_place(0)
                    self.head = head or (monotonic_ns(), turn)
                if self.is_stream and status == 200:
                    chunks = self.owner.keeps(self)
                    self.chunks = self.chunks if chunks is None else chunks
            if head is not None and head[1] is not None:
                self.head = head
        except Exception as error:
            if guard.policy == "raise":
                raise
            guard.failed("the head of a response", error)

    def passed(self, turn: int | None = None, asked: int | None = None) -> None:
        """A chunk goes on to the program, in its event loop; in this turn, if it did not before (`turn`, as
        of `turns.since`). Told only where turns are counted.

        Args:
            asked: the turn in which the program asked for it (`turns.now`).
        """
        if turn is None and self.is_stream:
            turn = turns.AT_ONCE if _is_there(asked) else turns.since()
            self._under_way.keep_behind(self.chunks[-1][0])
            if turn is not None and turn != turns.AT_ONCE:
                self._note_place(len(self.chunks))
        if turn is None:
            return
        if self.turns is None:
            self.turns = [turns.FAR] * (len(self.chunks) - 1)  # not counted from the first one on
        self.turns.append(turn)

    def _note_place(self, part: int) -> None:
        """`part` reaches the event loop of this thread now: of the program's own callbacks of this turn, some
        may run behind it."""
        behind = turnplaces.behind(busy_lanes)
        if behind is not None:
            if self.behinds is None:
                self.behinds = {}
            self.behinds[part] = behind

    def rests(self, rests: bool) -> None:
        """The program has what came last of a stream; or else asks for more, or closes it."""
        self._moment.rests = rests and self.is_stream

    def end(self, asked: int | None = None) -> None:
        """The body was read to its end. `asked`: as of `passed`."""
        if self.over:
            return
        try:
            self._is_over()
            # Of an answer that is no stream the head is what reached the program.
            self._under_way.end(self._moment, self._delivers, self.is_stream and _is_there(asked))
            self.owner.ended(self)
        except BaseException as error:
            self.owner.interrupted(error)
            if guard.policy == "raise" or not isinstance(error, Exception):
                raise
            guard.failed("the end of a response", error)

    def closed(self) -> None:
        """The host closed the response; early, if `end` was not told before."""
        if not self.over:
            self._closed_early()
        returning, self.returning = self.returning, None
        if returning is not None:
            try:
                returning[0].end(*returning[1:])
            except Exception as error:
                if guard.policy == "raise":
                    raise
                guard.failed("the close of a response", error)

    async def closed_async(self) -> None:
        """As `closed`, at the end of a close that has waited."""
        if border.playing is not None:
            if not self.over:
                self._closed_early()
            if self.returning is not None:
                with guard("the turn of a response's close"):
                    await self.returning[0].turn(*self.returning[1:])
        self.closed()

    @never_raises("the close of a response")
    def _closed_early(self) -> None:
        if self.over:
            return
        if self.closed_early and self.left:
            return  # by a generator that the collector found, and gave the loop to close
        self._closes_early()

    def _closes_early(self) -> None:
        self.closed_early = True
        if self._watched and collecting.is_collecting() and self.owner.keeps_left():
            self._leave()
        else:
            self._over()

    @never_raises("an abandoned response")
    def abandoned(self) -> None:
        """The response was collected unclosed. At exit it stays open in the log, as it was."""
        if not self.over and not sys.is_finalizing():
            self.left = self.is_stream
            self._closes_early()
        returning, self.returning = self.returning, None
        if returning is not None:
            returning[0].end(returning[1], 0)

    @never_raises("a failed request")
    def failed(self, error: BaseException) -> None:
        """The transport raised, with or without a response."""
        if not self.over:
            self.error = error
            self._over()

    @never_raises("the end of a stream that is not closed")
    def read_out(self) -> None:
        """The host took what it wants of a stream, and neither reads on nor closes it: it goes on now,
        whenever the collector of garbage closes it."""
        if not self.over:
            self.left = True
            self._over()
            returning, self.returning = self.returning, None
            if returning is not None:
                returning[0].end(*returning[1:])

    def _leave(self) -> None:
        """It is recorded when the session ends: the collector comes at another moment in each run."""
        self.left = True
        self.ended_ns = self.chunks[-1][0] if self.chunks else self.started_ns

    def _is_over(self) -> None:
        self.over = True
        if not self.ended_ns:
            self.ended_ns = monotonic_ns()
            self._under_way.keep_behind(self.ended_ns)
        if self._watched:
            collecting.unwatch()

    def _over(self) -> None:
        if self.over:
            return
        try:
            self._is_over()
            self._under_way.end(self._moment, self._delivers)
            self.owner.ended(self)
        except BaseException as error:
            self.owner.interrupted(error)
            raise

    def settled(self) -> None:
        """What came of a stream is in the log."""
        end = getattr(self.chunks, "end", None)
        if end is not None:
            end()

    @property
    def _delivers(self) -> bool:
        """Whether its end says when it reached the program: of streams whose pieces did. That of one that was
        left reaches nobody: what comes next is counted from what did before."""
        return not self.is_stream or (self.turns is not None and not self.left)

    @property
    def lane(self) -> str:
        """Where in the program it was made (see `lctl.session.concurrency.lanes`)."""
        return str(self._moment.lane)


def _is_there(asked: int | None) -> bool:
    """Whether the program got at once what it asked for in that turn of its loop."""
    return asked is not None and asked == turns.now()
