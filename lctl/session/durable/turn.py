"""One step of a session: what is recorded in it is there before the step is done."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.session.durable.writing import Redelivery
from lctl.session.runs import context

if TYPE_CHECKING:
    from lctl.session.durable.session import Session
    from lctl.session.runs.steps import StepScope


class Left(NamedTuple):
    """A step that a process left open; `number` is of the last message before it."""

    step: int
    number: int


class Turn:
    """`with session.step("answer") as turn:`; also with `async with`.

    When it ends, the session's state is recorded if it has changed, then the end of the step with
    `to_message_number`. A step that a process left without its end is ended as aborted when the session's
    next one begins, which is then taken for its repetition: messages that it records again, in order and
    saying the same, are not written a second time.

    Attributes:
        seq: the step's number.
        from_number: of the last message before it.
        repeats: whether it stands for one that was left.
        left: seq of that one, 0 for none. Tool calls that were made in it are not made again.
    """

    def __init__(self, session: Session, agent: str | None, data: dict[str, Any]) -> None:
        self._session = session
        self._given = (agent, data)
        self._scope: StepScope | None = None
        self.redelivery: Redelivery | None = None
        self.from_number = 0
        self.repeats = False
        self.left = 0

    @property
    def seq(self) -> int:
        return 0 if self._scope is None else self._scope.seq

    def update(self, **data: Any) -> None:
        """Add to the step's end: `tokens`, `cost`, `updates` (changes of state), `output_summary`, ..."""
        if self._scope is not None:
            self._scope.update(**data)

    def _begin(self, inside: Any) -> Turn:
        session = self._session
        session.check_running()
        agent, data = self._given
        with session.writing:
            left = session.leave_open_step()
            self.from_number = session.high_water if left is None else left.number
            self.repeats = left is not None
            if left is not None:
                self.left = left.step
                self.redelivery = Redelivery(session.log, session.between(left.number))
                data = {**data, "repeats": left.step}
            scope = session.log.step(agent, session_id=session.id, **data)
            self._scope = scope.begin(inside)
            session.turns.append(self)
        return self

    def _end(self, error: BaseException | None) -> None:
        session, scope = self._session, self._scope
        if scope is None:
            return
        with session.writing:
            session.snapshot()
            if self in session.turns:
                session.turns.remove(self)
            scope.update(session_id=session.id, to_message_number=session.high_water)
            scope.end(error)

    def __enter__(self) -> Turn:
        return self._begin(context.generator_of(sys._getframe(1)))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(error)

    async def __aenter__(self) -> Turn:
        return self._begin(context.generator_of(sys._getframe(1)))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(error)
