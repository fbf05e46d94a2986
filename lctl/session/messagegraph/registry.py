"""The message graphs of a session, for those who record its model calls."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    from lctl.session.messagegraph.graph import MessageGraph

#: The graph that was read last in this context: a client that is given one reads it, then sends.
_read: ContextVar[ref[MessageGraph] | None] = ContextVar("lctl_graph", default=None)
mark = _read.set
marked = _read.get


class Graphs:
    """What the graphs of one session, and the capture of its model calls, have in common.

    Attributes:
        changed: graphs whose path is not what it was when the capture last looked, by id().
        blobs: hashes of the large values that have an event.
        used: whether there has been a graph.
    """

    __slots__ = ("blobs", "changed", "used")

    def __init__(self) -> None:
        self.changed: dict[int, ref[MessageGraph]] = {}
        self.blobs: set[str] = set()
        self.used = False

    def read_here(self) -> MessageGraph | None:
        """The graph that the running code has read last, if it records into this session."""
        found = _read.get()
        graph = found() if found is not None else None
        if graph is None:
            return None
        if graph.graphs is None:
            graph.bind()  # it was made before there was a session
        return graph if graph.graphs is self else None
