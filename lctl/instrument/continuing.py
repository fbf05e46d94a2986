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
from lctl.instrument.codecs.assistants import RUN, RUNS, SUBMIT
from lctl.instrument.codecs.bedrockagents import INVOKE
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.replicate import PREDICTIONS
from lctl.instrument.codecs.responses import UNDER_WAY
from lctl.instrument.drafting import Drafting
from lctl.instrument.forest import Node
from lctl.instrument.plans import Plan

#: Operations whose answers the provider keeps, and whose instructions are of one request.
KEPT = frozenset({"responses", "interactions", RUN})
#: Whose answers the provider keeps, with the instructions that the conversation began with.
KEPT_WHOLE = frozenset({"conversations", SUBMIT})
#: Whose answers may come by a later request, whatever was asked.
LATER = frozenset({*RUNS, PREDICTIONS})
#: Whose conversations have names that the program gives them.
NAMED = frozenset({INVOKE})


def comes_later(request: ModelRequest) -> bool:
    """Whether the answer may come by a later request."""
    return bool(request.params.get("background")) or request.operation in LATER


class Continuing(Drafting):
    """Mixed into `Conversations`."""

    def _plan_continued(self, plan: Plan, request: ModelRequest) -> Node:
        """The leaf of the request."""
        messages = request.messages
        tip = self._tips.get(request.continues) if request.continues is not None else None
        if tip is not None:
            top = tip.place.top
            if request.instructions and top.identity == identity(messages[0]):
                messages = messages[1:]
            elif request.operation in KEPT and (request.instructions or top in self._led):
                lead = messages[0] if request.instructions else None
                tip = self._led_by(plan, lead, tip)
                messages = messages if lead is None else messages[1:]
        identities = [identity(message) for message in messages]
        if tip is not None:
            path = self._forest.walk_below(tip, identities)
            parent, matched = (path[-1] if path else tip), len(path)
        else:  # its history was never seen: nothing can be the same
            parent, matched = self._forest.root, 0
        fresh = messages[matched:]
        for message, key in zip(fresh, identities[matched:], strict=True):
            parent = self._add(plan, message, key, parent)
            if tip is None and parent.parent is self._forest.root:
                plan.drafts[-1][2]["continues"] = request.continues
        if fresh:
            self._derive_tool_calls(plan, zip(fresh, plan.nodes[-len(fresh) :], strict=True))
        return parent

    def _led_by(self, plan: Plan, lead: dict[str, Any] | None, tip: Node) -> Node:
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
            head = self._add(plan, lead, keys[0], parent)
            plan.drafts[-1][2].update(_fields(tip))
            if replaced is not None:
                plan.drafts[-1][2]["fork_of"] = replaced.id
        else:
            rest = rest[len(there) - (lead is not None) :]
            if not rest:
                return parent
            head = self._copy(plan, rest.pop(0), parent)
        if rest:
            plan.drafts[-1][2]["carry"] = [rest[0].id, rest[-1].id]
        at = head
        for count, node in enumerate(rest, 1):
            at = self._stand_in(plan, f"{head.id}+{count}", node, at)
        return at

    def _note_begun(
        self, plan: Plan, answer: ModelAnswer, id: str, request: ModelRequest, leaf: str | None
    ) -> None:
        """A response has begun in the background, or its answer is there."""
        before = self.begun.pop(id, None)
        if answer.finish_reason in UNDER_WAY and comes_later(request):
            small = replace(request, messages=[], params={}, known=None, lead=None, read_from=None)
            self._begun_as(plan, id, (small, leaf))
            if answer.followed_at is not None:
                self._begun_as(plan, answer.followed_at, self.begun[id])
        if before is not None:
            plan.undo.append(partial(self.begun.__setitem__, id, before))
            for name in [name for name, one in self.begun.items() if one is before]:
                plan.undo.append(partial(self.begun.__setitem__, name, self.begun.pop(name)))

    def _begun_as(self, plan: Plan, name: str, asked: tuple[ModelRequest, str | None]) -> None:
        self.begun[name] = asked
        plan.undo.append(partial(self.begun.pop, name, None))

    def _copy(self, plan: Plan, node: Node, parent: Node) -> Node:
        """Plan the event of a message that says what another one does."""
        id = plan.next_id()
        data: dict[str, Any] = {"message_id": id, "parent_id": parent.id, "role": node.role}
        data |= {"copy_of": node.id, **_fields(node)}
        if parent.chains and parent.place.children:
            data["exact"] = True
        plan.add("message", data)
        made = self._stand_in(plan, id, node, parent)
        if parent is self._forest.root:
            self._agents.begin(made)
            plan.undo.append(self._agents.unbegin)
        return made

    def _stand_in(self, plan: Plan, id: str, node: Node, parent: Node) -> Node:
        """Know a message that has another one's content; nobody sampled it."""
        made = self._forest.add(id, parent, node.place.identity, role=node.role, sampled=False)
        made.chains = node.chains
        plan.nodes.append(made)
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
