"""Every recorded call, decoded from its bytes, is what the truth file says of it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from lctl.instrument.codecs import ModelAnswer, ModelRequest, find
from tests.corpus import recorded
from tests.corpus.recorded import RecordedCall

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not recorded.available(), reason="no recorded traffic beside the checkout"),
]


@pytest.fixture(scope="module")
def calls() -> list[RecordedCall]:
    found = recorded.calls()
    assert len(found) >= 550
    return found


def decode(call: RecordedCall, body: bytes | None = None) -> tuple[str, ModelRequest, ModelAnswer]:
    found = find(call.method, call.url, call.request_headers)
    assert found is not None, call.url
    codec, operation = found
    request = codec.read_request(operation, call.url, call.request_body)
    chunks = [call.body if body is None else body]
    return operation, request, codec.read_answer(operation, call.status, call.headers, chunks)


def fields(operation: str, request: ModelRequest, answer: ModelAnswer) -> dict[str, Any]:
    first = answer.messages[0] if answer.messages else {}
    return {
        "endpoint": operation,
        "stream": request.stream,
        "stream_events": answer.events,
        "response_id": answer.response_id,
        "model": answer.model,
        "text": recorded.text_of(first) or None,
        "texts": [recorded.text_of(message) or None for message in answer.messages],
        "reasoning": recorded.reasoning_of(first),
        "tool_calls": recorded.tool_calls_of(first),
        "finish_reason": answer.finish_reason,
        "usage": recorded.usage_of(answer.usage),
        "embedding": answer.embedding,
        "error": answer.error,
    }


def expected(truth: dict[str, Any]) -> dict[str, Any]:
    # "" and None are one here: whether a model without text said "" or nothing is the SDKs' taste.
    texts = [text or None for text in truth["texts"]]
    truth = {**truth, "text": truth["text"] or None, "texts": texts}
    del truth["http_status"]
    return truth


def test_every_field_of_every_call_is_the_recorded_one(calls: list[RecordedCall]) -> None:
    """Thirteen fields a call; a difference names the call and both values."""
    wrong = []
    for call in calls:
        got, want = fields(*decode(call)), expected(call.truth)
        if want["texts"] == [None] and not got["texts"]:  # an answer without any output item
            got["texts"] = [None]
        wrong += [(call.row["call"], key, got[key], want[key]) for key in want if got[key] != want[key]]
    assert wrong == []


def test_every_request_is_read_as_it_was_sent(calls: list[RecordedCall]) -> None:
    """Model, messages and tools of the request body, verbatim."""
    for call in calls:
        operation, request, _ = decode(call)
        sent = call.row["request"]
        assert request.model == sent["model"], call.row["call"]
        assert request.tools == (sent.get("tools") or sent.get("functions") or None)
        messages = request.messages[1:] if request.instructions else request.messages
        if operation in ("chat.completions", "messages"):
            assert messages == sent["messages"]
        elif operation == "responses" and isinstance(sent["input"], str):
            assert messages == [{"role": "user", "content": sent["input"]}]
        elif operation == "responses":
            assert sum(request.spans or ()) == len(sent["input"])


def test_tokens_count_all_that_was_read(calls: list[RecordedCall]) -> None:
    """`tokens` has the reported counts under our names, cached input included."""
    for call in calls:
        tokens = decode(call)[2].tokens
        want = recorded.expected_tokens(call.truth)
        assert {key: (tokens or {}).get(key) for key in want} == want, call.row["call"]
        assert tokens is None or want, call.row["call"]


def test_a_stream_cut_anywhere_gives_the_beginning_of_its_text(calls: list[RecordedCall]) -> None:
    """Whatever byte a stream ends at: nothing is raised, and what is read is a prefix of the whole."""
    chance = random.Random(7)
    cut = 0
    for call in calls:
        if call.truth["stream_events"] is None or call.truth["error"]:
            continue
        whole = decode(call)[2]
        for _ in range(6):
            at = chance.randrange(len(call.body))
            part = decode(call, call.body[:at])[2]
            cut += 1
            for begun, full in zip(part.messages, whole.messages, strict=False):
                text = (recorded.text_of(begun) or "").removesuffix("�")
                assert (recorded.text_of(full) or "").startswith(text), (call.row["call"], at)
            assert len(part.messages) <= len(whole.messages)
    assert cut > 600


def test_a_body_in_any_chunks_is_read_the_same(calls: list[RecordedCall]) -> None:
    """How the network cut a body makes no difference."""
    chance = random.Random(11)
    for call in calls[::7]:
        found = find(call.method, call.url, call.request_headers)
        assert found is not None
        codec, operation = found
        cuts = sorted(chance.randrange(len(call.body) + 1) for _ in range(5))
        chunks = [call.body[a:b] for a, b in zip([0, *cuts], [*cuts, len(call.body)], strict=True)]
        assert codec.read_answer(operation, call.status, call.headers, chunks) == decode(call)[2]


def test_mutated_traffic_never_raises(calls: list[RecordedCall]) -> None:
    """Flipped, removed and repeated bytes: an answer is always given; a request may be a ValueError."""
    chance = random.Random(13)
    for call in calls[::3]:
        found = find(call.method, call.url, call.request_headers)
        assert found is not None
        codec, operation = found
        for _ in range(4):
            codec.read_answer(operation, 200, call.headers, [mutate(call.body, chance)])
            try:
                codec.read_request(operation, call.url, mutate(call.request_body, chance))
            except ValueError:
                pass


def mutate(data: bytes, chance: random.Random) -> bytes:
    """JSON-aware enough to get past the parser: values swapped as often as bytes broken."""
    swaps = [b"null", b"[]", b"{}", b'"x"', b"3", b"[null]", b'[{"type":null}]', b"true", b'{"0":[1]}']
    out = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(out) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            out[at : at + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            del out[at : at + chance.randrange(40)]
        else:
            colon = out.find(b":", at)
            end = min(i for i in (out.find(b",", colon), out.find(b"}", colon), len(out)) if i >= 0)
            out[colon + 1 : end] = chance.choice(swaps)
    return bytes(out)
