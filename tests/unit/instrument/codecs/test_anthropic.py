"""Anthropic messages: blocks, streams, counts, and the other roads to them."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from lctl.instrument.codecs import ModelAnswer, ModelRequest, find
from tests.unit.instrument.codecs.streams import JSON, SSE, named

URL = "https://api.anthropic.com/v1/messages"
STREAMING = "https://x.amazonaws.com/model/anthropic.c/invoke-with-response-stream"
FRAMES = {"content-type": "application/vnd.amazon.eventstream"}


def request(body: dict[str, Any], url: str = URL) -> ModelRequest:
    found = find("POST", url, {})
    assert found is not None
    return found[0].read_request(found[1], url, orjson.dumps(body))


def read(body: bytes, headers: dict[str, str] = SSE, *, url: str = URL, status: int = 200) -> ModelAnswer:
    found = find("POST", url, {})
    assert found is not None
    return found[0].read_answer(found[1], status, headers, [body])


def start(**message: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}
    whole: dict[str, Any] = {
        "id": "msg",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "usage": usage,
    }
    return {"type": "message_start", "message": {**whole, **message}}


def block(index: int, **content: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": content}


def delta(index: int, kind: str, **piece: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **piece}}


def ends(reason: str = "end_turn", **usage: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    last = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    return last, {"type": "message_stop"}


class TestStreams:
    def test_a_reader_that_stops_where_the_model_did(self) -> None:
        """What comes after the reason why it stopped says nothing more (LiteLLM does not read it)."""
        said = [start(), block(0, type="text", text=""), delta(0, "text_delta", text="Hi")]
        assert read(named(*said, ends()[0])).complete
        assert not read(named(*said)).complete

    def test_text_and_final_usage(self) -> None:
        """message_delta's usage replaces the start's, for input too; nothing is added up."""
        answer = read(
            named(
                start(),
                block(0, type="text", text=""),
                {"type": "ping"},
                delta(0, "text_delta", text="Hé"),
                delta(0, "text_delta", text="llo"),
                {"type": "content_block_stop", "index": 0},
                *ends(
                    input_tokens=100,
                    output_tokens=7,
                    cache_creation_input_tokens=None,
                    output_tokens_details={"thinking_tokens": 4},
                ),
            )
        )
        assert answer.messages == [{"role": "assistant", "content": [{"type": "text", "text": "Héllo"}]}]
        assert (answer.response_id, answer.model, answer.finish_reason) == ("msg", "m", "end_turn")
        assert answer.tokens == {"input": 105, "output": 7, "cache_read": 5, "reasoning": 4}
        assert answer.usage == {
            "input_tokens": 100,
            "cache_read_input_tokens": 5,
            "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 4},
        }
        assert (answer.events, answer.complete) == (7, True)

    def test_thinking_tools_and_citations(self) -> None:
        """Every kind of block, verbatim where it came whole."""
        found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"title": "t"}]}
        answer = read(
            named(
                start(),
                block(0, type="thinking", thinking="", signature=""),
                delta(0, "thinking_delta", thinking="h"),
                delta(0, "thinking_delta", thinking="m"),
                delta(0, "signature_delta", signature="sig"),
                block(1, type="redacted_thinking", data="zz"),
                block(2, type="server_tool_use", id="s", name="web_search", input={}),
                delta(2, "input_json_delta", partial_json=""),
                delta(2, "input_json_delta", partial_json='{"q": "x"}'),
                block(3, **found),
                block(4, type="text", text="", citations=[]),
                delta(4, "citations_delta", citation={"url": "u"}),
                delta(4, "citations_delta", citation={"url": "v"}),
                delta(4, "text_delta", text="so"),
                block(5, type="tool_use", id="t", name="f", input={}),
                delta(5, "input_json_delta", partial_json='{"a": [1'),
                delta(5, "input_json_delta", partial_json="]}"),
                block(6, type="tool_use", id="u", name="g", input={}),
                *ends("tool_use"),
            )
        )
        assert answer.messages[0]["content"] == [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "redacted_thinking", "data": "zz"},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
            found,
            {"type": "text", "text": "so", "citations": [{"url": "u"}, {"url": "v"}]},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1]}},
            {"type": "tool_use", "id": "u", "name": "g", "input": {}},
        ]

    def test_what_is_sent_whole(self) -> None:
        """A signature and a summary replace what came before, as in Anthropic's SDK."""
        answer = read(
            named(
                start(),
                block(0, type="compaction", content=None, encrypted_content=None),
                delta(0, "compaction_delta", content="so", encrypted_content="e1"),
                delta(0, "compaction_delta", content="so far", encrypted_content="e2"),
                block(1, type="thinking", thinking="", signature=""),
                delta(1, "signature_delta", signature="s1"),
                delta(1, "signature_delta", signature="s2"),
                *ends(),
            )
        )
        assert answer.messages[0]["content"] == [
            {"type": "compaction", "content": "so far", "encrypted_content": "e2"},
            {"type": "thinking", "thinking": "", "signature": "s2"},
        ]

    def test_a_model_that_another_falls_back_to(self) -> None:
        """The one that served the answer is its model, as in an answer of one piece."""
        hop = {"type": "fallback", "from": {"model": "big"}, "to": {"model": "small"}}
        answer = read(named(start(model="big"), block(0, **hop), block(1, type="text", text="a"), *ends()))
        assert answer.model == "small"
        assert answer.messages[0]["content"][0] == hop

    def test_cut_inside_arguments(self) -> None:
        """The JSON text as far as it came."""
        events = (start(), block(0, type="tool_use", id="t", name="f", input={}))
        answer = read(named(*events, delta(0, "input_json_delta", partial_json='{"a": [1')))
        assert answer.messages[0]["content"][0]["input"] == '{"a": [1'
        assert not answer.complete

    def test_cut_before_the_first_word(self) -> None:
        """No message: nothing was said. The input tokens are known."""
        answer = read(named(start()))
        assert answer.messages == []
        assert answer.tokens == {"input": 15, "output": 1, "cache_read": 5}

    def test_an_empty_answer(self) -> None:
        """A message without blocks that ended well is a message."""
        answer = read(named(start(), *ends(output_tokens=2)))
        assert answer.messages == [{"role": "assistant", "content": []}]

    def test_a_lost_block_start(self) -> None:
        """Deltas say what the block is."""
        answer = read(
            named(start(), delta(0, "thinking_delta", thinking="h"), delta(1, "text_delta", text="a"))
        )
        kinds = [part["type"] for part in answer.messages[0]["content"]]
        assert kinds == ["thinking", "text"]

    def test_another_block_under_the_same_index(self) -> None:
        """Of a gateway that counts badly: both were said."""
        first = [block(0, type="text", text=""), delta(0, "text_delta", text="first")]
        second = [block(0, type="text", text=""), delta(0, "text_delta", text="second")]
        [message] = read(named(start(), *first, *second, *ends())).messages
        assert [part["text"] for part in message["content"]] == ["first", "second"]

    def test_an_error_event(self) -> None:
        """Overloaded in mid-stream."""
        failure = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        answer = read(named(start(), block(0, type="text", text="a"), failure))
        assert answer.error == {
            "status": 200,
            "type": "overloaded_error",
            "code": None,
            "message": "Overloaded",
        }
        assert answer.messages[0]["content"] == [{"type": "text", "text": "a"}]


