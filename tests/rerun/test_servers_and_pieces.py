"""Requests to a server that come in pieces, in chunks, at once, or only in part: as they came, once more."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import PROGRAMS, rerun
from tests.rerun.served import served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM"),
]
INNER = b"GET /inner HTTP/1.1\r\n\r\n"


def _post(path: str, body: bytes) -> bytes:
    return f"POST /{path} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


CHUNKS = (b"a0\r\n\r\n", b"bcd0\r\n\r\n", b"e" * 300)
CHUNKED = (
    b"POST /chunked HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
    *(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in CHUNKS),
    b"0\r\n\r\n",
)
#: name -> what is sent, piece by piece; how many answers are read
CASES: dict[str, tuple[Sequence[bytes], int]] = {
    "bytewise": ([bytes([byte]) for byte in _post("bytewise", b"abcd")], 1),
    "slowly": ([_post("slowly", b"x" * 100)[:-100], *[b"x"] * 100], 1),
    "nested": ([_post("nested", INNER * 2)[: -2 * len(INNER)], INNER, INNER], 1),
    "chunked": (CHUNKED, 1),
    "at_once": ([b"".join(_post(f"at_once{n}", b"body%d" % n) for n in range(3))], 3),
    "expected": (
        [b"POST /expected HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", b"abc"],
        1,
    ),
    "cut": ([_post("cut", b"x" * 100)[:-50]], 0),
    "binary": ([_post("binary", b"\xff\xfe\x00")], 1),
}


@pytest.mark.parametrize("server", ["threads", "aiohttp", "uvloop"])
def test_whatever_way_they_came(server: str, tmp_path: Path) -> None:
    if server != "threads":
        pytest.importorskip(
            "aiohttp" if server == "aiohttp" else "uvloop", reason="needs: lctl[test], uvloop"
        )
    log = tmp_path / "served.lctl.json"
    with ModelServer(random_answers=True) as models:
        out, answers = _serve(server, log, models.environ)
        asked = len(models.requests)
    events = [event.to_dict() for event in open_log(log).events()]
    came = {
        each["data"]["key"].split("/")[1]: each["data"]["value"]
        for each in events
        if each["type"] == "ambient" and each["data"]["source"] == "request"
    }
    assert all(answers.values())
    assert list(came) == [name if name != "at_once" else "at_once0" for name in CASES]
    assert came["nested"]["body"] == (INNER * 2).decode()
    assert came["chunked"]["body"] == b"".join(CHUNKS).decode()
    assert [each["body"] for each in came["at_once0"]["more"]] == ["body1", "body2"]
    assert (came["cut"]["body"], came["cut"]["cut"]) == ("x" * 50, True)
    assert asked == len([each for each in events if each["type"] == "exchange"])
    for _ in range(2):
        again = rerun(log, tmp_path)
        assert (again.code, again.out, again.events) == (0, out, events), again.err


def _serve(kind: str, log: Path, environ: dict[str, str]) -> tuple[str, dict[str, bool]]:
    """What the server printed, and whether it answered each."""
    with served([str(PROGRAMS / "served_raw.py"), kind, "PORT"], log, environ) as server:
        answers = {}
        for name, case in CASES.items():
            answers[name] = _send(server.port, *case)
            _until(partial(_heard, log, name))  # of one that is cut off no answer says so
        out = server.end()
    return out, answers


def _heard(log: Path, name: str) -> None:
    """Raises OSError until the request is on the tape."""
    if f"/{name}".encode() not in log.read_bytes():
        raise OSError(name)


def _send(port: int, pieces: Sequence[bytes], count: int) -> bool:
    """Whether all that was sent was answered well."""
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.002)
        file: Any = connection.makefile("rb")
        return all(_is_answered(file) for _ in range(count))


def _is_answered(file: Any) -> bool:
    status = file.readline()
    length = 0
    while (row := file.readline().lower()) not in (b"\r\n", b""):
        if row.startswith(b"content-length:"):
            length = int(row.partition(b":")[2])
    if b" 100 " in status:
        return _is_answered(file)
    return b" 200 " in status and len(file.read(length)) == length > 0


def _until(reached: Callable[[], Any]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            reached()
            return
        except OSError:
            time.sleep(0.05)
