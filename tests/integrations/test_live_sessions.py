"""Live sessions over WebSockets: each response of the model is a step, however the program reads it."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from tests.integrations.sockets import Line, serving

pytest.importorskip("websockets.asyncio.client", reason="needs: pip install 'lctl[test]'")
openai = pytest.importorskip("openai")

pytestmark = pytest.mark.filterwarnings(
    "ignore:connect.. must be used as a context manager:DeprecationWarning"
)

SOUND = base64.b64encode(b"\0\1" * 600).decode()
TOOL = {"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}
USAGE = {
    "input_tokens": 20,
    "output_tokens": 6,
    "total_tokens": 26,
    "input_token_details": {"cached_tokens": 8, "text_tokens": 20, "audio_tokens": 0},
    "output_token_details": {"text_tokens": 6, "audio_tokens": 0},
}
HEARS = {"audio": {"input": {"transcription": {"model": "whisper-1"}}}}


def session(**more: Any) -> dict[str, Any]:
    said = {"type": "realtime", "model": "gpt-realtime", "instructions": "Be brief.", "tools": [TOOL], **more}
    return {"type": "session.created", "event_id": "e0", "session": said}


def item(id: str, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    said = {"id": id, "object": "realtime.item", "type": "message", "status": "completed", "role": role}
    return {**said, "content": list(parts), **more}


CALL = {
    "id": "item_2",
    "object": "realtime.item",
    "type": "function_call",
    "status": "completed",
    "call_id": "call_1",
    "name": "weather",
    "arguments": '{"city":"Rome"}',
}
ANSWER = item("item_4", "assistant", {"type": "output_audio", "transcript": "It is sunny."})


def response(id: str, status: str = "in_progress", *output: dict[str, Any], **more: Any) -> dict[str, Any]:
    said = {"object": "realtime.response", "id": id, "status": status, "status_details": None}
    return {**said, "output": list(output), "conversation_id": "conv_1", "usage": None, **more}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "event_id": "e", **more}


def weather(line: Line) -> None:
    """A question in text, a function that is called, an answer that is spoken."""
    line.say(session())
    asked = line.hear("type", "conversation.item.create")["item"]
    line.say(event("conversation.item.added", item={**asked, "id": "item_1", "status": "completed"}))
    line.hear("type", "response.create")
    line.say(
        event("response.created", response=response("resp_1")),
        event("conversation.item.added", item={**CALL, "arguments": "", "status": "in_progress"}),
        event("response.function_call_arguments.delta", response_id="resp_1", delta='{"city":"Rome"}'),
        event("response.done", response=response("resp_1", "completed", CALL, usage=USAGE)),
    )
    result = line.hear("type", "conversation.item.create")["item"]
    line.say(event("conversation.item.added", item={**result, "id": "item_3"}))
    line.hear("type", "response.create")
    heard = {"response_id": "resp_2", "item_id": "item_4", "output_index": 0, "content_index": 0}
    line.say(
        event("response.created", response=response("resp_2")),
        event("response.output_audio_transcript.delta", delta="It is sunny.", **heard),
        event("response.output_audio.delta", delta=SOUND, **heard),
        event("response.done", response=response("resp_2", "completed", ANSWER, usage=USAGE)),
    )


QUESTION = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Rome?"}]}


def ask(url: str) -> list[str]:
    """What a program does, in a thread: it asks, runs a function, hears an answer."""
    kinds = []
    with openai.OpenAI(api_key="k", base_url=f"{url}/v1").realtime.connect(model="gpt-realtime") as live:
        live.conversation.item.create(item=QUESTION)
        live.response.create()
        for said in live:
            kinds.append(said.type)
            if said.type == "response.done":
                call = said.response.output[0]
                if call.type != "function_call":
                    break
                result = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
                live.conversation.item.create(item=result)
                live.response.create()
    return kinds


async def ask_async(url: str) -> list[str]:
    kinds = []
    client = openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1")
    async with client.realtime.connect(model="gpt-realtime") as live:
        await live.conversation.item.create(item=QUESTION)
        await live.response.create()
        async for said in live:
            kinds.append(said.type)
            if said.type == "response.done":
                call = said.response.output[0]
                if call.type != "function_call":
                    break
                result = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
                await live.conversation.item.create(item=result)
                await live.response.create()
    return kinds


@pytest.mark.parametrize("is_async", [False, True])
def test_realtime(log: Any, is_async: bool) -> None:
    with serving(weather) as url:
        kinds = asyncio.run(ask_async(url)) if is_async else ask(url)
    assert kinds.count("response.done") == 2
    [(first, asks), (_, done)] = log.steps()
    assert (first["operation"], first["model"], first["provider"]) == ("realtime", "gpt-realtime", "openai")
    assert first["tool_definitions"] == [TOOL]
    assert (asks["finish_reason"], asks["response_id"]) == ("completed", "resp_1")
    assert done["tokens"] == {"input": 20, "output": 6, "total": 26, "cache_read": 8}
    system, asked, calls, result, said = log.of("message")
    assert (system["content"], asked["content"]) == ("Be brief.", QUESTION["content"])
    assert (calls["content"][0]["name"], result["content"]) == ("weather", "sunny")
    [part] = said["content"][0]["content"]
    assert (part["transcript"], part["bytes"]) == ("It is sunny.", 1200)
    path = [system, asked, calls, result, said]
    assert [one["parent_id"] for one in path[1:]] == [one["message_id"] for one in path[:-1]]
    [tool] = log.of("tool_call")
    assert (tool["tool"], tool["input"], tool["output"]) == ("weather", {"city": "Rome"}, "sunny")
    [exchange] = log.of("exchange")
    assert exchange["url"].startswith("ws://127.0.0.1")
    assert SOUND not in log.path.read_text()


def test_what_is_heard_is_told_by_its_transcript(log: Any) -> None:
    """It comes after the response has begun; sound that is sent is counted."""
    spoken = item("item_1", "user", {"type": "input_audio", "audio": None, "transcript": None})
    answer = item("item_2", "assistant", {"type": "output_text", "text": "Sunny."})

    def serve(line: Line) -> None:
        line.say(session(**HEARS))
        line.hear("type", "input_audio_buffer.append")
        heard = {"item_id": "item_1", "content_index": 0, "transcript": "Rome?"}
        line.say(
            event("conversation.item.added", item=spoken),
            event("conversation.item.done", item=spoken),
            event("response.created", response=response("resp_1")),
            event("response.output_text.delta", response_id="resp_1", item_id="item_2", delta="Sunny."),
            event("conversation.item.input_audio_transcription.completed", **heard),
            event("response.done", response=response("resp_1", "completed", answer, usage=USAGE)),
        )

    with serving(serve) as url:
        client = openai.OpenAI(api_key="k", base_url=f"{url}/v1")
        with client.realtime.connect(model="gpt-realtime") as live:
            live.input_audio_buffer.append(audio=SOUND)
            for said in live:
                if said.type == "response.done":
                    break
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    _, heard, answered = log.of("message")
    assert heard["content"][0]["transcript"] == "Rome?"
    assert answered["content"] == "Sunny."
    assert '\\"bytes\\":1200' in log.path.read_text()


def test_errors_and_ends(log: Any) -> None:
    """A refused request, a response that failed, one that the connection's end cut."""
    failed = {"type": "failed", "error": {"type": "server_error", "code": "x", "message": "It broke."}}

    def serve(line: Line) -> None:
        line.say(session())
        line.hear("type", "response.create")
        said = {"type": "invalid_request_error", "code": None, "message": "No such voice."}
        line.say(event("error", error=said))
        line.hear("type", "response.create")
        line.say(
            event("response.created", response=response("resp_1")),
            event("response.done", response=response("resp_1", "failed", status_details=failed)),
        )
        line.hear("type", "response.create")
        line.say(
            event("response.created", response=response("resp_2")),
            event("response.output_text.delta", response_id="resp_2", item_id="i", delta="Half an"),
        )

    with serving(serve) as url:
        client = openai.OpenAI(api_key="k", base_url=f"{url}/v1")
        with client.realtime.connect(model="gpt-realtime") as live:
            for _ in range(3):
                live.response.create()
            try:
                list(live)
            except Exception as error:
                assert not type(error).__module__.startswith("lctl")
    refused, broke = log.of("error")
    assert (refused["message"], broke["message"]) == ("No such voice.", "It broke.")
    [(_, first), (_, second)] = log.steps()
    assert (first["outcome"], second["outcome"]) == ("error", "cancelled")
    cut = log.of("message")[-1]
    assert (cut["content"], cut["status"]) == ("Half an", "aborted")


