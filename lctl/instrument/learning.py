"""What capture learns of conversations from others: what the program records, what tools report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from lctl.conversation.identity import identity, marks
from lctl.instrument.codecs.model import ModelRequest
from lctl.instrument.forest import Forest, Node, Place
from lctl.instrument.spelling import Spelling
from lctl.instrument.subagents import SubAgents
from lctl.instrument.toolcalls import ToolCalls
from lctl.instrument.toolmessages import asked_in, results_in
from lctl.instrument.toolsets import ToolSets
from lctl.record.recorder import Draft

if TYPE_CHECKING:
    from lctl.conversation.node import Node as Recorded
    from lctl.conversation.tree import Tree


class Learning:
    """Mixed into `Conversations`, which plans by what is known."""

    _monotonic_ns: Callable[[], int]
    _forest: Forest
    _tools: ToolCalls
    _tips: dict[str, Node]  # response or stored conversation -> its last message
    _blobs: set[str]
    _told: list[tuple[dict[str, Any], Node]]  # that the program recorded itself, with tool calls or results
    toolsets: ToolSets
    _led: set[Place]  # tops of conversations that are instructions of a request
    _agents: SubAgents
    _spelling: Spelling
    #: Responses whose answers come later, by id: what was asked, and the last message of its prompt.
    begun: dict[str, tuple[ModelRequest, str | None]]

    def note_tool_call(self, call_id: str) -> None:
        """A decorator or integration reported this call: no event will be derived for it."""
        self._tools.report(call_id)

    def note_tool_event(self, data: dict[str, Any]) -> None:
        """A `tool_call` event is being recorded: none will be derived for the call it is about."""
        call_id = data.get("call_id")
        named = isinstance(call_id, str)
        if not (named and self._tools.report(str(call_id))):
            input = data.get("asked", data.get("input"))
            self._tools.report_run(str(data.get("tool")), input, data.get("output"), named=named)

    def follow(self, tree: Tree, lock: AbstractContextManager[Any]) -> None:
        """Know the messages that the program records itself, as they come: a prompt that holds them is not
        recorded again.

        Args:
            lock: the recorder's; messages come from whatever thread records them.
        """

        def learn(kind: str, id: str, seq: int) -> None:
            with lock:
                self._learn(tree[id])

        with lock:
            for node in tree:
                self._learn(node)
        tree.subscribe(learn)

    def learn_message(self, node: Recorded, message: dict[str, Any]) -> None:
        """Know a message of the log that is gone on with; its tool calls may be answered now. A system prompt
        that begins a conversation counts as instructions: the log does not tell them apart.

        Args:
            message: what it says, large values in their places.
        """
        if self._forest.knows(node.id) or node.status != "complete":
            return
        above = node.parent
        if not (node.is_root if above is None else self._forest.knows(above.id)):
            return
        parent = self._forest.node(None if above is None else above.id)
        made = self._forest.add(node.id, parent, identity(message), role=node.role, sampled=node.sampled)
        if message.get("role") == "tool" and message.get("tool_call_id") is not None:
            made.chains = parent.chains = True
        if above is None and node.role == "system":
            self._led.add(made.place)
        if node.sampled:
            made.marks = marks(message)
            self._tools.ask(message, self._monotonic_ns(), node.id)
            self._spelling.learn(message)

    def _learn(self, node: Recorded) -> None:
        if self._forest.knows(node.id) or node.status != "complete":
            return
        above = node.parent
        if above is not None and not self._forest.knows(above.id):
            return
        message = node.message
        parent = self._forest.node(None if above is None else above.id)
        made = self._forest.add(node.id, parent, identity(message), role=node.role, sampled=node.sampled)
        if results_in(message) or asked_in(message):
            self._told.append((message, made))

    def learn_events(self, drafts: Sequence[Draft]) -> None:
        """Know what a tool's body had recorded, which is recorded again without being run: what later
        prompts share with its calls is not recorded twice."""
        now = self._monotonic_ns()
        for kind, _, data, _ in drafts:
            if kind == "message":
                self._learn_event(data, now)
            elif kind == "blob" and isinstance(data.get("hash"), str):
                self._blobs.add(data["hash"])
            elif kind == "step_start" and "tool_definitions" in data:
                self.toolsets.learn(data["tools"])
            elif kind == "tool_call":
                self.note_tool_event(data)
            elif (
                kind == "step_end"
                and data.get("response_id")
                and self._forest.knows(str(data.get("message")))
            ):
                self._tips[data["response_id"]] = self._forest.node(data["message"])

    def learn_begun(self, start: dict[str, Any], id: str) -> None:
        """A response began in the background, in a step that started so; the log has no answer of it yet."""
        leaf, model = start.get("prompt"), start.get("model")
        provider, operation, kind = (str(start.get(name)) for name in ("provider", "operation", "kind"))
        request = ModelRequest(provider, operation, kind, model if isinstance(model, str) else None)
        self.begun[id] = request, leaf if isinstance(leaf, str) else None

    def _learn_event(self, data: dict[str, Any], now: int) -> None:
        id, above = str(data["message_id"]), data.get("parent_id")
        if self._forest.knows(id) or (above is not None and not self._forest.knows(above)):
            return
        told = ("message_id", "parent_id", "sampled", "status", "exact", "continues", "wire")
        message = {name: value for name, value in data.items() if name not in told} | (data.get("wire") or {})
        parent = self._forest.node(above)
        role, sampled = str(data.get("role") or ""), bool(data.get("sampled"))
        node = self._forest.add(id, parent, identity(message), role=role, sampled=sampled)
        if message.get("role") == "tool" and message.get("tool_call_id") is not None:
            node.chains = parent.chains = True
        if node.sampled:
            node.marks = marks(message)
            self._tools.ask(message, now, id)

    def has_blob(self, hash: str) -> bool:
        return hash in self._blobs

    def note_blob(self, hash: str) -> bool:
        """True the first time: whoever asks writes the `blob` event."""
        if hash in self._blobs:
            return False
        self._blobs.add(hash)
        return True
