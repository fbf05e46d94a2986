"""A secret spread over a stream's chunks is in no event, and the chunks stay a stream that can be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from lctl.instrument import auto_instrument, ensure_installed, uninstrument
from lctl.instrument.bodies import rebuild_chunks
from lctl.session import LCTLSession
from lctl.testing import ModelServer

KEY = "sk-proj-" + "MaNyChUnKs0123456789abcdefGH"
TEXT = f"Your key: {KEY}, keep it."


def pieces(text: str, size: int = 5) -> list[str]:
    return [text[n : n + size] for n in range(0, len(text), size)]


def by_chat(server: ModelServer) -> None:
    messages: Any = [{"role": "user", "content": "Hi"}]
    with openai.OpenAI(base_url=server.openai_url, api_key="test") as client:
        for _ in client.chat.completions.create(model="gpt-4o", messages=messages, stream=True):
            pass


def by_responses(server: ModelServer) -> None:
    with openai.OpenAI(base_url=server.openai_url, api_key="test") as client:
        for _ in client.responses.create(model="gpt-4o", input="Hi", stream=True):
            pass


def by_messages(server: ModelServer) -> None:
    with (
        anthropic.Anthropic(base_url=server.anthropic_url, api_key="test") as client,
        client.messages.stream(
            model="claude-test", max_tokens=99, messages=[{"role": "user", "content": "Hi"}]
        ) as stream,
    ):
        for _ in stream:
            pass


SURFACES = [by_chat, by_responses, by_messages]


def recorded(path: Path, call: Any, server: ModelServer) -> tuple[str, list[dict[str, Any]]]:
    """The log's text, and the JSON of every event of the stream in it."""
    ensure_installed()
    try:
        with LCTLSession("c", path):
            call(server)
    finally:
        uninstrument()
    [exchange] = [e["data"] for e in json.loads(path.read_text())["events"] if e["type"] == "exchange"]
    body = b"".join(chunk for _, chunk in rebuild_chunks(exchange)).decode()
    lines = [line[6:] for line in body.splitlines() if line.startswith("data: ") and "[DONE]" not in line]
    return path.read_text(), [json.loads(line) for line in lines]


def leaves(value: Any, name: str = "") -> list[str]:
    """The texts that grow by pieces, in their order."""
    if isinstance(value, dict):
        return [text for key, inner in value.items() for text in leaves(inner, key)]
    if isinstance(value, list):
        return [text for inner in value for text in leaves(inner, name)]
    pieces = ("content", "text", "delta", "arguments", "partial_json")
    return [value] if isinstance(value, str) and name in pieces else []


@pytest.mark.parametrize("call", SURFACES)
def test_a_key_in_pieces_of_text(tmp_path: Path, call: Any) -> None:
    """The pieces of the log's chunks do not give the key when joined; what is around it stays."""
    with ModelServer(seed=1) as server:
        server.reply(TEXT, chunks=pieces(TEXT))
        log, events = recorded(tmp_path / "a.lctl.json", call, server)
    joined = "".join(leaves(events))
    assert "Your key: [redacted:openai:" in joined
    assert "keep it." in joined
    assert not any(KEY[n : n + 12] in log or KEY[n : n + 12] in joined for n in range(len(KEY) - 12))


@pytest.mark.parametrize("call", SURFACES)
def test_a_password_in_pieces_of_arguments(tmp_path: Path, call: Any) -> None:
    """A tool call's arguments come in pieces, too; a secret under its name is gone."""
    with ModelServer(seed=1) as server:
        server.reply(tool_calls=[("login", {"password": "hunter2-hunter2", "user": "bob"})])
        log, events = recorded(tmp_path / "a.lctl.json", call, server)
    joined = "".join(leaves(events))
    assert "redacted:password" in log
    assert "bob" in joined
    assert "ter2-hun" not in log + joined


def test_clean_streams_stay_byte_for_byte(tmp_path: Path) -> None:
    """The word "password" alone changes nothing."""
    text = "Your password: none. See https://example.com/docs for more."
    paths = tmp_path / "a.lctl.json", tmp_path / "b.lctl.json"
    bodies = []
    for path in paths:
        with ModelServer(seed=1) as server:
            server.reply(text, chunks=pieces(text))
            _, events = recorded(path, by_chat, server)
            bodies.append("".join(leaves(events)))
    assert bodies[0] == bodies[1]
    assert text in bodies[0]


