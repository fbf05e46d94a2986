"""gRPC in a rerun, whose sockets Python does not see: refused as any connection, and let through as any."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lctl.rerun.guarding.auditing import Guard, SideEffectRefused

grpc: Any = pytest.importorskip("grpc")

_ASKED = "/test.Chat/Ask"
_TOLD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class _Server:
    def __init__(self) -> None:
        self.asked = 0

    def service(self, details: Any) -> Any:
        def answer(request: bytes, _: Any) -> bytes:
            self.asked += 1
            return request + b"!"

        return grpc.unary_unary_rpc_method_handler(answer)


@pytest.fixture
def server() -> Iterator[tuple[_Server, int]]:
    handler = _Server()
    with ThreadPoolExecutor(1) as threads:
        running = grpc.server(threads)
        running.add_generic_rpc_handlers((handler,))
        port = running.add_insecure_port("127.0.0.1:0")
        running.start()
        yield handler, port
        running.stop(None).wait()


def _ask(port: int, method: str) -> bytes:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        answer: bytes = channel.unary_unary(method)(b"hello", timeout=10)
    return answer


def _ask_later(port: int, method: str) -> bytes:
    with grpc.insecure_channel(f"dns:///127.0.0.1:{port}") as channel:
        answer: bytes = channel.unary_unary(method).future(b"hello", timeout=10).result()
    return answer


def _await(port: int, method: str) -> bytes:
    async def ask() -> bytes:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            answer: bytes = await channel.unary_unary(method)(b"hello", timeout=10)
        return answer

    return asyncio.run(ask())


@pytest.mark.parametrize("ask", [_ask, _ask_later, _await])
def test_a_call_is_refused(
    ask: Callable[[int, str], bytes], server: tuple[_Server, int], tmp_path: Path
) -> None:
    handler, port = server
    guard = Guard(scratch=tmp_path / "scratch")
    guard.begin()
    try:
        with pytest.raises(SideEffectRefused, match=rf"connecting to 127\.0\.0\.1:{port}"):
            ask(port, _ASKED)
        assert handler.asked == 0
        assert len(guard.blocked) == 1
        assert ask(port, _TOLD) == b"hello!"  # what is told of the program is no part of it
    finally:
        guard.end()
    assert ask(port, _ASKED) == b"hello!"


@pytest.mark.parametrize("ask", [_ask, _ask_later, _await])
def test_a_host_that_is_allowed(
    ask: Callable[[int, str], bytes], server: tuple[_Server, int], tmp_path: Path
) -> None:
    guard = Guard(["network:127.0.0.1"], scratch=tmp_path / "scratch")
    guard.begin()
    try:
        assert ask(server[1], _ASKED) == b"hello!"
    finally:
        guard.end()
    assert server[0].asked == 1
