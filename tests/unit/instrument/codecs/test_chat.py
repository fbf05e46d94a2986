"""Chat completions, with the shapes that real servers send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lctl.instrument.codecs import ModelAnswer, find
from tests.unit.instrument.codecs.streams import JSON, SSE, sse

URL = "https://api.openai.com/v1/chat/completions"


def read(body: bytes, status: int = 200, headers: dict[str, str] = SSE) -> ModelAnswer:
    found = find("POST", URL, {})
    assert found is not None
    return found[0].read_answer(found[1], status, headers, [body])


def delta(index: int = 0, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": "c1", "model": "m", "choices": [{"index": index, "delta": fields, "finish_reason": finish}]}


class TestStreams:
    def test_text_usage_and_end(self) -> None:
        """Content in pieces, usage in a last chunk without choices."""
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}
        answer = read(
            sse(
                {"id": "", "model": "", "choices": []},
                delta(role="assistant", content=""),
                delta(content="Hé"),
                delta(content="llo"),
                delta(finish="stop"),
                {"id": "c1", "model": "m", "choices": [], "usage": usage},
                done=True,
            )
        )
        assert answer.messages == [{"role": "assistant", "content": "Héllo"}]
        assert (answer.response_id, answer.model, answer.finish_reason) == ("c1", "m", "stop")
        assert answer.tokens == {"input": 3, "output": 2, "cache_read": 1}
        assert answer.usage == usage
        assert (answer.events, answer.complete) == (6, True)

    def test_usage_in_groqs_own_field(self) -> None:
        """`x_groq.usage`."""
        usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
        answer = read(sse({**delta(finish="stop"), "x_groq": {"id": "r", "usage": usage}}))
        assert answer.tokens == {"input": 1, "output": 2, "total": 3}

    def test_no_usage_is_no_tokens(self) -> None:
        """Not zero."""
        assert read(sse(delta(content="a"), done=True)).tokens is None

    def test_parallel_tool_calls(self) -> None:
        """By index, in pieces; id and name stand where they came first."""

        def call(index: int, **rest: Any) -> dict[str, Any]:
            return delta(tool_calls=[{"index": index, **rest}])

        answer = read(
            sse(
                call(0, id="a", type="function", function={"name": "f", "arguments": ""}),
                call(0, function={"arguments": '{"x"'}),
                call(1, id="b", type="function", function={"name": "g", "arguments": "{"}),
                call(0, id="", function={"arguments": ": 1}"}),
                call(1, function={"arguments": "}"}),
                delta(finish="tool_calls"),
            )
        )
        assert answer.messages[0]["content"] is None
        assert answer.messages[0]["tool_calls"] == [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
        ]

    def test_tool_calls_without_index_are_calls_of_their_own(self) -> None:
        """Each delta is a whole call then."""
        calls = [{"id": id, "function": {"name": id, "arguments": "{}"}} for id in ("a", "b")]
        answer = read(sse(delta(tool_calls=calls[:1]), delta(tool_calls=calls[1:])))
        assert [call["id"] for call in answer.messages[0]["tool_calls"]] == ["a", "b"]

    def test_pieces_without_index_belong_to_the_call_before(self) -> None:
        """What names neither a call nor a tool goes on with the last one."""
        pieces = [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x"'}},
            {"function": {"arguments": ": 1}"}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{"}},
            {"id": None, "function": {"name": None, "arguments": "}"}},
        ]
        answer = read(sse(*(delta(tool_calls=[piece]) for piece in pieces)))
        assert [call["function"] for call in answer.messages[0]["tool_calls"]] == [
            {"name": "f", "arguments": '{"x": 1}'},
            {"name": "g", "arguments": "{}"},
        ]

    def test_calls_that_come_in_another_order(self) -> None:
        """A server may begin with any of them; the order is that of the index."""
        pieces = [(2, "c", "{"), (0, "a", "{"), (1, "b", "{}"), (0, None, "}"), (2, None, "}")]
        answer = read(
            sse(
                *(
                    delta(
                        tool_calls=[{"index": index, "id": id, "function": {"name": id, "arguments": text}}]
                    )
                    for index, id, text in pieces
                )
            )
        )
        calls = answer.messages[0]["tool_calls"]
        assert [(call["id"], call["function"]["arguments"]) for call in calls] == [
            ("a", "{}"),
            ("b", "{}"),
            ("c", "{}"),
        ]

    def test_parallel_calls_under_one_index(self) -> None:
        """Another id and a name: another call, whatever its index."""

        def call(id: str, name: str, arguments: str) -> dict[str, Any]:
            return delta(
                tool_calls=[{"index": 0, "id": id, "function": {"name": name, "arguments": arguments}}]
            )

        events = [call("a", "f", "{"), call("a", "f", "}"), call("b", "f", "{}"), call("", "", " ")]
        assert [
            (one["id"], one["function"]["arguments"]) for one in read(sse(*events)).messages[0]["tool_calls"]
        ] == [("a", "{}"), ("b", "{} ")]

    @pytest.mark.parametrize(
        "names", [["get_", "weather", None], ["get_weather"] * 3, ["get_", "get_weather", ""]]
    )
    def test_a_name_in_pieces(self, names: list[Any]) -> None:
        """Or said again with each piece of the arguments."""
        pieces = zip(names, ["", '{"a":', "1}"], strict=True)
        calls = [{"index": 0, "function": {"name": name, "arguments": text}} for name, text in pieces]
        [message] = read(sse(*(delta(tool_calls=[call]) for call in calls), done=True)).messages
        assert message["tool_calls"][0]["function"] == {"name": "get_weather", "arguments": '{"a":1}'}

    def test_another_name_behind_arguments_is_another_call(self) -> None:
        """Of a server without ids, and with one index for all."""
        named = [{"index": 0, "function": {"name": name, "arguments": "{}"}} for name in ("find", "count")]
        [message] = read(sse(*(delta(tool_calls=[call]) for call in named), done=True)).messages
        assert [call["function"]["name"] for call in message["tool_calls"]] == ["find", "count"]

    def test_custom_tools_and_signatures(self) -> None:
        """Text input instead of arguments; fields that must be sent back are kept."""
        first = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sh", "input": "l"}}
        answer = read(
            sse(
                delta(tool_calls=[{**first, "extra_content": {"google": {"thought_signature": "s"}}}]),
                delta(tool_calls=[{"index": 0, "custom": {"input": "s"}}]),
            )
        )
        assert answer.messages[0]["tool_calls"] == [
            {
                "id": "a",
                "type": "custom",
                "custom": {"name": "sh", "input": "ls"},
                "extra_content": {"google": {"thought_signature": "s"}},
            }
        ]

    def test_legacy_function_call(self) -> None:
        """One function, its arguments in pieces."""
        answer = read(
            sse(
                delta(function_call={"name": "f", "arguments": ""}),
                delta(function_call={"arguments": "{}"}),
                delta(finish="function_call"),
            )
        )
        assert answer.messages[0]["function_call"] == {"name": "f", "arguments": "{}"}

    def test_content_in_lists(self) -> None:
        """Mistral: parts instead of text, thinking among them; text before and after is kept."""
        thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]} for piece in "ab"]
        answer = read(
            sse(
                delta(content=""),
                delta(content=thinking[:1]),
                delta(content=thinking[1:]),
                delta(content="the "),
                delta(
                    content=[{"type": "text", "text": "answer"}, {"type": "reference", "reference_ids": [1]}]
                ),
            )
        )
        assert answer.messages[0]["content"] == [
            {"type": "thinking", "thinking": [{"type": "text", "text": "ab"}]},
            {"type": "text", "text": "the answer"},
            {"type": "reference", "reference_ids": [1]},
        ]

    def test_reasoning_refusal_audio(self) -> None:
        """Every text that comes in pieces is joined; nulls are nothing."""
        answer = read(
            sse(
                delta(reasoning_content="be", content=None),
                delta(reasoning_content="cause", refusal="I "),
                delta(refusal="won't", audio={"id": "au", "data": "AA", "transcript": "h"}),
                delta(audio={"data": "BB", "transcript": "i", "expires_at": 5}, annotations=[{"a": 1}]),
                delta(annotations=[{"b": 2}]),
            )
        )
        assert answer.messages[0] == {
            "role": "assistant",
            "content": None,
            "reasoning_content": "because",
            "refusal": "I won't",
            "audio": {"id": "au", "data": "AABB", "transcript": "hi", "expires_at": 5},
            "annotations": [{"a": 1}, {"b": 2}],
        }

    def test_characters_in_halves(self) -> None:
        """JavaScript cuts a text within a character of two units; choices take turns. Half of one alone is
        none."""
        parts = [(0, "a\ud83c"), (1, "\ud83d"), (0, "\udf89b"), (1, "\ude00"), (0, "\ud83c"), (0, "c\udf89")]
        events = [json.dumps(delta(index, content=text)) for index, text in parts]
        answer = read(sse(*events, delta(1, "stop"), delta(finish="stop"), done=True))
        assert [message["content"] for message in answer.messages] == ["a🎉b?c?", "😀"]

    def test_choices_are_told_apart(self) -> None:
        """n > 1, interleaved; order by index, a missing or null index is 0."""
        part = {"choices": [{"index": None, "delta": {"content": "!"}}]}
        answer = read(
            sse(
                delta(1, content="b"),
                delta(0, content="a"),
                part,
                delta(1, finish="length"),
                delta(0, finish="stop"),
            )
        )
        assert [message["content"] for message in answer.messages] == ["a!", "b"]
        assert answer.finish_reasons == ["stop", "length"]

    def test_comments_crlf_and_a_missing_content_type(self) -> None:
        """The body says what it is."""
        body = b": waking\r\n\r\n" + sse(delta(content="a"), done=True).replace(b"\n", b"\r\n")
        assert read(body, headers={}).messages[0]["content"] == "a"

    def test_an_error_inside_a_good_stream(self) -> None:
        """What came before it is kept; the call did not end well."""
        answer = read(
            sse(delta(content="a"), {"error": {"message": "overloaded", "type": "server", "code": 503}})
        )
        assert answer.error == {"status": 200, "type": "server", "code": 503, "message": "overloaded"}
        assert answer.messages[0]["content"] == "a"
        assert not answer.complete

    def test_cut_streams_are_incomplete(self) -> None:
        """Also in the middle of a character; the end is `[DONE]` or a finish reason of every choice."""
        body = sse(delta(content="a"), delta(content="é"))
        for end in range(len(body)):
            answer = read(body[:end])
            assert not answer.complete
            assert (answer.messages or [{"content": ""}])[0]["content"] in ("", "a", "aé")
        assert read(sse(delta(content="a"), delta(finish="stop"))).complete
        assert not read(sse(delta(0, finish="stop"), delta(1, content="b"))).complete


class TestWhole:
    def test_the_message_is_verbatim(self) -> None:
        """As it would be sent back, with whatever the server put in."""
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "a",
            "refusal": None,
            "annotations": [],
            "x": 1,
        }
        body = (
            b'{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a",'
            b'"refusal":null,"annotations":[],"x":1},"logprobs":{"content":[]},"finish_reason":"stop"}]}'
        )
        answer = read(body, headers=JSON)
        assert answer.messages == [message]
        assert answer.complete
        assert answer.events is None

    def test_a_filtered_message(self) -> None:
        """Azure gives null instead of a message."""
        body = b'{"choices":[{"message":null,"finish_reason":"content_filter"}]}'
        answer = read(body, headers=JSON)
        assert answer.messages == [{"role": "assistant", "content": None}]
        assert answer.finish_reason == "content_filter"

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            (b'{"error":{"message":"no","type":"t","code":"c"}}', "no"),
            (b'{"error":"no"}', "no"),
            (b'{"message":"no"}', "no"),
            (b'"no"', "no"),
            (b"<html>no</html>", "<html>no</html>"),
            (b"", ""),
        ],
    )
    def test_error_statuses(self, body: bytes, message: str) -> None:
        """JSON of several forms, or anything."""
        answer = read(body, 429, JSON)
        assert answer.error is not None
        assert (answer.error["status"], answer.error["message"]) == (429, message)
        assert answer.messages == []

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff"])
    def test_a_good_status_without_an_answer(self, body: bytes) -> None:
        """Nothing to read is nothing, and incomplete."""
        assert read(body, headers=JSON) == ModelAnswer(complete=False)

    def test_json_where_a_stream_was_promised(self) -> None:
        """Some servers ignore `stream` and keep the content type."""
        assert read(b'{"choices":[{"message":{"content":"a"}}]}').messages[0]["content"] == "a"


class TestRequests:
    def test_parts_of_a_request(self) -> None:
        """Messages and tools by themselves, the rest as parameters."""
        found = find("POST", URL, {})
        assert found is not None
        body = (
            b'{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function"}],'
            b'"stream":true,"stream_options":{"include_usage":true},"n":2}'
        )
        request = found[0].read_request(found[1], URL, body)
        assert request.messages == [{"role": "user", "content": "a"}]
        assert request.tools == [{"type": "function"}]
        assert (request.model, request.stream, request.kind) == ("m", True, "llm")
        assert request.params == {"stream_options": {"include_usage": True}, "n": 2}

    def test_odd_bodies_are_still_read(self) -> None:
        """What a server will refuse is recorded all the same."""
        found = find("POST", URL, {})
        assert found is not None
        body = b'{"messages":["a",{"content":"b"},{"role":"user","content":"\\ud800"}],"x":NaN,"y":1e400}'
        request = found[0].read_request(found[1], URL, body)
        assert [message["role"] for message in request.messages] == ["unknown", "unknown", "user"]
        assert request.messages[2]["content"] == "?"
        assert request.params == {"x": None, "y": None}
