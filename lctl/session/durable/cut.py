"""Where a fork leaves its source: after which message, and what that leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.conversation.node import Node
from lctl.conversation.pending import unanswered
from lctl.errors import UsageError

if TYPE_CHECKING:
    from lctl.session.durable.reading import Reading, Repair


class Cut(NamedTuple):
    """Where a fork leaves its source.

    Attributes:
        number: of the last message it keeps.
        seq: of the last event it keeps.
        calls: tool calls whose results it has to make up.
        streaming: id of a message it has to end.
    """

    number: int
    seq: int
    calls: list[dict[str, Any]]
    streaming: str | None = None


def find_cut(source: Reading, at: int | str | None, seq: int | None, repair: Repair) -> Cut:
    """Where `at` (a message's number or id, "#41" for event 41), or the event `seq`, lets a fork leave.

    Raises:
        UsageError: there is no such message, or it may not end there.
    """
    number, end = _wanted(source, at, seq)
    if number < source.seed_count:
        raise UsageError(
            f"session {source.id} begins with {source.seed_count} seed messages; it cannot be forked at "
            f"message {number}"
        )
    if number > source.high_water:
        raise UsageError(
            f"session {source.id} has {source.high_water} messages; there is no message {number}"
        )
    end = _end_of(source, number) if end is None else end
    view = source.at(end)
    nodes = [node for n, node in view.numbered() if n <= number]
    last = nodes[-1] if nodes else None
    if last is not None and last.status != "complete":
        return _in_stream(source, number, end, last, repair)
    calls = unanswered(node.data for node in nodes)
    if not calls or repair == "synthesize":
        return Cut(number, end, calls)
    names = ", ".join(f"{call['name']} ({call['id']})" for call in calls)
    if repair == "error":
        raise UsageError(
            f"message {number} of session {source.id} leaves tool calls without a result: {names}; "
            "repair='truncate' forks before them, repair='synthesize' makes up results"
        )
    ids = {call["id"] for call in calls}
    before = [n for n, node in view.numbered() if ids & _called(node)]
    return find_cut(source, min(before) - 1, None, repair)


def _wanted(source: Reading, at: int | str | None, seq: int | None) -> tuple[int, int | None]:
    if seq is not None:
        if not source.start_seq <= seq <= source.seq:
            raise UsageError(
                f"session {source.id} has events {source.start_seq} to {source.seq}; there is no event {seq}"
            )
        return source.at(seq).high_water, seq
    if at is None:
        return source.high_water, source.seq
    if isinstance(at, int):
        return at, None
    number = source.number_of(at)
    if number is None and at.startswith("#") and at[1:].isdigit():
        return _wanted(source, None, int(at[1:]))
    if number is None:
        raise UsageError(f"session {source.id} has no message {at}")
    return number, None


def _end_of(source: Reading, number: int) -> int:
    """The event after which message `number` is whole; that of its step's end, where it is its last one."""
    node = source.node(number)
    if node is None:
        return source.start_seq + (source.seed_count if number else 0)
    seq = max(source.start_seq, source.taken_at(number))
    return max(seq, source.step_end_after(seq, number))


def _called(node: Node) -> set[Any]:
    from lctl.state.messages import tool_calls_of

    return {call["id"] for call in tool_calls_of(node.data)}


def _in_stream(source: Reading, number: int, end: int, node: Node, repair: Repair) -> Cut:
    if repair == "error":
        raise UsageError(
            f"message {number} of session {source.id} is not whole ({node.status}); repair='truncate' forks "
            "before it, repair='synthesize' keeps what there is of it"
        )
    if repair == "truncate":
        return find_cut(source, number - 1, None, repair)
    return Cut(number, end, [], node.id if node.status == "streaming" else None)
