"""`samples`: rows of training data, each read from the tree when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from lctl.conversation.calls import finish_reason
from lctl.conversation.node import message_of
from lctl.conversation.restoring import copied
from lctl.conversation.tree import Tree
from lctl.errors import UsageError
from lctl.training.planning import Paths, Plan
from lctl.training.rewards import Rewards
from lctl.training.sample import Sample
from lctl.training.tokens import choice, event_data


def samples(
    tree: Tree,
    *,
    paths: Paths = "all",
    shared: Literal["first", "every"] = "first",
    reasoning: Literal["exact", "ignore"] = "exact",
    min_weight_tokens: int = 1,
    train_edited: bool = False,
    max_len: int | None = None,
    allow_length: bool = False,
    chain: str = "",
    inherited: int = 0,
) -> Iterator[Sample]:
    """Rows of on-policy training data as of the tree's seq, ordered by the seq of their last message.

    Consecutive calls are one row if the later prompt holds the earlier prompt and completion unchanged as
    its beginning, under the same model and tools. Each sampled message is trained in one row.

    Args:
        paths: "all" branches, those that are "final" (each conversation's newest), or those whose last
            node the function accepts.
        shared: a message on several rows is trained in the "first" of them, or in "every" one.
        reasoning: whether a prompt that left out the reasoning of earlier answers still goes on from
            them ("ignore"); such answers are then trained without it.
        min_weight_tokens: rows that train fewer tokens are dropped; 0 keeps those that train nothing.
        train_edited: also train what a person wrote in place of a sampled message.
        max_len: rows of more tokens are dropped. Tokens are the provider's own count, else one for four
            characters.
        allow_length: also train answers that a token limit cut off.
        chain: id of the chain, for the ids of rows.
        inherited: messages up to this seq are another chain's, which this one was forked from; they are
            context here.

    Raises:
        UsageError: it is no tree, or an option has no such value.
    """
    if not isinstance(tree, Tree):
        raise UsageError(f"samples({tree!r:.80}): it takes a tree, such as lctl.load(PATH).tree")
    plan = Plan(
        tree,
        paths=paths,
        shared=shared,
        reasoning=reasoning,
        min_weight_tokens=min_weight_tokens,
        train_edited=train_edited,
        max_len=max_len,
        allow_length=allow_length,
        chain=chain,
        is_own=lambda number: tree.forest.seqs[number] > inherited,
    )
    return rows(plan)


def rows(plan: Plan) -> Iterator[Sample]:
    """The rows of a plan, in order."""
    writer = _Writer(plan)
    before: list[int] = []
    read: list[dict[str, Any]] = []
    for row, tip in enumerate(plan.tips):
        path = plan.tree.way(tip, strict=False)
        same = _common(path, before)
        del read[same:]  # most rows begin as the one before them
        read += [message_of(plan.tree, number) for number in path[same:]]
        before = path
        yield writer.sample(row, path, [copied(message) for message in read])


#: Operations whose model goes on with an assistant's message at the end of a prompt: Anthropic's, Bedrock's.
_CONTINUING = frozenset({"messages", "converse"})


class _Writer:
    """Makes samples of a plan's rows."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._tree = plan.tree
        self._forest = plan.tree.forest
        self._rewards = Rewards(plan.tree, plan.chain)

    def sample(self, row: int, path: list[int], messages: list[dict[str, Any]]) -> Sample:
        forest, tip = self._forest, path[-1]
        stands_for = self._plan.found.stands_for
        weights, calls, skipped = [0] * len(path), [], {}
        trained: list[int] = []
        eligible = set(self._plan.trainable(path)) if self._plan.every else None
        for place, number in enumerate(path):
            sampled = stands_for.get(number, number)
            if self._plan.key(sampled) < 0:
                continue
            mine = self._plan.trains[sampled] == row if eligible is None else sampled in eligible
            if mine:
                weights[place] = 1
                trained.append(sampled)
            before = messages[place - 1] if place else {}
            calls.append(self._call(place, sampled, before, path[place - 1] if place else -1))
            why = self._plan.why_skipped(sampled)
            if why is not None:
                skipped[forest.ids[sampled]] = why
        key = forest.calls.key_named(self._plan.key(tip))
        root = self._plan.trajectory(path[0])
        prefix = f"{self._plan.chain}:" if self._plan.chain else ""
        starts = [forest.calls.events(number)[0] for number in path]
        counts = [  # of an answer in several messages the last one has the count
            forest.calls.counts(stands_for.get(number, number))[1]
            for place, number in enumerate(path)
            if weights[place] and not (starts[place] and starts[place] in starts[place + 1 : place + 2])
        ]
        sample = Sample(
            id=prefix + forest.ids[tip],
            messages=messages,
            weights=weights,
            message_ids=[forest.ids[number] for number in path],
            calls=calls,
            break_reason=self._plan.reasons[row],
            tools=forest.calls.definitions.get(key.tools) if key.tools else None,
            model=key.model or None,
            trajectory_id=prefix + forest.ids[root],
            n_samples=self._plan.trajectories[root],
            reward=self._rewards.of(path, root),
            skipped=skipped,
            input_tokens=forest.calls.counts(tip)[0],
            trained_tokens=None if None in counts else sum(count or 0 for count in counts),
            seq=forest.seqs[tip],
        )
        sample.prompt = self._completed(stands_for.get(path[0], path[0]))
        if forest.calls.has_tokens:
            self._add_tokens(sample, tip, trained)
        return sample

    def _call(self, place: int, number: int, before: dict[str, Any], above: int) -> dict[str, Any]:
        forest, tree = self._forest, self._tree
        data = tree.node(number).data
        started, ended, _ = forest.calls.events(number)
        start = event_data(tree, started)
        end = event_data(tree, ended) if ended <= tree.seq else {}
        own = data.get("call")
        own = own if isinstance(own, dict) else {}
        call = {
            "message_index": place,
            "message_id": forest.ids[number],
            "seq": forest.seqs[number],
            "model": forest.calls.key_named(self._plan.key(number)).model or None,
            "params": own.get("params", start.get("params")),
            "usage": own.get("usage", end.get("tokens")),
            "finish_reason": own.get("finish_reason", finish_reason(end, choice(forest.ids[number], end))),
        }
        same = above >= 0 and 0 < started == forest.calls.events(above)[0]  # an answer in several messages
        if same or _goes_on(before, start):
            call["continues"] = True
        if start.get("reserialized"):
            call["reserialized"] = start["reserialized"]
        value = self._rewards.about(forest.ids[number])
        return call if value is None else {**call, "value": value}

    def _completed(self, root: int) -> Any:
        """What the completion went on from that a row begins with; None of another row."""
        started, ended, _ = self._forest.calls.events(root)
        start = event_data(self._tree, started)
        asked = start.get("input")
        if not isinstance(asked, list) or not asked or isinstance(asked[0], int):
            return asked
        end = event_data(self._tree, ended)  # several prompts, each with as many choices
        choices = len(end["messages"]) if isinstance(end.get("messages"), list) else 1
        place = choice(self._forest.ids[root], end) * len(asked) // max(choices, len(asked))
        return asked[place]

    def _add_tokens(self, sample: Sample, tip: int, trained: list[int]) -> None:
        last = self._plan.tokens(tip)
        if last is None:
            return
        sample.token_ids = [*last.prompt, *last.completion]
        sample.token_mask = [0] * last.end
        logprobs: list[float] | None = [0.0] * last.end
        for number in trained:
            tokens = self._plan.tokens(number)
            if tokens is None:
                continue
            stretch = slice(len(tokens.prompt), tokens.end)
            sample.token_mask[stretch] = [1] * len(tokens.completion)
            if tokens.logprobs is None or logprobs is None:
                logprobs = None
            else:
                logprobs[stretch] = tokens.logprobs
        sample.logprobs = logprobs
        sample.input_tokens = len(last.prompt)
        sample.trained_tokens = sum(sample.token_mask)


def _goes_on(before: dict[str, Any], start: Mapping[str, Any]) -> bool:
    """Whether the answer of a call that began so is the rest of the assistant's message before it."""
    if before.get("role") != "assistant":
        return False
    params = start.get("params")
    asked = isinstance(params, Mapping) and params.get("continue_final_message") is True  # vLLM
    return asked or before.get("prefix") is True or start.get("operation") in _CONTINUING


def _common(one: list[int], other: list[int]) -> int:
    """How many first members two lists share."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
