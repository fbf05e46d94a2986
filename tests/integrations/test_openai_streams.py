"""Streams of the real openai SDK against a loopback server."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lctl.instrument.bodies import rebuild_body
from lctl.session import LCTLSession
from tests.integrations.openai_clients import MESSAGES, async_client, client, openai
from tests.integrations.rerunning import Rerun

__all__ = ["client"]


class TestStreams:
    def test_to_the_end(self, client: Any, log: Any) -> None:
        """A stream is recorded when it ends, with its chunks and the time of the first."""
        stream = client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True)
        assert log.types[-1] == "step_start"
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        assert text == "echo: Hi"
        [(start, end)] = log.steps()
        assert start["stream"] is True
        assert end["outcome"] == "success"
        assert end["first_chunk_ms"] <= end["duration_ms"]
        [exchange] = log.of("exchange")
        assert exchange["complete"] is True
        assert "closed_early" not in exchange
        assert rebuild_body(exchange, {}).endswith(b"data: [DONE]\n\n")
        assert log.of("message")[-1]["content"] == "echo: Hi"
        assert log.of("message")[-1]["status"] == "complete"

    def test_async(self, server: Any, log: Any) -> None:
        """The same with the async client."""

        async def main() -> str:
            async with async_client(server) as client:
                stream = await client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True)
                return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

        assert asyncio.run(main()) == "echo: Hi"
        [(_, end)] = log.steps()
        assert end["outcome"] == "success"

    def test_left_early(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """A stream left after two chunks keeps what came; message and call are aborted."""
        server.replies = [make.Reply(chunks=make.chat_chunks("one two three four"), pause=0.01)]
        with client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True) as stream:
            for n, _chunk in enumerate(stream):
                if n == 2:
                    break
        [(_, end)] = log.steps()
        assert end["outcome"] == "aborted"
        [exchange] = log.of("exchange")
        assert exchange["closed_early"] is True
        assert exchange["complete"] is False
        reply = log.of("message")[-1]
        assert (reply["status"], reply["content"]) == ("aborted", "one two")

    def test_dropped_without_close(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """A stream that is garbage-collected unclosed is aborted, too: with the end of the log, as it is
        chance when the collector comes."""
        import gc

        server.replies = [make.Reply(chunks=make.chat_chunks("one two three four"), pause=0.01)]
        stream = client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True)
        next(iter(stream))
        del stream
        gc.collect()
        [(_, end)] = log.steps()
        assert end is None
        log.session.close()
        [(_, end)] = log.steps()
        assert end["outcome"] == "aborted"
        [exchange] = log.of("exchange")
        assert (exchange["left"], exchange["complete"]) == (True, False)

    def test_cut_by_the_network(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """A connection lost in mid-stream is an error with the exception's class, the text so far kept."""
        server.replies = [make.Reply(chunks=make.chat_chunks("one two", done=False), cut=True)]
        stream = client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True)
        with pytest.raises(Exception, match=r"peer closed|Connection error"):
            list(stream)
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        [exchange] = log.of("exchange")
        assert exchange["error"]["type"] == "RemoteProtocolError"
        [error] = log.of("error")
        assert (error["type"], error["recoverable"]) == ("connection_lost", True)
        reply = log.of("message")[-1]
        assert (reply["status"], reply["content"]) == ("error", "one two")

    @pytest.mark.parametrize("is_async", [False, True])
    @pytest.mark.parametrize("stream", [False, True])
    def test_damaged_on_the_way(
        self, server: Any, make: Any, tmp_path: Path, log: Any, stream: bool, is_async: bool
    ) -> None:
        """A gzip that cannot be read fails in the client, so the call failed; and so it does in a rerun."""
        whole = gzip.compress(b"".join(make.chat_chunks("one two three four five six seven eight")))
        headers = {"content-encoding": "gzip", "content-type": "text/event-stream" if stream else "text/json"}
        reply = make.Reply(chunks=[whole[:40], bytes(90), whole[130:]], headers=headers)
        server.otherwise = lambda path, request: reply

        async def ask() -> None:
            async with async_client(server) as client:
                answer = await client.chat.completions.create(model="m", messages=MESSAGES, stream=stream)
                [_ async for _ in answer]

        def program(url: str) -> None:
            if is_async:
                asyncio.run(ask())
            with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client:
                list(client.chat.completions.create(model="m", messages=MESSAGES, stream=stream))

        with pytest.raises(Exception) as raised:
            program(server.url)
        # openai 2 lets through what httpx raises while a stream is read.
        assert type(raised.value).__name__ in {"APIConnectionError", "DecodingError"}
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        [error] = log.of("error")
        assert (error["type"], error["message"][:8]) == ("connection_lost", "Error -3")
        Rerun(tmp_path)(program, server.url)

    @pytest.mark.parametrize("where", ["in the loop", "before it"])
    def test_exception_of_the_program(self, client: Any, log: Any, where: str) -> None:
        """What the program itself raises, or handles, while it leaves a stream is no error of the call."""
        try:
            if where == "before it":
                raise KeyError(where)
            with client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True) as stream:
                for _ in stream:
                    raise KeyError(where)
        except KeyError:
            if where == "before it":
                stream = client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True)
                next(stream)
                stream.close()
        [(_, end)] = log.steps()
        assert end["outcome"] == "aborted"
        assert "exception" not in end
        assert log.of("error") == []

    def test_helper(self, client: Any, log: Any) -> None:
        """The .stream() helper is one call."""
        with client.chat.completions.stream(model="gpt-4o", messages=MESSAGES) as stream:
            for _event in stream:
                pass
            final = stream.get_final_completion()
        assert final.choices[0].message.content == "echo: Hi"
        [(_, end)] = log.steps()
        assert end["outcome"] == "success"


def test_a_stream_still_open_when_the_session_ends(
    client: Any, server: Any, make: Any, log: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What has arrived of it is recorded as aborted; what is read later is no failure of the recording."""
    server.replies = [make.Reply(chunks=make.chat_chunks())]
    with LCTLSession("c", tmp_path / "c.lctl.json") as session:
        stream = client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True)
        next(stream), next(stream)
    assert len(list(stream)) > 1
    events = [json.loads(line) for line in session.lines()]
    assert [e["type"] for e in events[-3:]] == ["exchange", "message", "step_end"]
    assert events[-1]["data"]["outcome"] == "aborted"
    assert events[-2]["data"]["status"] == "aborted"
    assert capsys.readouterr().err == ""
