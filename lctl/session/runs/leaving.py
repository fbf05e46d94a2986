"""Steps that were left in the middle of a stream: their ends wait for the steps and model calls inside them.

Who stops to read a stream closes the outermost generator. Those within it are closed after it, or when they
are collected, and the model's answer with the innermost.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lctl.session.runs.context import Frame


class Left(NamedTuple):
    """A step whose end waits.

    Attributes:
        awaited: by seq, what was open inside it.
        ended_ns: the reading when it was left.
    """

    frame: Frame
    error: BaseException | None
    result: dict[str, Any]
    awaited: set[int]
    ended_ns: int


class Leaving:
    """Of one session: where its open model calls are, and which steps wait for them.

    Attributes:
        calls: by the seq of a call's step, the place it was made in.
    """

    __slots__ = ("_frames", "_left", "calls")

    def __init__(self, frames: Mapping[int, Frame]) -> None:
        """
        Args:
            frames: the session's open steps.
        """
        self.calls: dict[int, Frame] = {}
        self._frames = frames
        self._left: list[Left] = []

    def inside(self, frame: Frame) -> set[int]:
        """By seq, the steps and model calls in the step that have not ended."""
        steps = {seq for seq, one in list(self._frames.items()) if _is_within(one.parent, frame)}
        return steps | {seq for seq, place in list(self.calls.items()) if _is_within(place, frame)}

    def waits(self, frame: Frame, error: BaseException | None, result: dict[str, Any], now: int) -> bool:
        """Whether the end of a step that was left must wait. It is kept then, for `ended` to give."""
        awaited = self.inside(frame)
        if awaited:
            self._left.append(Left(frame, error, result, awaited, now))
        return bool(awaited)

    def ended(self, step: int) -> list[Left]:
        """A call or a step has ended: what need not wait any longer, the innermost first."""
        if not self._left:
            return []
        over = []
        for one in list(self._left):  # other threads end things, too
            one.awaited.discard(step)
            if not one.awaited:
                with suppress(ValueError):
                    self._left.remove(one)
                    over.append(one)
        return sorted(over, key=lambda one: -(one.frame.step or 0))


def _is_within(place: Frame | None, outer: Frame) -> bool:
    while place is not None and place is not outer:
        place = place.parent
    return place is not None
