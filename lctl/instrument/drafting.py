"""The events of messages about to be written, and of the tool calls that they answer.

The forest is changed as a plan is made, and changed back when its write failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from typing import Any

from lctl.conversation.blobs import take_blobs
from lctl.conversation.identity import marks
from lctl.conversation.node import RESERVED
from lctl.instrument.forest import Node
from lctl.instrument.learning import Learning
from lctl.instrument.nameless import BY_NAME
from lctl.instrument.plans import Plan
from lctl.instrument.prefixes import Prefixes
from lctl.instrument.toolmessages import Result, asked_in, results_in
from lctl.session.messagegraph.route import position_of


class Drafting(Learning):
    """Mixed into `Conversations`, which says what is new."""

    _prefixes: Prefixes
    _pending: Plan | None  # not known to be written yet

    def rollback(self, first_seq: int) -> None:
        """The write of the plan made with `first_seq` failed: forget what it added.

        A plan whose seqs are given out again is rolled back even without this call.
        """
        pending = self._pending
        if pending is not None and pending.first_seq == first_seq:
            self._pending = None
            for node in reversed(pending.nodes):
                self._forest.remove(node)
            for undo in reversed(pending.undo):
                undo()

    def _begin(self, first_seq: int, agent: str, step: int | None) -> Plan:
        before = self._pending
        if before is not None:
            if first_seq <= before.first_seq:
                self.rollback(before.first_seq)
            elif before.sent is not None:
                self._prefixes.remember(*before.sent)
        self._pending = plan = Plan(first_seq, agent, step)
        return plan

    def _add(
        self, plan: Plan, message: dict[str, Any], key: bytes, parent: Node, *, status: str | None = None
    ) -> Node:
        """Plan the event of a message below `parent`. `key` is its identity; with a status it is sampled."""
        stored = message
        for value in message.values():
            if value and (type(value) is list or type(value) is dict):
                stored, blobs = take_blobs(message)
                for blob in blobs:
                    if self.note_blob(blob["hash"]):
                        plan.undo.append(partial(self._blobs.discard, blob["hash"]))
                        plan.add("blob", blob)
                break
        id = plan.next_id()
        data: dict[str, Any] = {"message_id": id, "parent_id": parent.id, "role": "", "content": None}
        if parent.home is not None:
            data.update(parent.home.fields)
        data.update(stored)
        if not RESERVED.isdisjoint(stored):
            theirs = {name: data.pop(name) for name in stored if name in RESERVED}
            data = {"message_id": id, "parent_id": parent.id, **data, "wire": theirs}
        if status is not None:
            data["sampled"] = True
            data["status"] = status
        plan.add("message", data)
        home = parent.home
        if (
            parent.chains and parent.place.children
            if home is None
            else home.needs_exact(position_of(parent.id), data)
        ):
            data["exact"] = True  # a reader would put it below the last of the tool results
        node = self._forest.add(id, parent, key, role=data["role"], sampled=status is not None)
        if status is not None:
            node.marks = marks(message)
        if data["role"] == "tool" and data.get("tool_call_id") is not None:
            node.chains = parent.chains = True
        if home is not None:
            node.home = home
            if status is None:
                home.meet(parent.id, id, message)
        plan.nodes.append(node)
        if status is None and parent is self._forest.root:
            self._agents.begin(node)
            plan.undo.append(self._agents.unbegin)
        return node

    def _derive_tool_calls(self, plan: Plan, added: Iterable[tuple[dict[str, Any], Node]]) -> None:
        """Plan the events of tool calls whose results are among these messages."""
        added = list(added)
        found: list[tuple[Result, Node]] = []
        for message, node in added:
            if not (type(message.get("content")) is str and message.get("role") == "user"):
                found += [(result, node) for result in results_in(message)]
        if not found:
            return
        now, results = self._monotonic_ns(), [result for result, _ in found]
        if not all(self._tools.knows(result) for result in results):
            told = {node.id: asked for message, node in added if (asked := asked_in(message))}
            if any(result.call_id.startswith(BY_NAME) for result in results):
                results = self._tools.nameless.join(found, told, plan.undo)
            results = self._tools.by_given_ids(results, chain.from_iterable(told.values()))
        for result in results:
            data = self._tools.answer(result, now)
            if data is not None:
                data |= self._agents.nested(data["call_id"], result.output)
                plan.add("tool_call", data)
                plan.undo.append(partial(self._tools.reopen, result.call_id))

    def _set_tip(self, plan: Plan, name: str, tip: Node) -> None:
        before = self._tips.get(name)
        self._tips[name] = tip
        if before is None:
            plan.undo.append(lambda: self._tips.pop(name, None))
        else:
            plan.undo.append(lambda: self._tips.update({name: before}))
