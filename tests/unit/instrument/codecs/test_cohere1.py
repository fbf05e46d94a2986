"""Cohere's first API: a message and its history, tools, prompts, embeddings."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.instrument.chains import Chain
from tests.unit.instrument.codecs.test_other_wires import answered, asked

COHERE = "https://api.cohere.com/v1"


def lines(*events: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def test_cohere_first_chat() -> None:
    """The history is the conversation; the end of a stream tells all once more."""
    url = f"{COHERE}/chat"
    history = [{"role": "USER", "message": "a"}, {"role": "CHATBOT", "message": "b"}]
    request = asked(url, {"message": "Hi", "preamble": "Be brief.", "chat_history": history, "stream": True})
    assert [message["role"] for message in request.messages] == ["system", "user", "assistant", "user"]
    assert (request.provider, request.stream, request.params) == ("cohere", True, {})
    tokens = {"input_tokens": 70, "output_tokens": 3}
    whole: dict[str, Any] = {
        "text": "Hello",
        "response_id": "r1",
        "generation_id": "g1",
        "finish_reason": "COMPLETE",
    }
    whole |= {"meta": {"tokens": tokens, "billed_units": {"input_tokens": 2}}}
    begun = {"event_type": "stream-start", "is_finished": False, "generation_id": "g1"}
    pieces = [{"event_type": "text-generation", "is_finished": False, "text": text} for text in ("Hel", "lo")]
    end = {"event_type": "stream-end", "is_finished": True, "finish_reason": "COMPLETE", "response": whole}
    kind = {"content-type": "application/stream+json"}
    for answer in (answered(url, whole), answered(url, lines(begun, *pieces, end), kind)):
        assert (answer.response_id, answer.finish_reason, answer.complete) == ("r1", "COMPLETE", True)
        assert answer.messages == [{"role": "assistant", "content": "Hello"}]
        assert answer.tokens == {"input": 70, "output": 3}
    cut = answered(url, lines(begun, *pieces), kind)
    assert not cut.complete and cut.messages[0]["content"] == "Hello"


def test_cohere_first_tools() -> None:
    """A call has no id: its result is known by its name. What comes with results has no words."""
    url = f"{COHERE}/chat"
    call = {"name": "f", "parameters": {"a": 1}}
    answer = answered(
        url, {"text": "", "generation_id": "g", "tool_calls": [call], "finish_reason": "COMPLETE"}
    )
    chain = Chain()
    chain.answer(chain.send({"model": "c", "message": "Hi"}, url), answer)
    history = [{"role": "USER", "message": "Hi"}, {"role": "CHATBOT", "message": "", "tool_calls": [call]}]
    results = [{"call": call, "outputs": [{"r": 2}]}]
    body = {"model": "c", "message": "", "chat_history": history, "tool_results": results}
    _, leaf = chain.send(body, url)
    assert [message["role"] for message in chain.path(leaf)] == ["user", "assistant", "tool"]
    assert len(chain.messages()) == 3
    [called] = chain.events("tool_call")
    assert (called["data"]["tool"], called["data"]["input"], called["data"]["output"]) == (
        "f",
        {"a": 1},
        [{"r": 2}],
    )


def test_cohere_first_prompts_and_embeddings() -> None:
    """As the first version answers them."""
    request = asked(f"{COHERE}/generate", {"model": "command", "prompt": "Hi"})
    assert (request.kind, request.input, request.messages) == ("llm", "Hi", [])
    body: dict[str, Any] = {
        "id": "g",
        "generations": [{"id": "gg", "text": "Hello", "finish_reason": "COMPLETE"}],
    }
    answer = answered(f"{COHERE}/generate", body)
    assert (answer.messages[0]["content"], answer.finish_reason) == ("Hello", "COMPLETE")
    request = asked(f"{COHERE}/embed", {"model": "e", "texts": ["Hi"], "input_type": "search_query"})
    assert (request.kind, request.input, request.params) == (
        "embedding",
        ["Hi"],
        {"input_type": "search_query"},
    )
    body = {"embeddings": [[0.1, 0.2]], "meta": {"billed_units": {"input_tokens": 2}}}
    answer = answered(f"{COHERE}/embed", body)
    assert (answer.embedding, answer.tokens) == ({"count": 1, "dimensions": 2}, {"input": 2})
