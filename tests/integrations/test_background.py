"""Responses begun in the background, and asked for until they are there."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from lctl.session import LCTLSession
from tests.integrations.rerunning import Rerun

openai = pytest.importorskip("openai")

TEXT = "Long thought, " * 20
ASK: dict[str, Any] = {"model": "gpt-5", "input": "think hard", "background": True}


def response(status: str, text: str | None = None, **more: Any) -> dict[str, Any]:
    parts: list[Any] = [{"type": "output_text", "text": text, "annotations": []}]
    said = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": parts}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5-2025",
        "status": status,
        "background": True,
        "error": None,
        "output": [said] if text is not None else [],
        "instructions": "Be brief. " * 30,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 3, "output_tokens": 40, "total_tokens": 43} if text is not None else None,
        **more,
    }


DONE = response("completed", TEXT)


def stream(*responses: dict[str, Any]) -> list[bytes]:
    kinds = {"queued": "response.created", "completed": "response.completed"}
    events = [{"type": kinds[one["status"]], "response": one} for one in responses]
    return [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events]


@pytest.fixture
def client(server: Any) -> Any:
    with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0) as client:
        yield client


def ask(client: Any) -> str:
    """What a program does: it asks, waits, and goes on from the answer."""
    got = client.responses.create(**ASK)
    while got.status in ("queued", "in_progress"):
        got = client.responses.retrieve(got.id)
    client.responses.create(model="gpt-5", input="and then?", previous_response_id=got.id)
    return str(got.output_text)


def replies(make: Any) -> list[Any]:
    bodies = [response("queued"), *[response("in_progress")] * 5, DONE]
    return [*map(make.Reply, bodies), make.Reply(response("completed", "Then this.", id="resp_2"))]


def test_the_answer_is_at_its_place(client: Any, server: Any, make: Any, log: Any) -> None:
    """It hangs on the prompt of the call that began it, with its tokens; the next turn hangs on it."""
    server.replies = replies(make)
    assert ask(client) == TEXT
    [(begun, queued), (start, end), (_, _)] = log.steps()
    assert queued["finish_reason"] == "queued"
    assert "tokens" not in queued
    assert (start["kind"], start["operation"], start["model"]) == ("llm", "responses.retrieve", "gpt-5")
    assert start["prompt"] == begun["prompt"]
    assert (end["outcome"], end["finish_reason"], end["response_id"]) == ("success", "completed", "resp_1")
    assert end["tokens"] == {"input": 3, "output": 40, "total": 43}
    question, answer, then, last = log.of("message")
    assert (answer["parent_id"], answer["sampled"]) == (question["message_id"], True)
    assert answer["content"] == TEXT
    assert (then["parent_id"], last["parent_id"]) == (answer["message_id"], then["message_id"])
    assert end["message"] == answer["message_id"]


def test_polls_without_news_are_small(client: Any, server: Any, make: Any, log: Any) -> None:
    """What they say is in the log once, the text of the answer in its message alone."""
    server.replies = replies(make)
    ask(client)
    polls = [one for one in log.of("exchange") if one["method"] == "GET"]
    assert len(polls) == 6
    assert all(len(json.dumps(poll)) < 900 for poll in polls[:-1])
    assert len(log.of("blob")) == 1
    assert log.path.read_text().count(TEXT) == 1


@pytest.mark.parametrize("full", [False, True])
def test_rerun(server: Any, make: Any, tmp_path: Path, full: bool) -> None:
    """A rerun serves every poll, and records the same."""

    def program(url: str) -> Any:
        with openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as client:
            return ask(client), client.responses.retrieve("resp_1").output_text

    server.replies = [*replies(make), make.Reply(DONE)]
    assert Rerun(tmp_path)(program, server.url, full=full) == (TEXT, TEXT)


def test_in_a_log_that_is_gone_on_with(client: Any, server: Any, make: Any, log: Any) -> None:
    """A program that comes back for the answer later records it at its place in the same log."""
    server.replies = [make.Reply(response("queued")), make.Reply(DONE), make.Reply(DONE)]
    client.responses.create(**ASK)
    log.session.close()
    with LCTLSession("test", log.path):
        client.responses.retrieve("resp_1")
    with LCTLSession("test", log.path):
        client.responses.retrieve("resp_1")
    [_, (start, end)] = log.steps()
    assert end["tokens"]["output"] == 40
    question, answer = log.of("message")
    assert (start["prompt"], answer["parent_id"]) == (question["message_id"], question["message_id"])


def test_as_a_stream(server: Any, make: Any, tmp_path: Path, log: Any) -> None:
    """A response that is asked for as a stream is answered by its last event, of an async client, too."""

    async def main() -> None:
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1") as client:
            got = await client.responses.create(**ASK)
            async for _ in await client.responses.retrieve(got.id, stream=True):
                pass

    server.replies = [make.Reply(response("queued")), make.Reply(chunks=stream(response("queued"), DONE))]
    asyncio.run(main())
    [_, (start, end)] = log.steps()
    assert start["stream"] is True
    assert (end["outcome"], end["tokens"]["output"]) == ("success", 40)
    assert log.of("message")[-1]["parent_id"] == log.of("message")[0]["message_id"]


def test_a_stream_that_was_cut(client: Any, server: Any, make: Any, log: Any) -> None:
    """Its whole answer comes later."""
    server.replies = [make.Reply(chunks=stream(response("queued")), cut=True), make.Reply(DONE)]
    with pytest.raises(Exception) as caught:
        list(client.responses.create(**ASK, stream=True))
    assert not type(caught.value).__module__.startswith("lctl")
    client.responses.retrieve("resp_1")
    [(_, cut), (_, end)] = log.steps()
    assert (cut["outcome"], end["outcome"]) == ("error", "success")


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (response("cancelled"), "cancelled"),
        (response("failed", error={"code": "server_error", "message": "broken"}), "error"),
        (response("incomplete", "Half", incomplete_details={"reason": "max_output_tokens"}), "success"),
    ],
)
def test_other_ends(client: Any, server: Any, make: Any, log: Any, body: Any, outcome: str) -> None:
    """A response that was cancelled, or that failed, says so."""
    server.replies = [make.Reply(response("queued")), make.Reply(body)]
    got = client.responses.create(**ASK)
    if outcome == "cancelled":
        client.responses.cancel(got.id)
    else:
        client.responses.retrieve(got.id)
    [_, (start, end)] = log.steps()
    assert start["operation"] == ("responses.cancel" if outcome == "cancelled" else "responses.retrieve")
    assert end["outcome"] == outcome
    assert [error["message"] for error in log.of("error")] == (["broken"] if outcome == "error" else [])


def test_a_poll_that_fails(client: Any, server: Any, make: Any, log: Any) -> None:
    """It ends nothing."""
    server.replies = [make.Reply(response("queued")), make.Reply({"error": {"message": "?"}}, 500)]
    got = client.responses.create(**ASK)
    with pytest.raises(openai.InternalServerError):
        client.responses.retrieve(got.id)
    server.replies = [make.Reply(DONE)]
    client.responses.retrieve(got.id)
    assert [end["outcome"] for _, end in log.steps()] == ["success", "success"]


def test_compaction(client: Any, server: Any, make: Any, log: Any) -> None:
    """A conversation that is compacted is a model call with tokens."""
    usage = {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34}
    items = [{"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}]
    body = {"id": "resp_3", "object": "response.compaction", "created_at": 1, "output": items, "usage": usage}
    server.replies = [make.Reply(body)]
    client.post("/responses/compact", body={"model": "gpt-5", "input": "much"}, cast_to=object)
    [(start, end)] = log.steps()
    assert (start["operation"], end["tokens"]["input"]) == ("responses.compact", 30)
    assert log.of("message")[-1]["content"] == items


def interaction(status: str, text: str | None = None) -> dict[str, Any]:
    said = {"type": "model_output", "content": [{"type": "text", "text": text}]}
    usage = {"total_input_tokens": 3, "total_output_tokens": 40, "total_tokens": 43}
    return {
        "id": "v1_1",
        "agent": "deep-research",
        "status": status,
        "steps": [said] if text else [],
        "usage": usage,
    }


def test_googles_interactions(server: Any, make: Any, log: Any) -> None:
    """The same of an agent of Google's: it is asked again by its id until it has done."""
    server.replies = [
        *map(make.Reply, (interaction("in_progress"),) * 3),
        make.Reply(interaction("completed", TEXT)),
    ]
    url = f"{server.url}/v1beta/interactions"
    with httpx.Client() as client:
        begun = client.post(url, json={"agent": "deep-research", "input": "Why?", "background": True}).json()
        while begun["status"] == "in_progress":
            begun = client.get(f"{url}/{begun['id']}").json()
    [(_, started), (start, end)] = log.steps()
    assert started["finish_reason"] == "in_progress"
    assert (start["operation"], start["model"]) == ("interactions.retrieve", "deep-research")
    question, answer = log.of("message")
    assert (answer["parent_id"], end["message"]) == (question["message_id"], answer["message_id"])
    assert end["tokens"] == {"input": 3, "output": 40, "total": 43}
