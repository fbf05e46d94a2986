"""Which messages of a request are new, and which answer follows them (CONVERSATIONS D8, D9).

One `Conversations` per session holds the forest of what was recorded. A plan gives the drafts of one
write; the forest is changed as the plan is made, because another plan may be made before the write
is confirmed, and changed back when the write failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from hashlib import sha256
from typing import Any

import orjson

from lctl.clock import Clock, system_clock
from lctl.conversation.blobs import take_blobs
from lctl.conversation.identity import identity
from lctl.conversation.node import RESERVED
from lctl.instrument.codecs.bodies import read_object
from lctl.instrument.codecs.model import Codec, ModelAnswer, ModelRequest
from lctl.instrument.continuing import Continuing
from lctl.instrument.forest import Forest, Node
from lctl.instrument.nameless import BY_NAME
from lctl.instrument.plans import Pending, PromptPlan
from lctl.instrument.prefix import Reading
from lctl.instrument.prefixes import SMALL, Prefixes, locate
from lctl.instrument.spelling import Spelling
from lctl.instrument.subagents import SubAgents
from lctl.instrument.toolcalls import ToolCalls
from lctl.instrument.toolmessages import Result, asked_in, results_in
from lctl.record.recorder import Draft
from lctl.session.messagegraph.registry import Graphs, marked
from lctl.session.messagegraph.route import position_of

# They read a prompt and say nothing.
_COUNTING = frozenset({"messages.count_tokens", "responses.input_tokens"})


class Conversations(Continuing):
    """Matches prompts against everything recorded in one chain, and plans the events of what is new.

    `plan_request`, `plan_answer`, `tools_fields` and `rollback` belong under the recorder's lock (inside
    `record_many`'s build function); `read_request` may run anywhere.
    """

    def __init__(self, clock: Clock = system_clock, graphs: Graphs | None = None) -> None:
        self._graphs = graphs or Graphs()
        self._monotonic_ns = clock.monotonic_ns
        self._forest = Forest()
        self._prefixes = Prefixes()
        self._tools = ToolCalls()
        self._tips = {}
        self._led = set()
        self.begun = {}
        self._blobs = self._graphs.blobs
        self._told = []
        self._toolsets = set()
        self._toolset: tuple[Any, str] = (None, "")  # the list hashed last, and its hash
        self._pending: Pending | None = None
        self._agents = SubAgents()
        self._spelling = Spelling()

    # -- reading ---------------------------------------------------------------------------

    def read_request(self, codec: Codec, operation: str, url: str, body: bytes) -> ModelRequest:
        """`codec.read_request`, faster for a conversation that grows.

        `messages` of the result may lack a beginning that this forest knows (`known`).

        Raises:
            ValueError: the body is not this operation's.
        """
        if len(body) >= SMALL:
            request = self._prefixes.read(codec, operation, url, body)
            if request is not None:
                return request
        document = read_object(body)
        request = codec.read_document(operation, url, document)
        if len(body) >= SMALL:
            locate(codec, operation, url, body, document, request)
        return request

    # -- planning --------------------------------------------------------------------------

    def plan_request(self, request: ModelRequest, first_seq: int, agent: str, step: int | None) -> PromptPlan:
        """Drafts of what this prompt adds to the forest; the first one gets seq `first_seq`.

        Args:
            agent: of the events.
            step: the step the model call happens in.
        """
        pending = self._begin(first_seq)
        plan = PromptPlan()
        plan.drafts = []
        prompted = None
        if self._graphs.used or marked() is not None:
            from lctl.instrument import graphs  # here: most programs have none, and it is slow to load

            prompted = graphs.find(self._graphs, self._forest, request, first_seq, agent, step)
            plan.drafts += prompted.drafts
            pending.nodes += prompted.nodes
            pending.undo += prompted.undo
            self._derive_tool_calls(plan.drafts, prompted.fresh, agent, step, pending)
        if request.continues is not None:
            parent = self._plan_continued(plan.drafts, request, first_seq, agent, step, pending)
        elif prompted is not None and prompted.graph is not None:
            parent = prompted.leaf()
            if request.operation not in _COUNTING:
                prompted.graph.called(request.model, self.tools_name(request))
        else:
            place = request.known if request.known is not None else self._forest.root.place
            messages = request.messages
            matched = 0
            key = b""
            for message in messages:
                key = identity(message)
                child = place.children.get(key)
                if child is None:
                    break
                place = child
                matched += 1
            parent = place.nodes[0] if len(place.nodes) == 1 else place.best()
            if matched < len(messages):
                fresh = messages[matched:] if matched else messages
                for message in fresh:
                    parent = self._add(
                        plan.drafts,
                        message,
                        key or identity(message),
                        parent,
                        first_seq,
                        agent,
                        step,
                        pending,
                    )
                    key = b""
                added = zip(fresh, pending.nodes[-len(fresh) :], strict=True)
                self._derive_tool_calls(plan.drafts, added, agent, step, pending)
        if self._told:
            told, self._told = self._told, []
            self._derive_tool_calls(plan.drafts, told, agent, step, pending)
        if request.instructions and request.operation == "responses":
            self._led.add(parent.place.top)
        plan.leaf = parent.id
        plan.reserialized = self._spelling.changed(request.messages)
        if request.read_from is not None:
            pending.request, pending.leaf = request, parent
        return plan

    def plan_answer(
        self,
        answer: ModelAnswer,
        request: ModelRequest,
        leaf: str | None,
        first_seq: int,
        agent: str,
        step: int | None,
        *,
        status: str | None = None,
    ) -> tuple[list[Draft], list[str]]:
        """Drafts of the sampled messages below `leaf`, and their ids in the order of the choices.

        Args:
            leaf: as `plan_request` gave it.
            step: the model call's own step.
            status: "complete", "aborted" or "error"; by default as far as the answer itself tells.
        """
        pending = self._begin(first_seq)
        if status is None:
            status = "error" if answer.error else "complete" if answer.complete else "aborted"
        prompt = self._forest.node(leaf)
        now = self._monotonic_ns()
        drafts: list[Draft] = []
        ids: list[str] = []
        tip = prompt
        for message in answer.messages:
            node = self._add(
                drafts, message, identity(message), prompt, first_seq, agent, step, pending, status=status
            )
            tip = node if not ids else tip
            ids.append(str(node.id))
            if prompt.home is not None:
                pending.undo.append(
                    prompt.home.learn(
                        prompt.id, str(node.id), message, request.model, self.tools_name(request)
                    )
                )
            asked, agents = self._tools.ask(message, now, str(node.id)), self._agents
            if asked:
                agents.asked(asked, str(node.id))
                self._spelling.learn(message)
            if agents.asks:
                agents.answered(prompt.place.top, message)
        if answer.response_id and (request.operation == "responses" or "thread" in request.params):
            self._set_tip(answer.response_id, tip, pending)
            if self.begun or request.params.get("background"):
                self._note_begun(answer, answer.response_id, request, leaf, pending)
            if "conversation" in request.params and request.continues is not None:
                self._set_tip(request.continues, tip, pending)
        return drafts, ids

    def fields_below(self, leaf: str | None) -> dict[str, Any]:
        """What messages below this one have beside what they say."""
        home = self._forest.node(leaf).home
        return {} if home is None else dict(home.fields)

    def tools_fields(self, request: ModelRequest) -> dict[str, Any]:
        """`tools` (a hash) and, the first time in this chain, `tool_definitions`; {} without tools."""
        tools, name = request.tools, self.tools_name(request)
        if not tools or name is None:
            return {}
        if name in self._toolsets:
            return {"tools": name}
        self._toolsets.add(name)
        if self._pending is not None:
            self._pending.undo.append(lambda: self._toolsets.discard(name))
        return {"tools": name, "tool_definitions": tools}

    def tools_name(self, request: ModelRequest) -> str | None:
        """Hash of the request's tool set."""
        tools = request.tools
        if not tools:
            return None
        known, name = self._toolset
        if known is not tools:
            try:
                text = orjson.dumps(tools, option=orjson.OPT_SORT_KEYS)
            except TypeError:
                text = repr(tools).encode("utf-8", "replace")
            name = "sha256:" + sha256(text).hexdigest()
            self._toolset = (tools, name)
        return name

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

    # -- inside ----------------------------------------------------------------------------

    def _begin(self, first_seq: int) -> Pending:
        before = self._pending
        if before is not None:
            if first_seq <= before.first_seq:
                self.rollback(before.first_seq)
            elif before.request is not None:
                self._keep(before.request, before.leaf)
        self._pending = pending = Pending()
        pending.first_seq, pending.nodes, pending.undo = first_seq, [], []
        return pending

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
        *,
        status: str | None = None,
    ) -> Node:
        stored = message
        for value in message.values():
            if value and (type(value) is list or type(value) is dict):
                stored, blobs = take_blobs(message)
                for blob in blobs:
                    if self.note_blob(blob["hash"]):
                        pending.undo.append(partial(self._blobs.discard, blob["hash"]))
                        drafts.append(("blob", agent, blob, step))
                break
        id = f"m{first_seq + len(drafts)}"
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
        drafts.append(("message", agent, data, step))
        home = parent.home
        if (
            parent.chains and parent.place.children
            if home is None
            else home.needs_exact(position_of(parent.id), data)
        ):
            data["exact"] = True  # a reader would put it below the last of the tool results
        node = self._forest.add(id, parent, key, role=data["role"], sampled=status is not None)
        if data["role"] == "tool" and data.get("tool_call_id") is not None:
            node.chains = parent.chains = True
        if home is not None:
            node.home = home
            if status is None:
                home.meet(parent.id, id, message)
        pending.nodes.append(node)
        if status is None and parent is self._forest.root:
            self._agents.begin(node)
            pending.undo.append(self._agents.unbegin)
        return node

    def _derive_tool_calls(
        self,
        drafts: list[Draft],
        added: Iterable[tuple[dict[str, Any], Node]],
        agent: str,
        step: int | None,
        pending: Pending,
    ) -> None:
        added = list(added)
        found: list[tuple[Result, Node]] = []
        for message, node in added:
            if not (type(message.get("content")) is str and message.get("role") == "user"):
                found += [(result, node) for result in results_in(message)]
        if not found:
            return
        now, results = self._monotonic_ns(), [result for result, _ in found]
        if any(result.call_id.startswith(BY_NAME) for result in results):
            told = {node.id: asked for message, node in added if (asked := asked_in(message))}
            results = self._tools.nameless.join(found, told, pending.undo)
        for result in results:
            data = self._tools.answer(result, now)
            if data is not None:
                data |= self._agents.nested(data["call_id"], result.output)
                drafts.append(("tool_call", agent, data, step))
                pending.undo.append(partial(self._tools.reopen, result.call_id))

    def _set_tip(self, name: str, tip: Node, pending: Pending) -> None:
        before = self._tips.get(name)
        self._tips[name] = tip
        if before is None:
            pending.undo.append(lambda: self._tips.pop(name, None))
        else:
            pending.undo.append(lambda: self._tips.update({name: before}))

    def _keep(self, request: ModelRequest, leaf: Node | None) -> None:
        """Remember where the request's messages are, which end with `leaf`."""
        reading = request.read_from
        if not isinstance(reading, Reading) or leaf is None:
            return
        if reading.adds_nothing:
            self._prefixes.use(reading)
            return
        count = len(request.messages) - (request.instructions and request.known is None)
        places = []
        at = leaf.place
        for _ in range(count):
            places.append(at)
            at = at.parent or at
        places.reverse()
        self._prefixes.keep(reading, request, places)


__all__ = ["Conversations", "PromptPlan"]
