"""Why rows begin anew is what was done to the list (row G14): `history.breaks` and the samples agree."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from lctl.training import samples
from tests.unit.messagegraph.calling import assistant, call, system, user


class Talk:
    """A graph whose list is changed, asked, and mostly gone on with."""

    def __init__(self, session: LCTLSession, r: random.Random) -> None:
        self.r = r
        self.session = session
        self.graph = MessageGraph(session, messages=[system("S"), user("u0")])
        self.count = 0

    def text(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def change(self) -> None:
        """One change of the list, or none."""
        graph, r = self.graph, self.r
        kind, length = r.random(), len(graph)
        if kind < 0.15 and length > 3:
            graph[1 : r.randrange(3, length + 1)] = [user(self.text("sum"))]
        elif kind < 0.3:
            at = r.randrange(length)
            if graph[at]["role"] != "assistant":
                graph[at]["content"] = self.text("edit")
        elif kind < 0.4 and length > 3:
            del graph[r.randrange(1, length)]
        elif kind < 0.5:
            graph.insert(r.randrange(1, length + 1), user(self.text("ins")))

    def ask(self) -> None:
        # Two answers that say the same are two answers.
        answer = assistant(self.r.choice(["yes", "no", self.text("a")]))
        call(self.session, self.graph, answer)
        if self.r.random() < 0.9:
            self.graph.append(answer)
        self.graph.append(user(self.text("q")))


def reasons(session: LCTLSession, graph: MessageGraph) -> tuple[Counter[str], Counter[str]]:
    """What the graph says, and what its rows say."""
    found = Counter(row.break_reason for row in samples(session.tree) if row.break_reason is not None)
    return Counter(one.reason for one in graph.breaks), found


@pytest.mark.parametrize("seed", range(60))
def test_g14_a_graph_and_its_rows_say_the_same(tmp_path: Path, seed: int) -> None:
    with LCTLSession("c", tmp_path / "run.lctl.json") as session:
        talk = Talk(session, random.Random(seed))
        for _ in range(6):
            talk.change()
            talk.ask()
        said, found = reasons(session, talk.graph)
        assert said == found


def _asked(session: LCTLSession, *words: Any) -> MessageGraph:
    graph = MessageGraph(session, messages=[system("S"), user("u0")])
    for n, word in enumerate(words):
        call(session, graph, assistant(f"a{n}"))
        graph += [assistant(f"a{n}"), user(word)]
    return graph


@pytest.mark.parametrize("stop", [4, 5, 6])
def test_g14_a_summary_of_all_that_follows_is_a_compaction(tmp_path: Path, stop: int) -> None:
    """Also where nothing is left after it that both lists have."""
    with LCTLSession("c", tmp_path / "run.lctl.json") as session:
        graph = _asked(session, "u1", "u2")
        graph[1:stop] = [user("What was said.")]
        call(session, graph, assistant("Right."))
        said, found = reasons(session, graph)
        assert said == found == {"compaction": 1}
    again = LCTLSession(path=tmp_path / "run.lctl.json")
    with again:
        tip = again.tree.tip()
        assert tip is not None
        assert [one.reason for one in MessageGraph.resume(tip).breaks] == ["compaction"]


def test_g14_the_edit_of_a_summary_is_an_edit(tmp_path: Path) -> None:
    """It is held against the summary, and not against what that had replaced."""
    with LCTLSession("c", tmp_path / "run.lctl.json") as session:
        graph = _asked(session, "u1", "u2")
        graph[1:5] = [user("What was said.")]
        call(session, graph, assistant("Right."))
        graph += [assistant("Right."), user("u3")]
        graph[1]["content"] = "What was said before."
        call(session, graph, assistant("Fine."))
        said, found = reasons(session, graph)
        assert said == found == {"compaction": 1, "edit": 1}


def test_g14_an_answer_passed_over_and_a_question_edited_before_it_was_asked(tmp_path: Path) -> None:
    """The call goes another way from the prompt that was answered; no model had read what was edited."""
    with LCTLSession("c", tmp_path / "run.lctl.json") as session:
        graph = MessageGraph(session, messages=[system("S"), user("u0")])
        call(session, graph, assistant("a0"))
        graph.append(user("u1"))
        graph[2]["content"] = "u1, in other words"
        call(session, graph, assistant("a1"))
        said, found = reasons(session, graph)
        assert said == found == {"fork": 1}
