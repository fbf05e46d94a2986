"""Running a prepared fork: its command in a process of its own, what it writes as a stream.

Only where the server's user allowed it, only what was prepared and shown, only once. The process ends with
the request that began it: nothing goes on, and nothing is spent, behind a page that was closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as Endpoint

from lctl.debugger import routing
from lctl.debugger.confirming import Ready
from lctl.debugger.failing import Refused
from lctl.debugger.serving import Server
from lctl.debugger.shapes.findings import ForkConfirmed, ForkStop, ForkStopped
from lctl.debugger.streaming import HEADERS, told

_BLOCK = 1 << 16
_GRACE = 3.0  # seconds between asking a process to end and ending it


def endpoints(server: Server) -> list[Endpoint]:
    jobs: dict[str, asyncio.subprocess.Process] = {}

    async def run(request: Request) -> Response:
        try:
            if not server.allow_run:
                raise Refused("forbidden", "start the debugger with --allow-run to run forks from the page")
            asked = await _body(request, ForkConfirmed)
            ready = server.confirmations.take(asked.confirm)
            if ready is None:
                raise Refused(
                    "conflict", "this fork was run already, or prepared too long ago; prepare it again"
                )
            return StreamingResponse(
                _run(server, ready, jobs), media_type="text/event-stream", headers=HEADERS
            )
        except Exception as error:
            return routing.refused(error)

    async def stop(request: Request) -> Response:
        try:
            asked = await _body(request, ForkStop)
            process = jobs.get(asked.job)
            if process is not None:
                await _end(process)
            return routing.json_response(ForkStopped(stopped=process is not None))
        except Exception as error:
            return routing.refused(error)

    return [
        Endpoint("/api/fork/run", run, methods=["POST"]),
        Endpoint("/api/fork/stop", stop, methods=["POST"]),
    ]


async def _body(request: Request, type: Any) -> Any:
    try:
        return msgspec.json.decode(await request.body(), type=type)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Refused("bad_request", str(error)) from None


async def _run(
    server: Server, ready: Ready, jobs: dict[str, asyncio.subprocess.Process]
) -> AsyncIterator[bytes]:
    job = f"j{len(jobs) + 1}-{os.urandom(3).hex()}"
    yield told("started", {"command": shlex.join(ready.argv), "job": job})
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "lctl",
        *ready.argv[1:],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=os.name != "nt",
    )
    jobs[job] = process
    last = ""
    try:
        async for stream, text in _output(process):
            if stream == "stderr":
                last = (last + text)[-4000:]
            yield told("output", {"stream": stream, "text": text})
        code = await process.wait()
        made = ready.output.exists()
        key = server.runs.key(ready.output, now=True) if made else None
        yield told("ended", {"code": code, "run": key, "left": ready.left, "text": last.strip()})
    finally:
        jobs.pop(job, None)
        await _end(process)


async def _output(process: asyncio.subprocess.Process) -> AsyncIterator[tuple[str, str]]:
    """(stdout or stderr, what was written), as it comes."""
    queue: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(maxsize=64)

    async def read(name: str, stream: asyncio.StreamReader) -> None:
        while block := await stream.read(_BLOCK):
            await queue.put((name, block))
        await queue.put((name, b""))

    assert process.stdout is not None and process.stderr is not None
    readers = [
        asyncio.create_task(read("stdout", process.stdout)),
        asyncio.create_task(read("stderr", process.stderr)),
    ]
    try:
        open_streams = len(readers)
        while open_streams:
            name, block = await queue.get()
            if block:
                yield name, block.decode("utf-8", "replace")
            else:
                open_streams -= 1
    finally:
        for reader in readers:
            reader.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process and what it started."""
    for name in ("SIGTERM", "SIGKILL"):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, getattr(signal, name))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), _GRACE)
