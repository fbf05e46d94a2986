"""Model calls made without an SDK: every HTTP library, each attempt a step, each exchange once."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.instrument import ensure_installed, settings, traffic, uninstrument
from lctl.instrument.bodies import rebuild_body
from lctl.instrument.suppress import suppress
from lctl.session import LCTLSession

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
PATH = "/v1/chat/completions"


def by_httpx(url: str, ask: dict[str, Any]) -> Any:
    httpx = pytest.importorskip("httpx")
    with httpx.Client() as client:
        return client.post(url, json=ask).json()


def by_httpx2(url: str, ask: dict[str, Any]) -> Any:
    httpx2 = pytest.importorskip("httpx2")
    with httpx2.Client() as client:
        return client.post(url, json=ask).json()


def by_httpx_async(url: str, ask: dict[str, Any]) -> Any:
    httpx = pytest.importorskip("httpx")

    async def main() -> Any:
        async with httpx.AsyncClient() as client:
            return (await client.post(url, json=ask)).json()

    return asyncio.run(main())


def by_requests(url: str, ask: dict[str, Any]) -> Any:
    requests = pytest.importorskip("requests")
    with requests.Session() as session:
        return session.post(url, json=ask).json()


def by_urllib3(url: str, ask: dict[str, Any]) -> Any:
    urllib3 = pytest.importorskip("urllib3")
    with urllib3.PoolManager() as pool:
        headers = {"content-type": "application/json"}
        return json.loads(pool.request("POST", url, body=json.dumps(ask), headers=headers).data)


def by_urllib(url: str, ask: dict[str, Any]) -> Any:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    headers = {"content-type": "application/json"}
    try:
        with urlopen(Request(url, json.dumps(ask).encode(), headers), timeout=5) as response:
            body = response.read()
    except HTTPError as error:
        with error:
            body = error.read()
    return json.loads(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)


def by_aiohttp(url: str, ask: dict[str, Any]) -> Any:
    aiohttp = pytest.importorskip("aiohttp")

    async def main() -> Any:
        async with aiohttp.ClientSession() as session, session.post(url, json=ask) as response:
            return await response.json()

    return asyncio.run(main())


LIBRARIES = [by_httpx, by_httpx2, by_httpx_async, by_requests, by_urllib3, by_urllib, by_aiohttp]
Library = Callable[[str, dict[str, Any]], Any]


@pytest.mark.parametrize("library", LIBRARIES)
class TestEveryLibrary:
    def test_one_step(self, library: Library, server: Any, log: Any) -> None:
        """A call is recorded once, with prompt and answer, by whichever library it was made."""
        answer = library(server.url + PATH, ASK)
        assert answer["choices"][0]["message"]["content"] == "echo: Hi"
        [(start, end)] = log.steps()
        assert (start["model"], end["outcome"]) == ("m", "success")
        [exchange] = log.of("exchange")
        name = library.__name__.split("_")[1]
        assert exchange["http"] == {"urllib": "http.client"}.get(name, name)
        assert exchange["url"] == server.url + PATH
        assert exchange["headers"]["x-request-id"] == "req_1"
        assert exchange["complete"] is True
        assert log.of("message")[-1]["content"] == "echo: Hi"

    def test_gzip(self, library: Library, server: Any, make: Any, log: Any) -> None:
        """A gzip body is decoded for the host by its library, and for the log by us, once."""
        body = make.gzip(make.chat("Zipped " * 30))
        server.replies = [make.Reply(body, headers={"content-encoding": "gzip"})]
        answer = library(server.url + PATH, ASK)
        assert log.of("message")[-1]["content"] == answer["choices"][0]["message"]["content"]
        assert "content-encoding" not in log.of("exchange")[0]["headers"]

    def test_error_status(self, library: Library, server: Any, make: Any, log: Any) -> None:
        """An error status is an error of the call, whatever the library makes of it."""
        server.replies = [make.Reply({"error": {"message": "slow down"}}, 429)]
        library(server.url + PATH, ASK)
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        assert log.of("error")[0]["type"] == "rate_limited"

    def test_error_in_a_good_status(self, library: Library, server: Any, make: Any, log: Any) -> None:
        """Gateways answer 200 with the error of the provider behind them: an error of the call."""
        server.replies = [make.Reply({"id": "gen-1", "error": {"message": "Provider refused", "code": 502}})]
        library(server.url + PATH, ASK)
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        [error] = log.of("error")
        assert (error["message"], error["context"]["code"]) == ("Provider refused", 502)

    def test_refused(self, library: Library, log: Any) -> None:
        """The library's own exception passes unchanged; the attempt is recorded without a response."""
        with pytest.raises(Exception) as caught:
            library("http://127.0.0.1:9" + PATH, ASK)
        assert not type(caught.value).__module__.startswith("lctl")
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        assert log.of("error")[0]["type"] == "connection_failed"
        assert "status" not in log.of("exchange")[0]

    def test_other_traffic(self, library: Library, server: Any, log: Any) -> None:
        """What is no model call is counted by host and not recorded."""
        before = traffic.passed["127.0.0.1"]
        library(server.url + "/api/things", {"x": 1})
        assert log.types == []
        assert traffic.passed["127.0.0.1"] == before + 1

    def test_path_of_another_service(self, library: Library, server: Any, log: Any) -> None:
        """A path that ends as a provider's does, with a body that does not fit, is other traffic."""
        library(server.url + "/channels/1/messages", {"text": "not a prompt"})
        assert log.types == []

    def test_everything(
        self, library: Library, server: Any, log: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With record="full" other exchanges are events too, request body included; telemetry never."""
        monkeypatch.setattr(settings, "full", True)
        library(server.url + "/api/things", {"x": 1})
        library(server.url + "/api/public/ingestion", {"batch": []})
        [exchange] = log.of("exchange")
        assert exchange["kind"] == "http"
        assert json.loads(exchange["request"]["body"]) == {"x": 1}
        assert json.loads(exchange["body"]) == {"ok": True}
        assert exchange["complete"] is True

    def test_telemetry_alone(
        self, library: Library, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It opens no log: exporters send at exit, when the program's is closed, and `last` is that one."""
        monkeypatch.setenv("LCTL_DIR", str(tmp_path))
        lctl.auto_instrument()
        try:
            library(server.url + "/api/public/ingestion", {"batch": []})
            assert list(tmp_path.iterdir()) == []
        finally:
            lctl.uninstrument()

    def test_suppressed(self, library: Library, server: Any, log: Any) -> None:
        """Within suppress() nothing is recorded."""
        with suppress():
            library(server.url + PATH, ASK)
        assert log.types == []


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/v1/completions", {"error": {"message": "refused"}}, "refused"),
        ("/v1/embeddings", {"error": {"message": "refused"}}, "refused"),
        ("/v1/messages", {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, "busy"),
        ("/v2/chat", {"error": "refused"}, "refused"),
        ("/model/m/converse", {"error": "refused"}, "refused"),
        (
            "/v1/chat/completions",
            {"detail": "?"},
            "the body is no answer of a model: 15 bytes, application/json",
        ),
        ("/v1/chat/completions", b"<html>", "the body is no answer of a model: 6 bytes, text/html"),
        ("/v1/messages", b"", "the body is no answer of a model: 0 bytes, text/html"),
        (
            "/v1beta/models/g:generateContent",
            b"<html>",
            "the body is no answer of a model: 6 bytes, text/html",
        ),
    ],
)
def test_good_status_without_an_answer(
    server: Any, make: Any, log: Any, path: str, body: Any, message: str
) -> None:
    """A 200 that holds an error, or nothing that could be read as an answer, is no success."""
    httpx = pytest.importorskip("httpx")
    headers = {"content-type": "text/html"} if isinstance(body, bytes) else {}
    server.replies = [make.Reply(body, headers=headers)]
    ask = {**ASK, "prompt": "Hi", "input": "Hi", "contents": [{"parts": [{"text": "Hi"}]}]}
    assert httpx.post(server.url + path, json=ask).status_code == 200
    [(_, end)] = log.steps()
    assert end["outcome"] == "error"
    [error] = log.of("error")
    assert (error["message"], error["context"]["status"]) == (message, 200)


