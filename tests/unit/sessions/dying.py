"""The end of a process, as its log sees it."""

from __future__ import annotations

from lctl.session import LCTLSession
from lctl.session.runs import context


def die(log: LCTLSession) -> None:
    """As when the process ends at this instruction: the log has no end, and what is open stays open."""
    log.store.flush()
    left = log.path.read_bytes()
    log.close()
    log.path.write_bytes(left)
    context.set_current(None)
