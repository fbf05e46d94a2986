"""Preferred and rejected answers: siblings under one prompt, told apart by facts or by a person's edit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from lctl.conversation.node import message_of
from lctl.conversation.tree import Tree
from lctl.errors import UsageError
from lctl.training.absorbing import beginnings
from lctl.training.failing import Failures
from lctl.training.formats import Chats, Row, hf_message
from lctl.training.rewards import Rewards, number_of

By = Literal["value", "rating", "edit"]
BASES = ("value", "rating", "edit")


class Pair(NamedTuple):
    """Two answers to one prompt.

    Attributes:
        prompt, chosen, rejected: messages as their provider wrote them.
        ids: of the two answers.
        by: "value", "rating" or "edit".
        tools: tool definitions of the call, None without.
    """

    prompt: list[dict[str, Any]]
    chosen: list[dict[str, Any]]
    rejected: list[dict[str, Any]]
    ids: tuple[str, str]
    by: str
    tools: list[Any] | None


class Judged(NamedTuple):
    """One answer and whether it was good, for trainers that take no pairs."""

    prompt: list[dict[str, Any]]
    completion: list[dict[str, Any]]
    label: bool
    id: str
    tools: list[Any] | None


class Preferences:
    """Pairs and labels of a tree.

    Siblings are answers under the same message, of the same model and tools. The best rated one is paired
    with each that is rated lower; a person's version of an answer with that answer.

    Args:
        by: what tells them apart: numbers ("value"), thumbs and words like good and bad ("rating"), edits;
            None: all three.
        continuation: both sides go on with what followed, to the newest leaf.

    Attributes:
        excluded: reason (docs/training.md says what they mean) -> answers that are on no pair.
    """

    def __init__(
        self, tree: Tree, *, by: By | None = None, continuation: bool = False, chain: str = ""
    ) -> None:
        if by is not None and by not in BASES:
            raise UsageError(f"pairs is 'value', 'rating' or 'edit', not {by!r}")
        self._tree = Tree(tree.forest, tree.seq)
        self._forest = tree.forest
        self._by = by
        self._on = continuation
        self._rewards = Rewards(self._tree, chain)
        self._failures = Failures(self._tree, set(), cut_too=False)
        self._beginnings = frozenset(beginnings(self._tree))
        self.excluded: Counter[str] = Counter()

    def pairs(self) -> Iterator[Pair]:
        """In the order of the prompts' first answers."""
        for parent, answers in self._families():
            if parent < 0:
                if len(answers) > 1:
                    self.excluded["no_prompt"] += len(answers)
                continue
            if self._by in (None, "edit"):
                yield from self._edited(parent, answers)
            if self._by != "edit":
                yield from self._rated(parent, answers)

    def labels(self) -> Iterator[Judged]:
        """Every answer that a fact calls good or bad, in the order of the log."""
        forest, tree = self._forest, self._tree
        for number in sorted(n for n in forest.sampled if forest.seqs[n] <= tree.seq):
            value = self._rewards.about(forest.ids[number])
            parent = forest.parent_at(number, tree.seq)
            if value is None or self._by not in (None, _kind(value)):
                self.excluded["unrated"] += 1
            elif parent < 0:
                self.excluded["no_prompt"] += 1
            elif (why := self._why_out(number)) is not None:
                self.excluded[why] += 1
            elif (label := _label(value)) is None:
                self.excluded["unknown_scale"] += 1
            else:
                answer = [message_of(tree, number)]
                yield Judged(self._prompt(parent), answer, label, forest.ids[number], self._tools(number))

    # -- inside ------------------------------------------------------------------------------

    def _why_out(self, number: int) -> str | None:
        """Why an answer is on no pair, whatever it is rated; None of one that may be."""
        if not self._is_whole(number):
            return "broken"
        return None if self._failures.of(number) is None else "failed"

    def _is_whole(self, number: int) -> bool:
        """Whether all that its path begins with is in the log."""
        return self._forest.up(number, self._tree.seq)[-1] in self._beginnings

    def _families(self) -> Iterator[tuple[int, list[int]]]:
        """Sampled messages by their parent; of roots, by nothing."""
        forest, seq = self._forest, self._tree.seq
        families: dict[int, list[int]] = {}
        for number in sorted(n for n in forest.sampled if forest.seqs[n] <= seq):
            families.setdefault(forest.parent_at(number, seq), []).append(number)
        yield from families.items()

    def _rated(self, parent: int, answers: list[int]) -> Iterator[Pair]:
        if len(answers) < 2:
            return
        calls, seq = self._forest.calls, self._tree.seq
        groups: dict[int, list[int]] = {}
        for number in answers:
            if (why := self._why_out(number)) is not None:
                self.excluded[why] += 1
            else:
                groups.setdefault(calls.key(number, seq), []).append(number)
        for group in groups.values():
            if len(group) < 2:
                self.excluded["other_call"] += len(group)
                continue
            yield from self._ranked(parent, group)

    def _ranked(self, parent: int, group: list[int]) -> Iterator[Pair]:
        rated: list[tuple[int, float, str]] = []
        for number in group:
            value = self._rewards.about(self._forest.ids[number])
            score = number_of(value)
            kind = _kind(value)
            if score is None or self._by not in (None, kind):
                self.excluded["unrated"] += 1
            else:
                rated.append((number, score, kind))
        if not rated:
            return
        best = max(rated, key=lambda one: (one[1], -one[0]))
        for number, score, _ in rated:
            if number == best[0]:
                continue
            if score == best[1]:
                self.excluded["tie"] += 1
            else:
                yield self._pair(parent, best[0], number, best[2])

    def _edited(self, parent: int, answers: list[int]) -> Iterator[Pair]:
        """A person's versions of answers, chosen over those."""
        forest, seq = self._forest, self._tree.seq
        for number in answers:
            for version in forest.versions_at(number, seq):
                if version in forest.sampled or version in forest.origins:
                    continue
                if not self._replaces(version, number) or forest.status_at(version, seq) != "complete":
                    continue
                if self._failures.of(number) in ("redacted", "unfinished") or not self._is_whole(number):
                    self.excluded[self._why_out(number) or "failed"] += 1
                    continue
                yield self._pair(parent, version, number, "edit")

    def _replaces(self, version: int, number: int) -> bool:
        """Whether the version was written in place of just this answer."""
        forest, seq = self._forest, self._tree.seq
        if forest.role_at(version, seq) != "assistant":
            return False
        named = self._tree.node(version).data.get("fork_of")
        if named is None:
            return True
        target = forest.find(str(named), seq)
        return target == number or target not in forest.sampled

    def _pair(self, parent: int, chosen: int, rejected: int, by: str) -> Pair:
        ids = (self._forest.ids[chosen], self._forest.ids[rejected])
        sides = (self._side(chosen), self._side(rejected))
        return Pair(self._prompt(parent), *sides, ids, by, self._tools(rejected))

    def _prompt(self, parent: int) -> list[dict[str, Any]]:
        return [message_of(self._tree, number) for number in self._tree.way(parent, strict=False)]

    def _side(self, number: int) -> list[dict[str, Any]]:
        said = [message_of(self._tree, number)]
        if not self._on:
            return said
        forest, seq = self._forest, self._tree.seq
        while below := forest.children_at(number, seq):
            number = below[-1]
            if forest.status_at(number, seq) != "complete":
                break
            said.append(message_of(self._tree, number))
        return said

    def _tools(self, number: int) -> list[Any] | None:
        calls = self._forest.calls
        return calls.definitions.get(calls.key_named(calls.key(number, self._tree.seq)).tools)


