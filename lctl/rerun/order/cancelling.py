"""Coroutines that wait for what will not come: until the program cancels them, as it did."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from lctl.errors import RerunStopped
from lctl.rerun.order.idleloop import follows
from lctl.rerun.order.leaving import never
from lctl.rerun.order.parties import Awaiting, Ending, running_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from lctl.rerun.order.homes import Homes
    from lctl.rerun.order.parties import Door
    from lctl.rerun.order.score import Score
    from lctl.rerun.order.stage import Stage
    from lctl.rerun.order.waiting import Key


_SCOPE = re.compile("Cancelled (by|via) cancel scope")
#: Turns of a loop from the one in which an answer comes to that in which who asked has it, at most.
_ON_ITS_WAY = 3


class Cancelling:
    """Mixed into the conductor."""

    if TYPE_CHECKING:
        _door: Door
        _homes: Homes
        _score: Score
        _stage: Stage

        async def wait_async(self, key: Key, lasting: bool = False) -> None: ...
        def _note(self, loop: Any, place: int) -> None: ...

    async def never_async(self, key: Key | None = None, due: Callable[[], None] | None = None) -> None:
        """Wait until cancelled. Raises RerunStopped where nothing else can happen any more.

        Args:
            key: the recorded moment of the end. Of several calls cancelled at once each goes on in its turn:
                a set of tasks is cancelled in the order of their addresses.
            due: done where that moment has come, or nothing else can, and nobody has cancelled the call.
        """
        loop = running_loop()
        if loop is None:
            from lctl.rerun.clocks.triowaiting import until_cancelled

            await until_cancelled(None if key is None else partial(self.wait_async, key))
            return
        try:
            if key is not None and not self._stage.over:
                await self._end_async(key, loop, due is not None)
                if due is not None:
                    due()
            await self._hang(loop)
        except asyncio.CancelledError:
            if key is not None:
                await self._cancelled_async(key, loop)
            raise

    async def _answered(self, place: int, future: Any) -> None:
        """Wait on that. A scope of anyio's cancels nobody whose answer has come, though it may be some turns
        of the loop from there to who asked: where the recording has it so, it is waited for on."""
        while True:
            try:
                await future
                return
            except asyncio.CancelledError as error:
                with self._door:
                    if not _is_of_anyio(error) or not self._is_on_its_way(place):
                        raise
                    if self._score.is_over(place):
                        return  # it has come meanwhile
                    loop = running_loop()
                    future = loop.create_future()
                    self._stage.waiting[place] = Awaiting(place, loop, future)

    def _is_on_its_way(self, place: int) -> bool:
        """Whether a delivery of the loop of this thread is due, or was."""
        loop = running_loop()
        if loop is None or self._score.key(place)[3] < 0:
            return False
        left = self._homes.turns_until_end(place, loop, True)
        return left is not None and left <= _ON_ITS_WAY

    async def _cancelled_async(self, key: Key, loop: Any) -> None:
        """Return when it is the turn of the end of a call that has been cancelled. If it is cancelled once
        more, as anyio's scopes do in each turn, it waits on where that is known to be some turns away."""
        again = False
        while True:
            with self._door:
                place = self._score.place(key)
                if place is None:
                    return
                left = self._homes.turns_until_end(place, loop, again)
                if left == 0 or (left is None and again):
                    self._score.play(place)
                    self._note(loop, place)
                    return
            try:
                await self.wait_async(key, lasting=True)
            except asyncio.CancelledError:
                again = True

    async def _end_async(self, key: Key, loop: Any, is_awaited: bool) -> None:
        """Wait until cancelled, or until the turn in which the recorded call was; where it `is_awaited`, also
        until nothing else can happen."""
        with self._door:
            place = self._score.place(key)
            if place is None or place in self._stage.waiting or not follows(loop):
                return
            self._homes.settle(key[0], loop)
            future = loop.create_future()
            party = self._stage.waiting[place] = Ending(place, loop, future)
            self._stage.hanging[future] = loop
        try:
            await future
        except RerunStopped:
            if not is_awaited:
                raise
        finally:
            with self._door:
                self._stage.hanging.pop(future, None)
                if self._stage.waiting.get(place) is party:
                    del self._stage.waiting[place]

    async def _hang(self, loop: Any) -> None:
        if self._stage.over:
            raise never()
        future = loop.create_future()
        self._stage.hanging[future] = loop
        try:
            await future
        finally:
            self._stage.hanging.pop(future, None)


def _is_of_anyio(error: asyncio.CancelledError) -> bool:
    """Whether a scope of anyio's did it: by what it says."""
    return bool(error.args) and _SCOPE.match(str(error.args[0])) is not None