def test_a_body_with_a_byte_order_mark(server: Any, make: Any, log: Any) -> None:
    """Some gateways on Windows send one; the SDKs read past it."""
    httpx = pytest.importorskip("httpx")
    server.replies = [make.Reply(b"\xef\xbb\xbf" + json.dumps(make.chat("Hello")).encode())]
    assert httpx.post(server.url + PATH, json=ASK).json()["object"] == "chat.completion"
    [(_, end)] = log.steps()
    assert (end["outcome"], end["tokens"]["output"]) == ("success", 5)
    assert [m["content"] for m in log.of("message") if m["role"] == "assistant"] == ["Hello"]


def test_a_stream_of_another_form_is_no_error(server: Any, make: Any, log: Any) -> None:
    """Writer's completions: the SDK reads each event, in which there is nothing that it knows."""
    httpx = pytest.importorskip("httpx")
    server.replies = [make.Reply(chunks=[b'data: {"value":"Sure"}\n\n', b'data: {"value":"!"}\n\n'])]
    httpx.post(server.url + "/v1/completions", json={"model": "m", "prompt": "Hi", "stream": True})
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    assert log.of("error") == []


def test_a_filtered_prompt_is_no_error(server: Any, make: Any, log: Any) -> None:
    """Azure's answer to it has status 200 and no content; the SDK raises nothing."""
    httpx = pytest.importorskip("httpx")
    server.replies = [make.Reply({"error": {"message": "Filtered", "code": "content_filter", "status": 400}})]
    httpx.post(server.url + PATH, json=ASK)
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    assert log.of("error") == []


def test_answer_in_an_unknown_encoding(server: Any, make: Any, log: Any) -> None:
    """What nobody here can decode is not called a success; the host gets it as it came."""
    httpx = pytest.importorskip("httpx")
    body = json.dumps(make.chat("hidden")).encode()[::-1]
    server.replies = [make.Reply(body, headers={"content-encoding": "reversed"})]
    assert httpx.post(server.url + PATH, json=ASK).content == body
    [(_, end)] = log.steps()
    assert end["outcome"] == "error"
    assert log.of("error")[0]["message"].endswith(f"{len(body)} bytes, encoded as reversed")


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


def test_a_log_is_told_of_its_own_traffic_only(tmp_path: Path, server: Any) -> None:
    """Requests counted before a session was opened are not in its log's tail."""
    pytest.importorskip("httpx2")
    tails = []
    ensure_installed()
    try:
        for name in "ab":
            with LCTLSession(name, tmp_path / f"{name}.lctl.json") as session:
                if name == "a":
                    by_httpx2(server.url + "/api/things", {"x": 1})
            tails.append(json.loads(session.path.read_text()))
    finally:
        uninstrument()
    assert tails[0]["recording"]["other_traffic"] == {"127.0.0.1": 1}
    assert "recording" not in tails[1]
