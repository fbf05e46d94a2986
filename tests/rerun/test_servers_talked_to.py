"""A server that others talk to over WebSockets: what they say is on the tape, and said again in a rerun."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, await_port, rerun
from tests.warm.starting import python_path

websockets: Any = pytest.importorskip("websockets", reason="needs: pip install websockets")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process"),
]
SERVERS = {
    "websockets": ("websockets", "asyncio"),
    "websockets over uvloop": ("websockets", "uvloop"),
    "wsproto": ("wsproto", "asyncio"),
    "wsproto over uvloop": ("wsproto", "uvloop"),
    "aiohttp": ("aiohttp",),
}
#: Seconds in which a server has done what it does behind the end of a connection.
_MOMENT = 0.1
SECRET = "sk-" + "proj-" + "abcdefghijklmnopqrstuvwxyz" + "ABCDEFGHIJ1234567"


@pytest.mark.parametrize("server", SERVERS)
def test_what_was_said_is_said_again(server: str, tmp_path: Path) -> None:
    """Two at once, one of whom leaves without a word; and one who stays until the server ends."""
    for package in {"aiohttp" if server == "aiohttp" else "uvicorn", *SERVERS[server]} - {"asyncio"}:
        pytest.importorskip(package, reason=f"needs: pip install {package}")
    log = tmp_path / "talked.lctl.json"
    with ModelServer(random_answers=True, latency=(0.0, 0.02), chunk_delay=0.002) as models:
        out = _talk(SERVERS[server], log, tmp_path, models.environ)
        asked = len(models.requests)
    events = [event.to_dict() for event in open_log(log).events()]
    said = [_said(event) for event in events if event["data"].get("source") == "websocket"]
    assert said.count("text") == 7
    assert {"binary", "close", "gone"} <= set(said)
    assert SECRET not in log.read_text()
    assert asked == len([event for event in events if event["type"] == "exchange"])
    for _ in range(3):
        again = rerun(log, tmp_path)
        assert (again.code, again.out, again.events) == (0, out, events), again.err


def test_a_message_that_is_too_large_ends_the_rerun_there(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs: pip install uvicorn")
    log = tmp_path / "talked.lctl.json"

    async def talk(url: str) -> None:
        async with websockets.connect(url, compression=None) as line:
            for size in (10, (64 << 20) + 1):
                try:
                    await line.send(bytes(size))
                    await line.recv()
                except websockets.ConnectionClosed:
                    assert size > 10

    _serve(("websockets", "asyncio"), log, tmp_path, {"OPENAI_API_KEY": "none"}, talk)
    (unread,) = (
        event.seq
        for event in open_log(log).events()
        if event.data.get("source") == "websocket" and event.data["value"]["kind"] == "unread"
    )
    again = rerun(log, tmp_path)
    assert again.code == 1
    assert f"rerun stopped: event {unread}, GET /chat: what came over this WebSocket" in again.err
    assert "more than 64 MiB" in again.err


def _said(event: dict[str, Any]) -> str:
    value = event["data"]["value"]
    assert value["over"].startswith("o/s")
    return str(value["kind"])


def _talk(server: tuple[str, ...], log: Path, folder: Path, environ: dict[str, str]) -> str:
    """What the server printed."""
    kept: list[Any] = []

    async def talk(url: str) -> None:
        first, second = await asyncio.gather(_chat(url, "first", 2), _chat(url, "second", 2))
        await first.close()
        await asyncio.sleep(_MOMENT)
        second.transport.abort()
        await asyncio.sleep(_MOMENT)
        async with websockets.connect(url) as line:
            await line.send(b"\xff\x33" + SECRET.encode() + b"\x00")
            assert await line.recv() == f"{3 + len(SECRET)} bytes"
            await line.send(b"x" * 200_000)
            assert await line.recv() == "200000 bytes"
            await line.send(f"key {SECRET}")
            assert await line.recv() == "well"
        await asyncio.sleep(_MOMENT)
        await (await _chat(url, "fourth", 1)).close()
        await asyncio.sleep(_MOMENT)
        kept.append(await websockets.connect(url))
        await _ask(kept[0], "fifth")

    return _serve(server, log, folder, environ, talk)


async def _chat(url: str, name: str, count: int) -> Any:
    line = await websockets.connect(url)
    for number in range(count):
        await _ask(line, f"{name} {number}")
    return line


async def _ask(line: Any, question: str) -> None:
    await line.send(question)
    while await line.recv() != "[end]":
        pass


def _serve(server: tuple[str, ...], log: Path, folder: Path, environ: dict[str, str], talk: Any) -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LCTL_", "OPENAI_"))}
    kept |= {"PYTHONPATH": python_path(PROGRAMS), "NO_COLOR": "1", **environ}
    process = subprocess.Popen(
        [*LCTL, "run", "-o", str(log), str(PROGRAMS / "chat_over_websocket.py"), str(port), *server],
        cwd=folder,
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    async def be_outside() -> str:
        await talk(f"ws://127.0.0.1:{port}/chat")
        await asyncio.sleep(0.3)  # what leaves is heard of
        process.send_signal(signal.SIGINT)
        out, _ = await asyncio.to_thread(process.communicate, timeout=30)
        return str(out)

    try:
        await_port(port)
        return asyncio.run(be_outside())
    finally:
        process.kill()
