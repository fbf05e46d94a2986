"""The Responses API: items and messages, whole and streamed."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from lctl.instrument.codecs import ModelAnswer, ModelRequest, find
from lctl.instrument.codecs.responses import read_events
from tests.unit.instrument.codecs.streams import JSON, SSE, named

URL = "https://api.openai.com/v1/responses"
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xx"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "x"}


def text_item(text: str, **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], **more}
    return {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [part]}


def request(body: dict[str, Any]) -> ModelRequest:
    found = find("POST", URL, {})
    assert found is not None
    return found[0].read_request(found[1], URL, orjson.dumps(body))


def read(body: bytes, headers: dict[str, str] = SSE) -> ModelAnswer:
    found = find("POST", URL, {})
    assert found is not None
    return found[0].read_answer(found[1], 200, headers, [body])


class TestRequests:
    def test_items_of_the_assistants_side_form_one_message(self) -> None:
        """Reasoning, server tools, calls, texts: verbatim; outputs are tool messages."""
        items = [
            {"role": "user", "content": "a"},
            REASONING,
            SEARCH,
            CALL,
            OUTPUT,
            text_item("b"),
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "c"}]},
            {"role": "assistant", "content": "d"},
            "loose",
        ]
        read = request({"model": "m", "input": items})
        assert read.spans == [1, 3, 1, 1, 1, 1, 1]
        assert read.messages == [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": [REASONING, SEARCH, CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "x", "type": "function_call_output"},
            {"role": "assistant", "content": "b"},
            items[6],
            {"role": "assistant", "content": "d"},
            {"role": "user", "content": "loose"},
        ]

    def test_annotated_text_keeps_its_item(self) -> None:
        """Only a message of one bare text is written as text."""
        item = text_item("b", annotations=[{"type": "url_citation"}])
        assert request({"input": [item]}).messages == [{"role": "assistant", "content": [item]}]

    def test_instructions_are_a_system_message(self) -> None:
        """In front, and known to be no item."""
        read = request({"input": "a", "instructions": "s", "temperature": 1})
        assert read.messages == [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}]
        assert read.instructions
        assert read.params == {"temperature": 1}

    @pytest.mark.parametrize(
        ("body", "continues"),
        [
            ({"input": "a", "previous_response_id": "r"}, "r"),
            ({"input": "a", "conversation": "conv"}, "conv"),
            ({"input": "a", "conversation": {"id": "conv"}}, "conv"),
            ({"input": "a", "previous_response_id": None}, None),
        ],
    )
    def test_what_it_goes_on_from(self, body: dict[str, Any], continues: str | None) -> None:
        """An earlier response, or a stored conversation."""
        assert request(body).continues == continues

    @pytest.mark.parametrize("body", [{"model": "m"}, {"input": 3}, {"survey": 1, "answers": []}])
    def test_other_bodies(self, body: dict[str, Any]) -> None:
        """Many services have something called responses."""
        with pytest.raises(ValueError):
            request(body)


class TestAnswers:
    def test_items_are_one_message(self) -> None:
        """Whatever they are; text alone is text."""
        both = {"id": "r", "model": "m", "status": "completed", "output": [REASONING, text_item("b")]}
        assert read(orjson.dumps(both), JSON).messages == [{"role": "assistant", "content": both["output"]}]
        alone = {"status": "completed", "output": [text_item("b")]}
        assert read(orjson.dumps(alone), JSON).messages == [{"role": "assistant", "content": "b"}]

    def test_how_it_ended(self) -> None:
        """Status, with the reason where there is one."""
        body = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []}
        answer = read(orjson.dumps(body), JSON)
        assert answer.finish_reason == "incomplete:max_output_tokens"
        assert answer.messages == []

    def test_a_failed_response(self) -> None:
        """A 200 whose response says that it failed."""
        body = {"status": "failed", "error": {"code": "server_error", "message": "no"}, "output": []}
        answer = read(orjson.dumps(body), JSON)
        assert answer.error == {"status": 200, "type": None, "code": "server_error", "message": "no"}


def test_a_stream_that_says_no_end() -> None:
    """What its response was at the beginning is no reason for which it finished."""
    begun = {"id": "r", "model": "m", "status": "in_progress", "output": []}
    answer = read_events([{"type": "response.created", "response": begun}], done=False)
    assert (answer.complete, answer.finish_reason) == (False, None)


class TestStreams:
    events: tuple[dict[str, Any], ...] = (
        {
            "type": "response.created",
            "response": {"id": "r", "model": "m", "status": "in_progress", "output": []},
        },
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "reasoning", "summary": []},
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": 0,
            "delta": "be",
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": 1,
            "delta": "so",
        },
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {**REASONING, "summary": [{"text": "be"}]},
        },
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}},
        {"type": "response.content_part.added", "output_index": 1, "content_index": 0, "part": {"text": ""}},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Hel"},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "lo"},
        {"type": "response.output_item.added", "output_index": 2, "item": {**CALL, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"a":'},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "1}"},
    )

    def test_the_last_event_has_it_all(self) -> None:
        """Its response is the answer."""
        final: dict[str, Any] = {"id": "r", "model": "m2", "status": "completed", "output": [text_item("b")]}
        final["usage"] = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        answer = read(named(*self.events, {"type": "response.completed", "response": final}))
        assert (answer.model, answer.finish_reason, answer.complete) == ("m2", "completed", True)
        assert answer.messages == [{"role": "assistant", "content": "b"}]
        assert answer.tokens == {"input": 1, "output": 2, "total": 3}
        assert answer.events == 13

    @pytest.mark.parametrize("kind", ["incomplete", "failed"])
    def test_other_ends(self, kind: str) -> None:
        """Incomplete and failed are ends too."""
        final = {"status": kind, "incomplete_details": {"reason": "x"}, "output": []}
        answer = read(named({"type": f"response.{kind}", "response": final}))
        assert (answer.finish_reason, answer.complete) == (f"{kind}:x", True)

    def test_a_cut_stream_is_put_together(self) -> None:
        """Finished items as they were, the others as far as their deltas came."""
        answer = read(named(*self.events))
        assert not answer.complete
        assert (answer.response_id, answer.model) == ("r", "m")
        assert answer.messages[0]["content"] == [
            {**REASONING, "summary": [{"text": "be"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]},
            {**CALL, "arguments": '{"a":1}'},
        ]
        early = read(named(*self.events[:4]))
        pieces = [{"type": "summary_text", "text": piece} for piece in ("be", "so")]
        assert early.messages[0]["content"] == [{"type": "reasoning", "summary": pieces}]

    def test_what_a_cut_stream_cites_and_runs(self) -> None:
        """Annotations of a text, commands of a shell and what they print, as far as they came."""
        call = {"type": "shell_call", "call_id": "c", "action": {"commands": [], "timeout_ms": 9}}
        output = {"type": "shell_call_output", "call_id": "c", "output": []}
        cited = {"type": "url_citation", "url": "u"}
        text, shell = "response.output_text", "response.shell_call"
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {"id": "r", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": {**call}},
            {"type": f"{shell}_command.added", "output_index": 0, "command_index": 0, "command": ""},
            {"type": f"{shell}_command.delta", "output_index": 0, "command_index": 0, "delta": "ls "},
            {"type": f"{shell}_command.delta", "output_index": 0, "command_index": 0, "delta": "-l"},
            {"type": f"{shell}_command.delta", "output_index": 0, "command_index": 1, "delta": "pw"},
            {"type": "response.output_item.added", "output_index": 1, "item": output},
            {
                "type": f"{shell}_output_content.delta",
                "output_index": 1,
                "command_index": 0,
                "delta": {"stdout": "a\n", "stderr": ""},
            },
            {
                "type": f"{shell}_output_content.delta",
                "output_index": 1,
                "command_index": 0,
                "delta": {"stdout": "b\n"},
            },
            {"type": "response.output_item.added", "output_index": 2, "item": {"type": "message"}},
            {"type": f"{text}.delta", "output_index": 2, "content_index": 0, "delta": "So"},
            {"type": f"{text}.annotation.added", "output_index": 2, "content_index": 0, "annotation": cited},
        ]
        said = read(named(*events))
        items = [item for message in said.messages for item in message["content"]]
        assert items[0]["action"] == {"commands": ["ls -l", "pw"], "timeout_ms": 9}
        assert items[1]["output"] == [{"stdout": "a\nb\n", "stderr": ""}]
        assert items[2]["content"] == [{"type": "output_text", "text": "So", "annotations": [cited]}]

    def test_deltas_whose_start_was_lost(self) -> None:
        """The delta tells what the item is."""
        answer = read(named(*(self.events[i] for i in (2, 7, 10))))
        kinds = [item["type"] for item in answer.messages[0]["content"]]
        assert kinds == ["reasoning", "message", "function_call"]

    def test_an_error_event(self) -> None:
        """Flat, as OpenAI sends it, with what came before."""
        answer = read(named(*self.events[:9], {"type": "error", "code": "c", "message": "no", "param": None}))
        assert answer.error == {"status": 200, "type": "error", "code": "c", "message": "no"}
        assert not answer.complete
        assert len(answer.messages) == 1
