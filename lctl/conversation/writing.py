"""What is done through a view: each call is one event, with the parent and the other version it needs."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from lctl.conversation import drafts
from lctl.conversation.following import Following
from lctl.conversation.node import Node
from lctl.errors import UsageError

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree
    from lctl.conversation.watch import Watch


#: How a streamed message may end.
_ENDS = ("complete", "aborted", "error")


class Writing:
    """The part of a `View` that writes, through the tree's writer."""

    conversation: str
    _tree: Tree
    _watch: Watch | None
    _route: Following
    _lock: threading.RLock

    def _open(self) -> AbstractContextManager[Following]:
        """The route, under the lock.

        Raises:
            UsageError: the view is closed.
        """
        raise NotImplementedError

    def _number(self, id: str) -> int:
        """Raises UsageError: there is no such message."""
        raise NotImplementedError

    def _node(self, id: str) -> Node:
        with self._open():
            return Node(self._tree, self._number(id))

    def send(self, content: Any, *, role: str = "user", message_id: str | None = None, **fields: Any) -> str:
        """Record a message after the last one, and show it; its id.

        Args:
            content: text, parts, or a whole message with its role.
            fields: more of the message; `agent` is the agent it is recorded for.

        Raises:
            UsageError: the tree can only be read, or has a message of that id.
            RecordingError: it could not be recorded.
        """
        with self._open() as route:
            parent = self._tree.forest.ids[route.leaf] if route.leaf >= 0 else None
        id = message_id or self._fresh()
        agent = fields.pop("agent", None)
        data = drafts.message(self._tree, self.conversation, id, parent, content, role=role, **fields)
        return self._write("message", data, agent)

    def edit(self, id: str, content: Any, *, message_id: str | None = None, **fields: Any) -> str:
        """Record another version of a message, and show it; its id. What followed stays below the old one.

        Raises:
            As `send`.
        """
        node = self._node(id)
        agent = fields.pop("agent", None)
        data = drafts.version(self._tree, node, message_id or self._fresh(), content, **fields)
        return self._write("message", data, agent)

    def regenerate(
        self, id: str, content: Any = None, *, message_id: str | None = None, **fields: Any
    ) -> str:
        """Begin another version of an answer or a tool's result, and show it; its id.

        With `content` it is recorded whole. Without, it is streamed: `update` brings its pieces and its end.
        For an answer that is recorded by itself, of an instrumented client, use `expect`.

        Raises:
            As `send`; also if somebody wrote the message.
        """
        node = drafts.generated(self._node(id))
        agent = fields.pop("agent", None)
        data = drafts.version(self._tree, node, message_id or self._fresh(), content, **fields)
        if content is None:
            del data["content"]
        return self._write("stream_start" if content is None else "message", data, agent)

    def expect(self, id: str) -> None:
        """Show the next alternative to a message when it comes, whoever records it. Selecting something
        else ends the waiting."""
        with self._open() as route:
            number = self._number(id)
            parent = self._tree.forest.parent_at(number, self._tree.seq)
            if self._watch is not None:
                self._watch.expect(parent, route)

    def update(
        self, id: str, content: Any = None, *, chunk: Any = None, status: str | None = None, **fields: Any
    ) -> str:
        """Go on with a streamed message: a `chunk` of it, its whole `content`, or its end by `status`
        (complete, aborted, error). Of a message that is complete `content` is an edit; the id of the message.

        Raises:
            As `send`; also if a complete message is given a chunk or a status, or there is no such status.
        """
        if status is not None and status not in _ENDS:
            raise UsageError(f"status={status!r}: a streamed message is {', '.join(_ENDS)} in the end")
        node = self._node(id)
        agent = fields.pop("agent", None)
        if node.status != "streaming":
            if chunk is not None or content is None:
                raise UsageError(f"message {node.id} is {node.status}: it has no more pieces; edit it")
            return self.edit(id, content, **fields)
        if chunk is not None:
            drafts.record(self._tree, *drafts.piece(self._tree, node, chunk), agent)
        if content is not None or status is not None or fields:
            drafts.record(self._tree, *drafts.ending(self._tree, node, content, status, fields), agent)
        return node.id

    def _write(self, type: str, data: dict[str, Any], agent: str | None) -> str:
        id = str(data["message_id"])
        with self._open() as route:
            _ = self._tree.writer
            if self._tree.forest.find(id) >= 0:
                raise UsageError(f"there is a message {id} already; without message_id a new one is made")
            if self._watch is not None:
                self._watch.expect(id, route)
        try:
            drafts.record(self._tree, type, data, agent)
        except BaseException:
            with self._lock:
                if self._watch is not None:
                    self._watch.forget(self._route)
            raise
        return id

    def _fresh(self) -> str:
        """An id that no message has."""
        return self._watch.fresh() if self._watch is not None else ""