def test_a_connection_that_is_refused(log: Any) -> None:
    """It is an exchange with its error; the program gets its own."""
    with pytest.raises(Exception) as caught:
        openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1").realtime.connect(model="m").enter()
    assert not type(caught.value).__module__.startswith("lctl")
    assert not log.steps()


def test_responses_over_a_socket(log: Any) -> None:
    said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    said["content"] = [{"type": "output_text", "text": "Hello", "annotations": []}]  # type: ignore[assignment]
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    whole = {"id": "resp_1", "object": "response", "model": "gpt-5-2025", "status": "completed"}

    def serve(line: Line) -> None:
        line.hear("type", "response.create")
        began = {**whole, "status": "in_progress", "output": []}
        line.say(
            event("response.created", response=began, sequence_number=0),
            event(
                "response.completed", response={**whole, "output": [said], "usage": usage}, sequence_number=1
            ),
        )

    with (
        serving(serve) as url,
        openai.OpenAI(api_key="k", base_url=f"{url}/v1").responses.connect() as live,
    ):
        live.response.create(model="gpt-5", input="Hi")
        for got in live:
            if got.type == "response.completed":
                break
    [(start, end)] = log.steps()
    assert (start["operation"], start["model"], end["tokens"]["output"]) == ("responses", "gpt-5", 4)
    assert [one["content"] for one in log.of("message")] == ["Hi", "Hello"]


