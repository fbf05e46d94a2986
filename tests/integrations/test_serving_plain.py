"""record="full": whatever a program reads over HTTP is recorded so that a rerun can serve it."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from lctl.instrument import plain, settings
from tests.integrations.rerunning import Rerun, events, playing, recording

#: (method, path, body or None) -> (status, headers by lower-case name, body, url at the end).
Fetch = Callable[..., tuple[int, dict[str, str], bytes, str]]


def lowered(headers: Any) -> dict[str, str]:
    # Cookies are redacted on the tape, and are compared where they are tested.
    return {k.lower(): v for k, v in headers.items() if k.lower() not in ("set-cookie", "connection")}


def by_httpx(method: str, url: str, body: Any = None, **options: Any) -> Any:
    httpx = pytest.importorskip("httpx")
    with httpx.Client(follow_redirects=True) as client:
        r = client.request(method, url, content=body, **options)
    return r.status_code, lowered(r.headers), r.content, str(r.url)


def by_httpx_async(method: str, url: str, body: Any = None, **options: Any) -> Any:
    httpx = pytest.importorskip("httpx2")

    async def main() -> Any:
        async with httpx.AsyncClient(follow_redirects=True) as client:
            r = await client.request(method, url, content=body, **options)
        return r.status_code, lowered(r.headers), r.content, str(r.url)

    return asyncio.run(main())


def by_requests(method: str, url: str, body: Any = None, **options: Any) -> Any:
    requests = pytest.importorskip("requests")
    with requests.Session() as session:
        r = session.request(method, url, data=body, allow_redirects=True, **options)
        return r.status_code, lowered(r.headers), r.content, r.url


def by_urllib3(method: str, url: str, body: Any = None) -> Any:
    urllib3 = pytest.importorskip("urllib3")
    with urllib3.PoolManager() as pool:
        r = pool.request(method, url, body=body)
        return r.status, lowered(r.headers), r.data, r.geturl()


def by_urllib(method: str, url: str, body: Any = None) -> Any:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, body, method=method), timeout=5) as r:
            return r.status, lowered(r.headers), r.read(), r.geturl()
    except HTTPError as error:
        with error:
            return error.code, lowered(error.headers), error.read(), error.geturl()


def by_aiohttp(method: str, url: str, body: Any = None) -> Any:
    aiohttp = pytest.importorskip("aiohttp")

    async def main() -> Any:
        async with aiohttp.ClientSession() as session, session.request(method, url, data=body) as r:
            return r.status, lowered(r.headers), await r.read(), str(r.url)

    return asyncio.run(main())


FETCHES = [by_httpx, by_httpx_async, by_requests, by_urllib3, by_urllib, by_aiohttp]
BINARY = bytes(range(256)) * 40


@pytest.mark.parametrize("fetch", FETCHES)
class TestEveryLibrary:
    def full(self, rerun: Rerun, fetch: Fetch, path: str, method: str = "GET", body: Any = None) -> Any:
        return lambda server: rerun(lambda url: fetch(method, url + path, body), server.url, full=True)

    def test_headers_and_binary_body(self, fetch: Fetch, server: Any, make: Any, rerun: Rerun) -> None:
        """Every header that a client may read, and a body that is no text."""
        headers = {
            "content-type": "image/png",
            "etag": '"v1"',
            "link": '</next>; rel="next"',
            "x-of-its-own": "yes",
            "x-latin": "caf\xe9",
            "x-utf": "caf\xc3\xa9",  # the server writes a byte a character
            "strict-transport-security": "max-age=1",
        }
        server.replies = [make.Reply(BINARY, headers=headers)]
        status, got, body, _ = rerun(lambda url: trimmed(fetch("GET", url + "/a.png")), server.url, full=True)
        assert (status, body) == (200, BINARY)
        assert got["etag"] == '"v1"' and got["x-of-its-own"] == "yes" and "date" in got

    def test_large_body(self, fetch: Fetch, server: Any, make: Any, rerun: Rerun) -> None:
        """A body of a megabyte is in the log once, whole."""
        big = BINARY * 100
        server.replies = [make.Reply(big), make.Reply(big)]
        rerun(lambda url: [fetch("GET", f"{url}/{n}") for n in range(2)], server.url, full=True)
        kinds = [event["type"] for event in events(rerun.tape)]
        assert kinds == ["blob", "exchange", "exchange"]

    @pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
    def test_no_body(
        self, fetch: Fetch, method: str, status: int, server: Any, make: Any, rerun: Rerun
    ) -> None:
        server.replies = [make.Reply({"some": "thing"}, status, {"etag": '"v1"'})]
        got = rerun(lambda url: fetch(method, url + "/x"), server.url, full=True)
        assert got[0] == status and got[2] == b""

    def test_error_status(self, fetch: Fetch, server: Any, make: Any, rerun: Rerun) -> None:
        server.replies = [make.Reply({"no": "such"}, 404)]
        got = rerun(lambda url: fetch("GET", url + "/x"), server.url, full=True)
        assert (got[0], json.loads(got[2])) == (404, {"no": "such"})

    def test_redirect(self, fetch: Fetch, server: Any, make: Any, rerun: Rerun) -> None:
        """Each hop is an exchange, and served as one."""
        server.replies = [make.Reply("", 302, {"location": "/there"}), make.Reply({"at": "there"})]
        got = rerun(lambda url: fetch("GET", url + "/here"), server.url, full=True)
        assert got[3] in (server.url + "/there", "/there") and json.loads(got[2]) == {"at": "there"}
        assert [e["data"]["status"] for e in events(rerun.tape)] == [302, 200]

    def test_chunked_text(self, fetch: Fetch, server: Any, make: Any, rerun: Rerun) -> None:
        chunks = [b"one\n", "zwö".encode(), b"three"]
        server.replies = [make.Reply(chunks=chunks, headers={"content-type": "text/plain"})]
        assert rerun(lambda url: fetch("GET", url + "/x"), server.url, full=True)[2] == b"".join(chunks)

    def test_request_body(self, fetch: Fetch, server: Any, rerun: Rerun) -> None:
        rerun(lambda url: fetch("PUT", url + "/x", b"some text"), server.url, full=True)
        assert events(rerun.tape)[0]["data"]["request"]["body"] == "some text"

    @pytest.mark.parametrize(
        "asked", ["GET /v1beta/models/gemini-2.5-flash", "GET /v1/models?limit=5", "GET /api/tags"]
    )
    def test_what_models_there_are(
        self, fetch: Fetch, asked: str, server: Any, make: Any, rerun: Rerun
    ) -> None:
        """Clients of frameworks ask a provider before their first call: any recording holds the answer."""
        method, path = asked.split()
        server.replies = [make.Reply({"inputTokenLimit": 1000}), make.Reply({"no": "model's"})]

        with recording(rerun.tape):
            first = fetch(method, server.url + path)
            fetch("GET", server.url + "/v1/models/gemini-2.5-flash/files")
        assert [event["data"]["url"] for event in events(rerun.tape)] == [server.url + path]
        with playing(rerun.tape, rerun.log) as player:
            assert fetch(method, server.url + path)[2] == first[2]
        assert player.unused == 0

    def test_telemetry_is_asked_for_and_not_recorded(self, fetch: Fetch, server: Any, tmp_path: Path) -> None:
        """What a recording never holds is asked for all the same, with no number."""
        tape, log = tmp_path / "tape", tmp_path / "log"
        with recording(tape, full=True):
            fetch("POST", server.url + "/api/public/ingestion", b"{}")
        with playing(tape, log, full=True), pytest.raises(BaseException, match="telemetry"):
            fetch("POST", server.url + "/api/public/ingestion", b"{}")


def trimmed(got: Any) -> Any:
    """Without the header that is never kept."""
    got[1].pop("strict-transport-security", None)
    return got


def test_plain_traffic_of_a_model_recording_is_asked_for(server: Any, tmp_path: Path) -> None:
    """Where only model calls are recorded the player is asked for the rest, too, with no number."""
    with recording(tmp_path / "tape"):
        by_httpx("GET", server.url + "/x")
    with playing(tmp_path / "tape", tmp_path / "log") as player:
        with pytest.raises(BaseException, match="not on the tape"):
            by_httpx("GET", server.url + "/x")
        assert [(one.number, one.kind) for one in player.asked] == [(0, "http")]


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_large_body_with_a_secret(form: str, server: Any, make: Any, rerun: Rerun) -> None:
    """What is in the log, and what a rerun writes again, has one hash, which says nothing of the secret."""
    page = 'Start it so: `agent --api_key "a-key-of-1234-its-own"`.\n' + "And é, on and on. " * 10_000
    server.replies = [make.Reply({"page": page} if form == "json" else page)]
    rerun(lambda url: by_httpx("GET", url + "/docs")[0], server.url, full=True)
    logs = [events(rerun.tape), events(rerun.log)]
    for blob, exchange in logs:
        content = blob["data"]["content"]
        assert "a-key-of" not in content and "[redacted:" in content
        assert blob["data"]["hash"] == exchange["data"]["body"]["blob"]
        assert blob["data"]["hash"] == f"sha256:{sha256(content.encode()).hexdigest()}"
        assert blob["data"]["size"] == len(content.encode())
    assert logs[0][0]["data"] == logs[1][0]["data"]


def test_cookies(server: Any, make: Any, rerun: Rerun) -> None:
    """A cookie keeps its name and attributes and loses its value; several stay several."""
    httpx = pytest.importorskip("httpx")
    cookies = ["sid=very-secret-value; Path=/; HttpOnly", "theme=dark; Path=/"]
    server.replies = [make.Reply({}, headers={"set-cookie": cookies})]

    def program(url: str) -> Any:
        with httpx.Client() as client:
            client.get(url + "/login")
            return sorted((cookie.name, cookie.path) for cookie in client.cookies.jar)

    assert rerun(program, server.url, full=True) == [("sid", "/"), ("theme", "/")]
    assert "very-secret" not in rerun.tape.read_text()


UPLOADS: list[Callable[[str], Any]] = []


def upload(function: Callable[[str], Any]) -> Callable[[str], Any]:
    UPLOADS.append(function)
    return function


@upload
def a_generator_by_httpx(url: str) -> Any:
    return by_httpx("POST", url + "/up", (piece for piece in (b"one ", b"two")))


@upload
def files_by_httpx(url: str) -> Any:
    return by_httpx("POST", url + "/up", None, files={"f": ("a.txt", io.BytesIO(b"content"))})


@upload
def files_by_httpx2_async(url: str) -> Any:
    return by_httpx_async("POST", url + "/up", None, files={"f": ("a.txt", io.BytesIO(b"content"))})


@upload
def a_generator_by_requests(url: str) -> Any:
    return by_requests("POST", url + "/up", (piece for piece in (b"one ", b"two")))


@upload
def a_file_by_requests(url: str) -> Any:
    return by_requests("POST", url + "/up", io.BytesIO(b"content"))


@upload
def a_file_by_urllib(url: str) -> Any:
    from urllib.request import Request, urlopen

    with urlopen(
        Request(url + "/up", io.BytesIO(b"content"), {"content-length": "7"}), timeout=5
    ) as response:
        return response.read()


@upload
def a_form_by_aiohttp(url: str) -> Any:
    aiohttp = pytest.importorskip("aiohttp")
    form = aiohttp.FormData()
    form.add_field("f", io.BytesIO(b"content"), filename="a.txt")
    return by_aiohttp("POST", url + "/up", form)


@pytest.mark.parametrize("program", UPLOADS)
def test_uploads(program: Callable[[str], Any], server: Any, rerun: Rerun) -> None:
    """A body that is streamed out arrives whole, and is known by its hash, whatever its boundary."""
    rerun(program, server.url, full=True)
    [(_, _, body)] = server.requests
    assert b"content" in body or body == b"one two"
    [exchange] = [event["data"] for event in events(rerun.tape) if event["type"] == "exchange"]
    assert exchange["request"]["size"] == len(body)
    assert "boundary=boundary" in str(exchange["request"]["headers"]) or b"\r\n" not in body


def test_too_large_to_keep(server: Any, make: Any, log: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body beyond the limit is cut, and its event says by how much."""
    monkeypatch.setattr(settings, "full", True)
    monkeypatch.setattr(plain, "MOST_KEPT", 1000)
    server.replies = [make.Reply(BINARY)]
    assert by_httpx("GET", server.url + "/x")[2] == BINARY
    assert log.of("exchange")[0]["dropped"] > 0
