"""What happens when a session is entered or left; filled from above, so that no floor imports upward.

`lctl/__init__` puts instrumentation here: `with lctl.LCTLSession():` patches what is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lctl.guard import guard

if TYPE_CHECKING:
    from lctl.record.recorder import Draft
    from lctl.session.redaction.redact import Redactor
    from lctl.session.session import LCTLSession

Undo = Callable[[], None]
#: Called with the session; may return what undoes it, which is called when the session is left.
on_enter: list[Callable[[LCTLSession], Undo | None]] = []

#: Called with each session after it was opened, and before it is closed.
on_open: list[Callable[[LCTLSession], None]] = []
on_closing: list[Callable[[LCTLSession], None]] = []
#: Called after those: what they record is last in the log.
on_closed: list[Callable[[LCTLSession], None]] = []

#: Called under the recorder's lock with the events of a tool's body that are recorded again in a rerun.
on_body: list[Callable[[LCTLSession, Sequence[Draft]], None]] = []

#: Each gives what the header of a log should say, for a given redactor.
headers: list[Callable[[Redactor | None], dict[str, Any]]] = []

#: Each gives what a log's tail should say about its own recording, for `lctl doctor`.
reports: list[Callable[[], dict[str, Any]]] = []


def recording() -> dict[str, Any]:
    """What could not be recorded in this process, and what the floors above add to that."""
    found: dict[str, Any] = {}
    if guard.failures:
        found = {"failures": dict(guard.failures), "examples": dict(guard.examples)}
    for report in reports:
        with guard("what was not recorded"):
            found |= report()
    return found


def recording_since(before: dict[str, Any]) -> dict[str, Any]:
    """`recording()` without what `before` (an earlier one) had: the counts are the process's, a log is
    told of its own time only."""
    found: dict[str, Any] = {}
    for name, now in recording().items():
        then = before.get(name, {})
        if name == "examples":
            more = {place: text for place, text in now.items() if place in found.get("failures", {})}
        else:
            more = {key: count - then.get(key, 0) for key, count in now.items() if count > then.get(key, 0)}
        if more:
            found[name] = more
    return found


def header(redactor: Redactor | None) -> dict[str, Any]:
    """What the floors above say about the program, for a new log's header."""
    found: dict[str, Any] = {}
    for given in headers:
        with guard("a log's header"):
            found |= given(redactor)
    return found


def opened(session: LCTLSession) -> None:
    for hook in list(on_open):  # one that is for the first log alone takes itself away
        with guard("the beginning of a recording"):
            hook(session)


def closing(session: LCTLSession) -> None:
    for hook in on_closing:
        with guard("the end of a recording"):
            hook(session)


def closed(session: LCTLSession) -> None:
    for hook in on_closed:
        with guard("the last events of a recording"):
            hook(session)


def again(session: LCTLSession, drafts: Sequence[Draft]) -> None:
    for hook in on_body:
        with guard("what a tool's body had recorded"):
            hook(session, drafts)


def entered(session: LCTLSession) -> list[Undo]:
    """Run the hooks; their undoing, last first."""
    undo: list[Undo] = []
    for hook in on_enter:
        with guard("instrumentation"):
            undone = hook(session)
            if undone is not None:
                undo.insert(0, undone)
    return undo


def left(undo: list[Undo]) -> None:
    for undone in undo:
        with guard("instrumentation"):
            undone()
