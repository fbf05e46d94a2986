"""A rerun's wire: what was recorded is served by the library's own types, and nothing is connected to."""

from __future__ import annotations

import asyncio
import gzip
import json
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.rerunning import Program, Rerun, events, playing, recording

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
PATH = "/v1/chat/completions"


def facts(response: Any) -> Any:
    return (
        response.status_code,
        response.headers.get("x-request-id"),
        response.http_version,
        str(response.url),
    )


def httpx_sync(name: str) -> Program:
    def program(url: str) -> Any:
        httpx = pytest.importorskip(name)
        with httpx.Client(timeout=5) as client:
            whole = client.post(url + PATH, json=ASK)
            assert type(whole) is httpx.Response
            assert whole.request.url == url + PATH
            assert whole.elapsed.total_seconds() >= 0
            with client.stream("POST", url + PATH, json={**ASK, "stream": True}) as response:
                lines = list(response.iter_lines())
            with client.stream("POST", url + PATH, json={**ASK, "stream": True}) as response:
                pieces = list(response.iter_raw())
                assert response.num_bytes_downloaded == sum(map(len, pieces))
            assert response.is_closed
        return facts(whole), whole.json(), lines, pieces

    return program


def httpx_async(name: str) -> Program:
    def program(url: str) -> Any:
        async def main() -> Any:
            httpx = pytest.importorskip(name)
            async with httpx.AsyncClient(timeout=5) as client:
                whole = await client.post(url + PATH, json=ASK)
                async with client.stream("POST", url + PATH, json={**ASK, "stream": True}) as response:
                    lines = [line async for line in response.aiter_lines()]
                async with client.stream("POST", url + PATH, json={**ASK, "stream": True}) as response:
                    pieces = [piece async for piece in response.aiter_raw()]
            return facts(whole), whole.json(), lines, pieces

        return asyncio.run(main())

    return program


def by_requests(url: str) -> Any:
    requests = pytest.importorskip("requests")
    with requests.Session() as session:
        whole = session.post(url + PATH, json=ASK)
        with session.post(url + PATH, json={**ASK, "stream": True}, stream=True) as response:
            assert type(response.raw).__name__ == "HTTPResponse"
            lines = [line.decode() for line in response.iter_lines()]
        with session.post(url + PATH, json={**ASK, "stream": True}, stream=True) as response:
            pieces = list(response.iter_content(None))
    said = (whole.status_code, whole.reason, whole.headers.get("x-request-id"), whole.url, whole.encoding)
    return said, whole.json(), lines, pieces


def by_urllib3(url: str) -> Any:
    urllib3 = pytest.importorskip("urllib3")
    with urllib3.PoolManager() as pool:

        def ask(body: Any, **options: Any) -> Any:
            headers = {"content-type": "application/json"}
            return pool.request("POST", url + PATH, body=json.dumps(body), headers=headers, **options)

        whole = ask(ASK)
        unread = ask({**ASK, "stream": True}, preload_content=False)
        lines = unread.read().decode().split("\n")[:-1]
        streamed = ask({**ASK, "stream": True}, preload_content=False)
        pieces = list(streamed.stream(65536))
        streamed.release_conn()
    said = (whole.status, whole.reason, whole.headers.get("x-request-id"), whole.version, whole.geturl())
    return said, json.loads(whole.data), lines, pieces


def by_urllib(url: str) -> Any:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    def ask(body: Any) -> Any:
        request = Request(url + PATH, json.dumps(body).encode(), {"content-type": "application/json"})
        try:
            return urlopen(request, timeout=5)
        except HTTPError as error:
            return error

    with ask(ASK) as response:
        body = response.read()
        packed = response.headers["content-encoding"] == "gzip"
        whole = json.loads(gzip.decompress(body) if packed else body)
        said = (response.status, response.reason, response.headers["x-request-id"], response.geturl())
    with ask({**ASK, "stream": True}) as response:
        assert isinstance(response, HTTPResponse)
        lines = response.read().decode().split("\n")[:-1]
    with ask({**ASK, "stream": True}) as response:
        pieces = []
        while piece := response.read1(65536):
            pieces.append(piece)
    with ask({**ASK, "stream": True}) as response:
        pieces += list(response)
    return said, whole, lines, pieces


