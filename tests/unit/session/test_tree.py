"""`session.tree`: the conversations of a session that is being recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

import lctl
from lctl.errors import UsageError
from lctl.session import LCTLSession


def test_it_grows_with_the_session_and_is_what_a_reader_of_the_log_sees(tmp_path: Path) -> None:
    with LCTLSession("c", tmp_path / "c.lctl.json") as session:
        session.emit("message", {"message_id": "u1", "role": "user", "content": "Hello", "parent_id": None})
        tree = session.tree
        assert [node.id for node in tree.path("u1")] == ["u1"]
        before = tree.at(tree.seq)
        session.emit("message", {"message_id": "a1", "role": "assistant", "content": "Hi"})
        session.stream_start(message_id="a2", parent_id="u1", role="assistant")
        session.stream_chunk("Good ", message_id="a2")
        assert tree["a2"].text == "Good "
        session.stream_chunk("day", message_id="a2")
        session.stream_end(message_id="a2")
        assert [node.id for node in tree["u1"].children] == ["a1", "a2"]
        assert len(before) == 1
        live = tree.state_hash()
    chain = lctl.load(tmp_path / "c.lctl.json")
    assert chain.tree.state_hash() == live
    assert chain.transcript("a2") == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Good day"},
    ]
    with pytest.raises(UsageError, match=r"c\.lctl\.json can only be read"):
        _ = chain.tree.writer
