"""Why a sampled message must not be trained, whatever row it is in."""

from __future__ import annotations

from lctl.conversation.calls import FILTER, LIMIT
from lctl.conversation.tree import Tree
from lctl.training.contents import is_redacted
from lctl.training.tokens import event_data

#: Every reason why a sampled message is trained in no row.
SKIPS = {
    "aborted": "its stream was left, or cancelled, before its end",
    "error": "its call failed",
    "unfinished": "it was still being streamed",
    "redacted": "something was taken out of it before it was recorded",
    "filtered": "a filter of its provider ended it, or took its place",
    "length": "a token limit cut it off (allow_length=True trains it)",
    "prompt_changed": "its path is not the prompt it answered: hash, last message or order differ",
    "broken": "something of its prompt is not in the log",
    "max_len": "its row has more tokens than max_len",
    "min_weight_tokens": "its row trains fewer tokens than min_weight_tokens",
    "paths": "it is on a branch that was not asked for",
}


class Failures:
    """Reasons that lie in the message or its call.

    Args:
        strayed: as in `Absorbed`.
        cut_too: train answers that a token limit cut off.
    """

    def __init__(self, tree: Tree, strayed: set[int], cut_too: bool) -> None:
        self._tree = tree
        self._forest = tree.forest
        self._strayed = strayed
        self._cut_too = cut_too

    def of(self, number: int) -> str | None:
        forest, seq = self._forest, self._tree.seq
        status = forest.status_at(number, seq)
        if status != "complete":
            return status if status in ("aborted", "error") else "unfinished"
        if number in self._strayed or forest.calls.strayed(number) or self._reordered(number):
            return "prompt_changed"
        ending = forest.calls.ending(number)
        if ending == FILTER:
            return "filtered"
        if ending == LIMIT and not self._cut_too:
            return "length"
        if self._unasked(number):
            return "broken"
        return "redacted" if is_redacted(self._tree.node(number).data) else None

    def _unasked(self, number: int) -> bool:
        """Whether what its call read is not in the log: no message, and no text."""
        if self._forest.parent_at(number, self._tree.seq) >= 0:
            return False
        started, _, _ = self._forest.calls.events(number)
        start = event_data(self._tree, started)
        return bool(start) and start.get("prompt") is None and start.get("input") is None

    def _reordered(self, number: int) -> bool:
        """Whether its prompt's tool results were put into another order since."""
        if not self._forest.reordered:
            return False
        now = self._forest.up(number, self._tree.seq)
        if self._forest.reordered.isdisjoint(now):
            return False
        then = self._forest.up(number, self._forest.seqs[number])
        complete = self._forest.parent_at(then[-1], self._forest.seqs[number]) == -1
        return complete and then != now
