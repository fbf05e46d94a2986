"""The patch language on conversations that the provider keeps: OpenAI's runs, Mistral's conversations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from lctl import LCTLSession
from lctl.codec import open_log
from lctl.rerun.forks.forking import fork_block

RUN = {"assistant_id": "asst_1", "instructions": "Be brief.", "temperature": 0.7}
LEFT = {"assistant_id": "asst_1"}
QUEUED = {"id": "run_1", "object": "thread.run", "thread_id": "thread_1", "status": "queued"}
TOLD = {"conversation_id": "c", "outputs": [{"type": "message.output", "content": "Hello"}]}
CONVERSATION = {
    "model": "m",
    "inputs": "Hi",
    "instructions": "Be brief.",
    "completion_args": {"temperature": 0.7},
}

#: path, body, edit, the body that is sent
CASES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("runs", LEFT, "model=gpt-4.1", {**LEFT, "model": "gpt-4.1"}),
    ("runs", LEFT, "prompt.system+=Ask.", {**LEFT, "additional_instructions": "Ask."}),
    ("runs", LEFT, "prompt.system=Ask.", {**LEFT, "instructions": "Ask."}),
    ("runs", RUN, "prompt.system+=Ask.", {**RUN, "instructions": "Be brief. Ask."}),
    ("runs", RUN, "params.temperature=0", {**RUN, "temperature": 0}),
    ("runs", RUN, "params.max_tokens=9", {**RUN, "max_completion_tokens": 9}),
    ("runs", LEFT, "message[+]=Hi", {**LEFT, "additional_messages": [{"role": "user", "content": "Hi"}]}),
    ("conversations", CONVERSATION, "model=n", {**CONVERSATION, "model": "n"}),
    ("conversations", CONVERSATION, "message[user].content=Ho", {**CONVERSATION, "inputs": "Ho"}),
    (
        "conversations",
        CONVERSATION,
        "prompt.system+=Ask.",
        {**CONVERSATION, "instructions": "Be brief. Ask."},
    ),
    (
        "conversations",
        CONVERSATION,
        "params.temperature=0",
        {**CONVERSATION, "completion_args": {"temperature": 0}},
    ),
]


def asking(path: str, body: dict[str, Any]) -> Callable[[str], Any]:
    at = "/v1/conversations" if path == "conversations" else "/v1/threads/thread_1/runs"
    return lambda url: httpx.post(f"{url}{at}", json=body).json()


def recorded(tmp_path: Path, server: Any, make: Any, path: str, program: Callable[[str], Any]) -> Path:
    said = TOLD if path == "conversations" else QUEUED
    server.replies = [make.Reply(said), make.Reply(said)]
    with LCTLSession("recorded", tmp_path / "recording.lctl.json"):
        program(server.url)
    return tmp_path / "recording.lctl.json"


@pytest.mark.parametrize(("path", "body", "edit", "sent"), CASES, ids=lambda one: str(one)[:30])
def test_request_edits_reach_the_server(
    tmp_path: Path, server: Any, make: Any, path: str, body: Any, edit: str, sent: Any
) -> None:
    program = asking(path, body)
    recording = recorded(tmp_path, server, make, path, program)
    with fork_block(recording, 0, set=[edit]), LCTLSession("again"):
        program(server.url)
    assert json.loads(server.requests[-1][2]) == sent


def test_tools_of_an_assistant_are_its_own(tmp_path: Path, server: Any, make: Any) -> None:
    """One more would take the place of all of them."""
    program = asking("runs", LEFT)
    recording = recorded(tmp_path, server, make, "runs", program)
    block = fork_block(recording, 0, set=['tools[+]={"type": "file_search"}'])
    with block, LCTLSession("again"):
        program(server.url)
    [why] = block.certificate.unaddressed
    assert "the run has its assistant's tools" in why


def streamed(entries: list[dict[str, Any]]) -> list[bytes]:
    """A conversation's response in events, with a call of a function in two pieces."""
    events: list[dict[str, Any]] = [{"type": "conversation.response.started", "conversation_id": "c"}]
    for index, entry in enumerate(entries):
        said = str(entry.get("content") or entry.get("arguments"))
        key = "content" if "content" in entry else "arguments"
        kind = entry["type"].replace("message.output", "message.output.delta").replace("call", "call.delta")
        for piece in (said[:4], said[4:]):
            events.append({**entry, "type": kind, "id": f"e{index}", "output_index": index, key: piece})
    events.append({"type": "conversation.response.done", "usage": {"prompt_tokens": 1}})
    return [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events]


ASKS = [
    {"type": "message.output", "role": "assistant", "model": "m", "content": "Let me look."},
    {"type": "function.call", "name": "read", "tool_call_id": "t1", "arguments": '{"path": "a.txt"}'},
]


@pytest.mark.parametrize("stream", [False, True])
def test_answers_of_conversations(tmp_path: Path, server: Any, make: Any, stream: bool) -> None:
    """In entries, or in events; nothing is sent. Read as the SDK reads them, where it is there."""
    events: Any = None
    if stream:
        events = pytest.importorskip("mistralai.client.models").ConversationEvents

    def program(url: str) -> tuple[str, str]:
        sent = httpx.post(f"{url}/v1/conversations", json={**CONVERSATION, "stream": stream})
        if not stream:
            entries = sent.json()["outputs"]
        else:
            lines = [line[6:] for line in sent.text.splitlines() if line.startswith("data: ")]
            assert all(
                events.model_validate({"event": (one := json.loads(line))["type"], "data": one})
                for line in lines
            )
            entries = map(json.loads, lines)
        entries = list(entries)
        text = "".join(one.get("content", "") for one in entries)
        return text, "".join(one.get("arguments", "") for one in entries)

    whole = {"object": "conversation.response", "conversation_id": "c", "outputs": ASKS, "usage": {}}
    server.replies = [make.Reply(chunks=streamed(ASKS)) if stream else make.Reply(whole)]
    recording = tmp_path / "recording.lctl.json"
    with LCTLSession("recorded", recording):
        assert program(server.url) == ("Let me look.", '{"path": "a.txt"}')
    count = len(server.requests)
    [at] = [event.seq for event in open_log(recording).events() if event.type == "exchange"]
    for edit, said in [
        ("answer.content+=Now.", ("Let me look. Now.", '{"path": "a.txt"}')),
        ("answer.tool_calls[0].input.path=b.txt", ("Let me look.", '{"path": "b.txt"}')),
        ("answer=Done.", ("Done.", "")),
    ]:
        with fork_block(recording, at, set=[f"@{at} {edit}"]), LCTLSession("again"):
            assert program(server.url) == said
    assert len(server.requests) == count
