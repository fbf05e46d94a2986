"""WebSockets of classes of the program's own, which have not what we look for: they work as without lctl."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from lctl import LCTLSession
from lctl.guard import guard
from tests.integrations.sockets import Line, serving

pytest.importorskip("websockets.asyncio.client", reason="needs: pip install 'lctl[test]'")


class Shy:
    """A response that shows no headers."""

    def __init__(self, response: Any) -> None:
        self._response = response

    def __getattr__(self, name: str) -> Any:
        if name == "headers":
            raise AttributeError(name)
        return getattr(self._response, name)


def _own(base: Any, name: str) -> Any:
    """A class of connections whose attribute of that name is such a response."""

    def given(self: Any) -> Any:
        response = self.__dict__.get("its response")
        return None if response is None else Shy(response)

    def take(self: Any, response: Any) -> None:
        self.__dict__["its response"] = response

    return type("Own", (base,), {name: property(given, take)})


def _answer(line: Line) -> None:
    line.send(f"heard {line.take()!s}")
    line.until_closed()


@pytest.fixture(autouse=True)
def reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is for users: a failure of ours is told, and not raised."""
    monkeypatch.setattr(guard, "policy", "report")


def _told() -> int:
    return guard.failures.get("the start of a WebSocket", 0)


def test_of_websockets_in_tasks(tmp_path: Path) -> None:
    from websockets.asyncio.client import ClientConnection, connect

    async def talk(url: str) -> Any:
        async with connect(
            f"{url}/v1/realtime?model=m", create_connection=_own(ClientConnection, "response")
        ) as socket:
            await socket.send("question")
            return await socket.recv()

    before = _told()
    with LCTLSession("odd", tmp_path / "run.lctl.json"), serving(_answer) as url:
        assert asyncio.run(talk(url.replace("http", "ws"))) == "heard question"
    assert _told() == before + 1


def test_of_websockets_in_threads(tmp_path: Path) -> None:
    from websockets.sync.client import ClientConnection, connect

    before = _told()
    with LCTLSession("odd", tmp_path / "run.lctl.json"), serving(_answer) as url:
        address = url.replace("http", "ws") + "/v1/realtime?model=m"
        with connect(address, create_connection=_own(ClientConnection, "response")) as socket:
            socket.send("question")
            assert socket.recv() == "heard question"
    assert _told() == before + 1


def test_of_aiohttp(tmp_path: Path) -> None:
    async def talk(url: str) -> Any:
        async with (
            aiohttp.ClientSession(
                ws_response_class=_own(aiohttp.ClientWebSocketResponse, "_response")
            ) as session,
            session.ws_connect(f"{url}/v1/realtime?model=m") as socket,
        ):
            await socket.send_str("question")
            return await socket.receive_str()

    before = _told()
    with LCTLSession("odd", tmp_path / "run.lctl.json"), serving(_answer) as url:
        assert asyncio.run(talk(url)) == "heard question"
    assert _told() == before + 1


def test_an_address_that_is_none(tmp_path: Path) -> None:
    """aiohttp says so."""

    async def talk() -> None:
        async with aiohttp.ClientSession() as session:
            await session.ws_connect(7)  # type: ignore[call-overload]

    with LCTLSession("odd", tmp_path / "run.lctl.json"), pytest.raises(TypeError):
        asyncio.run(talk())
