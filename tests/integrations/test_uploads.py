"""Model calls whose body is sent in pieces: by files, iterators, and by the program itself after the head."""

from __future__ import annotations

import array
import asyncio
import http.client
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.integrations.libraries import ASK, PATH
from tests.integrations.rerunning import Rerun, events

BODY = json.dumps(ASK).encode()
HEADERS = {"content-type": "application/json"}


def pieces() -> Iterator[bytes]:
    yield BODY[:10]
    yield BODY[10:]


async def pieces_async() -> AsyncIterator[bytes]:
    for piece in pieces():
        yield piece


def head(url: str, *headers: tuple[str, str]) -> http.client.HTTPConnection:
    conn = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    conn.putrequest("POST", PATH)
    for name, value in (*HEADERS.items(), *headers):
        conn.putheader(name, value)
    return conn


LENGTH = ("content-length", str(len(BODY)))


def answer(conn: http.client.HTTPConnection) -> Any:
    response = conn.getresponse()
    body = response.read()
    conn.close()
    return response.status, body


def a_part_with_the_head(url: str) -> Any:
    conn = head(url, LENGTH)
    conn.endheaders(BODY[:7])
    conn.send(BODY[7:])
    return answer(conn)


def all_after_the_head(url: str) -> Any:
    conn = head(url, LENGTH)
    conn.endheaders()
    conn.send(BODY[:7])
    conn.send(io.BytesIO(BODY[7:11]))
    conn.send([BODY[11:20], BODY[20:]])
    return answer(conn)


def chunks_of_its_own(url: str) -> Any:
    conn = head(url, ("transfer-encoding", "chunked"))
    conn.endheaders()
    for piece in pieces():
        conn.send(b"%x\r\n%s\r\n" % (len(piece), piece))
    conn.send(b"0\r\n")
    conn.send(b"\r\n")
    return answer(conn)


def twice_on_one_connection(url: str) -> Any:
    conn = head(url, LENGTH)
    conn.endheaders()
    conn.send(BODY)
    first = conn.getresponse().read()
    conn.request("POST", PATH, BODY, HEADERS)
    return first, answer(conn)


def requested(body: Any) -> Callable[[str], Any]:
    def program(url: str) -> Any:
        with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)) as conn:
            conn.request("POST", PATH, body(), HEADERS)
            return answer(conn)

    return program


def by_requests(body: Any) -> Callable[[str], Any]:
    def program(url: str) -> Any:
        requests = pytest.importorskip("requests")
        with requests.Session() as session:
            return session.post(url + PATH, data=body(), headers=HEADERS).json()

    return program


def by_urllib3(body: Any) -> Callable[[str], Any]:
    def program(url: str) -> Any:
        urllib3 = pytest.importorskip("urllib3")
        with urllib3.PoolManager() as pool:
            return json.loads(pool.request("POST", url + PATH, body=body(), headers=HEADERS).data)

    return program


def by_aiohttp(body: Any) -> Callable[[str], Any]:
    def program(url: str) -> Any:
        aiohttp = pytest.importorskip("aiohttp")

        async def main() -> Any:
            async with (
                aiohttp.ClientSession() as session,
                session.post(url + PATH, data=body(), headers=HEADERS) as response,
            ):
                return await response.json()

        return asyncio.run(main())

    return program


