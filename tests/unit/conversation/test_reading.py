"""Texts of messages are the log's, in whatever order they are asked for."""

from __future__ import annotations

import random

import lctl
from lctl.conversation.reading import Reader
from tests.unit.conversation.events import chain


def test_a_reader_gives_what_the_log_holds() -> None:
    """Forwards, backwards, near and far: the data of just that event."""
    log = lctl.Chain("c", chain(*(f"u{n}" for n in range(3000))).events).log
    read = Reader(log)
    r = random.Random(1)
    order = [*range(1, 3001), *range(3000, 0, -1), *r.sample(range(1, 3001), 500)]
    order += [seq + step for seq in r.sample(range(1, 2900), 50) for step in (0, 3, 1, 90)]
    for seq in order:
        assert read(seq)["message_id"] == f"u{seq - 1}"


def test_a_log_with_gaps() -> None:
    """A fork's log begins later; events before its first are not asked for."""
    events = chain(*(f"u{n}" for n in range(100))).events[70:]
    read = Reader(lctl.Chain("c", events).log)
    assert [read(seq)["message_id"] for seq in (71, 72, 100, 99)] == ["u70", "u71", "u99", "u98"]


def test_messages_are_the_callers_to_change() -> None:
    log = chain("u1")
    log.events[0]["data"]["content"] = [{"type": "text", "text": "here"}]
    for tree in (log.tree, lctl.Chain("c", log.events).tree):
        tree["u1"].message["content"][0]["text"] = "changed"
        assert tree.transcript("u1") == [{"role": "user", "content": [{"type": "text", "text": "here"}]}]


def test_ids_that_are_no_text() -> None:
    """A number is its digits; anything else is as if it were not there."""
    log = chain("u1")
    log.add("message", message_id=7, parent_id="u1", role="user", content="x")
    log.add("message", message_id=["a"], parent_id={"b": 1}, role=3, content="y", serial=[1])
    log.add("message_alias", alias=["x"], message_id="u1").add("view_select", message_id=4)
    tree = log.tree
    assert [node.id for node in tree] == ["u1", "7", "#3"]
    assert [node.id for node in tree.path("#3")] == ["u1", "7", "#3"]
