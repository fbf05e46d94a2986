"""Google's Interactions API: what is asked, what is answered, whole, streamed and cut."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from lctl.instrument.codecs import find
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.state.messages import reasoning_of, text_of, tool_calls_of
from tests.unit.instrument.codecs.streams import JSON, SSE, sse

URL = "https://generativelanguage.googleapis.com/v1beta/interactions"
THOUGHT = {"type": "thought", "signature": "s", "summary": [{"type": "text", "text": "Hm."}]}
SAID = {"type": "model_output", "content": [{"type": "text", "text": "Hello"}]}
CALL = {"type": "function_call", "id": "c1", "name": "weather", "arguments": {"city": "Rome"}}
USAGE = {"total_input_tokens": 10, "total_tool_use_tokens": 2, "total_cached_tokens": 4,
         "total_output_tokens": 20, "total_thought_tokens": 22, "total_tokens": 54}  # fmt: skip


END = {"event_type": "interaction.completed", "interaction": {"status": "completed", "usage": USAGE}}


def request(**body: Any) -> ModelRequest:
    found = find("POST", URL, {})
    assert found is not None and found[1] == "interactions"
    return found[0].read_request(found[1], URL, orjson.dumps({"model": "gemini-3-pro", **body}))


def read(body: bytes, headers: dict[str, str] = SSE, status: int = 200) -> ModelAnswer:
    found = find("POST", URL, {})
    assert found is not None
    return found[0].read_answer(found[1], status, headers, [body])


def interaction(**said: Any) -> dict[str, Any]:
    return {"id": "v1_x", "model": "gemini-3-pro", "status": "completed", **said}


class TestRequests:
    @pytest.mark.parametrize(
        "given",
        [
            "Hi",
            {"type": "text", "text": "Hi"},
            [{"type": "text", "text": "Hi"}],
            [{"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}],
        ],
    )
    def test_what_the_user_says_in_every_form(self, given: Any) -> None:
        asked = request(input=given, system_instruction="Be brief.", store=False)
        assert [message["role"] for message in asked.messages] == ["system", "user"]
        assert text_of(asked.messages[1]) == "Hi"
        assert (asked.provider, asked.model, asked.params) == ("google", "gemini-3-pro", {"store": False})
        assert asked.instructions and asked.continues is None

    def test_steps_of_the_model_form_one_message(self) -> None:
        result = {"type": "function_result", "call_id": "c1", "name": "weather", "result": "sunny"}
        asked = request(input=[{"type": "user_input", "content": "Hi"}, THOUGHT, CALL, result])
        assert asked.messages == [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [THOUGHT, CALL]},
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": "sunny",
                "type": "function_result",
                "name": "weather",
            },
        ]
        assert asked.spans == [1, 2, 1]

    def test_what_it_goes_on_from(self) -> None:
        asked = request(previous_interaction_id="v1_x", continuation_token="t")
        assert (asked.continues, asked.messages) == ("v1_x", [])
        assert asked.params == {"continuation_token": "t"}

    def test_an_agent_is_named_in_place_of_a_model(self) -> None:
        asked = request(model=None, agent="deep-research", input="Why?", background=True)
        assert asked.model == "deep-research"

    @pytest.mark.parametrize("body", [{"model": None, "input": "Hi"}, {"input": 7}])
    def test_other_services_bodies(self, body: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="interaction"):
            request(**body)


class TestAnswers:
    def test_a_whole_one(self) -> None:
        """Without what was asked, which may stand before it; what it thought counts as output."""
        asked = {"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}
        said = interaction(status="requires_action", steps=[asked, THOUGHT, SAID, CALL], usage=USAGE)
        answer = read(orjson.dumps(said), JSON)
        assert (answer.response_id, answer.model, answer.finish_reason) == (
            "v1_x",
            "gemini-3-pro",
            "requires_action",
        )
        [message] = answer.messages
        assert message == {"role": "assistant", "content": [THOUGHT, SAID, CALL]}
        assert (text_of(message), reasoning_of(message)) == ("Hello", "Hm.")
        assert tool_calls_of(message) == [{"id": "c1", "name": "weather", "arguments": {"city": "Rome"}}]
        assert answer.tokens == {"input": 12, "output": 42, "cache_read": 4, "reasoning": 22, "total": 54}

    def test_failures(self) -> None:
        refused = read(b'{"error": {"code": "not_found", "message": "none"}}', JSON, 404)
        assert refused.error == {"status": 404, "type": None, "code": "not_found", "message": "none"}
        failed = interaction(status="failed", errors=[{"code": "internal", "message": "broke"}])
        answer = read(orjson.dumps(failed), JSON)
        assert answer.error is not None and answer.error["message"] == "broke"


class TestStreams:
    events: tuple[dict[str, Any], ...] = (
        {"event_type": "interaction.created", "interaction": interaction(status="in_progress")},
        {"event_type": "step.start", "index": 0, "step": {"type": "thought"}},
        *(
            {
                "event_type": "step.delta",
                "index": 0,
                "delta": {"type": "thought_summary", "content": {"type": "text", "text": t}},
            }
            for t in ("H", "m.")
        ),
        {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_signature", "signature": "s"}},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "step.start", "index": 1, "step": {"type": "model_output"}},
        {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "Hel"}},
        {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "lo"}},
        {"event_type": "step.start", "index": 2, "step": {**CALL, "arguments": {}}},
        {
            "event_type": "step.delta",
            "index": 2,
            "delta": {"type": "arguments_delta", "arguments": '{"city": '},
        },
        {
            "event_type": "step.delta",
            "index": 2,
            "delta": {"type": "arguments_delta", "arguments": '"Rome"}'},
        },
    )

    def test_its_steps_are_put_together(self) -> None:
        answer = read(sse(*self.events, END, done=True))
        assert answer.messages == [{"role": "assistant", "content": [THOUGHT, SAID, CALL]}]
        assert (answer.finish_reason, answer.complete, answer.events) == ("completed", True, 13)
        assert answer.tokens is not None and answer.tokens["output"] == 42

    def test_a_cut_one(self) -> None:
        """As far as it came: the arguments as text."""
        answer = read(sse(*self.events[:-1]))
        assert not answer.complete
        assert answer.messages[0]["content"] == [THOUGHT, SAID, {**CALL, "arguments": '{"city": '}]

    def test_deltas_whose_start_was_lost(self) -> None:
        """The delta tells what the step is."""
        answer = read(sse(*(self.events[n] for n in (2, 7, 10))))
        kinds = [step["type"] for step in answer.messages[0]["content"]]
        assert kinds == ["thought", "model_output", "function_call"]

    def test_annotations_pictures_and_server_tools(self) -> None:
        cited = {"type": "url_citation", "url": "u"}
        picture = {"type": "image", "mime_type": "image/png", "data": "aGk="}
        search = {"type": "google_search_call", "id": "g", "arguments": {}}
        deltas: list[tuple[int, dict[str, Any]]] = [
            (0, {"type": "google_search_call", "arguments": {"queries": ["q"]}}),
            (1, {"type": "text", "text": "So"}),
            (1, {"type": "text_annotation_delta", "annotations": [cited]}),
            (1, {"type": "text", "text": "."}),
            (1, picture),
        ]
        answer = read(
            sse(
                {"event_type": "step.start", "index": 0, "step": search},
                {"event_type": "step.start", "index": 1, "step": {"type": "model_output"}},
                *({"event_type": "step.delta", "index": index, "delta": delta} for index, delta in deltas),
            )
        )
        assert answer.messages[0]["content"] == [
            {**search, "arguments": {"queries": ["q"]}},
            {
                "type": "model_output",
                "content": [{"type": "text", "text": "So.", "annotations": [cited]}, picture],
            },
        ]

    def test_an_error_event(self) -> None:
        """With what came before."""
        failure = {"event_type": "error", "error": {"code": "overloaded", "message": "later"}}
        answer = read(sse(*self.events[:9], failure))
        assert answer.error == {"status": 200, "type": None, "code": "overloaded", "message": "later"}
        assert not answer.complete and text_of(answer.messages[0]) == "Hello"
