"""Steps: beginning, ending and finding them, over the frames of the context."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lctl.errors import RerunStopped
from lctl.session.jsonable import name_of, text_of_error
from lctl.session.runs import context
from lctl.session.runs.context import GENERATOR, Frame

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession


Mark = tuple[int, type, int, int]

#: What ends a program, or a part of it, and is no failure. Frameworks have failures of their own that are
#: no `Exception` either.
_EXITS = (GeneratorExit, KeyboardInterrupt, SystemExit, RerunStopped)


class StepScope:
    """`with session.step("agent", "intent") as step:`; also with `async with`.

    Leaving it ends the step: "success", "error" for an exception (which is recorded once, by the
    innermost step), "cancelled" for a cancellation, "aborted" for an exit or a closed generator.

    Attributes:
        seq: the step's number; 0 when it could not be recorded.
    """

    __slots__ = ("_data", "_frame", "_result", "_session", "seq")

    def __init__(self, session: LCTLSession, agent: str | None, data: dict[str, Any]) -> None:
        self._session = session
        self._data = (agent, data)
        self._result: dict[str, Any] = {}
        self._frame: Frame | None = None
        self.seq = 0

    def update(self, **data: Any) -> None:
        """Add to the step's end: `output_summary`, `tokens`, `outcome`, or keys of your own."""
        self._result.update(data)

    def begin(self, inside: Any = None) -> StepScope:
        agent, data = self._data
        self._frame = self._session.begin_step(agent, data, inside)
        if self._frame is not None:
            self.seq = self._frame.step or 0
        return self

    def end(self, error: BaseException | None = None) -> None:
        frame = self._frame
        if frame is not None:
            try:
                self._session.finish_step(frame, error, self._result)
            except BaseException as stop:  # Ctrl-C came before it: the step has been left all the same
                self._session.finish_interrupted(frame, error, self._result, stop)
                raise

    def __enter__(self) -> StepScope:
        caller = sys._getframe(1)
        return self.begin(context.generator_of(caller) if caller.f_code.co_flags & GENERATOR else None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        frame = self._frame
        if frame is not None:  # as `end`: an interrupt could come between the two
            try:
                self._session.finish_step(frame, error, self._result)
            except BaseException as stop:
                self._session.finish_interrupted(frame, error, self._result, stop)
                raise

    async def __aenter__(self) -> StepScope:
        return self.begin(context.generator_of(sys._getframe(1)))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


def outcome_of(error: BaseException | None) -> str:
    """How a step ended that `error` left."""
    if error is None:
        return "success"
    if any(base.__name__ in ("CancelledError", "Cancelled") for base in type(error).__mro__):
        return "cancelled"  # asyncio, concurrent.futures, trio; none of them is imported for this
    return "aborted" if isinstance(error, _EXITS) or type(error).__name__ == "GreenletExit" else "error"


def has_failed(error: BaseException) -> bool:
    """Whether who ends by it says so to whoever started it: an exit with a code that is none of success."""
    if not isinstance(error, SystemExit):
        return outcome_of(error) == "error"
    return error.code is not None and (error.code != 0 or not isinstance(error.code, int))


def was_left(error: BaseException) -> bool:
    """Whether a step that `error` left was closed or cancelled: what it began may not know of that yet."""
    return isinstance(error, GeneratorExit) or outcome_of(error) == "cancelled"


def error_data(
    error: BaseException, category: str = "execution_error", type_: str | None = None
) -> dict[str, Any]:
    """An `error` event's data for an exception."""
    from lctl.trust.taxonomy import of_error  # a program without failures does without its tables

    kind = type(error)
    known = None if type_ is not None else of_error(error)
    made: dict[str, Any] = {
        "category": category if known is None else known.category,
        "type": (type_ or kind.__name__) if known is None else known.type,
        "message": text_of_error(error),
        "recoverable": isinstance(error, TimeoutError | ConnectionError)
        if known is None
        else known.recoverable,
    }
    if known is not None:
        made["suggested_action"] = known.suggested_action
    return {**made, "context": {"exception": name_of(kind)}}


def mark_of(error: BaseException) -> Mark:
    """What tells this raising of an exception from another that is later given the same memory.

    Holding the exception itself would keep its frames, and what they hold, alive.
    """
    trace = error.__traceback__
    if trace is None:  # raised by the call itself, whose line was taken off
        return id(error), type(error), 0, hash(text_of_error(error))
    return id(error), type(error), id(trace), trace.tb_lasti


def was_reported(error: BaseException, mark: Mark | None) -> bool:
    """Whether `mark` was made of this raising, of which the traceback may have grown since."""
    if mark is None or mark[:2] != (id(error), type(error)):
        return False
    if not mark[2]:
        return mark[3] == hash(text_of_error(error))
    trace = error.__traceback__
    while trace is not None:
        if (id(trace), trace.tb_lasti) == mark[2:]:
            return True
        trace = trace.tb_next
    return False
