"""Every error lctl raises on purpose.

    LctlError
    ├── UsageError          a command or call was given something it cannot take        exit 2
    │   └── QueryError      a query is no SQL, would write, or takes too long
    ├── FactBlocked         a fact may not be acted on                                  exit 1
    ├── ContractViolated    an input or output breaks its contract                      exit 1
    ├── LogError            a log file cannot be used as asked                          exit 3
    │   ├── LogNotFound     no such file, or no recording of that name                  exit 3
    │   ├── NotALog         the bytes are not an lctl log                               exit 3
    │   ├── NotImportable   the bytes are no conversation that can be imported          exit 3
    │   ├── UnsupportedVersion  the log's version is newer or unknown                   exit 3
    │   ├── InvalidEvent    an event breaks the protocol in a way that cannot be read   exit 3
    │   ├── BrokenChain     a conversation lacks a message on the way to its root       exit 3
    │   ├── LogLocked       another process is writing this log                         exit 4
    │   └── StoreError      a store cannot be used as asked                             exit 3
    │       └── StoreAway   it cannot be reached now                                    exit 3
    ├── RecordingError      an event could not be recorded (disk full, closed session)  exit 3
    │   └── ChainConflict   another writer has gone on with this chain                  exit 4
    ├── ToolInDoubt         a tool call was begun and may have been done                exit 3
    ├── RerunError          a rerun or fork cannot begin as asked                       exit 3
    └── MissingExtra        an optional dependency is not installed                     exit 5
    RerunStopped            (a BaseException) the tape does not hold what was asked     exit 1

A message says what, with which value, and what to do. The command line prints it as one line and
exits with `exit_code`; nothing else of lctl's ever reaches a user as a traceback.
"""

from __future__ import annotations

from typing import Any


class LctlError(Exception):
    """Root of lctl's own errors. `detail` is what a command prints beneath the message, line by line."""

    exit_code = 1
    detail: tuple[str, ...] = ()


class UsageError(LctlError):
    """A command or call was given something it cannot take."""

    exit_code = 2


class QueryError(UsageError):
    """A query cannot be answered: it is not SQL, would do more than read, or takes too long.

    Attributes:
        position: where in the query, counted from 0; None where that cannot be told.
    """

    def __init__(self, text: str, position: int | None = None, detail: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.position = position
        self.detail = detail


class FactBlocked(LctlError):
    """A fact may not be acted on. The text tells how it came to that.

    Attributes:
        fact: its id.
        decision: what its gate says.
        confidence: as the asking agent has it, decayed; None when nobody said.
        history: what happened to the fact, oldest first (`lctl.trust.standing.Point`).
    """

    def __init__(
        self, text: str, fact: str, decision: str, confidence: float | None, history: list[Any]
    ) -> None:
        super().__init__(text)
        self.fact = fact
        self.decision = decision
        self.confidence = confidence
        self.history = history


class ContractViolated(LctlError):
    """An agent's input or output is not what its contract says.

    Attributes:
        violations: each with seq, agent, field, value and what was expected
            (`lctl.trust.checking.Violation`).
    """

    def __init__(self, text: str, violations: list[Any]) -> None:
        super().__init__(text)
        self.violations = violations


class LogError(LctlError):
    """A log file cannot be used as asked."""

    exit_code = 3


class LogNotFound(LogError):
    """No such file, or no recording of that name."""


class NotALog(LogError):
    """The bytes are not an lctl log."""


class NotImportable(LogError):
    """The bytes are no conversation of a form that `lctl import` reads."""


class UnsupportedVersion(LogError):
    """The log says a version this lctl cannot read."""


class InvalidEvent(LogError):
    """An event breaks the protocol in a way that cannot be read around."""


class BrokenChain(LogError):
    """A conversation lacks a message on the way to its root.

    Attributes:
        missing: id of the message that is not in the log, or that was met a second time.
        partial: what there is of the path, first message first.
    """

    def __init__(self, text: str, missing: str, partial: list[Any]) -> None:
        super().__init__(text)
        self.missing = missing
        self.partial = partial


class LogLocked(LogError):
    """Another process is appending to this log."""

    exit_code = 4


class StoreError(LogError):
    """A store of logs cannot be used as asked."""


class StoreAway(StoreError):
    """A store cannot be reached now; it may be later."""


class RecordingError(LctlError):
    """An event could not be recorded."""

    exit_code = 3


class ChainConflict(RecordingError):
    """Another writer has stored other events under the seqs of these.

    Attributes:
        chain_id: of the chain.
        seq: the first event the two differ in.
    """

    exit_code = 4

    def __init__(self, text: str, chain_id: str, seq: int) -> None:
        super().__init__(text)
        self.chain_id = chain_id
        self.seq = seq


class ToolInDoubt(LctlError):
    """A tool call that must not be made twice was begun by a process that left no result.

    Attributes:
        tool, call_id: which.
    """

    exit_code = 3

    def __init__(self, text: str, tool: str, call_id: str | None) -> None:
        super().__init__(text)
        self.tool = tool
        self.call_id = call_id


class RerunError(LctlError):
    """A rerun or fork cannot begin as asked."""

    exit_code = 3


class RerunStopped(BaseException):
    """The program asked for something that the tape does not hold.

    Not an `Exception`: raised inside the program, below SDKs that turn those into their own and try again,
    it must end the run.
    """

    exit_code = 1


class MissingExtra(LctlError):
    """An optional dependency is needed for this and not installed."""

    exit_code = 5

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency; install it with: pip install 'lctl[{extra}]'")
        self.extra = extra
