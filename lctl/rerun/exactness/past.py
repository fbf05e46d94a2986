"""The newest events of a rerun, with the recorded ones that they were found to be.

Steps of several tasks may begin alike, in another order than the recording's; that shows only later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

#: Blocks that are kept, and their bytes.
_MANY, _BYTES = 1024, 1 << 23


class Block(NamedTuple):
    """Events that were found to be the recorded ones, in whatever order.

    Attributes:
        lanes: in which each of those `held` was told; "" of what the tape itself gave.
        served: place among those `held` of each that the tape itself gave, and its place in `recorded`.
    """

    recorded: list[bytes]
    held: list[bytes]
    lanes: list[str]
    served: dict[int, int]


class Past:
    """The newest of them, as far as they may yet turn out to be others that began alike."""

    def __init__(self) -> None:
        self._blocks: deque[Block] = deque()
        self._size = 0

    def add(self, block: Block) -> None:
        self._blocks.append(block)
        self._size += _size(block)
        self._forget()

    def add_one(self, recorded: bytes, held: bytes, lane: str) -> None:
        """One event, told in that lane. (Nearly all come this way.)"""
        self._blocks.append(Block([recorded], [held], [lane], {}))
        self._size += len(recorded)
        if len(self._blocks) > _MANY or self._size > _BYTES:
            self._forget()

    def _forget(self) -> None:
        while len(self._blocks) > _MANY or self._size > _BYTES:
            self._size -= _size(self._blocks.popleft())

    def lines(self, side: int) -> Iterator[bytes]:
        """Of the run (0) or of the recording (1)."""
        return (line for block in self._blocks for line in (block.recorded if side else block.held))

    def began(self, side: int) -> dict[int, int | None]:
        """Steps that began there, in the run (0) or in the recording (1), and the steps around them."""
        events = (orjson.loads(line) for line in self.lines(side) if b'"type":"step_start"' in line[:64])
        return {event["seq"]: event.get("step") for event in events}

    def take_back(self, seqs: Iterable[int]) -> list[Block]:
        """All from the first in which one of these events of the run or of the recording is."""
        wanted, taken = set(seqs), []
        while wanted and self._blocks:
            block = self._blocks.pop()
            self._size -= _size(block)
            taken.append(block)
            wanted -= {orjson.loads(line)["seq"] for line in (*block.recorded, *block.held)}
        return taken[::-1]


def _size(block: Block) -> int:
    return sum(map(len, block.recorded))
