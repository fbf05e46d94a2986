"""Graphs made of a graph: copies, earlier contexts, the conversations of sub-agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lctl.conversation.items import ungroup
from lctl.conversation.restoring import sendable
from lctl.conversation.sdkobjects import own_copy
from lctl.errors import UsageError
from lctl.session.messagegraph.breaks import Breaks
from lctl.session.messagegraph.lineage import Lineage
from lctl.session.messagegraph.message import key_of
from lctl.session.messagegraph.route import Route
from lctl.state.messages import tool_calls_of

if TYPE_CHECKING:
    from lctl.conversation.node import Node
    from lctl.session.messagegraph.graph import MessageGraph


class Branching:
    """Mixed into `MessageGraph`."""

    def copy(self: Any) -> MessageGraph:
        """A second list on the same path: what is done to one is not done to the other. Records nothing."""
        made: MessageGraph = self._branch(self.own(), self.route.copy(), self.keys[:], self._lead)
        # What was changed inside of messages and not seen yet is in the copy as well.
        made._behind = self._behind or any(message.is_touched() for message in self.own())
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> MessageGraph:
        return self.copy()

    def __reduce__(self: Any) -> tuple[Any, ...]:
        return list, ([dict(message) for message in self.own()],)

    def _branch(
        self: Any,
        items: Iterable[dict[str, Any]],
        route: Route,
        keys: list[bytes],
        lead: dict[str, Any] | None,
    ) -> MessageGraph:
        kind: Any = type(self)
        made: MessageGraph = kind.__new__(kind)
        made._begin(self.session, self._fields, self._root_fields)
        made.graphs, made.lineage, made._lead = self.graphs, self.lineage, lead
        list.extend(made, [made.made(own_copy(item), at) for at, item in enumerate(items)])
        made.route, made.keys, made._behind = route, keys, False
        made._breaks = self._breaks.copy()
        if made.graphs is not None:
            made.graphs.changed[id(made)] = made.reference
        return made

    def previous(self: Any) -> MessageGraph | None:
        """The graph as it was before the last break, to read or to go on from; None: there was none."""
        left: Route | None = self._left()
        if left is None:
            return None
        made: MessageGraph = self._branch_at(left)
        return made

    def _branch_at(self: Any, route: Any) -> MessageGraph:
        messages = [sendable(node, node.message) for node in self.tree.path(route.tip)]
        keys = [key_of(message) for message in messages]
        lead = messages.pop(0) if self._lead is not None else None
        items = ungroup(messages) if self._loose else messages
        made: MessageGraph = self._branch(items, route.copy(), keys, lead)
        made._breaks.rewind(route)
        return made

    @classmethod
    def resume(cls: Any, node: Node, *, apart: bool = False) -> MessageGraph:
        """The conversation up to a message of a running session's tree, to go on with.

            with LCTLSession(path="run.lctl.json") as session:      # a log that is there already
                history = MessageGraph.resume(session.tree.tip())

        Args:
            apart: its first message is a system prompt that calls give in a field of its own.

        Raises:
            UsageError: it is no message of a tree, or of that of a finished log: there is nothing to record
                into; or the log does not hold all of a message's content.
            BrokenChain: a message on the way is not in the log.
        """
        from lctl.conversation.node import Node
        from lctl.session import session as sessions
        from lctl.session.messagegraph import loading

        if not isinstance(node, Node):
            raise UsageError(f"resume({node!r}): it takes a message of a tree, such as session.tree.tip()")
        writer = node.tree.writer
        assert isinstance(writer, sessions.LCTLSession)
        made: MessageGraph = cls.__new__(cls)
        fields = {} if node.conversation == "main" else {"conversation_id": node.conversation}
        made._begin(writer, fields, {})
        made.bind()
        made.lineage = Lineage(fields)
        made._breaks = Breaks(made.lineage)
        messages = [sendable(above, above.message) for above in node.path]
        if apart:
            made._lead = messages.pop(0)
        items = ungroup(messages)
        list.extend(made, [made.made(own_copy(item), at) for at, item in enumerate(items)])
        made.route, made.keys, made._behind = loading.route_of(node), loading.keys_of(node), False
        loading.load(node, made.lineage, made._breaks)
        made.unfollow()
        return made

    def nested(self: Any, tool_call_id: str) -> MessageGraph:
        """The conversation of a sub-agent that this tool call has started, as a graph of its own.

        Raises:
            UsageError: no message asks for that call, or it is not recorded.
        """
        for at in range(len(self.keys) - 1, -1, -1):
            if any(call.get("id") == tool_call_id for call in tool_calls_of(self.message_at(at))):
                host = self.route.id(at)
                break
        else:
            raise UsageError(f"no recorded message of this graph asks for tool call {tool_call_id!r}")
        kind: Any = type(self)
        made: MessageGraph = kind.__new__(kind)
        made._begin(
            self.session,
            {"conversation_id": f"{host}/{tool_call_id}"},
            {"nested_in": {"message_id": host, "tool_call_id": tool_call_id}},
        )
        return made