PROGRAMS = {
    "a part with the head": a_part_with_the_head,
    "all after the head": all_after_the_head,
    "chunks of its own": chunks_of_its_own,
    "twice on one connection": twice_on_one_connection,
    "http.client, a generator": requested(pieces),
    "http.client, a file": requested(lambda: io.BytesIO(BODY)),
    "http.client, text": requested(lambda: io.StringIO(BODY.decode())),
    "http.client, an array": requested(lambda: array.array("b", BODY)),
    "requests, a generator": by_requests(pieces),
    "requests, a file": by_requests(lambda: io.BytesIO(BODY)),
    "urllib3, a generator": by_urllib3(pieces),
    "urllib3, text": by_urllib3(lambda: (piece.decode() for piece in pieces())),
    "urllib3, a file": by_urllib3(lambda: io.BytesIO(BODY)),
    "aiohttp, a generator": by_aiohttp(pieces_async),
    "aiohttp, a file": by_aiohttp(lambda: io.BytesIO(BODY)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("full", [False, True])
def test_prompt(name: str, full: bool, server: Any, rerun: Rerun) -> None:
    """What was asked is recorded with its model and its size, and a rerun serves it."""
    rerun(PROGRAMS[name], server.url, full=full)
    assert {body for _, _, body in server.requests} == {BODY}
    data: dict[str, list[Any]] = {}
    for event in events(rerun.tape):
        data.setdefault(event["type"], []).append(event["data"])
    assert data["message"][0]["content"] == "Hi"
    assert [step["model"] for step in data["step_start"]] == ["m"] * len(server.requests)
    assert {exchange["request"]["size"] for exchange in data["exchange"]} == {len(BODY)}
    assert {end["outcome"] for end in data["step_end"]} == {"success"}


def test_other_traffic_in_pieces(server: Any, rerun: Rerun) -> None:
    """With record="full" what is no model call is kept whole, too."""

    def program(url: str) -> Any:
        conn = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
        conn.putrequest("PUT", "/up")
        conn.putheader("content-length", "7")
        conn.endheaders(b"con")
        conn.send(b"tent")
        return answer(conn)

    rerun(program, server.url, full=True)
    [exchange] = [event["data"] for event in events(rerun.tape) if event["type"] == "exchange"]
    assert (exchange["request"]["size"], exchange["request"]["body"]) == (7, "content")


@pytest.mark.parametrize("in_pieces", [False, True])
def test_an_interrupt_before_the_response_is_asked_for(in_pieces: bool, server: Any, log: Any) -> None:
    """The call ends as aborted before the program goes on, and not never."""

    def ask() -> None:
        with closing(http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=5)) as conn:
            conn.request("POST", PATH, io.BytesIO(BODY) if in_pieces else BODY, HEADERS)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask()
    requested(pieces)(server.url)
    steps = [(e["type"], e["data"].get("outcome")) for e in log.events if e["type"].startswith("step_")]
    assert steps == [
        ("step_start", None),
        ("step_end", "aborted"),
        ("step_start", None),
        ("step_end", "success"),
    ]


def test_a_connection_that_is_tried_again(server: Any, log: Any) -> None:
    """urllib3 tries a connection again while nothing was read of a generator: nothing is read ahead."""
    pytest.importorskip("urllib3")
    refused = [True]

    import urllib3.connection

    class Late(urllib3.connection.HTTPConnection):
        def connect(self) -> None:
            if refused.pop():
                refused.append(False)
                raise urllib3.exceptions.NewConnectionError(self, "not yet")
            refused.append(False)
            super().connect()

    with urllib3.HTTPConnectionPool(urlsplit(server.url).netloc) as pool:
        pool.ConnectionCls = Late
        assert pool.request("POST", PATH, body=pieces(), headers=HEADERS).status == 200
    assert server.requests[0][2] == BODY
    assert [exchange["attempt"] for exchange in log.of("exchange")] == [1, 2]
    assert log.of("step_end")[0]["outcome"] == "success"


def test_a_body_that_raises(server: Any, log: Any) -> None:
    """The program's own exception passes, and the call is recorded as failed."""

    def broken() -> Iterator[bytes]:
        yield BODY[:10]
        raise LookupError("no more of it")

    with pytest.raises(LookupError, match="no more of it") as caught:
        requested(broken)(server.url)
    assert not [line.path for line in caught.traceback if "instrument" in str(line.path)]
    [end] = log.of("step_end")
    assert end["outcome"] == "error"
    assert "no more of it" in log.of("error")[0]["message"]
