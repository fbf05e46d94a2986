"""What a view should show, found the slow way; and a writer that folds what it is given."""

from __future__ import annotations

import itertools
import random
from typing import Any

from lctl.conversation.following import Follow
from lctl.conversation.tree import Tree
from lctl.conversation.view import Change, View
from lctl.errors import UsageError
from tests.unit.conversation.events import Events, Log, event, history, ids


class Desk:
    """A writer: what is emitted is the log's next event, and in the tree at once."""

    def __init__(self, log: Log | None = None) -> None:
        self.events: Events = list(log.events) if log is not None else []
        self.tree = Tree.of(self.events)
        self.tree = Tree(self.tree.forest, writer=self)

    def emit(self, type: str, data: dict[str, Any], *, agent: str | None = None) -> int:
        seq = len(self.events) + 1
        self.events.append(event(seq, type, agent or "a", **data))
        self.tree.append(self.events[-1])
        return seq

    def say(self, id: str, parent: str | None, role: str = "assistant", **data: Any) -> int:
        return self.emit(
            "message", {"message_id": id, "parent_id": parent, "role": role, "content": id, **data}
        )

    @property
    def last(self) -> dict[str, Any]:
        data: dict[str, Any] = self.events[-1]["data"]
        return data


def heard(view: View) -> list[tuple[str, Any]]:
    """What the view tells from now on."""
    told: list[tuple[str, Any]] = []
    for kind in ("path", "update", "turn", "history"):
        view.on(kind, lambda what, kind=kind: told.append((kind, what)))  # type: ignore[misc]
    return told


class Mirror:
    """The shown messages as a window has them that knows only the view's events."""

    def __init__(self, view: View) -> None:
        self.ids = ids(view.nodes)
        view.on("path", self._path)
        view.on("history", self._older)

    def _path(self, change: Change) -> None:
        assert self.ids[change.keep :] == change.removed
        self.ids[change.keep :] = change.added

    def _older(self, added: list[str]) -> None:
        self.ids[:0] = added


class Model:
    """A dict of selections, and the whole path found anew after everything that happens."""

    def __init__(self, tree: Tree, conversation: str, follow: Follow) -> None:
        self.tree, self.conversation, self.follow = tree, conversation, follow
        self.selected: dict[str, str] = {}
        self.leaf: str | None = None
        for seq, id in tree.forest.selections.get("main", ()):
            if seq <= tree.seq and id in tree and tree[id].conversation == conversation:
                self.select(id)
        if self.leaf is None:
            self._begin()

    @property
    def path(self) -> list[str]:
        return [] if self.leaf is None else ids(self.tree.path(self.leaf, strict=False))

    def select(self, id: str) -> None:
        id = self.tree[id].id
        if self.leaf is not None and not self._reaches(id):
            return
        self.leaf = self._down(self.leaf if self.leaf is not None and id in self.path else id)
        self._remember()

    def happened(self) -> None:
        """An event has been folded."""
        if self.leaf is None:
            self._begin()
        elif self.follow != "pinned":
            self.leaf = self._down(self.leaf)
        self._remember()

    def _begin(self) -> None:
        tip = self.tree.tip(self.conversation)
        if tip is not None:
            self.leaf = self._down(tip.id)
            self._remember()

    def _remember(self) -> None:
        path = self.path
        self.selected.update(itertools.pairwise(path))

    def _down(self, at: str) -> str:
        tip = self.tree.tip(self.conversation)
        active = ids(self.tree.path(tip.id, strict=False)) if tip is not None else []
        followed = dict(itertools.pairwise(active))
        while (children := ids(self.tree[at].children)) and not self._in_circle(at):
            for choice in (self.selected.get(at), followed.get(at), children[-1]):
                if choice in children:
                    break
            assert choice is not None
            at = choice
        return at

    def _reaches(self, id: str) -> bool:
        """Whether a message can be shown: from this path, or as a first message of this conversation."""
        path = ids(self.tree.path(id, strict=False))
        first = self.tree[path[0]]
        known = {first.conversation, *(n.id for n in first.versions)}
        return bool(set(path) & set(self.path)) or not known.isdisjoint({self.conversation, self.path[0]})

    def _in_circle(self, id: str) -> bool:
        parent = self.tree[id].parent
        return parent is not None and id in ids(self.tree.path(parent.id, strict=False))


def compare(r: random.Random, follow: Follow = "own") -> None:
    """Views and their models over one random history, with random selections and pages in between."""
    desk = Desk()
    pairs: list[tuple[View, Model, Mirror]] = []
    for one in history(r, 16):
        if r.random() < 0.15:
            conversation = r.choice(["main", "main", "side"])
            view = desk.tree.view(conversation, limit=r.choice([None, 0, 1, 2, 5]), follow=follow)
            pairs.append((view, Model(desk.tree, conversation, follow), Mirror(view)))
        for view, model, mirror in pairs:
            check(view, model, mirror)
        desk.emit(one["type"], one["data"], agent=one["agent"])
        for view, model, mirror in pairs:
            model.happened()
            check(view, model, mirror)
        if pairs and r.random() < 0.5:
            act(r, desk, *r.choice(pairs))
    for view, *_ in pairs:
        view.close()
    assert desk.tree.forest.news.watch is None
    if desk.tree.forest.cyclic:
        return
    fresh = ids(desk.tree.view().nodes)
    assert fresh == ids(Tree.of(desk.events).view().nodes) == Model(desk.tree, "main", "own").path
    for seq in range(0, len(desk.events) + 1, 7):
        assert ids(desk.tree.at(seq).view().nodes) == ids(Tree.of(desk.events[:seq]).view().nodes)


def act(r: random.Random, desk: Desk, view: View, model: Model, mirror: Mirror) -> None:
    if r.random() < 0.3:
        view.load_older(r.randint(0, 3))
    elif desk.tree.forest.ids:
        id = r.choice(desk.tree.forest.ids)
        durable = r.random() < 0.2
        try:
            view.select(id, durable)
        except UsageError:
            return
        model.select(id)
        if durable:
            model.happened()
    check(view, model, mirror)


def check(view: View, model: Model, mirror: Mirror) -> None:
    shown, path = ids(view.nodes), model.path
    if model.tree.forest.cyclic:
        return  # what is shown of a circle is arbitrary, as long as it ends
    assert shown == path[len(path) - len(shown) :]
    assert mirror.ids == shown
    assert view.has_older == (len(shown) < len(path))
    assert (view.leaf.id if view.leaf is not None else None) == model.leaf
