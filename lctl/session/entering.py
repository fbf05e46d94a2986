"""A session around a block of code: `with LCTLSession() as session:`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import Token
from types import TracebackType
from typing import TYPE_CHECKING

from lctl.session import hooks
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.runs import context
from lctl.session.runs.context import Frame
from lctl.session.runs.stepping import Stepping

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession


class Entering(Stepping):
    """Mixed into `LCTLSession`, which brings the log."""

    agent: str
    closed: bool
    _entered: list[tuple[Frame, Token[Frame | None], Token[Lane], list[hooks.Undo]]]

    if TYPE_CHECKING:  # what stands beside it

        def close(self) -> None: ...
        def undisturbed(self) -> AbstractContextManager[None]: ...

    def __enter__(self) -> LCTLSession:
        top = Frame(self._session(), None, self.agent, context.current())
        # Its lanes do not depend on what the process did before it was entered.
        lane = lanes.current() if self._entered else Lane("0")
        self._entered.append((top, context.enter(top), lanes.enter(lane), hooks.entered(self._session())))
        return self._session()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.undisturbed():
            self._leave_block(error)

    def _leave_block(self, error: BaseException | None) -> None:
        top, token, lane, undo = self._entered.pop()
        hooks.left(undo)
        if not self._entered:
            for frame in self._open_frames():
                self.finish_step(frame, error, {} if error is not None else {"outcome": "aborted"})
            if error is not None and not self.closed:
                self.fail(error, "session", top)
        top.open = False
        context.leave(token)
        lanes.leave(lane)
        if not self._entered:
            self.close()

    async def __aenter__(self) -> LCTLSession:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)