class TestWhole:
    def test_content_is_verbatim(self) -> None:
        """Blocks as they came; cached tokens are counted into the input."""
        content = [
            {"type": "text", "text": "a", "citations": None},
            {"type": "tool_use", "id": "t", "input": {}},
        ]
        usage = {"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4}
        body = {
            "id": "msg",
            "role": "assistant",
            "content": content,
            "stop_reason": "tool_use",
            "usage": usage,
        }
        answer = read(orjson.dumps(body), JSON)
        assert answer.messages == [{"role": "assistant", "content": content}]
        assert answer.tokens == {"input": 7, "cache_read": 4, "cache_write": 2}

    def test_errors(self) -> None:
        """The error object's own type."""
        body = b'{"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"r"}'
        answer = read(body, JSON, status=429)
        assert answer.error == {
            "status": 429,
            "type": "rate_limit_error",
            "code": None,
            "message": "slow down",
        }

    def test_counting_tokens_uses_none(self) -> None:
        """The count is in `usage` and in no sum."""
        answer = read(b'{"input_tokens": 12}', JSON, url=URL + "/count_tokens?beta=true")
        assert (answer.tokens, answer.usage) == (None, {"input_tokens": 12})
        assert answer.messages == []


class TestRequests:
    @pytest.mark.parametrize(
        "system", ["s", [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]]
    )
    def test_the_system_prompt_is_a_message(self, system: Any) -> None:
        """The first one, as it was sent."""
        read = request(
            {"model": "m", "max_tokens": 5, "system": system, "messages": [{"role": "user", "content": "a"}]}
        )
        assert read.messages == [{"role": "system", "content": system}, {"role": "user", "content": "a"}]
        assert (read.instructions, read.params) == (True, {"max_tokens": 5})

    def test_other_services_bodies(self) -> None:
        """`/v1/messages` is a common path."""
        with pytest.raises(ValueError):
            request({"to": "+1", "text": "hi", "messages": "none"})

    @pytest.mark.parametrize(
        ("url", "model", "stream"),
        [
            (
                "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.c-v1%3A0/invoke",
                "us.anthropic.c-v1:0",
                False,
            ),
            ("https://x.amazonaws.com/model/anthropic.c/invoke-with-response-stream", "anthropic.c", True),
            (
                "https://x.googleapis.com/v1/publishers/anthropic/models/claude-x@1:streamRawPredict",
                "claude-x@1",
                True,
            ),
        ],
    )
    def test_the_model_in_the_path(self, url: str, model: str, stream: bool) -> None:
        """Bedrock and Vertex."""
        read = request({"anthropic_version": "v", "messages": [], "max_tokens": 1}, url)
        assert (read.model, read.stream) == (model, stream)


class TestBedrockStreams:
    def frame(self, payload: dict[str, Any]) -> bytes:
        inner = orjson.dumps({"bytes": base64.b64encode(orjson.dumps(payload)).decode(), "p": "abc"})
        head = b"\x0b:event-type\x07\x00\x05chunk"
        size = 16 + len(head) + len(inner)
        return size.to_bytes(4, "big") + len(head).to_bytes(4, "big") + bytes(4) + head + inner + bytes(4)

    def test_frames_are_events(self) -> None:
        """The same events in another envelope, cut anywhere."""
        events = (
            start(),
            block(0, type="text", text=""),
            delta(0, "text_delta", text="hi"),
            *ends(output_tokens=2),
        )
        body = b"".join(self.frame(event) for event in events)
        answer = read(body, FRAMES, url=STREAMING)
        assert answer.messages == [{"role": "assistant", "content": [{"type": "text", "text": "hi"}]}]
        assert answer.complete
        for end in range(0, len(body), 7):
            read(body[:end], FRAMES, url=STREAMING)
