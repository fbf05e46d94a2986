"""The user's recording API, floor F3."""

from lctl.session.default import export, get_session
from lctl.session.redact import Redactor
from lctl.session.session import LCTLSession
from lctl.session.tools import tool
from lctl.session.traced import traced, traced_step

__all__ = ["LCTLSession", "Redactor", "export", "get_session", "tool", "traced", "traced_step"]
