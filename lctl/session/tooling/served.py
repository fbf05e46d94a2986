"""What a run of a wrapped function gives instead of running: what a recorded run gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.errors import RerunStopped
from lctl.session.jsonable import name_of

if TYPE_CHECKING:
    from lctl.session.concurrency.comings import Coming
    from lctl.session.tooling.receiving import Message
    from lctl.session.tooling.signalling import Signal
    from lctl.session.tooling.wrote import Piece


class Outcome(NamedTuple):
    """What a recorded run gave.

    Attributes:
        value: what it returned; of a generator, the list of its items.
        error: what it raised, after the items.
        returned: of a generator: the value of its StopIteration.
        closed_early: of a generator: nobody asked for more than these items.
        change: does to the arguments what the run did to them.
        shared: puts into what it returned the objects around it that it returned, once they are changed.
        fields: of the recorded event: what it gave, as recorded.
        inside: [first, last] seqs of the events recorded by its body.
        gives: of a plain function that gave a generator or coroutine: which of them.
        wrote: what it wrote to standard output and error.
        received: what came from outside meanwhile.
        comings: of an async generator: when each of its items came (`lctl.session.concurrency.comings`); none
            of older logs.
        signals: what its body did that others wait for.
    """

    value: Any = None
    error: BaseException | None = None
    returned: Any = None
    closed_early: bool = False
    change: Callable[[], None] | None = None
    shared: Callable[[Any], Any] | None = None
    fields: Mapping[str, Any] | None = None
    inside: Sequence[tuple[int, int]] = ()
    gives: str | None = None
    wrote: Sequence[Piece] = ()
    received: Sequence[Message] = ()
    comings: Sequence[Coming] = ()
    signals: Sequence[Signal] = ()

    def is_given_by(self, error: BaseException | None, count: int | None, closed_early: bool) -> bool:
        """Whether a served call ended as the recorded one: a program may leave a generator earlier.

        Args:
            error: what it raised.
            count: of a generator, its items.
        """
        if self.fields is None or closed_early != self.closed_early:
            return False
        if count is not None and count != len(self.value or ()):
            return False
        return error is self.error or (
            error is not None and name_of(type(error)) == (self.fields.get("error") or {}).get("type")
        )


class Served:
    """What a run gives instead of running: a value, or an exception to raise; when its turn has come.

    Attributes:
        outcome: all of it.
        events: what the body of the recorded run recorded, whole events: recorded again.
        placed: those of them that are recorded where they were.
        match: how it was found, unless exactly; goes into the event.
        call_id: of the recorded call, where it was made up for it and is another one now.
        ran: the arguments that a fork ran the recorded call with, in place of those it was called with.
    """

    __slots__ = ("call_id", "events", "match", "outcome", "placed", "ran")

    def __init__(
        self, value: Any = None, error: BaseException | None = None, outcome: Outcome | None = None
    ) -> None:
        self.outcome = Outcome(value, error) if outcome is None else outcome
        self.events: Sequence[Mapping[str, Any]] = ()
        self.placed: Sequence[Mapping[str, Any]] = ()
        self.match: str | None = None
        self.call_id: str | None = None
        self.ran: Any = None

    def wait(self) -> None:
        """Return when it is to be given."""

    async def wait_async(self) -> None:
        """The same, without holding up the event loop."""

    async def begin_async(self) -> None:
        """Of an async generator: return when it is to give its first item."""
        await self.wait_async()

    async def item_async(self, number: int) -> None:
        """Return when its `number`th item is to be given."""

    async def end_async(self, early: bool = False) -> None:
        """Return when it is to end; `early`: it is closed before it has given all."""

    def beyond(self) -> BaseException:
        """What to raise where a tool's generator, or coroutine, is asked for more than it ever was."""
        return RerunStopped("a generator tool is asked for more items than the recording holds of it")

    def get(self) -> Any:
        """The value, or the exception raised; the arguments changed as they were."""
        outcome = self.outcome
        if outcome.closed_early:
            raise self.beyond()
        if outcome.change is not None:
            outcome.change()
        if outcome.error is not None:
            raise outcome.error
        return outcome.value if outcome.shared is None else outcome.shared(outcome.value)


class Rewritten(Served):
    """Not served: the function runs, with these arguments by name in place of the caller's."""

    __slots__ = ("input",)

    def __init__(self, input: dict[str, Any]) -> None:
        super().__init__()
        self.input = input


def items_of(served: Served) -> Any:
    """The recorded items, whatever is sent in. What is thrown in ends it where it ended it then."""
    served.wait()
    outcome = served.outcome
    thrown: Exception | None = None
    recorded = _recorded(outcome)
    for n, item in enumerate(recorded):
        try:
            yield item
        except GeneratorExit:
            if outcome.change is not None:
                outcome.change()
            raise
        except Exception as error:
            if n + 1 == len(recorded):
                thrown = error
    return _end(served, thrown)


async def items_of_async(served: Served) -> Any:
    """As `items_of`, of an async generator."""
    await served.begin_async()
    outcome = served.outcome
    thrown: Exception | None = None
    recorded = _recorded(outcome)
    for n, item in enumerate(recorded):
        await served.item_async(n + 1)
        try:
            yield item
        except GeneratorExit:
            await served.end_async(early=True)
            if outcome.change is not None:
                outcome.change()
            raise
        except Exception as error:
            if n + 1 == len(recorded):
                thrown = error
    if not outcome.closed_early:
        await served.end_async()
    _end(served, thrown)


def _recorded(outcome: Outcome) -> list[Any]:
    value: Any = outcome.value
    if value is None and (outcome.error is not None or outcome.fields is not None):
        return []
    return list(value or ())


def _end(served: Served, thrown: Exception | None) -> Any:
    """Ends a served generator as the recorded one ended."""
    outcome = served.outcome
    if outcome.closed_early:
        raise served.beyond()
    if outcome.change is not None:
        outcome.change()
    if thrown is not None and type(thrown) is type(outcome.error) and str(thrown) == str(outcome.error):
        raise thrown
    if outcome.error is not None:
        raise outcome.error
    return outcome.returned
