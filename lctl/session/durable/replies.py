"""Reply chains: every message to the agent goes on with the conversation it replies to, or begins one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from lctl.conversation.items import ungroup
from lctl.conversation.node import Node
from lctl.conversation.nodestore import LogNodes, NodeStore
from lctl.conversation.pending import unanswered
from lctl.conversation.tree import Tree
from lctl.conversation.turns import parse_depth, render_depth, tail_of, turn_of
from lctl.errors import RecordingError, UsageError
from lctl.record.recorder import Draft
from lctl.session.conversing import follower_of
from lctl.session.durable.ids import new_id
from lctl.session.durable.writing import (
    Redelivery,
    as_stored,
    captured,
    messages_data,
    recorded_as,
    same_message,
)

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

ReplyPolicy = Literal["known", "own"]


class ReplyChains:
    """`session.conversations`: what came in, by what it replies to.

        turn = session.conversations.reply(to=inbox.reply_to, text=inbox.text, message_id=inbox.id)
        answer = chat(turn.transcript())
        turn.record(answer)
        turn.alias(send(turn.render(answer["content"])).id)

    Attributes:
        system: the system prompt that new conversations begin with; None for none.
        reply_policy: "known": a reply to any message of the log goes on with its conversation; "own": only
            one to a message of the agent does, any other begins a conversation.
        store: through which transcripts are read; another `NodeStore` bounds the memory they take.
    """

    def __init__(self, log: LCTLSession) -> None:
        self._log = log
        self._follower = follower_of(log)
        self.system: Any = None
        self.reply_policy: ReplyPolicy = "known"
        self.store = NodeStore(LogNodes(log.tree), max_nodes=1024)

    def reply(
        self,
        *,
        to: str | int | None,
        text: Any,
        message_id: str | int | None = None,
        role: str = "user",
        reply_policy: ReplyPolicy | None = None,
        **data: Any,
    ) -> ReplyTurn:
        """A message that replies to another: it comes after the last message of that one's turn. One that
        replies to nothing known begins a conversation; `details.reply_to_unresolved` then names it.

        Args:
            to: id or alias of the message it replies to; None for none.
            text: of the message; a `[depth:N] ` in front of it is taken off.
            message_id: as the messenger knows it. One that is there already is not recorded twice.

        Raises:
            RecordingError: it could not be recorded.
            UsageError: there is one of that id that says something else, or no such policy.
        """
        policy = reply_policy or self.reply_policy
        if policy not in get_args(ReplyPolicy):
            raise UsageError(f"reply_policy={policy!r}: it is one of {', '.join(get_args(ReplyPolicy))}")
        to = None if to is None else str(to)  # messengers have numbers, too
        message_id = None if message_id is None else str(message_id)
        with self._follower.writing:
            tree = self._log.tree
            if message_id is None or message_id not in tree:
                parent = self._parent(tree, to, policy) if to is not None else None
                message_id = self._record(to, text, message_id, role, parent, data)
            else:
                self._compare(tree[message_id], message_id, text)
            return ReplyTurn(self._log, self, message_id)

    def send(
        self, text: Any, *, message_id: str | int | None = None, role: str = "user", **data: Any
    ) -> ReplyTurn:
        """A message that replies to none: it begins a conversation.

        Raises:
            RecordingError: it could not be recorded.
        """
        return self.reply(to=None, text=text, message_id=message_id, role=role, **data)

    def turn(self, message_id: str | int) -> ReplyTurn:
        """The turn a message is part of, to go on with it.

        Raises:
            KeyError: there is no such message.
        """
        return ReplyTurn(self._log, self, str(message_id))

    def _parent(self, tree: Tree, to: str, policy: ReplyPolicy) -> Node | None:
        if to not in tree:
            return None
        if policy == "own" and tree[to].id == to and tree[to].role != "assistant":
            return None  # an alias is the name of what the agent has sent
        return tail_of(tree, to)

    def _compare(self, there: Node, id: str, text: Any) -> None:
        """A message that is delivered again says what it said: one that was edited is another."""
        if there.id != id or there.role == "assistant":  # an alias, or what the agent has sent
            return
        said = {"content": parse_depth(text)[1]}
        if not same_message({"content": there.message.get("content")}, as_stored(self._log, said)):
            raise UsageError(
                f"message {id} is there and says something else; record an edit as a version of it, by "
                "session.tree.view().edit, or under an id of its own"
            )

    def _record(
        self, to: str | None, text: Any, id: str | None, role: str, parent: Node | None, data: dict[str, Any]
    ) -> str:
        depth, said = parse_depth(text)
        name = id or new_id("msg", self._log)
        details = dict(data.pop("details", None) or {})
        if depth is not None:
            details["depth"] = depth
        if to is not None and parent is None:
            details["reply_to_unresolved"] = to
        message = {"role": role, "content": said, **data}
        if details:
            message["details"] = details
        conversation = name if parent is None else parent.conversation
        placed = {"turn_id": name, "conversation_id": conversation}
        frame = self._log.frame()
        drafts: list[Draft] = []
        above = None if parent is None else parent.id
        if parent is None and self.system is not None:
            above = f"{name}/system"
            root = {"message_id": above, "parent_id": None, "conversation_id": conversation}
            if above not in self._log.tree:  # the process may have died between the two
                drafts.append(
                    ("message", frame.agent, {**root, "role": "system", "content": self.system}, frame.step)
                )
        drafts.append(
            (
                "message",
                frame.agent,
                {"message_id": name, "parent_id": above, **placed, **message},
                frame.step,
            )
        )
        first = self._log.emit_many(lambda first: drafts)
        if not first:
            raise RecordingError(f"{self._log.path}: message {name} could not be recorded")
        return recorded_as(self._log, first + len(drafts) - 1, "message_id", name)


class ReplyTurn:
    """One turn of a conversation: a message to the agent, and what the agent says and does about it.

    A turn that is opened again, because the process that worked on it ended, is gone on with: what is
    recorded again, in order and saying the same, is not recorded twice.

    Attributes:
        id: of its first message.
    """

    def __init__(self, log: LCTLSession, chains: ReplyChains, message_id: str) -> None:
        self._log = log
        self._chains = chains
        first = turn_of(log.tree, message_id)[0]
        self.id = str(first.data.get("turn_id") or first.id)
        self._first = first.id
        self._redelivery = Redelivery(log, self.messages[1:])

    @property
    def nodes(self) -> list[Node]:
        """Its messages."""
        return turn_of(self._log.tree, self._first)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """As recorded, the first one included."""
        return [{**node.message, **_details(node)} for node in self.nodes]

    @property
    def tail(self) -> Node:
        """Its last message: replies to any of its messages come after this one."""
        return self.nodes[-1]

    @property
    def conversation(self) -> str:
        return self.tail.conversation

    @property
    def depth(self) -> int:
        """Messages of user and assistant up to its last one."""
        return self.tail.depth

    @property
    def unresolved(self) -> str | None:
        """What its first message replies to, if nothing of that name was known."""
        details = self.nodes[0].data.get("details")
        return details.get("reply_to_unresolved") if isinstance(details, dict) else None

    @property
    def pending(self) -> list[dict[str, Any]]:
        """Tool calls without a result."""
        return unanswered(node.data for node in self.nodes)

    @property
    def done(self) -> bool:
        """The agent has answered: its last message is one of the assistant, and no tool call is open."""
        return self.tail.role == "assistant" and not self.pending

    def transcript(self, *, strict: bool = True) -> list[dict[str, Any]]:
        """What a model reads that goes on with this turn.

        Raises:
            BrokenChain: a message on the way to the root is missing. With strict=False, what there is.
            LogError: one cannot be read.
        """
        return ungroup(self._chains.store.transcript(self.tail.id, strict=strict))

    def record(self, *messages: Any, **data: Any) -> Node:
        """Record what the agent says and does; in the log when this returns. The turn's last message then.

        Raises:
            RecordingError: it could not be recorded.
        """
        with follower_of(self._log).writing:
            for given in messages_data(messages, data):
                if self._redelivery.take({k: v for k, v in given.items() if k not in _HIDDEN}) is None:
                    self._append(given)
        return self.tail

    def _append(self, message: dict[str, Any]) -> None:
        nodes = self.nodes
        id = f"{self._first}/{len(nodes)}"
        following = [node for node in nodes[-1].children if "turn_id" not in node.data]
        there = captured(self._log, following, message)
        if there is not None:
            if not self._log.alias(id, there.id):
                raise RecordingError(f"{self._log.path}: message {id} could not be recorded")
            return
        placed = {"message_id": id, "parent_id": nodes[-1].id, "conversation_id": self.conversation}
        if not self._log.emit("message", {**placed, "turn_id": self.id, **message}):
            raise RecordingError(f"{self._log.path}: message {id} could not be recorded")

    def alias(self, outbound: str | int) -> int:
        """The agent's answer was sent under this id: replies to it are replies to this turn."""
        return self._log.alias(str(outbound), self._first)

    def render(self, text: Any) -> Any:
        """A text to be sent, with the conversation's depth in front: `[depth:N] `."""
        return render_depth(text, self.depth)

    def __repr__(self) -> str:
        ids = " > ".join(node.id for node in self.nodes)
        return f"<ReplyTurn {ids}, depth {self.depth}>"


#: Of what is recorded, what `messages` does not show.
_HIDDEN = frozenset({"sampled", "status", "call", "message_id"})


def _details(node: Node) -> dict[str, Any]:
    data = node.data
    return {key: data[key] for key in ("details", "is_new", "timestamp") if key in data}