def test_a_key_in_log_probabilities(tmp_path: Path) -> None:
    """A body that spells the answer out token by token does not spell the key."""
    path = tmp_path / "a.lctl.json"
    tokens = [{"token": piece, "logprob": -0.1, "bytes": list(piece.encode())} for piece in pieces(TEXT)]
    message = {"role": "assistant", "content": TEXT}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": {"content": tokens}}
    answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=answer))
    ensure_installed()
    try:
        with (
            httpx2.Client(transport=transport) as http,
            LCTLSession("c", path),
        ):
            client = openai.OpenAI(base_url="http://model/v1", api_key="test", http_client=http)
            client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "Hi"}], logprobs=True
            )
    finally:
        uninstrument()
    events = json.loads(path.read_text())["events"]
    [body] = [event["data"]["body"] for event in events if event["type"] == "exchange"]
    [recorded] = json.loads(body)["choices"]
    spelt = "".join(token["token"] for token in recorded["logprobs"]["content"])
    assert spelt == recorded["message"]["content"]
    assert spelt.startswith("Your key: [redacted:openai:")
    assert str(list(KEY[8:13].encode())) not in path.read_text().replace(",", ", ")


def streamed(
    path: Path, url: str, kind: str, chunks: list[bytes], *, cut: bool = False, full: bool = False
) -> str:
    """The log of one answer that comes in these chunks."""

    def arriving() -> Any:
        yield from chunks
        if cut:
            raise httpx2.ReadError("closed")

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": kind}, content=arriving())

    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}], "contents": []}
    auto_instrument(record="full" if full else "model")
    try:
        with LCTLSession("c", path), httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
            try:
                with http.stream("POST", url, json=body) as response:
                    response.read()
            except httpx2.ReadError:
                assert cut
    finally:
        uninstrument()
    return path.read_text()


def spelt_in(log: str) -> str:
    """Every text of the exchange's body, one behind the other."""
    [exchange] = [e["data"] for e in json.loads(log)["events"] if e["type"] == "exchange"]
    if "body" in exchange:
        return "".join(leaves(json.loads("".join(exchange["body"]))))
    lines = b"".join(chunk for _, chunk in rebuild_chunks(exchange)).decode().splitlines()
    return "".join(
        text for line in lines if "{" in line for text in leaves(json.loads(line[line.index("{") :]))
    )


def chat_chunk(text: str) -> bytes:
    return json.dumps({"id": "c", "choices": [{"index": 0, "delta": {"content": text}}]}).encode()


CHAT, GOOGLE = "http://model/v1/chat/completions", "http://google/v1beta/models/m:streamGenerateContent"


def test_a_key_that_begins_in_the_first_event_after_a_byte_order_mark(tmp_path: Path) -> None:
    chunks = [b"data: %b\n\n" % chat_chunk(piece) for piece in pieces(TEXT[10:])]
    log = streamed(tmp_path / "a.lctl.json", CHAT, "text/event-stream", [b"\xef\xbb\xbf", *chunks])
    assert spelt_in(log).startswith("[redacted:openai:")
    assert "keep it." in spelt_in(log)


def test_a_key_in_googles_list_of_chunks(tmp_path: Path) -> None:
    """Which comes where nobody asked for server-sent events."""
    chunks = [
        b"[,"[bool(n) : bool(n) + 1]
        + json.dumps({"candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}}]}).encode()
        for n, piece in enumerate(pieces(TEXT))
    ]
    log = streamed(tmp_path / "a.lctl.json", GOOGLE, "application/json", [*chunks, b"\n]"])
    assert spelt_in(log).startswith("Your key: [redacted:openai:")
    assert spelt_in(log).endswith("keep it.")


def test_a_key_whose_end_is_in_a_torn_event(tmp_path: Path) -> None:
    """Of what the answer says so far nothing is a key yet."""
    first, torn = chat_chunk(f"Your key: {KEY[:18]}"), chat_chunk(KEY[18:])
    chunks = [b"data: %b\n\n" % first, b"data: " + torn[: torn.index(b'"}')]]
    log = streamed(tmp_path / "a.lctl.json", CHAT, "text/event-stream", chunks, cut=True)
    assert "Your key: " in log
    assert KEY[18:] not in log


def test_a_key_in_lines_of_json_that_are_no_answer_of_a_model(tmp_path: Path) -> None:
    lines = [json.dumps({"text": piece}).encode() + b"\n" for piece in pieces(TEXT)]
    log = streamed(tmp_path / "a.lctl.json", "http://other/lines", "application/x-ndjson", lines, full=True)
    assert spelt_in(log).startswith("Your key: [redacted:openai:")
    assert spelt_in(log).endswith("keep it.")