def by_aiohttp(url: str) -> Any:
    aiohttp = pytest.importorskip("aiohttp")

    async def main() -> Any:
        async with aiohttp.ClientSession() as session:
            async with session.post(url + PATH, json=ASK) as whole:
                assert type(whole) is aiohttp.ClientResponse
                body = await whole.json()
            async with session.post(url + PATH, json={**ASK, "stream": True}) as response:
                lines = [line.decode().rstrip("\n") async for line in response.content]
            async with session.post(url + PATH, json={**ASK, "stream": True}) as response:
                pieces = [piece async for piece, _ in response.content.iter_chunks() if piece]
        said = (whole.status, whole.reason, whole.headers.get("x-request-id"), whole.version, str(whole.url))
        return said, body, lines, pieces

    return asyncio.run(main())


HTTPX = [make(name) for name in ("httpx", "httpx2") for make in (httpx_sync, httpx_async)]
CUT = ("RemoteProtocolError", "ChunkedEncodingError", "ProtocolError", "IncompleteRead", "ClientPayloadError")
EVERY = [*HTTPX, by_requests, by_urllib3, by_urllib, by_aiohttp]


@pytest.mark.parametrize("program", EVERY)
class TestEveryLibrary:
    def test_answers(self, program: Program, server: Any, rerun: Rerun) -> None:
        """Whole and streamed answers come again, in the chunks they came in."""
        _, whole, lines, pieces = rerun(program, server.url)
        assert whole["choices"][0]["message"]["content"] == "echo: Hi"
        assert lines[-2:] == ["data: [DONE]", ""] and len(pieces) > 3

    def test_gzip(self, program: Program, server: Any, make: Any, rerun: Rerun) -> None:
        """A body that came compressed is served plain."""
        server.replies = [make.Reply(make.gzip(make.chat("Zip " * 50)), headers={"content-encoding": "gzip"})]
        assert "Zip" in str(rerun(program, server.url)[1])

    def test_error_status(self, program: Program, server: Any, make: Any, rerun: Rerun) -> None:
        server.replies = [make.Reply({"error": {"message": "slow down"}}, 429, {"retry-after": "1"})]
        assert rerun(program, server.url)[0][0] == 429

    def test_refused(self, program: Program, rerun: Rerun) -> None:
        """A connection that failed fails again, by the library's own class."""
        (kind, *_), _ = rerun(program, "http://127.0.0.1:9")
        assert kind.partition(".")[0] in ("httpx", "httpx2", "requests", "urllib3", "urllib", "aiohttp")

    def test_cut_stream(self, program: Program, server: Any, make: Any, rerun: Rerun) -> None:
        """An error in the middle of a body comes at the same place."""
        server.replies = [make.Reply(make.chat()), make.Reply(chunks=make.chat_chunks(done=False), cut=True)]
        assert rerun(program, server.url)[0][1] in CUT


def test_a_stream_that_is_shorter_than_it_says(server: Any, make: Any, rerun: Rerun) -> None:
    """Of a body with a length, read by http.client, what had come is there again, and nothing else."""
    from http.client import IncompleteRead
    from urllib.request import Request, urlopen

    def program(url: str) -> bytes:
        ask = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True})
        headers = {"content-type": "application/json"}
        with urlopen(Request(url + "/v1/chat/completions", ask.encode(), headers)) as response:
            try:
                return bytes(response.read())
            except IncompleteRead as error:
                return error.partial

    body = b"".join(make.chat_chunks())
    server.replies = [make.Reply(body, headers={"content-type": "text/event-stream"}, cut=True)]
    assert rerun(program, server.url) == body[: len(body) // 2]


class TestLive:
    """A request the player lets out."""

    @pytest.mark.parametrize("program", EVERY)
    def test_with_another_body(self, program: Program, server: Any, tmp_path: Path) -> None:
        """What is sent, and recorded, is the player's body; the others are served."""
        with recording(tmp_path / "tape"):
            first = program(server.url)
        sent = len(server.requests)
        edited = json.dumps({**ASK, "messages": [{"role": "user", "content": "A longer question"}]}).encode()
        with playing(tmp_path / "tape", tmp_path / "log", watched=False) as player:
            player.live |= {("0", 1): edited, ("0.1", 1): edited}  # an async one is a task
            second = program(server.url)
        assert second[2:] == first[2:]
        assert second[1]["choices"][0]["message"]["content"] == "echo: A longer question"
        [(_, headers, body)] = server.requests[sent:]
        assert body == edited and headers["content-length"] == str(len(edited))
        matches = [e["data"].get("match") for e in events(tmp_path / "log") if e["type"] == "exchange"]
        assert matches[0] == "live" and not any(matches[1:])
        assert "A longer question" in str(events(tmp_path / "log")[0])
