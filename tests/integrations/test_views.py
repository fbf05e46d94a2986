"""Views of a program whose model calls are recorded at the wire."""

from __future__ import annotations

from typing import Any

from openai import OpenAI

from lctl.testing import ModelServer
from tests.clients import closing


def test_v4_an_answer_of_an_instrumented_client_is_shown(log: Any) -> None:
    """What is read from a view and asked again goes on where the view stands."""
    with ModelServer() as server:
        client = closing(OpenAI(base_url=server.openai_url, api_key="test"))
        for answer in ("Four.", "4.", "Six."):
            server.reply(answer)
        view = log.session.tree.view()
        asked: list[Any] = [{"role": "user", "content": "2+2?"}]
        client.chat.completions.create(model="m", messages=asked)
        four = view.nodes[-1]
        view.expect(four.id)
        client.chat.completions.create(model="m", messages=asked)
        assert view.nodes[-1].text == "4."
        assert view.siblings(four.id).count == 2
        view.select(four.id)
        more: list[Any] = [*view.messages(), {"role": "user", "content": "3+3?"}]
        client.chat.completions.create(model="m", messages=more)
        assert [node.text for node in view.nodes] == ["2+2?", "Four.", "3+3?", "Six."]
        assert len(log.session.tree) == 5


def test_v10_what_a_view_sends_is_the_prompt_of_the_call_that_follows(log: Any) -> None:
    """Written through the view, then sent over the wire: one message each, and the answer below them."""
    with ModelServer() as server:
        client = closing(OpenAI(base_url=server.openai_url, api_key="test"))
        for answer in ("Four.", "Six.", "Seven."):
            server.reply(answer)
        view = log.session.tree.view()
        for text in ("2+2?", "3+3?"):
            view.send(text)
            client.chat.completions.create(model="m", messages=view.messages())
        assert [node.text for node in view.nodes] == ["2+2?", "Four.", "3+3?", "Six."]
        edited = view.edit(view.nodes[2].id, "3+4?")
        client.chat.completions.create(model="m", messages=view.messages())
        assert [node.text for node in view.nodes] == ["2+2?", "Four.", "3+4?", "Seven."]
        assert view.siblings(edited).count == 2
        assert len(log.session.tree) == 6
        assert [node.sampled for node in view.nodes] == [False, True, False, True]
