"""Streams over real HTTP: what of them is recorded, left early, broken or odd."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import lctl
from lctl.instrument.bodies import rebuild_body
from tests.integrations.libraries import ASK, PATH


class TestStreams:
    def test_requests(self, server: Any, make: Any, log: Any) -> None:
        """iter_lines over a chunked stream keeps each chunk as it came."""
        requests = pytest.importorskip("requests")
        server.replies = [make.Reply(chunks=make.chat_chunks("one two three"))]
        with requests.post(server.url + PATH, json={**ASK, "stream": True}, stream=True) as response:
            lines = [line for line in response.iter_lines() if line]
        assert lines[-1] == b"data: [DONE]"
        [(_, end)] = log.steps()
        assert end["outcome"] == "success"
        assert log.of("message")[-1]["content"] == "one two three"

    def test_requests_left_early(self, server: Any, make: Any, log: Any) -> None:
        """Closing a requests stream half-way is an aborted call."""
        requests = pytest.importorskip("requests")
        server.replies = [make.Reply(chunks=make.chat_chunks("one two three four"), pause=0.02)]
        with requests.post(server.url + PATH, json={**ASK, "stream": True}, stream=True) as response:
            for n, _line in enumerate(response.iter_lines(chunk_size=1)):
                if n == 4:
                    break
        [(_, end)] = log.steps()
        assert end["outcome"] == "aborted"
        assert log.of("message")[-1]["content"].startswith("one")

    def test_requests_cut(self, server: Any, make: Any, log: Any) -> None:
        """A connection lost in the middle of a chunked body is an error, recorded once."""
        requests = pytest.importorskip("requests")
        server.replies = [make.Reply(chunks=make.chat_chunks("one two", done=False), cut=True)]
        response = requests.post(server.url + PATH, json={**ASK, "stream": True}, stream=True)
        with pytest.raises(requests.exceptions.ChunkedEncodingError):
            list(response.iter_content(10))
        response.close()
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        assert log.of("error")[0]["type"] == "connection_lost"

    def test_requests_retries_of_the_adapter(self, server: Any, make: Any, log: Any) -> None:
        """Retries below requests are attempts of one step."""
        requests = pytest.importorskip("requests")
        urllib3 = pytest.importorskip("urllib3")
        server.replies = [make.Reply({"error": {"message": "oops"}}, 503)]
        retry = urllib3.Retry(2, status_forcelist=[503], allowed_methods=None, backoff_factor=0)
        with requests.Session() as session:
            session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retry))
            assert session.post(server.url + PATH, json=ASK).status_code == 200
        [(_, end)] = log.steps()
        assert end["outcome"] == "success"
        assert [e["status"] for e in log.of("exchange")] == [503, 200]

    @pytest.mark.parametrize("how", ["iterate", "readline", "iter_chunked", "read", "text"])
    def test_aiohttp(self, server: Any, make: Any, log: Any, how: str) -> None:
        """However an aiohttp stream is read, what arrived is what is recorded."""
        aiohttp = pytest.importorskip("aiohttp")
        server.replies = [make.Reply(chunks=make.chat_chunks("one two three"), pause=0.005)]

        async def main() -> bytes:
            ask = {**ASK, "stream": True}
            async with (
                aiohttp.ClientSession() as session,
                session.post(server.url + PATH, json=ask) as response,
            ):
                content = response.content
                assert isinstance(content, aiohttp.StreamReader)
                if how == "iterate":
                    return b"".join([line async for line in content])
                if how == "readline":
                    return b"".join([line async for line in _lines(content)])
                if how == "iter_chunked":
                    return b"".join([piece async for piece in content.iter_chunked(7)])
                if how == "read":
                    return bytes(await content.read())
                return str(await response.text()).encode()

        body = asyncio.run(main())
        assert body.endswith(b"data: [DONE]\n\n")
        [exchange] = log.of("exchange")
        assert rebuild_body(exchange, {}) == body
        assert log.of("message")[-1]["content"] == "one two three"
        assert log.steps()[0][1]["outcome"] == "success"

    def test_aiohttp_left_early(self, server: Any, make: Any, log: Any) -> None:
        """Leaving the response's context half-way is an aborted call."""
        aiohttp = pytest.importorskip("aiohttp")
        server.replies = [make.Reply(chunks=make.chat_chunks("one two three four"), pause=0.02)]

        async def main() -> None:
            ask = {**ASK, "stream": True}
            async with (
                aiohttp.ClientSession() as session,
                session.post(server.url + PATH, json=ask) as response,
            ):
                await response.content.readline()

        asyncio.run(main())
        [(_, end)] = log.steps()
        assert end["outcome"] == "aborted"

    def test_aiohttp_cut(self, server: Any, make: Any, log: Any) -> None:
        """A body cut by the network raises aiohttp's error and is recorded as lost."""
        aiohttp = pytest.importorskip("aiohttp")
        server.replies = [make.Reply(chunks=make.chat_chunks("one two", done=False), cut=True)]

        async def main() -> None:
            ask = {**ASK, "stream": True}
            async with (
                aiohttp.ClientSession() as session,
                session.post(server.url + PATH, json=ask) as response,
            ):
                with pytest.raises(aiohttp.ClientPayloadError):
                    await response.read()

        asyncio.run(main())
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        assert log.of("error")[0]["type"] == "connection_lost"

    def test_aiohttp_in_a_tool(self, server: Any, make: Any, log: Any) -> None:
        """What a tool asks is its own, though its answer comes over a connection that others opened."""
        aiohttp = pytest.importorskip("aiohttp", reason="needs: pip install aiohttp")
        server.replies = [make.Reply(chunks=make.chat_chunks(), pause=0.005) for _ in range(2)]

        async def asks(session: Any) -> str:
            async with session.post(server.url + PATH, json={**ASK, "stream": True}) as response:
                return str(await response.text())

        async def look(session: Any) -> int:
            return len(await asks(session))

        async def main() -> None:
            async with aiohttp.ClientSession() as session:
                await asks(session)
                await lctl.tool(look)(session)

        asyncio.run(main())
        kinds = {event["seq"]: event["type"] for event in log.events}
        [(first, last)] = log.of("tool_call")[0]["tape"]["inside"]
        assert [kinds[n] for n in range(first, last + 1)] == ["step_start", "exchange", "message", "step_end"]

    def test_aiohttp_raise_for_status(self, server: Any, make: Any, log: Any) -> None:
        """A session that raises for statuses still leaves the status in the log."""
        aiohttp = pytest.importorskip("aiohttp")
        server.replies = [make.Reply({"error": {"message": "no"}}, 401)]

        async def main() -> None:
            async with aiohttp.ClientSession(raise_for_status=True) as session:
                with pytest.raises(aiohttp.ClientResponseError):
                    await session.post(server.url + PATH, json=ASK)

        asyncio.run(main())
        assert log.of("exchange")[0]["status"] == 401
        assert log.of("error")[0]["type"] == "authentication_failed"


async def _lines(content: Any) -> Any:
    while line := await content.readline():
        yield line
