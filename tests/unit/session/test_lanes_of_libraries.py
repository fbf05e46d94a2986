"""What libraries start for themselves has no lane."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from lctl.session.concurrency import lanes
from lctl.session.runs.silence import REPORTED, end_silence, silence
from tests.unit.session.lanesofcode import here, here_later, hooked

__all__ = ["hooked"]  # fixtures


def test_what_runs_beneath_a_transport_is_not_counted() -> None:
    """A rerun has no network, so it starts none of it."""

    async def main() -> list[str]:
        token = silence(REPORTED)
        beneath = await asyncio.create_task(here_later())
        await asyncio.get_running_loop().getaddrinfo("localhost", 80)
        end_silence(token)
        return [beneath, await asyncio.create_task(here_later())]

    assert asyncio.run(main()) == ["0.1.0", "0.1.1"]


def test_what_http_libraries_start_is_not_counted() -> None:
    library: dict[str, Any] = {"__name__": "httpcore._pool", "asyncio": asyncio}
    code = "async def tend(what):\n    return await asyncio.create_task(what)\n"
    exec(compile(code, "httpcore/_pool.py", "exec"), library)

    async def main() -> list[str]:
        return [await library["tend"](here_later()), await asyncio.create_task(here_later())]

    assert asyncio.run(main()) == ["0.1.0", "0.1.1"]


def test_a_pools_threads_are_not_counted_beneath_hooks_of_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenTelemetry's stand around `Thread.start` and `submit` (Strands puts them there): when one more of a
    pool's threads is started depends on who is idle."""
    telemetry: dict[str, Any] = {"__name__": "opentelemetry.instrumentation.threading"}
    code = "def around(call):\n    return lambda *args, **kwargs: call(*args, **kwargs)\n"
    exec(compile(code, "opentelemetry/instrumentation/threading/__init__.py", "exec"), telemetry)
    library: dict[str, Any] = {"__name__": "httpcore._pool", "pool": None}
    exec(compile("def tend(what):\n    return pool.submit(what)\n", "httpcore/_tend.py", "exec"), library)

    async def main() -> list[str]:
        return [await asyncio.to_thread(here), await asyncio.create_task(here_later())]

    with monkeypatch.context() as hooks:
        hooks.setattr(threading.Thread, "start", telemetry["around"](threading.Thread.start))
        hooks.setattr(ThreadPoolExecutor, "submit", telemetry["around"](ThreadPoolExecutor.submit))
        assert asyncio.run(main()) == ["0.1.1", "0.1.2"]
        with ThreadPoolExecutor(2) as pool:
            library["pool"] = pool
            seen = [pool.submit(here).result(), library["tend"](here).result(), pool.submit(here).result()]
        thread = threading.Thread(target=lambda: seen.append(here()))
        thread.start()
        thread.join()
    assert seen == ["0.2", "0.0", "0.3", "0.4"]


def function_of(module: str, name: str, body: str, **names: Any) -> Callable[[Any], None]:
    """A function with one argument, `what`, that looks as if it stood in that module."""
    names["__name__"] = module
    exec(compile(f"def {name}(what):\n    {body}\n", module.replace(".", "/") + ".py", "exec"), names)
    made: Callable[[Any], None] = names[name]
    return made


def test_threads_of_tools_of_observability_are_not_counted() -> None:
    """What they start stays with them, and counts with all that libraries start for themselves; what a pool
    of theirs starts for the program is the program's."""
    seen: list[tuple[str, bool]] = []

    def look() -> None:
        seen.append((here(), lanes.is_telling()))

    def start(what: Any) -> None:
        thread = threading.Thread(target=what)
        thread.start()
        thread.join()

    begin = "t = Thread(target=what); t.start(); t.join()"
    worker = function_of("sentry_sdk.worker", "start", begin, Thread=threading.Thread)
    submit = function_of("braintrust.logger", "submit", begin, Thread=threading.Thread)
    sender = function_of("langsmith.client", "send", "submit(what)", submit=submit)
    for begin_one in (worker, lambda what: worker(lambda: start(what)), sender):
        begin_one(look)
    for begin_one in (start, submit):
        begin_one(look)
    assert seen == [("0.0", True), ("0.0", True), ("0.0", True), ("0.1", False), ("0.2", False)]


def test_closing_a_client_that_was_thrown_away_is_not_counted() -> None:
    """Finalizers of model clients do it, when the collector of garbage comes by: in a loop, or with one of
    their own (Mistral's)."""

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        loop.create_task(httpx.AsyncClient().aclose())  # noqa: RUF006  (as openai's does)
        asyncio.run_coroutine_threadsafe(httpx.AsyncClient().aclose(), loop)
        return [await asyncio.create_task(here_later())]

    assert asyncio.run(main()) == ["0.1.1"]

    class Client:
        async def close(self) -> None: ...

        def __del__(self) -> None:
            asyncio.get_running_loop().create_task(self.close())

    async def thrown_away() -> str:
        Client()
        return await asyncio.create_task(here_later())

    assert asyncio.run(thrown_away()) == "0.2.1"
    asyncio.run(httpx.AsyncClient().aclose())
    assert asyncio.run(here_later()) == "0.3"


def test_waits_for_pieces_are_not_counted() -> None:
    """Strands makes a task for the next piece of Bedrock's stream where none is there yet."""
    strands: dict[str, Any] = {"__name__": "strands.models.bedrock", "asyncio": asyncio}
    code = "async def _next_stream_event(queue):\n    return await asyncio.ensure_future(queue.get())\n"
    exec(compile(code, "strands/models/bedrock.py", "exec"), strands)

    async def main() -> list[str]:
        queue: asyncio.Queue[str] = asyncio.Queue()
        queue.put_nowait("piece")
        return [await strands["_next_stream_event"](queue), await asyncio.create_task(here_later())]

    assert asyncio.run(main()) == ["piece", "0.1.1"]
