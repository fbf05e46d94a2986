"""Messages: the handlers, and the way from a message to its root.

A message hangs on the one its `parent_id` names: null begins a conversation, no key at all goes on with
the newest message of its conversation. The parent may come later, even after a million others; nothing
has to be moved then, because a node holds its parent's id and not the parent. So there is no recursion,
and no way to lose a node. What waits for a parent is counted in `parked`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET, UnsetType

from lctl.state import intake
from lctl.state.builder import Builder
from lctl.state.model import Message

#: A message with this status may still change; any other is final.
STREAMING = "streaming"


def message(state: Builder, event: intake.Message) -> None:
    data, agent = event.data, event.agent
    if agent not in state.met:
        state.agents.meet(agent)
    seq, id, parent = event.seq, data.message_id, data.parent_id
    messages = state.messages
    fresh, known = messages.fresh, messages.known
    if not id:
        id = f"#{seq}"
    if parent is UNSET or state.has_aliases or id in fresh or id in known:
        role, status = data.role or "", data.status or "complete"
        place(state, seq, id, role, parent, data.conversation_id or "main", data.sampled is True, status)
        return
    # What `place` does, for a message whose event says it all.
    if parent is not None and parent not in fresh and parent not in known:
        _park(state, seq, id, parent)
    if state.has_parked:
        _arrive(state, seq, id, parent)
    if messages.lean:
        fresh[id] = seq
    else:
        fresh[id] = Message(id, seq, data.role or "", parent, data.sampled is True, data.status or "complete")
    state.new_tips[data.conversation_id or "main"] = id
    state.message_count += 1


def read_message(id: str, event: intake.Message) -> Message:
    """The message of an event that was kept as its seq."""
    data = event.data
    parent = None if data.parent_id is UNSET else data.parent_id
    return Message(
        id,
        event.seq,
        data.role or "",
        parent,
        data.sampled is True,
        data.status or "complete",
    )


def place(
    state: Builder,
    seq: int,
    id: str,
    role: str,
    parent: str | UnsetType | None,
    conversation: str,
    sampled: bool,
    status: str,
) -> None:
    """Put a message into the forest, or finish the streaming one that has its id."""
    if id in state.messages:
        _again(state, seq, id, role, parent, sampled, status)
        return
    if isinstance(parent, UnsetType):
        parent = state.tips.get(conversation)
    elif parent is not None:
        parent = resolve(state, parent)
    if parent is not None and parent not in state.messages:
        _park(state, seq, id, parent)
    if state.has_parked:
        _arrive(state, seq, id, parent)
    state.messages.fresh[id] = Message(id, seq, role, parent, sampled, status)
    state.tips.fresh[conversation] = id
    state.message_count += 1


def _park(state: Builder, seq: int, id: str, parent: str) -> None:
    if parent == id:
        state.note(seq, "msg_cycle", f"message {id} names itself as its parent")
    else:
        state.has_parked = True
        state.parked.fresh[parent] = (state.parked.get(parent) or 0) + 1


def _arrive(state: Builder, seq: int, id: str, parent: str | None) -> None:
    """Messages may have been waiting for this one."""
    if not state.parked.get(id):
        return
    state.parked.fresh[id] = 0
    if parent is not None and _leads_to(state, parent, id):
        state.note(seq, "msg_cycle", f"message {id} is its own ancestor, by way of {parent}")


def _again(
    state: Builder,
    seq: int,
    id: str,
    role: str,
    parent: str | UnsetType | None,
    sampled: bool,
    status: str,
) -> None:
    """A message that is there already: the end of a stream, a delivery repeated, or a contradiction.

    Contents are not compared: the state does not hold them (`lctl validate` reads them).
    """
    known = state.messages.get(id)
    if known is None:
        return
    if known.status == STREAMING:
        # The whole message, when it comes, is where the content is.
        at = known.seq if status == STREAMING else seq
        state.messages.change(Message(id, at, role or known.role, known.parent, sampled, status))
        return
    if not role and not sampled:
        return  # it says whose the message is, as a session does of one that the wire has recorded
    if isinstance(parent, UnsetType):
        parent = known.parent
    elif parent is not None:
        parent = resolve(state, parent)
    if (known.role, known.parent, known.sampled, known.status) != (role, parent, sampled, status):
        state.note(seq, "msg_conflict", f"message {id} was complete at {known.seq}; that one stands")


def message_alias(state: Builder, event: intake.Alias) -> None:
    alias, target = event.data.alias, event.data.message_id
    if not alias or not target:
        state.note(event.seq, "missing_id", "message_alias needs alias and message_id; passed over")
        return
    known = state.aliases.get(alias)
    if known is not None and known != target:
        state.note(event.seq, "alias_conflict", f"{alias} stands for {known} already")
    elif alias in state.messages:
        state.note(event.seq, "alias_conflict", f"{alias} is a message of its own")
    elif resolve(state, target) == alias:
        state.note(event.seq, "alias_conflict", f"{alias} would stand for itself")
    else:
        _join(state, event.seq, alias, resolve(state, target))
        state.aliases.fresh[alias] = target
        state.has_aliases = True


def _join(state: Builder, seq: int, alias: str, target: str) -> None:
    """What waited for the alias has found its message, or waits for it under its own name now."""
    waiting = state.parked.get(alias)
    if not waiting:
        return
    state.parked.fresh[alias] = 0
    if target not in state.messages:
        state.parked.fresh[target] = (state.parked.get(target) or 0) + waiting
    elif _leads_to(state, target, alias):
        state.note(seq, "msg_cycle", f"message {target} is its own ancestor, by way of its alias {alias}")


def resolve(state: Builder, id: str) -> str:
    """The message id that `id` stands for; `id` itself when it is no alias. Aliases never form a loop."""
    while True:
        target = state.aliases.get(id)
        if target is None:
            return id
        id = target


def _leads_to(state: Builder, start: str, id: str) -> bool:
    """Whether `id` is `start` or one of its ancestors."""
    seen: set[str] = set()
    at: str | None = start
    while at is not None:
        at = resolve(state, at)
        if at == id:
            return True
        if at in seen:
            return False
        seen.add(at)
        node = state.messages.get(at)
        at = None if node is None else node.parent
    return False


def known_id(aliases: Mapping[str, str], id: str) -> str:
    """The message id that `id` stands for."""
    while id in aliases:
        id = aliases[id]
    return id
