"""Calls that have no id, of which a result tells the tool's name only (Ollama, Google, `function_call`).

Whose result it is, the prompt tells that it stands in: the answer before it asked for the call. So threads
that ask for one tool at once do not take each other's results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lctl.instrument.forest import Node
    from lctl.instrument.toolmessages import Asked, Result

#: Begin of the ids of calls that have none.
BY_NAME = "function:"
#: Answers that are remembered while results of theirs are missing.
_ANSWERS = 256


class Nameless:
    """The calls without ids that wait for a result, by the message that asks for them."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: dict[str, list[Asked]] = {}

    def ask(self, id: str, calls: list[Asked]) -> tuple[list[Asked], list[Asked]]:
        """The message `id` asks for these.

        Returns:
            The calls, those without ids with one of their own; and calls that are waited for no more.
        """
        if not any(one.id.startswith(BY_NAME) for one in calls):
            return calls, []
        calls = [one._replace(id=f"{one.id}@{id}") if one.id.startswith(BY_NAME) else one for one in calls]
        dropped: list[Asked] = []
        while len(self._waiting) >= _ANSWERS:
            dropped += self._waiting.pop(next(iter(self._waiting)))
        self._waiting[id] = [one for one in calls if one.id.startswith(BY_NAME)]
        return calls, dropped

    def join(
        self,
        results: Sequence[tuple[Result, Node]],
        told: dict[str | None, list[Asked]],
        undo: list[Callable[[], object]],
    ) -> list[Result]:
        """The results, with the ids of their calls in place of names.

        Args:
            results: of new messages of a prompt, in their order, each with its message's node.
            told: what new messages of the prompt ask for, by their ids: they were not seen to be sampled.
            undo: gets what takes it back.
        """
        meant = self._meant(told)
        joined: list[Result] = []
        for result, node in results:
            call = self._call(result, node, meant, undo) if result.call_id.startswith(BY_NAME) else None
            joined.append(result if call is None else result._replace(call_id=call.id))
        return joined

    def _call(
        self,
        result: Result,
        node: Node,
        meant: Mapping[str | None, list[tuple[str, tuple[str, Asked] | None]]],
        undo: list[Callable[[], object]],
    ) -> Asked | None:
        """The call that this result in the message of `node` answers."""
        tool = result.call_id.removeprefix(BY_NAME)
        for above in _above(node):
            if above.id in meant:
                pairs = meant[above.id]
                pair = next((one for one in pairs if one[0] == tool), None)
                if pair is None:
                    continue
                pairs.remove(pair)
                return None if pair[1] is None else self._take(*pair[1], undo)
            for twin in (above, *above.place.nodes):
                for call in self._waiting.get(str(twin.id), ()):
                    if call.tool == tool:
                        return self._take(str(twin.id), call, undo)
            if above.sampled:
                break
        return None

    def _meant(
        self, told: dict[str | None, list[Asked]]
    ) -> dict[str | None, list[tuple[str, tuple[str, Asked] | None]]]:
        """For each tool asked for by messages that only look like answers, the waiting call that asks for the
        same. A history that was written anew is long answered, all but its end: the last ones come first."""
        meant: dict[str | None, list[tuple[str, tuple[str, Asked] | None]]] = {}
        taken: set[str] = set()
        for id in reversed(told):
            meant[id] = []
            for asked in told[id]:
                same = (
                    (answer, call)
                    for answer, calls in self._waiting.items()
                    for call in calls
                    if call.tool == asked.tool and call.input == asked.input and call.id not in taken
                )
                found = next(same, None)
                if found is not None:
                    taken.add(found[1].id)
                meant[id].append((asked.tool, found))
        return meant

    def _take(self, id: str, call: Asked, undo: list[Callable[[], object]]) -> Asked:
        left = [one for one in self._waiting[id] if one is not call]
        undo.append(partial(self._waiting.__setitem__, id, self._waiting[id]))
        if left:
            self._waiting[id] = left
        else:
            del self._waiting[id]
        return call


def _above(node: Node) -> Iterator[Node]:
    """The messages before this one, the last first."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


__all__ = ["BY_NAME", "Nameless"]
