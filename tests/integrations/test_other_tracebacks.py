"""Tracebacks of requests that are no model calls: the same with and without lctl, kept or passed on."""

from __future__ import annotations

import asyncio
import http.client
import re
import socket
import threading
import traceback
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lctl.instrument import uninstrument
from tests.integrations.rerunning import recording

ANSWERS = {
    "nothing": b"",
    "rubbish": b"rubbish\r\n\r\n",
    "half": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
    "half a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n9\r\nha",
}


@contextmanager
def peer(answer: bytes) -> Iterator[str]:
    """A server that says this to whoever asks, and hangs up."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/orders"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def pieces() -> Iterator[bytes]:
    yield b"one"
    raise ValueError("of the program")


async def pieces_async() -> AsyncIterator[bytes]:
    yield b"one"
    raise ValueError("of the program")


def by_httpx(url: str, **sent: Any) -> None:
    httpx: Any = pytest.importorskip("httpx")
    httpx.request("POST" if sent else "GET", url, **sent)


async def by_httpx_async(url: str, **sent: Any) -> None:
    httpx: Any = pytest.importorskip("httpx")
    async with httpx.AsyncClient() as client:
        await client.request("POST" if sent else "GET", url, **sent)


def by_urllib3(url: str, **sent: Any) -> None:
    urllib3: Any = pytest.importorskip("urllib3")
    with urllib3.PoolManager(retries=False) as pool:
        pool.request("POST" if sent else "GET", url, **sent)


def by_requests(url: str, **sent: Any) -> None:
    requests: Any = pytest.importorskip("requests")
    requests.request("POST" if sent else "GET", url, timeout=10, **sent)


def through_a_proxy(url: str) -> None:
    requests: Any = pytest.importorskip("requests")
    requests.get("https://shop.invalid/", proxies={"https": url}, timeout=10)


def by_urllib(url: str) -> None:
    with urllib.request.urlopen(url) as answer:
        answer.read()


def by_http_client(url: str, **sent: Any) -> None:
    place, _, path = url.removeprefix("http://").partition("/")
    client = http.client.HTTPConnection(place)
    try:
        client.request("POST" if sent else "GET", f"/{path}", **sent)
        client.getresponse().read()
    finally:
        client.close()


async def by_aiohttp(url: str, **sent: Any) -> None:
    aiohttp: Any = pytest.importorskip("aiohttp")
    async with (
        aiohttp.ClientSession() as session,
        session.request("POST" if sent else "GET", url, **sent) as it,
    ):
        await it.read()


def mocked(url: str) -> None:
    httpx: Any = pytest.importorskip("httpx")

    def answer(request: Any) -> Any:
        raise ValueError("of the program")

    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        client.get(url)


CLIENTS: dict[str, Callable[[str], object]] = {
    "httpx": by_httpx,
    "httpx, async": lambda url: asyncio.run(by_httpx_async(url)),
    "urllib3": by_urllib3,
    "requests": by_requests,
    "urllib": by_urllib,
    "http.client": by_http_client,
    "aiohttp": lambda url: asyncio.run(by_aiohttp(url)),
}
CASES: dict[str, tuple[Callable[[str], object], bytes]] = {
    **{f"{name}: {said}": (ask, ANSWERS[said]) for name, ask in CLIENTS.items() for said in ANSWERS},
    "httpx: an upload": (lambda url: by_httpx(url, content=pieces()), b""),
    "httpx, async: an upload": (lambda url: asyncio.run(by_httpx_async(url, content=pieces_async())), b""),
    "urllib3: an upload": (lambda url: by_urllib3(url, body=pieces()), b""),
    "requests: an upload": (lambda url: by_requests(url, data=pieces()), b""),
    "http.client: an upload": (lambda url: by_http_client(url, body=pieces()), b""),
    "httpx: a mock": (mocked, b""),
    "requests: a proxy": (through_a_proxy, b""),
}


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_they_are_those_without_lctl(case: str, full: bool, tmp_path: Path) -> None:
    ask, answer = CASES[case]

    def told() -> list[str]:
        with peer(answer) as url, pytest.raises(Exception) as caught:
            ask(url)
        said = "".join(traceback.format_exception(caught.value))
        return re.findall(r'File "(.+)", line \d+, in (\S+)', said)

    uninstrument()  # whatever ran before
    plain = told()
    with recording(tmp_path / "c.lctl.json", full=full):
        recorded = told()
    assert recorded == plain


def test_an_upload_of_aiohttp_is_made_while_it_is_sent(tmp_path: Path) -> None:
    """Its second piece waits for the answer to the first; the whole of it is in the log."""
    aiohttp: Any = pytest.importorskip("aiohttp")

    came = threading.Event()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rwb") as stream:
            while b"ping" not in stream.readline():
                pass
            came.set()
            while b"pong" not in stream.readline():
                pass
            stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async def sent() -> AsyncIterator[bytes]:
        yield b"ping\n"
        assert await asyncio.to_thread(came.wait, 10)
        yield b"pong\n"

    async def main() -> bytes:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/orders"
        async with aiohttp.ClientSession() as session, session.post(url, data=sent()) as answer:
            return bytes(await answer.read())

    # Before the recording, which knows of no server here.
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        with recording(tmp_path / "c.lctl.json", full=True) as session:
            assert asyncio.run(main()) == b"ok"
    [exchange] = [event for event in session.to_dict()["events"] if event["type"] == "exchange"]
    assert exchange["data"]["request"]["body"] == "ping\npong\n"
