"""Requests that go on from an answer or a conversation that the provider keeps: they send what is new.

The path of such a request is what its model reads. Instructions of OpenAI's Responses API are of one
request: those of an earlier one are not read again. So a request with other instructions than the
conversation it goes on from, or without any, has a path of its own, as an edit of the first message of a
`MessageGraph` has: a message that carries what came after (`carry`), and no message is stored twice.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from lctl.conversation.identity import identity
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.responses import UNDER_WAY
from lctl.instrument.forest import Node
from lctl.instrument.learning import Learning
from lctl.instrument.plans import Pending
from lctl.record.recorder import Draft


class Continuing(Learning):
    """Mixed into `Conversations`."""

    def _add(
        self,
        drafts: list[Draft],
        message: dict[str, Any],
        key: bytes,
        parent: Node,
        first_seq: int,
        agent: str,
        step: int | None,
        pending: Pending,
    ) -> Node:
        """Plan the event of a message below `parent`."""
        raise NotImplementedError

    def _derive_tool_calls(
        self,
        drafts: list[Draft],
        added: Any,
        agent: str,
        step: int | None,
        pending: Pending,
    ) -> None:
        raise NotImplementedError

    def _plan_continued(
        self,
        drafts: list[Draft],
        request: ModelRequest,
        first_seq: int,
        agent: str,
        step: int | None,
        pending: Pending,
    ) -> Node:
        """The leaf of the request."""
        messages = request.messages
        tip = self._tips.get(request.continues) if request.continues is not None else None
        if tip is not None:
            top = tip.place.top
            if request.instructions and top.identity == identity(messages[0]):
                messages = messages[1:]
            elif request.operation == "responses" and (request.instructions or top in self._led):
                lead = messages[0] if request.instructions else None
                tip = self._led_by(lead, tip, drafts, first_seq, agent, step, pending)
                messages = messages if lead is None else messages[1:]
        identities = [identity(message) for message in messages]
        if tip is not None:
            path = self._forest.walk_below(tip, identities)
            parent, matched = (path[-1] if path else tip), len(path)
        else:  # its history was never seen: nothing can be the same
            parent, matched = self._forest.root, 0
        fresh = messages[matched:]
        for message, key in zip(fresh, identities[matched:], strict=True):
            parent = self._add(drafts, message, key, parent, first_seq, agent, step, pending)
            if tip is None and parent.parent is self._forest.root:
                drafts[-1][2]["continues"] = request.continues
        if fresh:
            added = zip(fresh, pending.nodes[-len(fresh) :], strict=True)
            self._derive_tool_calls(drafts, added, agent, step, pending)
        return parent

    def _led_by(
        self,
        lead: dict[str, Any] | None,
        tip: Node,
        drafts: list[Draft],
        first_seq: int,
        agent: str,
        step: int | None,
        pending: Pending,
    ) -> Node:
        """The end of the same conversation below other instructions; with None below none.

        What of it is there already is found; one event says the rest.
        """
        rest = _path(tip)
        replaced = rest.pop(0) if tip.place.top in self._led else None
        keys = [node.place.identity for node in rest]
        if lead is not None:
            keys.insert(0, identity(lead))
        there = self._forest.walk_below(self._forest.root, keys)
        parent = there[-1] if there else self._forest.root
        if lead is not None and not there:
            head = self._add(drafts, lead, keys[0], parent, first_seq, agent, step, pending)
            drafts[-1][2].update(_fields(tip))
            if replaced is not None:
                drafts[-1][2]["fork_of"] = replaced.id
        else:
            rest = rest[len(there) - (lead is not None) :]
            if not rest:
                return parent
            head = self._copy(rest.pop(0), drafts, parent, first_seq, agent, step, pending)
        if rest:
            drafts[-1][2]["carry"] = [rest[0].id, rest[-1].id]
        at = head
        for count, node in enumerate(rest, 1):
            at = self._stand_in(f"{head.id}+{count}", node, at, pending)
        return at

    def _note_begun(
        self, answer: ModelAnswer, id: str, request: ModelRequest, leaf: str | None, pending: Pending
    ) -> None:
        """A response has begun in the background, or its answer is there."""
        before = self.begun.pop(id, None)
        if answer.finish_reason in UNDER_WAY and request.params.get("background"):
            small = replace(request, messages=[], params={}, known=None, lead=None, read_from=None)
            self.begun[id] = small, leaf
            pending.undo.append(partial(self.begun.pop, id, None))
        if before is not None:
            pending.undo.append(partial(self.begun.__setitem__, id, before))

    def _copy(
        self,
        node: Node,
        drafts: list[Draft],
        parent: Node,
        first_seq: int,
        agent: str,
        step: int | None,
        pending: Pending,
    ) -> Node:
        """Plan the event of a message that says what another one does."""
        id = f"m{first_seq + len(drafts)}"
        data: dict[str, Any] = {"message_id": id, "parent_id": parent.id, "role": node.role}
        data |= {"copy_of": node.id, **_fields(node)}
        if parent.chains and parent.place.children:
            data["exact"] = True
        drafts.append(("message", agent, data, step))
        made = self._stand_in(id, node, parent, pending)
        if parent is self._forest.root:
            self._agents.begin(made)
            pending.undo.append(self._agents.unbegin)
        return made

    def _stand_in(self, id: str, node: Node, parent: Node, pending: Pending) -> Node:
        """Know a message that has another one's content; nobody sampled it."""
        made = self._forest.add(id, parent, node.place.identity, role=node.role, sampled=False)
        made.chains = node.chains
        pending.nodes.append(made)
        return made


def _fields(node: Node) -> dict[str, Any]:
    """What a message of the same graph has beside what it says."""
    return {} if node.home is None else dict(node.home.fields)


def _path(tip: Node) -> list[Node]:
    """The messages down to this one."""
    found: list[Node] = []
    at: Node | None = tip
    while at is not None and at.id is not None:
        found.append(at)
        at = at.parent
    found.reverse()
    return found
