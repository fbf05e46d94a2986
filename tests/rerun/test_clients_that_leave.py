"""Clients that go away in the midst of an answer: they do so in a rerun, and the server stops what it did."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from pathlib import Path

import pytest

from lctl.analysis.failures import failures
from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import PROGRAMS, rerun
from tests.rerun.served import served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM"),
]
_NEEDS = {"aiohttp": "aiohttp", "uvicorn": "starlette", "uvloop": "uvloop"}
#: After how many pieces of its answer each leaves (0: has it all), and whether it breaks off.
_CLIENTS = {"one": (0, False), "two": (2, True), "three": (0, False), "four": (4, False), "five": (1, True)}


@pytest.mark.parametrize("kind", ["uvicorn", "uvloop", "aiohttp", "threads"])
def test_they_leave_again(kind: str, tmp_path: Path) -> None:
    """The others, whose answers come meanwhile, have them whole. It is no failure of the server's."""
    pytest.importorskip(_NEEDS.get(kind, "socket"), reason="needs: lctl[test], uvloop")
    log = tmp_path / "served.lctl.json"
    with ModelServer(random_answers=True, chunk_delay=0.02) as models:
        out = _record(kind, log, models.environ)
    events = [event.to_dict() for event in open_log(log).events()]
    gone = {each["data"]["key"] for each in events if each["data"].get("source") == "gone"}
    assert gone == {"GET /two", "GET /four", "GET /five"}
    outcomes = {each["data"]["outcome"] for each in events if each["type"] == "step_end"}
    assert "success" in outcomes
    assert outcomes & {"cancelled", "aborted"}
    assert not [one for one in failures(open_log(log)) if one.source == "error"]
    for _ in range(2):
        again = rerun(log, tmp_path)
        assert (again.code, sorted(again.out.splitlines())) == (0, sorted(out.splitlines())), again.err


def _record(kind: str, log: Path, environ: dict[str, str]) -> str:
    """What the server printed."""
    with served([str(PROGRAMS / "streams_to_clients.py"), kind, "PORT"], log, environ) as server:
        asking = [threading.Thread(target=_ask, args=(server.port, name)) for name in _CLIENTS]
        for one in asking:
            one.start()
            time.sleep(0.02)
        for one in asking:
            one.join()
        _until_written(log, 3)
        return server.end()


def _ask(port: int, name: str) -> None:
    leaves, breaks_off = _CLIENTS[name]
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(f"GET /{name} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
        came = b""
        while (data := connection.recv(1000)) and not 0 < leaves <= came.count(b"data:"):
            came += data
        if breaks_off:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _until_written(log: Path, count: int) -> None:
    """Until so many departures are in the log; ten seconds at most."""
    until = time.monotonic() + 10
    while time.monotonic() < until and log.read_bytes().count(b'"source":"gone"') < count:
        time.sleep(0.05)
