"""`Node`: one message of a tree, as of its seq."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from lctl.conversation.alternatives import ROOT
from lctl.conversation.keeping import Kept
from lctl.conversation.restoring import copied, restored

if TYPE_CHECKING:
    from lctl.conversation.forest import Forest
    from lctl.conversation.tree import Tree

#: Keys of a message event that are the log's, not the provider's.
LOG_KEYS = frozenset(
    {
        *("message_id", "parent_id", "conversation_id", "turn_id", "session_id", "message_number", "serial"),
        *("status", "sampled", "fork_of", "copy_of", "carry", "nested_in", "call", "is_new", "details"),
        *("expected_chunks", "stream", "stream_id", "timestamp", "exact", "continues", "wire", "replaces"),
    }
)
#: A provider's own value of such a name is kept under "wire".
RESERVED = LOG_KEYS


class Node:
    """One message. Two nodes are equal if they are the same message of the same log."""

    __slots__ = ("number", "tree")

    def __init__(self, tree: Tree, number: int) -> None:
        self.tree = tree
        self.number = number

    @property
    def id(self) -> str:
        return self.tree.forest.ids[self.number]

    @property
    def seq(self) -> int:
        """Seq of the event that made it."""
        return self.tree.forest.seqs[self.number]

    @property
    def role(self) -> str:
        return self.tree.forest.role_at(self.number, self.tree.seq)

    @property
    def status(self) -> str:
        """streaming, complete, aborted or error."""
        return self.tree.forest.status_at(self.number, self.tree.seq)

    @property
    def sampled(self) -> bool:
        """Whether a model call produced it whose prompt was exactly the path to its parent."""
        return self.tree.forest.sampled.get(self.number, self.tree.seq + 1) <= self.tree.seq

    @property
    def conversation(self) -> str:
        return self.tree.forest.conversations.get(self.number, "main")

    @property
    def data(self) -> Mapping[str, Any]:
        """The message as its event holds it; of a copy the original's; of a stream what has come. Large
        content is named there by its hash."""
        return data_of(self.tree, self.number)

    @property
    def message(self) -> dict[str, Any]:
        """The message as its provider wrote it."""
        return message_of(self.tree, self.number)

    @property
    def text(self) -> str:
        """Its words."""
        from lctl.state.messages import text_of

        return text_of(self.data)

    @property
    def origin(self) -> Node | None:
        """Of a copy: the message whose content it has."""
        number = self.tree.forest.origins.get(self.number)
        return None if number is None else Node(self.tree, number)

    @property
    def parent(self) -> Node | None:
        """None for a root and where the parent is not in the log."""
        number = self.tree.forest.parent_at(self.number, self.tree.seq)
        return Node(self.tree, number) if number >= 0 else None

    @property
    def is_root(self) -> bool:
        """Whether a conversation begins with it; not so where only its parent is not in the log."""
        return self.tree.forest.parent_at(self.number, self.tree.seq) == ROOT

    @property
    def children(self) -> list[Node]:
        """Alternatives for what follows, in order."""
        found = self.tree.forest.children_at(self.number, self.tree.seq)
        return [Node(self.tree, number) for number in found]

    @property
    def siblings(self) -> list[Node]:
        """The alternatives at this place, itself among them, in order."""
        found = self.tree.forest.siblings_at(self.number, self.tree.seq)
        return [Node(self.tree, number) for number in found]

    @property
    def versions(self) -> list[Node]:
        """Itself and what it was edited or regenerated into or from, in order."""
        found = self.tree.forest.versions_at(self.number, self.tree.seq)
        return [Node(self.tree, number) for number in found]

    @property
    def version(self) -> int:
        """Its place among `versions`, from 0."""
        return self.tree.forest.versions_at(self.number, self.tree.seq).index(self.number)

    @property
    def path(self) -> list[Node]:
        """As `Tree.path`."""
        return [Node(self.tree, number) for number in self.tree.way(self.number)]

    @property
    def depth(self) -> int:
        """User and assistant messages from the root to this one (row R7)."""
        return self.tree.forest.depth_at(self.number, self.tree.seq)

    @property
    def nested(self) -> list[Node]:
        """As `Tree.nested`."""
        return self.tree.nested(self.id)

    @property
    def nested_in(self) -> Mapping[str, Any] | None:
        """Of a sub-agent's first message: `message_id` and `tool_call_id` of the tool call it is in."""
        forest = self.tree.forest
        declared = self.data.get("nested_in")
        if isinstance(declared, Mapping):
            return declared
        adopted = forest.adopted.get(self.number) if forest.adopted else None
        if adopted is None or adopted[0] > self.tree.seq:
            return None
        return {"message_id": adopted[1], "tool_call_id": adopted[2]}

    @property
    def subchat(self) -> list[Node]:
        """The conversation of the sub-agent whose work this tool result is, to its last message; [] where
        there was none. Of a message that asks for tools: that of its newest sub-agent."""
        return subchat_of(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return self.number == other.number and self.tree.forest is other.tree.forest

    def __hash__(self) -> int:
        return hash((id(self.tree.forest), self.number))

    def __repr__(self) -> str:
        words = self.text
        return f"<{self.role or '?'} {self.id}: {words[:40]!r}{'...' if len(words) > 40 else ''}>"


def subchat_of(node: Node) -> list[Node]:
    tree = node.tree
    call_id = node.data.get("tool_call_id") if node.role == "tool" else None
    host: Node | None = node.origin or node
    seen: set[int] = set()
    while host is not None and host.number not in seen:
        seen.add(host.number)
        roots = [root for root in host.nested if call_id is None or _call_of(root) == call_id]
        if roots:
            conversation = roots[-1].conversation
            last = tree.tip(conversation) if conversation != "main" else _newest_below(roots[-1])
            return (last or roots[-1]).path
        if call_id is None:
            break
        host = host.parent
        host = host.origin or host if host is not None else None
    return []


def _call_of(root: Node) -> Any:
    nested = root.nested_in
    return None if nested is None else nested.get("tool_call_id")


def _newest_below(root: Node) -> Node:
    """The last message of the branch that came last below a root."""
    newest, waiting = root, [root]
    while waiting:
        node = waiting.pop()
        newest = max(newest, node, key=lambda one: (one.seq, one.number))
        waiting += node.children
    return newest


def data_of(tree: Tree, number: int) -> Mapping[str, Any]:
    """What a message's event says of it as of the tree's seq."""
    forest = tree.forest
    origin = forest.origins.get(number)
    if origin is None:
        return _own(tree, number)
    said = {
        key: value for key, value in data_of(tree, origin).items() if key not in LOG_KEYS or key == "wire"
    }
    if forest.contents[number] not in (0, forest.contents[origin]):
        said |= _own(tree, number)  # the event that copies may say more
    return said


def messages_of(tree: Tree, numbers: list[int]) -> list[dict[str, Any]]:
    """`message_of` of each."""
    forest = tree.forest
    if forest.origins or forest.texts:
        return [message_of(tree, number) for number in numbers]
    contents = forest.contents
    data_at = forest.data_at.events.__getitem__ if isinstance(forest.data_at, Kept) else forest.data_at
    said: list[dict[str, Any]] = []
    drop: list[str] = []
    plain = forest.plain
    for number in numbers:
        data = data_at(contents[number])
        message = {**data}
        if plain[number]:
            del message["message_id"], message["parent_id"]
            said.append(message)
            continue
        try:  # most others are a role and a text, too, with the log's keys of the one before
            for key in drop:
                del message[key]
            if len(message) == 2 and "role" in message and type(message["content"]) is str:
                said.append(message)
                continue
        except KeyError:
            pass
        drop = [key for key in data if key in LOG_KEYS and key != "wire"]
        said.append(_message(data, forest))
    return said


def _own(tree: Tree, number: int) -> Mapping[str, Any]:
    forest, seq = tree.forest, tree.seq
    text = forest.texts.get(number)
    if text is None:
        return forest.data_at(forest.contents[number])
    final = forest.finals.at(number, seq, 0)
    if final:
        return forest.data_at(final)
    start = forest.starts.get(number, 0)
    began = forest.data_at(start) if 0 < start <= seq else {}
    return {**began, "role": forest.role_at(number, seq), **text.said(seq)}


def message_of(tree: Tree, number: int) -> dict[str, Any]:
    """The message alone, without what the log adds; the caller's to change."""
    return _message(data_of(tree, number), tree.forest)


def stored_of(tree: Tree, number: int) -> dict[str, Any]:
    """`message_of` as the log has it: large content by its name."""
    return _message(data_of(tree, number), None)


def _message(data: Mapping[str, Any], forest: Forest | None) -> dict[str, Any]:
    put = partial(restored, forest) if forest is not None and forest.blobs else copied
    said = {
        key: value if type(value) is str else put(value) for key, value in data.items() if key not in LOG_KEYS
    }
    theirs = data.get("wire")
    if isinstance(theirs, Mapping):
        said.update(put(dict(theirs)))
    return said
