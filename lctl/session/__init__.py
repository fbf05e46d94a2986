"""The user's recording API, floor F3."""

from typing import TYPE_CHECKING, Any

from lctl.session.default import export, get_session
from lctl.session.redaction.redact import Redactor
from lctl.session.runs.traced import traced, traced_step
from lctl.session.session import LCTLSession
from lctl.session.tooling.tools import tool

if TYPE_CHECKING:
    from lctl.session.durable.session import Session

__all__ = ["LCTLSession", "Redactor", "Session", "export", "get_session", "tool", "traced", "traced_step"]


def __getattr__(name: str) -> Any:
    if name == "Session":  # what it reads with is loaded when it is used
        from lctl.session.durable.session import Session

        return Session
    raise AttributeError(f"module 'lctl.session' has no attribute {name!r}")
