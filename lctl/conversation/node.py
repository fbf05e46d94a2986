"""`Node`: one message of a tree, as of its seq."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree

#: Keys of a message event that are the log's, not the provider's.
LOG_KEYS = frozenset(
    {
        *("message_id", "parent_id", "conversation_id", "turn_id", "session_id", "message_number", "serial"),
        *("status", "sampled", "fork_of", "copy_of", "carry", "nested_in", "call", "is_new", "details"),
    }
)


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
        return self.number in self.tree.forest.sampled

    @property
    def conversation(self) -> str:
        return self.tree.forest.conversations.get(self.number, "main")

    @property
    def data(self) -> Mapping[str, Any]:
        """The message as its event holds it; of a copy the original's; of a stream what has come."""
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
    def children(self) -> list[Node]:
        """Alternatives for what follows, in order."""
        found = self.tree.forest.children_at(self.number, self.tree.seq)
        return [Node(self.tree, number) for number in found]

    @property
    def siblings(self) -> list[Node]:
        """The alternatives at this place, itself among them, in order."""
        forest, seq = self.tree.forest, self.tree.seq
        parent = forest.parent_at(self.number, seq)
        if parent >= 0:
            return [Node(self.tree, number) for number in forest.children_at(parent, seq)]
        own = forest.conversations.get(self.number)
        if parent == -1:
            roots = self.tree.roots
            versions = set(forest.versions_at(self.number, seq))
            return [n for n in roots if n.number in versions or forest.conversations.get(n.number) == own]
        return [self]

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return self.number == other.number and self.tree.forest is other.tree.forest

    def __hash__(self) -> int:
        return hash((id(self.tree.forest), self.number))

    def __repr__(self) -> str:
        words = self.text
        return f"<{self.role or '?'} {self.id}: {words[:40]!r}{'...' if len(words) > 40 else ''}>"


def data_of(tree: Tree, number: int) -> Mapping[str, Any]:
    """What a message's event says of it as of the tree's seq."""
    forest = tree.forest
    origin = forest.origins.get(number)
    if origin is None:
        return _own(tree, number)
    said = {key: value for key, value in data_of(tree, origin).items() if key not in LOG_KEYS}
    if forest.contents[number] not in (0, forest.contents[origin]):
        said |= _own(tree, number)  # the event that copies may say more
    return said


def _own(tree: Tree, number: int) -> Mapping[str, Any]:
    forest, seq = tree.forest, tree.seq
    text = forest.texts.get(number)
    if text is None:
        return forest.data_at(forest.contents[number])
    final = forest.finals.at(number, seq, 0)
    if final:
        return forest.data_at(final)
    return {"role": forest.role_at(number, seq), "content": text.text(seq)}


def message_of(tree: Tree, number: int) -> dict[str, Any]:
    """The message alone, without what the log adds."""
    return {key: value for key, value in data_of(tree, number).items() if key not in LOG_KEYS}
