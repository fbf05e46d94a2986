"""Instrumentation, floor F4: wire transports, provider codecs, and the patches that reach them.

lctl.auto_instrument()      record everything this program does from here on
lctl.uninstrument()         and leave no trace of it
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lctl.record.recorder import Draft
    from lctl.session import LCTLSession
    from lctl.session.redaction.redact import Redactor

Record = Literal["model", "full"]


def auto_instrument(*, record: Record | None = None) -> None:
    """Record every model call of this program, into a session opened at the first event.

    May be called before or after the libraries are imported, and again; it imports none of them. Where the
    environment has `LCTL_DISABLED=1` it does nothing.

    Args:
        record: "model" records model calls; "full" everything that a rerun needs: also every other HTTP
            exchange the program makes (telemetry uploads never), request bodies included, and what the
            program's own code reads of clocks, chance and environment, and writes to standard output.
            None: as it is already, under `lctl run` or by a call before; else "model".
    """
    if record not in ("model", "full", None):
        from lctl.errors import UsageError

        raise UsageError(f"auto_instrument(record={record!r}): record is 'model' or 'full'")
    from lctl.instrument.settings import is_disabled

    if is_disabled():
        return
    from lctl.session import default

    if record is not None:
        _set_full(record == "full")
    default.enable()
    ensure_installed()


def ensure_installed(*, always: bool = False) -> None:
    """Put the hooks in place, recording only where a session has been entered. Idempotent.

    What `with LCTLSession():` calls; outside any session nothing is recorded unless
    `auto_instrument()` was called.

    Args:
        always: also where `LCTL_DISABLED` turns recording off: what is asked for needs it.
    """
    from lctl.instrument.settings import is_disabled

    if not always and is_disabled():
        return
    from lctl.guard import guard
    from lctl.instrument import sysexit, writing
    from lctl.instrument.registry import registry
    from lctl.session import hooks
    from lctl.session.concurrency import turns

    if _other_traffic not in hooks.reports:
        hooks.reports.append(_other_traffic)
    if program_header not in hooks.headers:
        hooks.headers.append(program_header)
    if _learn_body not in hooks.on_body:
        hooks.on_body.append(_learn_body)
    turns.wanted = True
    registry.install()
    with guard("the program's output"):
        writing.install()
    with guard("the program's exit"):
        sysexit.install()


def uninstrument() -> None:
    """Undo every patch and import hook, and close the default session. Classes are as before.

    Streams still open then are recorded to their end, if their session is still open.
    """
    from lctl.instrument import sysexit, writing
    from lctl.instrument.registry import registry
    from lctl.session import default
    from lctl.session.concurrency import turns

    registry.uninstall()
    _set_full(False)
    writing.uninstall()
    sysexit.uninstall()
    turns.wanted = False
    turns.stop()
    default.disable()


def _learn_body(session: LCTLSession, drafts: Sequence[Draft]) -> None:
    from lctl.instrument.recordings import recording_of

    recording_of(session).conversations.learn_events(drafts)


def _other_traffic() -> dict[str, Any]:
    """Requests that were no model calls, for the log's tail. Their module is loaded by the first request."""
    traffic = sys.modules.get("lctl.instrument.traffic")
    return traffic.report() if traffic is not None else {}


def program_header(redactor: Redactor | None) -> dict[str, Any]:
    """What a log's header says of the program (see `provenance`)."""
    from lctl.instrument import provenance, settings

    return {"program": provenance.program(redactor, full=settings.full)}


def _set_full(full: bool) -> None:
    from lctl.instrument import settings

    settings.full = full
    if full:
        from lctl.instrument import ambient

        ambient.install()
    elif (installed := sys.modules.get("lctl.instrument.ambient")) is not None:
        installed.uninstall()


__all__ = ["auto_instrument", "ensure_installed", "uninstrument"]
