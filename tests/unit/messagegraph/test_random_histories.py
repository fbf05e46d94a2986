"""Random histories of a graph against a list that is copied at every turn."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from lctl.conversation.tree import Tree
from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from tests.seeds import seeds
from tests.unit.messagegraph.calling import call, events

Model = list[dict[str, Any]]


class History:
    """A graph, a plain list to which the same is done, and the prompts as they were sent."""

    def __init__(self, r: random.Random, session: LCTLSession) -> None:
        self.r = r
        self.session = session
        self.graph = MessageGraph(session)
        self.model: Model = []
        self.prompts: list[tuple[str, bytes]] = []
        self.snapshots: list[Model] = []
        self.count = 0

    def message(self, *roles: str) -> dict[str, Any]:
        r = self.r
        self.count += 1
        text = r.choice(["yes", "no", f"t{self.count}", f"t{self.count}"])
        role = r.choice(roles or ["user", "assistant", "tool", "system", "user"])
        if role == "tool":
            return {"role": "tool", "tool_call_id": r.choice(["c1", "c2", "c3"]), "content": text}
        if role == "assistant" and r.random() < 0.4:
            asked = [
                {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in "12"
            ]
            return {"role": role, "content": None, "tool_calls": asked}
        if r.random() < 0.3:
            return {"role": role, "content": [{"type": "text", "text": text}, {"type": "text", "text": "x"}]}
        return {"role": role, "content": text}

    def messages(self, most: int = 3) -> Model:
        return [self.message() for _ in range(self.r.randint(0, most))]

    def place(self) -> int:
        return self.r.randrange(-len(self.model), len(self.model))

    def span(self) -> slice:
        first, stop = sorted(self.r.randrange(len(self.model) + 1) for _ in range(2))
        return slice(first, stop)

    def both(self, change: Callable[[Any], object]) -> None:
        """Do the same to the graph and, with copies, to the list."""
        change(self.graph)
        change(self.model)
        self.model = [copy.deepcopy(message) for message in self.model]

    def run(self, length: int) -> None:
        if self.r.random() < 0.3:  # a body long enough to be read by what it shares with the one before
            self.both(lambda h: h.append({"role": "system", "content": "long " * 700}))
        for _ in range(length):
            self.turn()
            assert self.graph == self.model
            if self.r.random() < 0.2:
                self.snapshots.append([copy.deepcopy(message) for message in self.model])

    def turn(self) -> None:
        r, model = self.r, self.model
        name = r.choice(
            ["append"] * 6
            + ["call"] * 5
            + ["edit", "nested", "replace", "insert", "delete", "pop", "slice", "compact", "undo"]
            + [
                "extend",
                "reverse",
                "sort",
                "clear",
                "times",
                "strided",
                "branch",
                "batch",
                "move",
                "previous",
            ]
        )
        if model or name in ("append", "extend", "undo"):
            getattr(self, "do_" + name)()

    # -- what can be done ------------------------------------------------------------------------

    def do_append(self) -> None:
        message = self.message()
        self.both(lambda h: h.append(message))
        message["content"] = "the caller goes on with its own dict"

    def do_call(self) -> None:
        answers = [self.message("assistant") for _ in range(self.r.choice([1, 1, 1, 2]))]
        sent = orjson.dumps(self.model)
        leaf = call(self.session, self.graph, *answers, model=self.r.choice("aab"))
        assert leaf == self.graph.route.tip
        self.prompts.append((leaf, sent))
        if self.r.random() < 0.8:
            answer = self.r.choice(answers)
            self.both(lambda h: h.append(answer))
            assert self.graph.route.tip in self.graph.lineage.sampled

    def do_edit(self) -> None:
        at, text = self.place(), self.r.choice(["yes", f"e{self.count}"])
        self.both(lambda h: h[at].__setitem__("content", text))

    def do_nested(self) -> None:
        at, text = self.place(), f"n{self.r.randrange(9)}"
        if isinstance(self.model[at]["content"], list):
            self.both(lambda h: h[at]["content"][0].__setitem__("text", text))

    def do_replace(self) -> None:
        at, message = self.place(), self.message()
        self.both(lambda h: h.__setitem__(at, message))

    def do_insert(self) -> None:
        at, message = self.place(), self.message()
        self.both(lambda h: h.insert(at, message))

    def do_delete(self) -> None:
        at = self.place() if self.r.random() < 0.5 else self.span()
        self.both(lambda h: h.__delitem__(at))

    def do_pop(self) -> None:
        for _ in range(self.r.randint(1, min(3, len(self.model)))):
            self.both(lambda h: h.pop())

    def do_slice(self) -> None:
        where, messages = self.span(), self.messages()
        self.both(lambda h: h.__setitem__(where, messages))

    def do_compact(self) -> None:
        where, message = self.span(), self.message()

        def squeeze(h: Any) -> None:
            h[where] = [message]

        with self.graph.edit():
            self.both(squeeze)

    def do_undo(self) -> None:
        if self.snapshots:
            before = self.r.choice(self.snapshots)
            self.both(lambda h: h.__setitem__(slice(None), before))

    def do_extend(self) -> None:
        messages = self.messages()
        self.both(lambda h: h.extend(messages))

    def do_reverse(self) -> None:
        self.both(lambda h: h.reverse())

    def do_sort(self) -> None:
        self.both(lambda h: h.sort(key=lambda message: str(message["content"])))

    def do_clear(self) -> None:
        self.both(lambda h: h.clear())

    def do_times(self) -> None:
        count = self.r.choice([0, 1, 2])
        if len(self.model) < 12:
            self.both(lambda h: h.__imul__(count))

    def do_strided(self) -> None:
        where = slice(self.r.randrange(2), None, 2)
        messages = [self.message() for _ in self.model[where]]
        self.both(lambda h: h.__setitem__(where, messages))

    def do_branch(self) -> None:
        self.graph = self.graph.copy()

    def do_batch(self) -> None:
        with self.graph.edit():
            for _ in range(3):
                if self.model:
                    self.do_edit()
                    self.do_insert()
                    self.do_delete()

    def do_move(self) -> None:
        def move(h: Any) -> None:
            h.insert(0, h.pop())

        self.both(move)

    def do_previous(self) -> None:
        previous = self.graph.previous()
        if previous is not None:
            self.graph = previous
            self.model = [copy.deepcopy(dict(message)) for message in previous]


def check(folder: Path, seed: int) -> None:
    """One history, and everything that must hold of its log."""
    r = random.Random(seed)
    path = folder / "graph.lctl.json"
    path.unlink(missing_ok=True)
    with LCTLSession("graph", path, redact=False) as session:
        history = History(r, session)
        history.run(r.randint(1, 25))
        recorded = events(session)
    tree = Tree.of(recorded)
    for leaf, sent in history.prompts:
        assert orjson.dumps(tree.transcript(leaf)) == sent
    prompts = {leaf for leaf, _ in history.prompts}
    for node in tree:
        if node.sampled:
            assert node.parent is not None and node.parent.id in prompts
            assert node.path[-1] == node
    assert tree.orphans == [] and tree.diagnostics == []
    _check_every_seq(recorded, tree)
    numbers = [(tree[id].number, tree[id].parent) for id in tree.forest.ids]
    assert all(parent is None or parent.number < number for number, parent in numbers)


def _check_every_seq(recorded: list[dict[str, Any]], tree: Tree) -> None:
    grown = Tree.of(())
    for event in recorded:
        grown.append(event)
        if event["type"] == "message":
            at = tree.at(event["seq"])
            assert len(at) == len(grown)
            assert at.state_hash() == grown.state_hash()


def _chunk(tmp_path: Path, numbers: range) -> None:
    for seed in numbers:
        try:
            check(tmp_path, seed)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.parametrize("part", range(4))
def test_g1_g3_g12_random_histories(tmp_path: Path, part: int) -> None:
    """List semantics; each prompt is its path byte for byte; `at(k)` is the fold of k events."""
    _chunk(tmp_path, range(part * 75, part * 75 + 75))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_g1_g3_g12_many_random_histories(tmp_path: Path, part: int) -> None:
    _chunk(tmp_path, seeds(1000 + part * 1000, 2000 + part * 1000))
