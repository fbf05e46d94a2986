"""Pictures and other large content, which a log holds once: whoever reads a message has them in place."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import openai
import pytest

import lctl
from lctl.errors import UsageError
from lctl.testing import ModelServer
from lctl.training import samples
from tests.clients import closing

PICTURE = "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 40).decode()
SEEN: dict[str, Any] = {
    "role": "user",
    "content": [{"type": "text", "text": "See?"}, {"type": "image_url", "image_url": {"url": PICTURE}}],
}
Messages = list[Any]


def _ask(server: ModelServer, messages: Messages) -> Messages:
    """What the provider was sent."""
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    client.chat.completions.create(model="m", messages=messages)
    sent = server.requests[-1].body["messages"]
    assert isinstance(sent, list)
    return sent


def _recorded(path: Path) -> Path:
    """A log of one call that read a picture."""
    with ModelServer() as server, lctl.LCTLSession("c", path):
        server.reply("A cat.")
        _ask(server, [SEEN])
    return path


def test_a_view_gives_the_picture_to_the_next_call(tmp_path: Path) -> None:
    """While it is recorded, the log closed or not, and from a log that was read."""
    with ModelServer() as server, lctl.LCTLSession("c", tmp_path / "run.lctl.json") as session:
        server.script(["A cat.", "Sure."])
        _ask(server, [SEEN])
        view = session.tree.view()
        view.send("Sure?")
        assert _ask(server, view.messages())[0] == SEEN
        assert [node.text for node in view.nodes][-2:] == ["Sure?", "Sure."]
    assert view.messages()[0] == SEEN
    chain = lctl.load(tmp_path / "run.lctl.json")
    assert chain.tree.view().messages()[0] == SEEN
    assert sum(event.type == "blob" for event in chain.events) == 1


def test_a_graph_of_a_log_goes_on_with_the_picture(tmp_path: Path) -> None:
    """It is sent, is no edit, and is not recorded again."""
    log = _recorded(tmp_path / "run.lctl.json")
    with ModelServer() as server, lctl.LCTLSession("c", log) as session:
        server.reply("Black.")
        tip = session.tree.tip()
        assert tip is not None
        history = lctl.MessageGraph.resume(tip)
        history.append({"role": "user", "content": "Which colour?"})
        assert _ask(server, history)[0] == SEEN
        assert not history.breaks
    chain = lctl.load(log)
    assert len(chain.tree) == 4 and len(chain.tree.leaves) == 1
    assert sum(event.type == "blob" for event in chain.events) == 1


def test_a_graph_that_says_the_picture_again_is_on_its_path(tmp_path: Path) -> None:
    log = _recorded(tmp_path / "run.lctl.json")
    with ModelServer() as server, lctl.LCTLSession("c", log) as session:
        server.reply("Black.")
        history = lctl.MessageGraph(session, messages=[SEEN, {"role": "assistant", "content": "A cat."}])
        history.append({"role": "user", "content": "Which colour?"})
        _ask(server, history)
    assert len(lctl.load(log).tree) == 4


def test_transcripts_and_samples_hold_the_picture(tmp_path: Path) -> None:
    tree = lctl.load(_recorded(tmp_path / "run.lctl.json")).tree
    tip = tree.tip()
    assert tip is not None
    assert tree.transcript(tip.id)[0] == SEEN == tip.path[0].message
    (row,) = samples(tree)
    assert row.messages[0] == SEEN


def test_content_that_the_log_does_not_hold_is_not_sent(tmp_path: Path) -> None:
    """Of a log whose blobs were taken out, the placeholder is told of, not given to a model; who reads the
    log sees the name."""
    named = {"$blob": "sha256:" + "0" * 64, "prefix": "data:image/png;base64,"}
    said = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": named}}]}
    with lctl.LCTLSession("c", tmp_path / "run.lctl.json") as session:
        session.emit("message", {"message_id": "m1", "parent_id": None, **said})
        tree = session.tree
        with pytest.raises(UsageError, match="message m1 holds content that is not in the log"):
            tree.view().messages()
        with pytest.raises(UsageError, match="message m1 holds content that is not in the log"):
            lctl.MessageGraph.resume(tree["m1"])
        assert tree.transcript("m1") == [said]