def test_other_sockets_pass_unseen(log: Any) -> None:
    from websockets.sync.client import connect

    with (
        serving(lambda line: line.say(line.hear("n"))) as url,
        connect(url.replace("http", "ws") + "/chat") as socket,
    ):
        socket.send(json.dumps({"n": 1}))
        assert json.loads(socket.recv()) == {"n": 1}
    assert log.types == []


def test_google_live(log: Any) -> None:
    """Turns in text and sound, a function that is called, what is transcribed both ways."""
    genai = pytest.importorskip("google.genai")
    call = {"id": "c1", "name": "weather", "args": {"city": "Rome"}}
    usage = {"promptTokenCount": 9, "responseTokenCount": 4, "totalTokenCount": 13}

    def serve(line: Line) -> None:
        line.hear("setup")
        line.say({"setupComplete": {}})
        line.hear("client_content")
        line.say({"toolCall": {"functionCalls": [call]}})
        line.hear("tool_response")
        sound = {"inlineData": {"mimeType": "audio/pcm", "data": SOUND}}
        line.say(
            {"serverContent": {"modelTurn": {"parts": [sound]}}},
            {"serverContent": {"outputTranscription": {"text": "It is "}}},
            {"serverContent": {"outputTranscription": {"text": "sunny."}}},
            {"serverContent": {"turnComplete": True}, "usageMetadata": usage},
        )
        line.hear("realtime_input")
        line.say(
            {"serverContent": {"inputTranscription": {"text": "Thanks."}}},
            {"serverContent": {"modelTurn": {"parts": [{"text": "You are "}]}}},
            {"serverContent": {"modelTurn": {"parts": [{"text": "welcome."}]}}},
            {"serverContent": {"interrupted": True}},
        )

    async def main(url: str) -> list[str]:
        types = genai.types
        client = genai.Client(api_key="k")
        # It knows no address without TLS.
        client._api_client._websocket_base_url = lambda http_options=None: url.replace("http", "ws")
        client._api_client._websocket_ssl_ctx = {}
        config = {"system_instruction": "Be brief.", "response_modalities": ["AUDIO"]}
        said = []
        async with client.aio.live.connect(model="gemini-live", config=config) as live:
            await live.send_client_content(turns={"role": "user", "parts": [{"text": "Rome?"}]})
            async for got in live.receive():
                if got.tool_call:
                    given = types.FunctionResponse(id="c1", name="weather", response={"sky": "sunny"})
                    await live.send_tool_response(function_responses=[given])
                if got.server_content and got.server_content.output_transcription:
                    said.append(got.server_content.output_transcription.text)
            sound = types.Blob(data=base64.b64decode(SOUND), mime_type="audio/pcm")
            await live.send_realtime_input(audio=sound)
            async for got in live.receive():
                if got.server_content and got.server_content.interrupted:
                    break
        return said

    with serving(serve) as url:
        assert asyncio.run(main(url)) == ["It is ", "sunny."]
    [(first, asks), (_, done), (_, interrupted)] = log.steps()
    assert (first["operation"], first["model"], first["provider"]) == ("live", "gemini-live", "google")
    assert (asks["finish_reason"], done["finish_reason"]) == ("TOOL_CALL", "STOP")
    assert done["tokens"] == {"input": 9, "output": 4, "total": 13}
    assert interrupted["finish_reason"] == "INTERRUPTED"
    system, asked, called, result, answer, heard, last = log.of("message")
    assert system["parts"] == [{"text": "Be brief."}]
    assert (asked["parts"], called["parts"]) == ([{"text": "Rome?"}], [{"functionCall": call}])
    assert result["parts"][0]["functionResponse"]["response"] == {"sky": "sunny"}
    counted = {"inlineData": {"mimeType": "audio/pcm", "bytes": 1200}}
    assert answer["parts"] == [{"text": "It is sunny."}, counted]
    assert heard["parts"] == [{"text": "Thanks."}, counted]
    assert last["parts"] == [{"text": "You are welcome."}]
    path = [system, asked, called, result, answer, heard, last]
    assert [one["parent_id"] for one in path[1:]] == [one["message_id"] for one in path[:-1]]
    [tool] = log.of("tool_call")
    assert (tool["tool"], tool["input"]) == ("weather", {"city": "Rome"})
    assert SOUND not in log.path.read_text()


def test_secrets(log: Any) -> None:
    """One that comes in pieces is in none of them, and not in the message; the key in Google's address."""
    key = "sk-proj-" + "MaNyChUnKs0123456789abcdefGH"
    pieces = ["Your key: ", key[:20], key[20:], ", keep it."]
    answer = item("item_1", "assistant", {"type": "output_text", "text": "".join(pieces)})

    def serve(line: Line) -> None:
        line.say(session())
        line.hear("type", "response.create")
        line.say(event("response.created", response=response("resp_1")))
        place = {"response_id": "resp_1", "item_id": "item_1", "output_index": 0, "content_index": 0}
        line.say(*[event("response.output_text.delta", delta=piece, **place) for piece in pieces])
        line.say(event("response.done", response=response("resp_1", "completed", answer)))

    with serving(serve) as url:
        client = openai.OpenAI(api_key=key, base_url=f"{url}/v1")
        with client.realtime.connect(model="gpt-realtime", extra_query={"api_key": key}) as live:
            live.response.create()
            for said in live:
                if said.type == "response.done":
                    break
    assert log.of("message")[-1]["content"].startswith("Your key: [redacted:")
    whole = log.path.read_text()
    assert key[:20] not in whole
    assert key[20:] not in whole
