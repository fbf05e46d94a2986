"""Recorded tool calls: is this one equal, and what does it give?"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson

from lctl.guard import guard
from lctl.rerun.order.moments import END, START
from lctl.session.faithful import Unfaithful
from lctl.session.tooling import receiving, toolresults, wrote
from lctl.session.tooling.callids import with_id_of
from lctl.session.tooling.served import Outcome, Served

if TYPE_CHECKING:
    from lctl.rerun.order.waiting import Key, Order
    from lctl.rerun.tape.drawnids import DrawnIds
    from lctl.session.tooling.receiving import Incoming
    from lctl.session.tooling.signalling import Signal
    from lctl.session.tooling.toolcalls import ToolCall


#: A UUID; and what Strands gives to a tool that is called directly, of nine digits from `random`.
_DRAWN = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|tooluse_.+_([1-9][0-9]{8})"
)

#: Milliseconds for which a thread that does not wait keeps the interpreter to itself: somewhat less.
_PAUSE = 2.0

#: Seconds.
_LONG = 1.0


class GatedServed(Served):
    """A recorded result, given when its turn in the recorded order has come."""

    __slots__ = ("_endless", "_given", "_incoming", "_key", "_order")

    def __init__(
        self,
        outcome: Outcome,
        order: Order,
        key: tuple[str, str, int],
        endless: bool,
        incoming: Incoming | None = None,
    ) -> None:
        super().__init__(outcome=outcome)
        self._order = order
        self._key = key
        self._endless = endless
        self._incoming = incoming
        self._given = 0

    def wait(self) -> None:
        self._order.drop((*self._key, START))
        self._do_signals()
        if self._endless:
            self._order.never()
        else:
            self._order.wait((*self._key, 0))

    def _do_signals(self) -> None:
        """In a thread, those together that it did without a pause: nobody else ran between them."""
        for (first, signal), *others in _together(self._signals()):
            self._order.wait(first)
            for key, _ in others:
                self._order.drop(key)
            with _undisturbed():
                signal.do()
                for _, other in others:
                    other.do()

    async def wait_async(self) -> None:
        await self._give(early=True)
        await self._order.wait_async((*self._key, START))
        if self._endless:
            await self._until_cancelled()
        else:
            await self._give()
            await self._order.wait_async((*self._key, 0))

    async def begin_async(self) -> None:
        if self.outcome.comings:
            await self._order.wait_async((*self._key, START))
        else:
            await self.wait_async()

    async def item_async(self, number: int) -> None:
        if self.outcome.comings:
            self._given = number
            await self._order.wait_async((*self._key, number))

    async def end_async(self, early: bool = False) -> None:
        if not self.outcome.comings:
            return
        for number in range(self._given + 1, len(self.outcome.comings) + 1):
            self._order.drop((*self._key, number))  # nobody will ask for it
        if self._endless and not early:
            await self._until_cancelled()
        elif not self._endless:
            await self._order.wait_async((*self._key, 0))

    async def _until_cancelled(self) -> None:
        try:
            await self._give()
            # Who cancels it may wait for what it changes.
            await self._order.never_async((*self._key, END), self.outcome.change)
        finally:  # as it was; what it had changed by then stays
            if self.outcome.change is not None:
                self.outcome.change()

    async def _give(self, early: bool = False) -> None:
        for part, message in enumerate(self.outcome.received, 1):
            if (message.ms is None) is early:
                await self._order.wait_async((*self._key, part))
                if self._incoming is not None:
                    await self._incoming.give(message.content)
        if early:
            return
        for key, signal in self._signals():
            await self._order.wait_async(key)
            signal.do()

    def _signals(self) -> Iterator[tuple[Key, Signal]]:
        """With their turns; an async generator has those of its items."""
        first = len(self.outcome.received) + 1
        for part, signal in enumerate(self.outcome.signals, first):
            yield (*self._key, part), signal


def _together(signals: Iterable[tuple[Key, Signal]]) -> Iterator[list[tuple[Key, Signal]]]:
    """Those between which a thread did not pause."""
    group: list[tuple[Key, Signal]] = []
    last = 0.0
    for key, signal in signals:
        ms = signal.message.ms or 0.0
        if group and ms - last >= _PAUSE:
            yield group
            group = []
        group.append((key, signal))
        last = ms
    if group:
        yield group


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Whom this thread wakes runs when it waits, or has left the block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_LONG)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def equal_call(
    data: Mapping[str, Any], call: ToolCall, clean: Callable[[Any], Any], ids: DrawnIds | None = None
) -> bool:
    """Whether the recorded call is of that tool with that input; `ids` in it may be drawn anew."""
    if data.get("tool") != call.tool:
        return False
    given = data.get("asked", data.get("input"))  # a fork may have run it with another
    recorded, now = clean(given), clean(call.input)
    return bool(recorded == now) or (ids is not None and ids.learn(_text(recorded), _text(now)))


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def made_up_id(data: Mapping[str, Any], call: ToolCall, ids: DrawnIds | None = None) -> str | None:
    """The recorded call's id, if no model gave it: frameworks draw one for what a model asks for in words,
    and for a call of the program's own, another one in each run.

    Args:
        ids: are told what of the id they cannot have seen being drawn.
    """
    recorded = data.get("call_id")
    there, here = (_DRAWN.fullmatch(str(id)) for id in (recorded, call.call_id))
    if recorded == call.call_id or there is None or here is None:
        return None
    if ids is not None and here[1] is not None:
        ids.drew(here[1])
    return str(recorded)


def wrapped(call: ToolCall, value: Any) -> Any:
    """A result that was not recorded of this call, as its function would give it; itself where the framework
    has no form for it."""
    if call.wraps is not None:
        with guard("a result in the place of a tool's"):
            return call.wraps(value)
    return value


def served(
    data: Mapping[str, Any],
    call: ToolCall,
    order: Order,
    key: tuple[str, str, int],
    endless: bool,
    ids: DrawnIds | None = None,
) -> GatedServed | None:
    """What the recorded call gave; None where only running the tool gives it.

    The id of this call stands in it for that of the recorded one, unless nobody but the framework knows
    them (see `made_up_id`): what is sent has the recorded one then. An id that was seen being drawn is put
    there all the same: a framework finds the call by it (LangChain, of a model without ids), and what is
    sent is compared without.

    Raises:
        Unfaithful: the result stands for something that cannot be made here.
    """
    if made_up_id(data, call) is None or (ids is not None and ids.has_drawn(str(call.call_id))):
        data = with_id_of(data, call)
    if endless:
        return GatedServed(_until_cancelled(data, call), order, key, True, call.incoming)
    outcome = toolresults.outcome(data, call)
    return None if outcome is None else GatedServed(outcome, order, key, False, call.incoming)


def _until_cancelled(data: Mapping[str, Any], call: ToolCall) -> Outcome:
    """What a call that the program cancels again had done by then."""
    try:
        done = toolresults.outcome(data, call)
    except Unfaithful:
        done = None
    if done is not None:
        return done
    # What its body had recorded until then is on the tape all the same.
    tape = data.get("tape") or {}
    return Outcome(
        fields=toolresults.fields(data),
        inside=[(first, last) for first, last in tape.get("inside", ())],
        wrote=wrote.pieces(tape),
        received=receiving.messages(tape),
    )
