"""A log that grows, as commands follow it."""

from __future__ import annotations

from lctl.analysis.following import Follower, Note

__all__ = ["Follower", "Note"]
