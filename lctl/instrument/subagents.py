"""Which conversations are those of agents that ran inside a tool: one of theirs said what the tool gave."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from lctl.instrument.forest import Node, Place
from lctl.instrument.toolmessages import result_text
from lctl.session.concurrency.lanes import current

#: Conversations, and tool calls, that are kept in mind.
_RECENT = 256
#: Characters of a result that does not occur by chance.
_TELLING = 8


class _Begun:
    """A conversation of this process: where it began, and what its model said last."""

    __slots__ = ("lane", "node", "number", "said")

    def __init__(self, node: Node, number: int, lane: str) -> None:
        self.node = node
        self.number = number
        self.lane = lane
        self.said = ""


class _Ask(NamedTuple):
    """A tool call that was asked for: by which message, after how many conversations, in which lane."""

    id: str
    begun: int
    lane: str


class SubAgents:
    """The conversations that began in one chain, and the tool calls that are open.

    Attributes:
        asks: by call id, what may run agents. While there are none, no answer needs to be told.
    """

    __slots__ = ("_begun", "_roots", "asks")

    def __init__(self) -> None:
        self.asks: dict[str, _Ask] = {}
        self._begun: deque[_Begun] = deque(maxlen=_RECENT)
        self._roots = 0  # conversations so far; where there is one that did not begin here, that is counted

    def begin(self, node: Node) -> None:
        """A conversation begins with this message, which is in its place."""
        above = node.place.parent
        if not self._roots and above is not None and len(above.children) > 1:
            self._roots = 1
        self._roots += 1
        self._begun.append(_Begun(node, self._roots, current().path))

    def unbegin(self) -> None:
        """Undo the newest `begin`."""
        if self._begun:
            self._begun.pop()

    def asked(self, calls: Sequence[str], id: str) -> None:
        """The sampled message `id` asks for tool calls of these ids."""
        while len(self.asks) >= _RECENT:
            del self.asks[next(iter(self.asks))]
        lane = current().path
        for call_id in calls:
            self.asks[call_id] = _Ask(id, self._roots, lane)

    def answered(self, top: Place, message: dict[str, Any]) -> None:
        """A model said this in the conversation whose first place that is."""
        for one in reversed(self._begun):
            if one.node.place is top and one.number > 1:
                from lctl.state.messages import text_of  # here: most programs have one agent

                one.said = text_of(message).strip()
                return

    def nested(self, call_id: str, output: Any) -> dict[str, Any]:
        """Fields of the `tool_call`: the conversations that the call began, if its result is what one of them
        said last: those begun since it was asked for, in the same flow or below it."""
        ask = self.asks.pop(call_id, None)
        if ask is None or self._roots <= ask.begun:
            return {}
        result = result_text(output).strip()
        roots = [
            one
            for one in self._begun
            if one.number > ask.begun
            and (one.lane == ask.lane or one.lane.startswith((f"{ask.lane}.", f"{ask.lane}/")))
            and _gave(one.said, result)
        ]
        if not roots:
            return {}
        return {"message_id": ask.id, "nested": [str(one.node.id) for one in roots]}


def _gave(said: str, result: str) -> bool:
    """Whether a tool's result is what an agent said: one of them holds the other."""
    return bool(said) and (said in result or (len(result) >= _TELLING and result in said))
