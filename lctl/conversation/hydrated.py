"""`Hydrated`: a session as of some event, equal to what the running one was then."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from lctl.codec.lines import encode_value
from lctl.conversation.begun import Begun
from lctl.conversation.items import ungroup
from lctl.conversation.measures import Totals
from lctl.conversation.node import Node
from lctl.conversation.pending import Pending, unanswered
from lctl.conversation.recorded import Messages, for_model, recorded
from lctl.conversation.tree import Tree
from lctl.conversation.updates import Mismatch, derive, mismatches
from lctl.values import items, with_numbers

_NEVER = 1 << 62


class Hydrated(Begun):
    """A session as of `seq`. Reads from the log when asked; holds nothing of its own."""

    # -- messages ----------------------------------------------------------------------------

    @property
    def seed_count(self) -> int:
        """Its first messages, which it began with, have the numbers 1 to this."""
        return self._ledger.seeds if self.start_data else 0

    @property
    def seed_messages(self) -> list[dict[str, Any]]:
        """What the model saw first, field by field as given."""
        tree, found = self.tree, []
        for one in items(self.start_data.get("seed_messages")):
            if not isinstance(one, Mapping):
                found.append({"content": one})
                continue
            id = one.get("message_id")
            if id is not None and "content" not in one:
                if id in tree:
                    found.append(recorded(tree[id]))
            else:
                found.append({key: value for key, value in dict(one).items() if key != "message_id"})
        return found

    @property
    def messages(self) -> Messages:
        """What came after the seeds, as recorded. Called with two numbers: those between (see `between`)."""
        nodes = [node for number, node in self._numbered(self.seed_count, _NEVER)]
        return Messages(self, map(recorded, nodes))

    def between(self, after: int = 0, to: int | None = None) -> list[dict[str, Any]]:
        """The messages with after < number <= to; the seeds have the first numbers."""
        last = _NEVER if to is None else to
        seeds = self.seed_messages
        first = seeds[max(after, 0) : max(min(last, len(seeds)), 0)]
        later = self._numbered(max(after, self.seed_count), last)
        return first + [recorded(node) for _, node in later]

    @property
    def nodes(self) -> list[Node]:
        """Its messages after the seeds, as nodes of `tree`."""
        return [node for _, node in self._numbered(self.seed_count, _NEVER)]

    @property
    def context(self) -> list[dict[str, Any]]:
        """What a model reads: seeds and messages, without what the log and the program noted of them."""
        return self.prompt(None)

    def prompt(self, number: int | None) -> list[dict[str, Any]]:
        """What the model read that wrote message `number`; with None, all there is."""
        to = _NEVER if number is None else number - 1
        later = [node for _, node in self._numbered(self.seed_count, to)]
        if later:  # an answer that was given again, or left unfinished, is not on the way
            way = set(self.tree.way(later[-1].number, strict=False))
            later = [node for node in later if node.number in way and node.status == "complete"]
        found = self.seed_messages[: max(to, 0)] + [recorded(node) for node in later]
        return ungroup([for_model(one) for one in found])

    def prompt_hash(self, number: int | None = None) -> str:
        """Hash of `prompt(number)`, for comparing a call with what it was."""
        text = encode_value(self.prompt(number), option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
        return "sha256:" + hashlib.sha256(text).hexdigest()

    @property
    def high_water(self) -> int:
        """The number of its last message."""
        seq = self.seq
        inherited = self._ledger.source_number if self.start_data else 0
        return max(self._ledger.high_at(seq), inherited)

    def number_of(self, message_id: str) -> int | None:
        """The number of a message of this session by its id or alias."""
        forest = self._sessions.forest
        wanted = forest.find(message_id, self.seq)
        return next((n for n, node in self._numbered(0, _NEVER) if node.number == wanted), None)

    def numbered(self) -> list[tuple[int, Node]]:
        """Its messages with their numbers, seeds that are messages of the log included."""
        return self._numbered(0, _NEVER)

    def step_end_after(self, seq: int, number: int) -> int:
        """The end of the turn around event `seq`, if no message after `number` is in it; else 0."""
        for step, (_, end) in reversed(self._ledger.steps.items()):
            if step <= seq < end <= self.seq and self._ledger.high_at(end) <= number:
                return end
        return 0

    def taken_at(self, number: int) -> int:
        """The event since which message `number` is this session's and whole; 0 of one it does not have."""
        node = self.node(number)
        return (
            0 if node is None else max(self._ledger.since(number), node.tree.forest.finished_at(node.number))
        )

    def node(self, number: int) -> Node | None:
        """The message of that number; None where there is none."""
        own = self._ledger.own(self.seq, number - 1, number)
        if own:
            return Node(self.tree, own[0][1])
        found = self._inherited(self.tree, number - 1, number) if self.start_data else []
        return found[0][1] if found else None

    @property
    def tip(self) -> Node | None:
        """Its last message; None before the first."""
        last = self._ledger.latest_own(self.seq)
        if last is not None:
            return Node(self.tree, last)
        found = self._inherited(self.tree, 0, _NEVER) if self.start_data else []
        return found[-1][1] if found else None

    def _numbered(self, after: int, to: int) -> list[tuple[int, Node]]:
        seq, tree = self.seq, self.tree
        own = [(n, Node(tree, node)) for n, node in self._ledger.own(seq, after, to)]
        return self._inherited(tree, after, to) + own if self.start_data else own

    def _inherited(self, tree: Tree, after: int, to: int) -> list[tuple[int, Node]]:
        """Of a fork: the source's messages up to where it was cut, or their copies below another root."""
        found = self._source_numbers()
        tip = (self.forked_from or {}).get("message_id")
        if found and tip is not None and tip in tree:
            way = tree.way(tree[tip].number, strict=False)[-len(found) :]
            found = [(number, node) for (number, _), node in zip(found, way, strict=False)]
        return [(number, Node(tree, node)) for number, node in found if after < number <= to]

    def _source_numbers(self) -> list[tuple[int, int]]:
        parts: list[list[tuple[int, int]]] = []
        ledger, to = self._ledger, _NEVER
        while ledger.source is not None:
            to = min(to, ledger.source_number)
            parts.append(ledger.source.own(ledger.source_seq, 0, to))
            ledger = ledger.source
        return [one for part in reversed(parts) for one in part]

    # -- what it holds -----------------------------------------------------------------------

    @property
    def state(self) -> Any:
        """The latest snapshot of its state; None before the first."""
        seq = self._ledger.latest(self._ledger.states, self.seq)
        return with_numbers(self._sessions.data_at(seq).get("state")) if seq else None

    @property
    def state_version(self) -> Any:
        """The version of the program's own schema that `state` has, where it was given."""
        seq = self._ledger.latest(self._ledger.states, self.seq)
        return self._sessions.data_at(seq).get("state_version") if seq else None

    @property
    def totals(self) -> Totals:
        """What it has used itself; see `inherited`."""
        return self._ledger.meter.at(self.seq)

    @property
    def inherited(self) -> Totals:
        """Of a fork: what the sessions before it had used up to there. Never part of `totals`."""
        sums, ledger = Totals(), self._ledger
        if not self.start_data:
            return sums
        while ledger.source is not None:
            sums = sums.plus(ledger.source.meter.at(ledger.source_seq))
            ledger = ledger.source
        return sums

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The changes of state that its tool results report (see `lctl.conversation.updates`)."""
        return derive(self.messages)

    @property
    def recorded_updates(self) -> list[dict[str, Any]]:
        """The changes of state that its steps were given when they ended."""
        seq, data_at = self.seq, self._sessions.data_at
        ended = [items(data_at(end).get("updates")) for end in self._ledger.ends if end <= seq]
        return [dict(one) for given in ended for one in given if isinstance(one, Mapping)]

    @property
    def update_mismatches(self) -> list[Mismatch]:
        """Where the two differ; nothing while no step was given any."""
        given = self.recorded_updates
        own = [recorded(Node(self.tree, node)) for _, node in self._ledger.own(self.seq, 0, _NEVER)]
        return mismatches(given, derive(own)) if given else []

    def turn_ends(self) -> list[Mapping[str, Any]]:
        """The data of the ends of its turns, in order."""
        return [self._sessions.data_at(end) for end in self._ledger.ends if end <= self.seq]

    def raw_events(self) -> Iterator[Mapping[str, Any]]:
        """The events of its log up to `seq`, where that can be read again."""
        return iter(())

    # -- how it stands -----------------------------------------------------------------------

    @property
    def status(self) -> str:
        """running, completed or failed."""
        return self._ledger.status_at(self.seq).status

    @property
    def error(self) -> Any:
        """Why it failed."""
        return self._ledger.status_at(self.seq).error

    @property
    def completed_at(self) -> str | None:
        """Timestamp of its end; None while it runs."""
        found = self._ledger.status_at(self.seq)
        return None if found.status == "running" else found.timestamp

    @property
    def pending_step(self) -> int | None:
        """Seq of the turn that is open."""
        seq = self.seq
        for step, (since, end) in reversed(self._ledger.steps.items()):
            if since <= seq and (end == 0 or end > seq):
                return step
        return None

    @property
    def pending(self) -> Pending:
        """What it has begun and not ended."""
        nodes = self.nodes
        streaming = tuple(node.id for node in nodes if node.status == "streaming")
        return Pending(self.pending_step, streaming, tuple(unanswered(node.data for node in nodes)))

    def __repr__(self) -> str:
        sums = self.totals
        turns = f"{sums.turns} turn{'' if sums.turns == 1 else 's'}"
        count = self.seed_count + len(self._numbered(self.seed_count, _NEVER))
        messages = f"{count} message{'' if count == 1 else 's'}"
        return f"<Session {self.id} at {self.seq}: {self.status}, {messages}, {turns}>"
