"""A session as a block: entered, ended by what leaves it, and let go of."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from lctl.conversation.ledger import RUNNING
from lctl.errors import UsageError
from lctl.session.durable.reading import Reading
from lctl.session.runs.steps import error_data

if TYPE_CHECKING:
    from lctl.session.durable.ownstate import OwnState
    from lctl.session.session import LCTLSession


Status = Literal["completed", "failed"]


class Ending(Reading):
    """Of a session that is being recorded, or only read (then nothing here does anything).

    Attributes:
        owns: the log was opened for this session.
    """

    owns = False
    _log: LCTLSession | None
    _own: OwnState
    _entered = 0

    if TYPE_CHECKING:

        @property
        def log(self) -> LCTLSession: ...

        @property
        def writing(self) -> Any: ...

    def end(self, status: Status = "completed", error: Any = None) -> None:
        """Record the session's end; a second one is not recorded. A failed session may be started again, and
        then goes on.

        Raises:
            UsageError: there is no such status, or the session was read from a log.
        """
        if status not in get_args(Status):
            raise UsageError(f"status={status!r}: a session is {' or '.join(get_args(Status))} in the end")
        with self.writing:
            if self.status != RUNNING:
                return
            self._own.record()
            data: dict[str, Any] = {"session_id": self.id, "status": status}
            if error is not None:
                said = error_data(error) if isinstance(error, BaseException) else None
                data["error"] = error if said is None else {key: said[key] for key in ("type", "message")}
            self.log.emit("session_end", data)

    def close(self) -> None:
        """Let go of the log, if it was opened for this session. The session itself goes on running."""
        if self.owns and self._log is not None and not self._log.closed:
            self._log.close()

    def __enter__(self) -> Self:
        if self.owns and not self._entered:
            self.log.__enter__()
        self._entered += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered -= 1
        if self._entered or self._log is None:
            return
        if not self._log.closed:
            self.end("completed" if error is None else "failed", error)
            if error is not None:
                self._log.told(error)  # its end has
        if self.owns:
            self._log.__exit__(kind, error, trace)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)
