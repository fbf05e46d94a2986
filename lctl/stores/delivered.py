"""The journal of a recording that goes to a store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lctl.codec.lines import SEQ
from lctl.errors import LctlError
from lctl.guard import guard
from lctl.record.descriptors import open_apart
from lctl.record.journal import Durability, JournalStore
from lctl.stores import outbox
from lctl.stores.address import Address
from lctl.stores.delivery import Delivery

#: Bytes of the journal that are delivered at once.
_PIECE = 4 << 20


class DeliveredJournal(JournalStore):
    """A journal whose events are delivered to a store; removed when all are there with the chain's end.

    Nothing is delivered before `deliver` is called.

    Args:
        keep: leave the file where it is, as one the user has named.
    """

    delivery: Delivery | None = None

    def __init__(
        self,
        path: str | Path,
        chain: dict[str, Any] | None = None,
        *,
        to: Address,
        keep: bool = False,
        durability: Durability = "process",
        adopt: bool = False,
    ) -> None:
        self._to = to
        self._keep = keep
        self._kept: int | None = None  # for reading: also when the journal is closed, the file removed
        self._pid = os.getpid()
        super().__init__(path, chain, durability=durability, adopt=adopt)
        outbox.note(self.path, to)

    def deliver(self) -> None:
        """Begin to deliver what is in it, and what comes."""
        self._kept = open_apart(self._place, os.O_RDONLY)
        self.delivery = Delivery(self, self._to)

    def is_in_place(self) -> bool:
        """Whether its path still leads to it: what delivers the outbox may have removed it meanwhile."""
        try:
            return self._fd is not None and os.path.samestat(os.fstat(self._fd), os.stat(self._place))  # noqa: PTH116
        except FileNotFoundError:
            return False

    @property
    def where(self) -> str:
        """Where the recording is to be found."""
        if self.delivery is not None and self.delivery.done:
            return str(self._to.at(self.delivery.stored_as))
        return super().where

    # -- what is delivered -------------------------------------------------------------------

    def news(self, position: int) -> Iterator[tuple[int, list[bytes], int]]:
        """Events after a position, a piece at a time: (first seq, lines, the position after them)."""
        end = self.events_end()
        at = max(position, self._begin)
        rest = b""
        for block in self.blocks(at, end):
            at += len(block)
            cut = len(block) if at == end else block.rfind(b"\n") + 1
            piece, rest = rest + block[:cut], block[cut:]
            lines = [kept for line in piece.split(b"\n") if (kept := line.rstrip(b","))]
            if lines:
                yield _seq(lines[0]), lines, at - len(rest)

    def events_end(self) -> int:
        """Where the events end now."""
        with self.lock:
            self.flush()
            return self.ending().events_end

    def is_all(self, position: int) -> bool:
        """Whether no event stands after a position."""
        return max(position, self._begin) >= self.events_end()

    def bounds(self) -> tuple[int, int]:
        """First and last seq."""
        with self.lock:
            self.flush()
            found = self.ending()
            return found.first_seq, found.last_seq

    def line(self, seq: int) -> bytes:
        return next(self.read(seq, seq + 1), b"")

    def position_after(self, seq: int) -> int:
        """The position after event `seq`."""
        position = self._begin
        for first, lines, after in self.news(0):
            if first + len(lines) - 1 <= seq:
                position = after
                continue
            behind = lines[: max(seq - first + 1, 0)]
            return position + sum(len(line) + len(b",\n") for line in behind)
        return position

    # -- the end -----------------------------------------------------------------------------

    def close(self, tail: dict[str, Any] | None = None) -> None:
        delivery = self.delivery
        if self._fd is None or delivery is None:
            super().close(tail)
            return
        # The lock goes with the last descriptor: until all is there, nobody else delivers it as well.
        locked = os.dup(self._fd)
        try:
            super().close(tail)
            delivery.finish(self._sealed(tail or {}))
            if delivery.done:
                outbox.forget(self.path)
                if not self._keep:
                    self._remove()
            else:
                delivery.say_waiting(delivery.away)
        finally:
            os.close(locked)

    def _sealed(self, tail: dict[str, Any]) -> dict[str, Any]:
        """The tail with the hash of the events, as the file has it."""
        made = dict(tail)
        with guard("the hash of a delivered log"):
            count = self.count()
            made["hash"] = {"algorithm": "sha256", "events": self.events_hash(), "count": count}
        return made

    def _remove(self) -> None:
        try:
            os.unlink(self._place)  # noqa: PTH108
        except OSError:
            pass  # another user's folder, a system that removes no open file: it stays

    def blocks(self, start: int, end: int) -> Iterator[bytes]:
        if self._kept is None:
            yield from super().blocks(start, end)
            return
        while start < end and (block := os.pread(self._kept, min(_PIECE, end - start), start)):
            start += len(block)
            yield block

    def forget(self) -> None:
        if os.getpid() != self._pid:
            self.delivery = None  # a forked child's: the parent delivers its own
        super().forget()

    def __del__(self) -> None:
        if self._kept is not None:
            try:
                os.close(self._kept)
            except OSError:
                pass


def _seq(line: bytes) -> int:
    found = SEQ.match(line)
    if found is None:
        raise LctlError("an event without a seq in a journal")
    return int(found[1])
