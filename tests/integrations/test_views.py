"""Views of a program whose model calls are recorded at the wire."""

from __future__ import annotations

from typing import Any

from openai import OpenAI

from lctl.testing import ModelServer


def test_v4_an_answer_of_an_instrumented_client_is_shown(log: Any) -> None:
    """What is read from a view and asked again goes on where the view stands."""
    with ModelServer() as server:
        client = OpenAI(base_url=server.openai_url, api_key="test")
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
