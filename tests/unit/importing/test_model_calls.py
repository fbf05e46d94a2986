"""Answers of model APIs, as programs and batches keep them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import Anthropic
from openai import OpenAI

from lctl.analysis.transcripts import transcript_json
from lctl.chain import Chain
from lctl.importing import Imported
from lctl.testing import ModelServer
from tests.clients import closing
from tests.unit.importing.sources import Rows, imported, imported_lines, lines, lost, tree

ASK = {"role": "user", "content": "2+2?"}
REFUSED = {"type": "rate_limit", "message": "later"}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(strict=True) as server:
        yield server


@pytest.fixture
def openai(server: ModelServer) -> OpenAI:
    return closing(OpenAI(base_url=server.openai_url, api_key="test", max_retries=0))


def ends(found: Imported) -> Rows:
    """What each model call of the import ended with."""
    events = Chain.of(found.log).events
    return [e.data for e in events if e.type == "step_end"]


def chat(**more: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "4", "refusal": None}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1770000000, "model": "gpt-4.1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}, **more,
    }  # fmt: skip


def test_pairs_of_requests_and_chat_completions_are_one_conversation(
    server: ModelServer, openai: OpenAI
) -> None:
    """What a loop with a tool asked and got: the second prompt goes on after the first answer."""
    usage = {"input": 20, "output": 7, "cache_read": 4, "reasoning": 2}
    server.reply(tool_calls=[("add", {"a": 2, "b": 2})], usage=usage)
    server.reply("4")
    tools: Any = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
    said: list[Any] = [ASK]
    rows: Rows = []
    for _ in range(2):
        request: dict[str, Any] = {
            "model": "gpt-4.1",
            "messages": list(said),
            "tools": tools,
            "temperature": 0.5,
        }
        answer = openai.chat.completions.create(**request)
        rows.append({"request": request, "response": answer.model_dump(), "user": "u1"})
        message = answer.choices[0].message
        said.append(message.model_dump(exclude_none=True))
        said += [
            {"role": "tool", "tool_call_id": call.id, "content": "4"} for call in message.tool_calls or ()
        ]
    found = imported_lines(rows)
    assert (found.form, lost(found)) == ("calls", {})
    (row,) = transcript_json(found.log)
    assert [one["role"] for one in row["messages"]] == ["user", "assistant", "tool", "assistant"]
    first, second = ends(found)
    assert first["tokens"] == usage
    assert (first["finish_reason"], second["finish_reason"]) == ("tool_calls", "stop")
    assert [first["response_id"], second["response_id"]] == [one["response"]["id"] for one in rows]
    (ran,) = [event.data for event in Chain.of(found.log).events if event.type == "tool_call"]
    assert (ran["tool"], ran["input"], ran["output"]) == ("add", {"a": 2, "b": 2}, "4")
    start = next(event.data for event in Chain.of(found.log).events if event.type == "step_start")
    assert (start["params"], start["tool_definitions"]) == ({"temperature": 0.5}, tools)
    assert start["span"]["attributes"]["row"] == {"user": "u1"}


def test_answers_of_the_responses_api_go_on_where_they_say(server: ModelServer, openai: OpenAI) -> None:
    """A request with `previous_response_id` holds what is new alone."""
    server.script(["four", "five"])
    rows: Rows = []
    last = None
    for words in ("2+2?", "and 1?"):
        request: dict[str, Any] = {"model": "gpt-5", "instructions": "Brief.", "input": words}
        request |= {"previous_response_id": last} if last else {}
        answer = openai.responses.create(**request)
        last = answer.id
        rows.append({"request": request, "response": answer.model_dump(mode="json")})
    found = imported_lines(rows)
    made = tree(found)
    (leaf,) = made.leaves
    assert [(node.role, node.text) for node in made.path(leaf.id)] == [
        ("system", "Brief."),
        ("user", "2+2?"),
        ("assistant", "four"),
        ("user", "and 1?"),
        ("assistant", "five"),
    ]
    assert [end["model"] for end in ends(found)] == ["gpt-5", "gpt-5"]


def test_results_of_anthropics_batches(server: ModelServer) -> None:
    client = closing(Anthropic(base_url=server.anthropic_url, api_key="test", max_retries=0))
    server.reply("four", usage={"input": 111, "output": 5, "cache_read": 100})
    answer = client.messages.create(model="claude-opus-5", max_tokens=9, messages=[ASK])  # type: ignore[list-item]
    message = answer.model_dump(mode="json")
    refused = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
    rows: Rows = [
        {"custom_id": "c", "result": {"type": "expired"}},
        {"custom_id": "b", "result": {"type": "errored", "error": refused}},
        {"custom_id": "a", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "d", "params": {"messages": [ASK]}},
    ]
    found = imported_lines(rows)
    assert (found.form, found.messages) == ("calls", 1)
    tree(found)
    assert [end["outcome"] for end in ends(found)] == ["error", "error", "success"]
    assert ends(found)[2]["tokens"] == {"input": 111, "output": 5, "cache_read": 100, "cache_write": 0}
    errors = [event.data for event in Chain.of(found.log).events if event.type == "error"]
    assert [error["type"] for error in errors] == ["expired", "invalid_request_error"]
    assert lost(found) == {
        "request without a result": 1,
        "what the model was asked: the file holds the answer alone": 1,
        "model span without messages (their content was not traced)": 2,
    }


def test_a_batchs_output_behind_its_input() -> None:
    """Results come in any order; `custom_id` says what each was asked."""
    asked: Rows = [
        {"custom_id": f"r{n}", "method": "POST", "url": "/v1/chat/completions",
         "body": {"model": "gpt-4.1", "messages": [{"role": "user", "content": f"q{n}"}]}}
        for n in range(2)
    ]  # fmt: skip
    refused = {"error": {"message": "bad", "type": "invalid_request_error"}}
    given: Rows = [
        {"id": "b1", "custom_id": "r1", "response": {"status_code": 200, "body": chat()}, "error": None},
        {"id": "b0", "custom_id": "r0", "response": {"status_code": 400, "body": refused}, "error": None},
    ]
    found = imported_lines([*asked, *given])
    assert (found.form, lost(found)) == ("calls", {})
    paths = [[node.text for node in tree(found).path(leaf.id)] for leaf in tree(found).leaves]
    assert sorted(paths) == [["q0"], ["q1", "4"]]
    assert [end["outcome"] for end in ends(found)] == ["success", "error"]

    alone = imported_lines(asked)
    assert (alone.form, alone.messages) == ("openai", 2)
    assert [root.text for root in tree(alone).roots] == ["q0", "q1"]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"response": chat(), "messages": [ASK], "model": "gpt-4.1"}, id="LiteLLM"),
        pytest.param(
            {"request_body": json.dumps({"messages": [ASK]}), "response_body": json.dumps(chat())},
            id="JSON in JSON",
        ),
        pytest.param({"request": {"body": {"messages": [ASK]}}, "response": {"body": chat()}}, id="bodies"),
        pytest.param({"request": {"prompt": "2+2?"}, "response": chat(choices=[{"text": "4"}])}, id="text"),
        pytest.param(
            {
                "request": {"contents": [{"role": "user", "parts": [{"text": "2+2?"}]}]},
                "response": {
                    "candidates": [{"content": {"role": "model", "parts": [{"text": "4"}]}}],
                    "usageMetadata": {
                        "promptTokenCount": 9,
                        "candidatesTokenCount": 1,
                        "thoughtsTokenCount": 1,
                    },
                },
            },
            id="Google",
        ),
    ],
)
def test_wherever_a_row_has_its_request_and_answer(row: dict[str, Any]) -> None:
    found = imported(row)
    assert (found.form, lost(found)) == ("calls", {})
    (leaf,) = tree(found).leaves
    assert [node.text for node in tree(found).path(leaf.id)] == ["2+2?", "4"]
    (end,) = ends(found)
    assert (end["tokens"]["input"], end["tokens"]["output"]) == (9, 2)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"response": {"error": REFUSED}}, id="an object"),
        pytest.param({"response": {"status_code": 429, "body": {"error": REFUSED}}}, id="a body"),
        pytest.param({"response_body": json.dumps({"error": REFUSED})}, id="JSON in JSON"),
        pytest.param({"responseBody": {"type": "error", "error": REFUSED}}, id="of Anthropic"),
    ],
)
def test_wherever_a_row_has_the_error_of_its_call(answer: dict[str, Any]) -> None:
    """Also where every call of the file failed."""
    found = imported({"request_body": {"model": "gpt-4.1", "messages": [ASK]}, **answer})
    assert (found.form, lost(found)) == ("calls", {})
    (error,) = [event.data for event in Chain.of(found.log).events if event.type == "error"]
    assert (error["type"], error["message"]) == ("rate_limit", "later")
    assert [end["outcome"] for end in ends(found)] == ["error"]


def test_a_call_that_litellm_says_failed() -> None:
    """It has the messages of the request, and an empty answer."""
    told = {"error_information": {"error_class": "InternalServerError"}, "error_str": "no connection"}
    row = {"messages": [ASK], "model": "gpt-4.1", "startTime": 1795880229.5, "endTime": 1795880230.25}
    found = imported_lines([{**row, "response": chat()}, {**row, "response": {}, **told}])
    assert (found.form, found.messages, lost(found)) == ("calls", 2, {})
    tree(found)
    (error,) = [event.data for event in Chain.of(found.log).events if event.type == "error"]
    assert (error["type"], error["message"]) == ("InternalServerError", "no connection")
    assert [(end["outcome"], end["duration_ms"]) for end in ends(found)] == [
        ("success", 750.0),
        ("error", 750.0),
    ]


def test_litellm_logs_of_one_failure() -> None:
    """A file of failures alone holds calls, too, and no mere messages."""
    found = imported({"messages": [ASK], "model": "gpt-4.1", "response": {}, "error_str": "no connection"})
    assert found.form == "calls"
    assert [e.data["message"] for e in found.log.events() if e.type == "error"] == ["no connection"]


def test_litellm_logs_of_the_responses_api() -> None:
    """Its ids of responses hide the provider's, from which requests go on. What a call cost is the step's."""

    def row(id: str, words: str, **more: Any) -> dict[str, Any]:
        hidden = base64.b64encode(f"litellm:custom_llm_provider:openai;response_id:{id}".encode()).decode()
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}
        response = {"id": f"resp_{hidden}", "object": "response", "model": "gpt-5", "output": [said]}
        return {"messages": [{"role": "user", "content": words.lower()}], "model": "gpt-5",
                "response": response, "response_cost": 0.25, "model_parameters": more}  # fmt: skip

    found = imported_lines([row("resp_1", "ONE"), row("resp_2", "TWO", previous_response_id="resp_1")])
    (leaf,) = tree(found).leaves
    assert [node.text for node in tree(found).path(leaf.id)] == ["one", "ONE", "two", "TWO"]
    assert [end["cost"] for end in ends(found)] == [0.25, 0.25]


def test_answers_alone_and_alternatives() -> None:
    choices = [
        {"index": n, "finish_reason": reason, "message": {"role": "assistant", "content": str(n)}}
        for n, reason in enumerate(("stop", "length"))
    ]
    found = imported(lines([chat(), chat(choices=choices), {"object": "list"}]))
    assert found.messages == 3
    assert [root.text for root in tree(found).roots] == ["4", "0", "1"]
    assert ends(found)[1]["finish_reasons"] == ["stop", "length"]
    assert lost(found) == {
        "what the model was asked: the file holds the answer alone": 2,
        "row without an answer of a model's API": 1,
    }


def test_an_answer_put_into_a_list_of_messages_is_a_call() -> None:
    """As programs keep their history: what the API gave stands in it, with its usage."""
    answer = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "4"}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 11, "cache_read_input_tokens": 100, "output_tokens": 5},
    }  # fmt: skip
    found = imported([ASK, answer, {"role": "user", "content": "Sure?"}])
    assert (found.form, lost(found)) == ("openai", {})
    (end,) = ends(found)
    assert (end["model"], end["response_id"]) == ("claude-sonnet-4-5", "msg_1")
    assert end["tokens"] == {"input": 111, "output": 5, "cache_read": 100}
    assert [node.role for node in tree(found).leaves] == ["user"]


def test_chunks_of_streams_a_line_each() -> None:
    """Of two answers whose chunks came in turn; each is one, with its tool calls, reason and tokens."""

    def chunk(id: str, delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": id, "object": "chat.completion.chunk", "model": "gpt-4o", "choices": [choice], **more}

    def call(**function: Any) -> dict[str, Any]:
        return {
            "tool_calls": [{"index": 0, "id": "c1" if "name" in function else None, "function": function}]
        }

    used = {"prompt_tokens": 7, "completion_tokens": 2}
    found = imported_lines(
        [
            chunk("a", {"role": "assistant", "content": ""}),
            chunk("b", {"role": "assistant", "content": None}),
            chunk("a", {"content": "Hel"}),
            chunk("b", call(name="add", arguments='{"a"')),
            chunk("a", {"content": "lo"}),
            chunk("b", call(arguments=":2}"), "tool_calls"),
            chunk("a", {}, "stop"),
            {**chunk("a", {}), "choices": [], "usage": used},
        ]
    )
    assert found.form == "calls"
    ends = [e.data for e in found.log.events() if e.type == "step_end"]
    assert [(end["model"], end["finish_reason"], end.get("tokens")) for end in ends] == [
        ("gpt-4o", "stop", {"input": 7, "output": 2}),
        ("gpt-4o", "tool_calls", None),
    ]
    first, second = (tree(found).transcript(leaf.id)[-1] for leaf in tree(found).leaves)
    assert first == {"role": "assistant", "content": "Hello"}
    assert second["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a":2}'}
    assert lost(found) == {"what the model was asked: the file holds the answer alone": 2}
