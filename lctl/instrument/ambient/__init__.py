"""Reads of the surroundings by the program's own code: clocks, chance, environment, what is typed in.

In place only where a recording is to be run again (`record="full"`, `lctl run`) and in a rerun. Each
read by the program's own files is recorded, or served from the tape; libraries read the real thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lctl.guard import guard
from lctl.instrument.ambient import reads, slots

if TYPE_CHECKING:
    from lctl.session import LCTLSession

_installed = False


def install() -> None:
    """Record (or serve) from now on. Idempotent; undone by `uninstall`."""
    global _installed
    if _installed:
        return
    _installed = True
    from lctl.instrument.ambient import (
        addresses,
        chance,
        clocks,
        curseskeys,
        databases,
        environment,
        files,
        folders,
        heard,
        host,
        identifiers,
        inputs,
        keyboard,
        limits,
        linehistory,
        logged,
        nativestores,
        newgenerators,
        numpychance,
        outputs,
        pagers,
        ports,
        processqueues,
        requests,
        sleeps,
        terminals,
        timers,
        turns,
    )
    from lctl.instrument.ambient.commands import popen
    from lctl.session import default, hooks
    from lctl.session.concurrency import processes

    processes.open_by(default.get_session)
    if _opened not in hooks.on_open:
        hooks.on_open.append(_opened)
        hooks.on_closing.append(_closing)
        hooks.on_closed.append(_closed)
    reads.activate(True)
    for part in (
        addresses,
        terminals,
        clocks,
        chance,
        newgenerators,
        numpychance,
        identifiers,
        environment,
        files,
        folders,
        databases,
        nativestores,
        popen,
        host,
        logged,
        outputs,
        inputs,
        keyboard,
        curseskeys,
        linehistory,
        pagers,
        ports,
        processqueues,
        requests,
        heard,
        sleeps,
        timers,
        limits,
        turns,
    ):
        with guard("reads of the surroundings"):
            part.install()


def uninstall() -> None:
    """Put everything back. What somebody keeps a reference to reads the real thing from now on."""
    global _installed
    if not _installed:
        return
    _installed = False
    from lctl.instrument.ambient import (
        chance,
        host,
        identifiers,
        inputs,
        logged,
        newgenerators,
        numpychance,
        outputs,
        ports,
        requests,
    )
    from lctl.session.concurrency import processes

    processes.open_by(None)
    reads.activate(False)
    chance.uninstall()
    newgenerators.uninstall()
    numpychance.uninstall()
    identifiers.uninstall()
    host.uninstall()
    inputs.uninstall()
    logged.uninstall()
    outputs.uninstall()
    ports.uninstall()
    requests.uninstall()
    slots.undo_all()


def is_installed() -> bool:
    return _installed


def _opened(session: LCTLSession) -> None:
    if not _installed:
        return
    from lctl.instrument.ambient import chance, outputs

    chance.note_seed(session)
    outputs.opened(session)


def _closing(session: LCTLSession) -> None:
    if not _installed:
        return
    from lctl.instrument.ambient import outputs, stamps

    for part in (reads, stamps, outputs):
        with guard("reads of the surroundings"):
            part.closing(session)


def _closed(session: LCTLSession) -> None:
    if not _installed:
        return
    from lctl.instrument.ambient import outputs

    outputs.closed(session)
