"""What httpx alone has: clients of other transports, sent requests, event hooks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.integrations.libraries import ASK, PATH, by_httpx, by_httpx2


class TestHttpx:
    @pytest.mark.parametrize("name", ["httpx", "httpx2"])
    def test_generator_upload_is_sent_whole(self, server: Any, log: Any, name: str) -> None:
        """A body given as a generator reaches the server whole and is recorded."""
        httpx = pytest.importorskip(name)
        body = json.dumps(ASK).encode()
        with httpx.Client() as client:
            client.post(server.url + PATH, content=(body[i : i + 5] for i in range(0, len(body), 5)))
        assert server.requests[0][2] == body
        assert log.steps()[0][0]["model"] == "m"

    def test_generator_upload_elsewhere_is_not_read(self, server: Any, log: Any) -> None:
        """An upload that is no model call is left to its transport, chunk by chunk."""
        httpx2 = pytest.importorskip("httpx2")
        stream = (piece for piece in (b"a", b"b"))
        with httpx2.Client() as client:
            request = client.build_request("POST", server.url + "/upload", content=stream)
            client.send(request)
            with pytest.raises(httpx2.RequestNotRead):
                request.content  # noqa: B018
        assert server.requests[0][2] == b"ab"

    def test_mock_transport(self, log: Any) -> None:
        """A mock transport's ready-made response is recorded at once."""
        httpx2 = pytest.importorskip("httpx2")
        reply = {
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
            ]
        }
        transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=reply))
        with httpx2.Client(transport=transport) as client:
            response = client.post("http://model" + PATH, json=ASK)
        assert response.json() == reply
        [(_, end)] = log.steps()
        assert (end["outcome"], end["finish_reason"]) == ("success", "stop")

    def test_both_packages_side_by_side(self, server: Any, log: Any) -> None:
        """httpx and httpx2 in one program are both recorded, each once."""
        by_httpx(server.url + PATH, ASK)
        by_httpx2(server.url + PATH, ASK)
        assert [e["http"] for e in log.of("exchange")] == ["httpx", "httpx2"]

    def test_redirect(self, server: Any, make: Any, log: Any) -> None:
        """A redirected call keeps both exchanges, the first one without an error."""
        httpx2 = pytest.importorskip("httpx2")
        server.replies = [make.Reply({}, 307, {"location": server.url + "/v2/chat/completions"})]
        with httpx2.Client(follow_redirects=True) as client:
            client.post(server.url + PATH, json=ASK)
        assert [e["status"] for e in log.of("exchange")] == [307, 200]
        assert log.of("error") == []

    def test_credentials_in_urls(self, server: Any, log: Any) -> None:
        """Keys in a query do not reach the log."""
        by_httpx2(server.url + PATH + "?key=SECRET&alt=sse", ASK)
        assert log.of("exchange")[0]["url"].endswith("?key=[redacted]&alt=sse")

    def test_aiohttp_beneath_httpx_is_reported_once(self, server: Any, log: Any) -> None:
        """An httpx client on an aiohttp transport is one exchange."""
        openai = pytest.importorskip("openai")
        pytest.importorskip("aiohttp")
        if not hasattr(openai, "DefaultAioHttpClient"):
            pytest.skip("this version has no aiohttp client")
        try:
            beneath = openai.DefaultAioHttpClient
            beneath()
        except RuntimeError:
            pytest.skip("openai 2 needs its aiohttp extra")

        async def main() -> None:
            async with openai.AsyncOpenAI(
                api_key="k", base_url=f"{server.url}/v1", http_client=beneath()
            ) as client:
                await client.chat.completions.create(**ASK)

        asyncio.run(main())
        assert len(log.steps()) == 1
        [exchange] = log.of("exchange")
        assert exchange["http"].startswith("httpx")
