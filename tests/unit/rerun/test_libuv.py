"""uvloop in a rerun, whose sockets and processes Python does not see: refused as asyncio's own loops are."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from lctl.rerun.guarding.auditing import Guard, SideEffectRefused
from lctl.session import ownports

uvloop: Any = pytest.importorskip("uvloop")

Act = Callable[[asyncio.AbstractEventLoop, int, Path], Awaitable[Any]]


async def _connects(loop: asyncio.AbstractEventLoop, port: int, folder: Path) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()


async def _connects_to_a_file(loop: asyncio.AbstractEventLoop, port: int, folder: Path) -> None:
    await loop.create_unix_connection(asyncio.Protocol, str(folder / "socket"))


async def _connects_datagrams(loop: asyncio.AbstractEventLoop, port: int, folder: Path) -> None:
    await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=("127.0.0.1", port))


async def _sends_datagrams(loop: asyncio.AbstractEventLoop, port: int, folder: Path) -> None:
    address = ("127.0.0.1", 0)
    transport, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=address)
    try:
        transport.sendto(b"pay 100", ("127.0.0.1", port))
    finally:
        transport.close()


async def _looks_up(loop: asyncio.AbstractEventLoop, port: int, folder: Path) -> None:
    await loop.getaddrinfo("bank.invalid", port)


async def _looks_up_to_connect(loop: asyncio.AbstractEventLoop, port: int, folder: Path) -> None:
    await loop.create_connection(asyncio.Protocol, "bank.invalid", port)


async def _starts(loop: asyncio.AbstractEventLoop, port: int, folder: Path) -> None:
    await (await asyncio.create_subprocess_exec("touch", str(folder / "ran"))).wait()


async def _starts_a_shell(loop: asyncio.AbstractEventLoop, port: int, folder: Path) -> None:
    await loop.subprocess_shell(asyncio.SubprocessProtocol, f"touch {folder / 'ran'}")


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server that is not the program's own."""
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1]); input()"
    with Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.communicate(b"\n")


def _guarded(act: Act, port: int, folder: Path, *allow: str) -> Guard:
    async def main() -> None:
        await act(asyncio.get_running_loop(), port, folder)

    guard = Guard(allow, scratch=folder / "scratch")
    guard.begin()
    try:
        uvloop.run(main())
    finally:
        guard.end()
    return guard


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (_connects, "connecting to 127.0.0.1:{port}"),
        (_connects_to_a_file, "connecting to {folder}/socket"),
        (_connects_datagrams, "connecting to 127.0.0.1:{port}"),
        (_sends_datagrams, "sending to 127.0.0.1:{port}"),
        (_looks_up, "looking up bank.invalid"),
        (_looks_up_to_connect, "looking up bank.invalid"),
        (_starts, "starting 'touch {folder}/ran'"),
        (_starts_a_shell, "starting '/bin/sh -c touch {folder}/ran'"),
    ],
)
def test_what_reaches_outside_is_refused(act: Act, told: str, port: int, tmp_path: Path) -> None:
    with pytest.raises(SideEffectRefused) as refused:
        _guarded(act, port, tmp_path)
    assert str(refused.value).startswith(told.format(port=port, folder=tmp_path) + " is refused")
    assert not (tmp_path / "ran").exists()


def test_what_is_allowed_happens(port: int, tmp_path: Path) -> None:
    assert _guarded(_connects, port, tmp_path, "network:127.0.0.1").blocked == ()
    assert _guarded(_starts, port, tmp_path, "subprocess:touch").blocked == ()
    assert (tmp_path / "ran").exists()


def test_the_programs_own_servers_are_reached(tmp_path: Path) -> None:
    async def main(loop: asyncio.AbstractEventLoop, port: int, folder: Path) -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        ownports.note(server)  # as where lctl follows uvloop's servers
        try:
            await _connects(loop, server.sockets[0].getsockname()[1], folder)
        finally:
            server.close()

    assert _guarded(main, 0, tmp_path).blocked == ()


def test_behind_a_guard_all_is_as_before(port: int, tmp_path: Path) -> None:
    async def both() -> None:
        loop = asyncio.get_running_loop()
        await _connects(loop, port, tmp_path)
        await _sends_datagrams(loop, port, tmp_path)
        await _starts(loop, port, tmp_path)

    with pytest.raises(SideEffectRefused):
        _guarded(_connects, port, tmp_path)
    uvloop.run(both())
    assert (tmp_path / "ran").exists()
