"""The path a view shows: from the leaf upwards as far as its page goes, and what was chosen at forks.

A path is known by its leaf. Only the shown end of it is kept, so that neither opening a page nor changing
the end of a path costs anything for what is above. Chosen children are remembered by number when a branch
is left; on the path itself there is nothing to remember.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lctl.conversation.forest import ROOT, Forest
from lctl.conversation.tracing import climb, towards_tip, whole
from lctl.errors import UsageError

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree


class Change(NamedTuple):
    """How the shown messages became others: `keep` stay at the beginning, then `removed` became `added`."""

    keep: int
    removed: list[str]
    added: list[str]


class Route:
    """Numbers of messages: `way` those shown, oldest first; `leaf` the path's end, -1 of an empty one.

    Methods that change it tell `show` and `hide` which messages came in and went.
    """

    def __init__(self, tree: Tree, conversation: str, limit: int | None) -> None:
        self.tree = tree
        self.forest: Forest = tree.forest
        self.conversation = conversation
        self.limit = limit
        self.leaf = -1
        self.way: list[int] = []
        self.places: dict[int, int] = {}  # shown message -> its index in `way` plus `base`
        self.base = 0
        self.memory: dict[int, int] = {}  # message -> the child that was last followed below it

    def show(self, numbers: list[int]) -> None:
        """They are shown from now on."""

    def hide(self, numbers: list[int]) -> None:
        """They are shown no more."""

    # -- opening -----------------------------------------------------------------------------

    def open(self, selections: list[tuple[int, str]]) -> None:
        """Follow the log's selections, else go to the last message; then show a page."""
        forest, seq = self.forest, self.tree.seq
        limit, self.limit = self.limit, 0  # nothing is shown meanwhile
        for at, id in selections:
            number = forest.find(id, seq) if at <= seq else -1
            if number < 0 or forest.conversations.get(number, "main") != self.conversation:
                continue
            if self.leaf < 0:
                self.leaf = [number, *self.descend(number)][-1]
                continue
            try:
                self.select(number)
            except UsageError:
                pass  # it stands below another conversation's first message
        self.limit = limit
        if self.leaf < 0:
            tip = forest.tip_at(self.conversation, seq)
            if tip < 0:
                return
            self.leaf = [tip, *self.descend(tip)][-1]
        self.page(self.leaf, limit)

    def page(self, leaf: int, count: int | None) -> None:
        """Show the `count` newest messages up to `leaf` (None: all), and what belongs to the first."""
        self.leaf = leaf
        if count != 0:
            self.enter(whole(self.tree, climb(self.tree, leaf, count)))

    # -- reading -----------------------------------------------------------------------------

    def descend(self, at: int) -> list[int]:
        """What follows a message: the children remembered, else those towards the conversation's last
        message, else the latest ones."""
        forest, seq = self.forest, self.tree.seq
        way: list[int] = []
        towards: dict[int, int] | None = None
        known = {at, *self.places} if forest.cyclic else None
        while known is None or at not in forest.cyclic:  # nothing follows in what was ever a circle
            child = self.memory.get(at, -1)
            if child < 0 or forest.seqs[child] > seq or forest.parent_at(child, seq) != at:
                child = -1
                if forest.is_fork(at):
                    if towards is None:
                        towards = towards_tip(self.tree, self.conversation, at)
                    child = towards.get(at, -1)
                if child < 0:
                    child = forest.latest_child(at, seq)
            if child < 0 or (known is not None and child in known):
                break
            if known is not None:
                known.add(child)
            way.append(child)
            at = child
        return way

    def older(self, count: int) -> list[int]:
        """`count` messages above those shown (see `whole`), fewer where there are no more."""
        if count <= 0 or self.leaf < 0:
            return []
        if not self.way:
            return whole(self.tree, climb(self.tree, self.leaf, count))
        above = whole(self.tree, climb(self.tree, self.way[0], count + 1))[:-1]
        while self.forest.cyclic and any(number in self.places for number in above):
            del above[0]  # a circle, which is shown once
        return above

    @property
    def has_older(self) -> bool:
        if not self.way:
            return self.leaf >= 0
        parent = self.forest.parent_at(self.way[0], self.tree.seq)
        return parent >= 0 and parent not in self.places

    def after(self, number: int) -> int:
        """The shown message that follows a shown one; -1 after the last."""
        index = self.places[number] - self.base + 1
        return self.way[index] if index < len(self.way) else -1

    # -- changing ----------------------------------------------------------------------------

    def enter(self, numbers: list[int]) -> None:
        """Show more messages at the end."""
        place = self.base + len(self.way)
        self.way += numbers
        for number in numbers:
            self.places[number] = place
            place += 1
        self.show(numbers)

    def precede(self, numbers: list[int]) -> None:
        """Show more messages at the beginning."""
        self.base -= len(numbers)
        for place, number in enumerate(numbers, self.base):
            self.places[number] = place
        self.way[:0] = numbers
        self.show(numbers)

    def leave(self, kept: list[int]) -> list[int]:
        """Show only `kept`, the beginning of what is shown; the others. Forks remember them."""
        gone = self.way[len(kept) :]
        before = kept[-1] if kept else -1
        for number in gone:
            self.places.pop(number, None)
            if before >= 0:
                self.memory[before] = number
            before = number
        del self.way[len(kept) :]
        self.hide(gone)
        return gone

    def extend(self, numbers: list[int]) -> Change | None:
        """The path goes on with these."""
        if not numbers:
            return None
        keep = len(self.way)
        self.leaf = numbers[-1]
        self.enter(numbers)
        return self.change(keep, [], numbers)

    def change(self, keep: int, removed: list[int], added: list[int]) -> Change:
        ids = self.forest.ids
        return Change(keep, [ids[n] for n in removed], [ids[n] for n in added])

    def select(self, number: int) -> Change | None:
        """Go to the branch of a message, and on from there as `descend`; None if that is the path already.

        Raises:
            UsageError: the message is in another conversation.
        """
        if number in self.places or number == self.leaf:
            return self.extend(self.descend(self.leaf))
        branch, junction = self._branch(number)
        if not branch:
            return self.extend(self.descend(self.leaf))  # withheld, but on the path
        if junction in self.places:
            keep = self.places[junction] - self.base + 1
            added = branch + self.descend(number)
            removed = self.leave(self.way[:keep])
            self.leaf = added[-1]
            self.enter(added)
            return self.change(keep, removed, added)
        leaf = ([number, *self.descend(number)])[-1]
        removed = self.leave([])
        self.leaf = leaf
        if self.limit != 0 or removed:
            below = branch + self.descend(number)
            more = 0 if self.limit is None else self.limit - len(below)
            top = climb(self.tree, junction, None if self.limit is None else more) if junction >= 0 else []
            self.enter(whole(self.tree, top + below))
        return self.change(0, removed, self.way) if removed or self.way else None

    def _branch(self, number: int) -> tuple[list[int], int]:
        """The messages from below the junction with the path down to `number`, and the junction.

        Climbs from both sides in turn, so that what it costs is what changes. What is left is remembered.
        """
        forest, seq = self.forest, self.tree.seq
        mine = {number: 0}
        at, other = number, self.way[0] if self.way else self.leaf
        left: dict[int, int] = {}
        junction = ROOT
        if other in mine:
            return [], number
        while at >= 0 or other >= 0:
            if at >= 0:
                at = forest.parent_at(at, seq)
                if at in self.places or at in left:
                    junction = at
                    break
                if at in mine:
                    at = -1  # a circle
                elif at >= 0:
                    mine[at] = len(mine)
                    if at == self.leaf:
                        junction = at
                        break
            if other >= 0:
                parent = forest.parent_at(other, seq)
                if parent in left:
                    parent = -1
                elif parent >= 0:
                    left[parent] = other
                    if parent in mine:
                        junction = parent
                        break
                other = parent
        if junction < 0:
            self._belongs(list(mine)[-1])
        self.memory |= left
        way = [n for n in mine if n != junction and mine[n] < mine.get(junction, len(mine))]
        way.reverse()
        return way, junction

    def _belongs(self, top: int) -> None:
        """A message whose first one is `top` can be shown: it is this conversation's, or another version."""
        if self.forest.conversations.get(top, "main") == self.conversation:
            return
        if self.leaf >= 0:
            first = self.forest.up(self.leaf, self.tree.seq)[-1]
            if first in self.forest.versions_at(top, self.tree.seq):
                return
        where = self.forest.conversations.get(top, "main")
        raise UsageError(
            f"message {self.forest.ids[top]} begins conversation {where!r}; this view is of "
            f"{self.conversation!r}: tree.view({where!r}) shows the other"
        )
