"""Ports that the system draws for a program's sockets."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from tests.unit.ambient.conftest import Result, Run

DRAWS = """
import asyncio, os, socket
os.getcwd()  # the log begins

def drawn(family=socket.AF_INET, host="127.0.0.1", kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as one:
        one.bind((host, 0))
        return one.getsockname()[1]

async def serve():
    server = await asyncio.start_server(print, "127.0.0.1", 0)
    async with server:
        return server.sockets[0].getsockname()[1]

print(drawn(), drawn(kind=socket.SOCK_DGRAM), drawn(socket.AF_INET6, "::1"), asyncio.run(serve()))
with socket.create_server(("127.0.0.1", 0)) as one:
    print(one.getsockname()[1], one.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) > 0)
with socket.socket() as one:
    one.bind(("127.0.0.1", 0))
    print(one.getsockname()[1], one.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) > 0)
"""


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_they_are_the_recorded_ones(twice: Callable[..., tuple[Result, Result]]) -> None:
    first, again = twice(DRAWS)
    ports = [read["value"] for read in first.reads if read["source"] == "port"]
    assert [int(word) for word in first.out.split() if word.isdigit()] == ports
    assert len(ports) == 6
    assert again.out == first.out
    assert [read["value"] for read in again.reads if read["source"] == "port"] == ports


TAKEN = """
import os, socket
os.getcwd()
with socket.socket() as one:
    one.bind(("127.0.0.1", 0))
    print(one.getsockname()[1])
    try:
        socket.socket().bind(("127.0.0.1", one.getsockname()[1]))
    except OSError as error:
        print(type(error).__name__)
    try:
        socket.socket().bind(("192.0.2.1", 0))
    except OSError as error:
        print(error.strerror)
"""


def test_one_that_somebody_has_is_another(run: Run) -> None:
    """And what cannot be bound fails as it does without lctl."""
    first = run(TAKEN)
    port, *failed = first.out.split("\n", 1)
    with socket.create_server(("127.0.0.1", int(port))):
        again = run(TAKEN, tape=first.log)
    other, *failed_again = again.out.split("\n", 1)
    assert other != port
    assert failed_again == failed == ["OSError\nCannot assign requested address\n"]
