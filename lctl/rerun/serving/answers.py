"""A recorded response as the transports take it (`lctl.session.border.Answer`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lctl.rerun.order.moments import END, ENDED, START
from lctl.session.border import RecordedError

if TYPE_CHECKING:
    from lctl.errors import RerunStopped
    from lctl.rerun.order.waiting import Order

Key = tuple[str, str, int, int]


class RecordedAnswer:
    """Gives head and chunks, each when its turn in the recorded order has come.

    Attributes:
        again: it was given before, and is not recorded another time.
        match: drift or moved, for the log of the rerun; None where exact.
        body: of the request it answers, where that is not the program's own: a fork's edits changed it.
        encoding: the content-encoding that the program undid itself.
        reason: that came with the status, where it was not the usual one.
        names: of headers, as they were sent; those absent in small letters.
        closed_early: the program left the body before its end.
        with_head: its turn is that in which the program went on with all of it (of aiohttp).
        unsent: it was never sent: it failed, or the program cancelled it, before it was connected.
        timed: it was recorded when the request was made.
        streamed: each chunk was a delivery of its own.
        endless: the program ended the call itself: after what was recorded nothing comes any more.
        lingering: it did so when the whole answer was there.
        end: of a recording that was cut off in it: what raises there.
        blob: what is in the log under a hash.
    """

    __slots__ = (
        "_chunks",
        "_dropped",
        "_given",
        "_key",
        "_make",
        "_order",
        "again",
        "blob",
        "body",
        "closed_early",
        "encoding",
        "end",
        "endless",
        "error",
        "headers",
        "lingering",
        "match",
        "names",
        "reason",
        "status",
        "streamed",
        "timed",
        "unsent",
        "url",
        "with_head",
    )

    def __init__(
        self,
        order: Order,
        key: tuple[str, str, int],
        status: int | None,
        headers: Mapping[str, str],
        error: RecordedError | None,
        make: Callable[[], list[bytes]],
        *,
        timed: bool = False,
        streamed: bool,
        endless: bool,
        match: str | None,
        lingering: bool = False,
    ) -> None:
        self._order = order
        self._key: tuple[str, str, int] = key
        self._make = make
        self._chunks: list[bytes] | None = None
        self._given = 0
        self._dropped = False
        self.body: bytes | None = None
        self.url: str | None = None
        self.status = status
        self.headers = headers
        self.error = error
        self.streamed = streamed
        self.timed = timed
        self.endless = endless
        self.encoding: str | None = None
        self.reason: str | None = None
        self.names: Sequence[str] = ()
        self.closed_early = self.with_head = self.unsent = False
        self.lingering = lingering
        self.match = match
        self.again = False
        self.end: Callable[[], RerunStopped] | None = None
        self.blob: Callable[[str], bytes] = _no_blob

    def be_repeated(self) -> None:
        """It has been given once: nobody waits for it, and it is not recorded."""
        self._key = self._key[0], self._key[1], 0
        self.timed, self.again = False, True

    def start(self) -> None:
        """Return when the request may be made."""
        if self.timed:
            self._order.wait((*self._key, START))

    async def start_async(self) -> None:
        if self.timed:
            await self._order.wait_async((*self._key, START))

    def wait(self) -> None:
        if not self._key[2]:
            return
        if self.status is None and self.endless:
            self._order.never()
        else:
            self._order.wait((*self._key, 0))

    async def wait_async(self) -> None:
        if not self._key[2]:
            return
        if self.status is None and self.endless:
            await self._order.never_async((*self._key, END))
        else:
            await self._order.wait_async((*self._key, 0))

    def chunks(self) -> Iterator[bytes]:
        """What has not been given yet: a body can be read once, and SDKs begin to read it again."""
        try:
            for part, chunk in self._left():
                if self.streamed:
                    self._order.wait((*self._key, part))
                self._given = part
                yield chunk
        except GeneratorExit:
            self._drop()
            if self.streamed and not self.endless:
                self._order.wait(self._last)
            raise
        finally:
            self._drop()
        if self.endless:
            self._order.never()
        elif self.streamed:
            self._order.wait(self._last)

    async def chunks_async(self) -> AsyncIterator[bytes]:
        """As `chunks`."""
        try:
            for part, chunk in self._left():
                if self.streamed:
                    await self._order.wait_async((*self._key, part))
                self._given = part
                yield chunk
        except GeneratorExit:
            self._drop()
            if self.streamed and not self.endless:
                await self._order.wait_async(self._last)
            raise
        finally:
            self._drop()
        if self.endless:
            await self._order.never_async((*self._key, END))
        elif self.streamed:
            await self._order.wait_async(self._last)

    async def left_async(self) -> None:
        self._drop()
        if self.streamed and not self.endless:
            await self._order.wait_async(self._last)

    def rest(self) -> list[bytes]:
        self._drop()
        if self.streamed:
            self._order.drop(self._last)
        rest = self._all()[self._given :]
        self._given += len(rest)
        return rest

    def whole(self) -> list[bytes]:
        return self._make()

    def left(self) -> None:
        self._drop()
        if self.streamed and not self.endless:
            self._order.wait(self._last)

    def part(self, number: int) -> None:
        self._order.wait((*self._key, number))

    async def part_async(self, number: int) -> None:
        await self._order.wait_async((*self._key, number), lasting=True)

    def skip(self, number: int) -> None:
        self._order.drop((*self._key, number))

    def never(self) -> None:
        self.nothing_more()
        self._order.never()

    async def never_async(self) -> None:
        self.nothing_more()
        await self._order.never_async()

    def nothing_more(self) -> None:
        if self.end is not None:
            raise self.end()

    async def closed_async(self) -> None:
        """Return when the response has been closed: not where the program cancelled the call meanwhile."""
        if self.lingering:
            await self._order.never_async((*self._key, END))

    def is_to_break(self) -> bool:
        """Whether it is to fail yet, in the recorded order."""
        if self.error is None or not self._key[2]:
            return False
        last = (*self._key, 0) if self.status is None else self._last
        return self._order.until(last) is not None

    @property
    def _last(self) -> Key:
        """The end of a stream: it was read to its end, or closed."""
        return (*self._key, ENDED)

    def _drop(self) -> None:
        """Nobody will ask for the chunks that are left."""
        if self.streamed and not self._dropped:
            for part, _ in self._left():
                self._order.drop((*self._key, part))
        self._dropped = True

    def _left(self) -> Iterator[tuple[int, bytes]]:
        if self._dropped:
            return iter(())
        chunks = self._all()
        return enumerate(chunks[self._given :] if self._given else chunks, self._given + 1)

    def _all(self) -> list[bytes]:
        if self._chunks is None:
            self._chunks = self._make()
        return self._chunks


def _no_blob(hash: str) -> bytes:
    return b""


class EndOfTape(RecordedAnswer):
    """To a call that the recording saw begin, perhaps, and nothing after it: it begins, and there the
    rerun ends."""

    __slots__ = ("_end",)

    def __init__(self, order: Order, end: Callable[[], RerunStopped]) -> None:
        super().__init__(order, ("", "", 0), None, {}, None, list, streamed=False, endless=True, match=None)
        self._end = end

    def wait(self) -> None:
        raise self._end()

    async def wait_async(self) -> None:
        raise self._end()
