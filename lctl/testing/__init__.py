"""For tests of programs that use lctl, and lctl's own: fixed clocks and ids, a loopback model server."""

from lctl.testing.clock import FixedClock, SequentialIds
from lctl.testing.faults import Fault
from lctl.testing.replies import Reply, ToolCall
from lctl.testing.request import Request
from lctl.testing.server import ModelServer

__all__ = ["Fault", "FixedClock", "ModelServer", "Reply", "Request", "SequentialIds", "ToolCall"]