def _kind(value: Any) -> str:
    return "value" if type(value) in (int, float) else "rating"


def _label(value: Any) -> bool | None:
    """Thumbs, and numbers from 0 to 1 (good from 0.5) or below 0 (bad); None on another scale."""
    score = number_of(value)
    if score is None or not -1 <= score <= 1:
        return None
    return score >= 0.5


# -- rows ------------------------------------------------------------------------------------


class PairForm(Chats):
    """Rows of pairs for TRL, or for OpenAI."""

    def dpo(self, pair: Pair) -> Row:
        row = {name: self._hf(side) for name, side in zip(_DPO, pair[:3], strict=True)}
        return self.with_tools(row, pair.tools)

    def openai(self, pair: Pair) -> Row:
        prompt, chosen, rejected = (self._plain(side) for side in pair[:3])
        given: Row = {"messages": prompt, "tools": self.chat.tools(pair.tools), "parallel_tool_calls": True}
        return {"input": given, "preferred_output": chosen, "non_preferred_output": rejected}

    def kto(self, one: Judged) -> Row:
        row = {"prompt": self._hf(one.prompt), "completion": self._hf(one.completion), "label": one.label}
        return self.with_tools(row, one.tools)

    def _hf(self, messages: list[dict[str, Any]]) -> list[Row]:
        return [hf_message(one) for made in self.chat.conversation(messages) for one in made]

    def _plain(self, messages: list[dict[str, Any]]) -> list[Row]:
        made = [one for several in self.chat.conversation(messages) for one in several]
        for message in made:
            if message.pop("reasoning_content", None):
                self.lost["reasoning"] += 1
        return made


_DPO = ("prompt", "chosen", "rejected")
