"""What a call cannot take is said: what it is, the value, and what it takes instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.errors import UsageError
from lctl.facts.querying import query
from tests.golden import logs


class Things:
    def __init__(self, folder: Path) -> None:
        self.chain = lctl.Chain.load(logs.written(folder / "review.lctl.json", logs.security_review()))
        self.session = lctl.LCTLSession(path=folder / "run.lctl.json")
        self.graph = lctl.MessageGraph(session=self.session)
        self.graph.append({"role": "user", "content": "Hello"})
        self.engine = lctl.ReplayEngine(self.chain)
        self.folder = folder
        self.durable = lctl.Session.start(log=self.session, session_id="S", seed_messages=["hi"])

    def start(self, **given: Any) -> None:
        lctl.Session.start(log=self.session, **given)


@pytest.fixture
def things(tmp_path: Path) -> Iterator[Things]:
    made = Things(tmp_path)
    yield made
    made.session.close()


#: What no call here takes, and no type checker lets through.
TEXT: Any = "2"
THING: Any = 2
ACME: Any = ["ACME"]
PROPERTY: Any = property(str)

CASES: dict[str, tuple[Callable[[Any], object], str]] = {
    "tool of a class": (lambda t: lctl.tool(Things), "decorate its methods"),
    "tool of a property": (lambda t: lctl.tool(PROPERTY), "write @property above @lctl.tool"),
    "tool of a number": (lambda t: lctl.tool(TEXT)(5), "@lctl.tool on 5: it is for functions"),
    "resume": (lambda t: t.graph.resume("x"), "resume('x'): it takes a message of a tree"),
    "versions": (lambda t: t.graph.versions("x"), "index 'x': messages of a graph are counted from 0"),
    "tree.at": (lambda t: t.chain.tree.at("x"), "at('x'): it takes the number of an event"),
    "chain.at": (lambda t: t.chain.at("x"), "at('x'): it takes the number of an event"),
    "replay_to": (lambda t: t.engine.replay_to(None), "at(None): it takes the number of an event"),
    "diff": (lambda t: t.engine.diff("x"), "diff('x'): it takes another chain"),
    "seeds as text": (lambda t: t.start(seed_messages="Hi"), "seed_messages='Hi': it is a list of messages"),
    "one seed": (lambda t: t.start(seed_messages={"role": "user"}), "such as [{'role': 'user'}]"),
    "trigger": (lambda t: t.start(trigger=5), "trigger=5: it is ('email', 'msg-17'), or a type alone"),
    "model": (lambda t: t.start(model=5), "model=5: it is an id, or {'id': ..., 'context_window': ...}"),
    "tools": (lambda t: t.start(tools=5), "tools=5: it is a list of names, definitions or functions"),
    "number": (lambda t: t.durable.record("x", number=0), "number=0: messages are numbered from 1"),
    "no message": (lambda t: t.durable.record(None), "None is no message"),
    "two messages": (lambda t: t.durable.record([{"role": "user"}]), "give each by itself"),
    "end": (lambda t: t.durable.end("done"), "status='done': a session is completed or failed in the end"),
    "fork's model": (lambda t: t.durable.fork(model=5), "model=5: it is an id"),
    "fork's system": (lambda t: t.durable.fork(system_patch=5), "system_patch=5: it is a text"),
    "fork's place": (lambda t: t.durable.fork(1, seq=2), "at=1 and seq=2: a fork begins at one place"),
    "bundle": (lambda t: t.durable.export(t.folder / "b", redact=[]), "redact=[]: it is True, False or"),
    "a pattern": (
        lambda t: lctl.Redactor(extra_patterns=["("]),
        "extra_patterns: '(' is no regular expression",
    ),
    "engine": (lambda t: lctl.ReplayEngine(TEXT), "ReplayEngine('2'): it takes a chain"),
    "what-if at": (
        lambda t: lctl.what_if(t.chain, at=TEXT, set={"data.x": 1}),
        "at='2': it is the number of",
    ),
    "what-if drop": (lambda t: lctl.what_if(t.chain, drop=[TEXT]), "drop='2': it is the number of"),
    "what-if insert": (lambda t: lctl.what_if(t.chain, at=2, insert=[TEXT]), "not '2'"),
    "a query of a path": (lambda t: query(TEXT, "SELECT 1"), "such as lctl.load(PATH)"),
    "a query at": (lambda t: query(t.chain, "SELECT * FROM facts", at=TEXT), "at='2': it takes the number"),
    "a store at": (lambda t: lctl.facts.open_store(t.chain.log.path, at=TEXT), "at='2': it takes the number"),
    "redact": (
        lambda t: lctl.LCTLSession(path=t.folder / "x", redact=ACME),
        "redact=['ACME']: it is True, False or an lctl.Redactor",
    ),
    "header": (
        lambda t: lctl.LCTLSession(path=t.folder / "x", header=TEXT),
        "header='2': it is a mapping",
    ),
    "a chain's id": (lambda t: lctl.LCTLSession(THING), "chain_id=2: it is a text"),
    "a log's path": (lambda t: lctl.LCTLSession("c", THING), "path=2: it is a path, such as 'run.lctl.json'"),
    "max_string": (lambda t: lctl.LCTLSession(max_string=THING - 2), "max_string=0: it is a number of char"),
    "export's path": (lambda t: t.session.export(THING), "path=2: it is a path"),
    "whose step": (lambda t: lctl.traced_step(THING), "traced_step(2): it takes a session, or the name"),
    "a name": (lambda t: lctl.Redactor(extra_keys="x-tenant"), "extra_keys='x-tenant': it is a list"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_said(case: str, things: Things) -> None:
    call, said = CASES[case]
    with pytest.raises(UsageError) as caught:
        call(things)
    assert said in str(caught.value)


def test_a_session_that_could_not_begin_leaves_nothing(things: Things) -> None:
    with pytest.raises(UsageError):
        lctl.Session.start(log=things.folder / "new.lctl.json", seed_messages="Hi")
    assert not (things.folder / "new.lctl.json").exists()


def test_what_python_takes_for_an_index_is_a_number(things: Things) -> None:
    """As the numbers of a data frame's column, which are no `int`."""

    class Number:
        def __init__(self, value: int) -> None:
            self.value = value

        def __index__(self) -> int:
            return self.value

    three: Any = Number(3)
    assert things.chain.at(three) == things.chain.at(3)
    assert things.chain.tree.at(three).seq == 3
    last: Any = Number(-1)
    assert things.graph.versions(last) == things.graph.versions(-1)
