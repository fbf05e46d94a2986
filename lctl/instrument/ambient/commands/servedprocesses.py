"""Commands that a rerun does not start: processes of asyncio as if it had."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from lctl.instrument import suppress
from lctl.instrument.ambient.commands.command import STREAMS, Command
from lctl.instrument.ambient.commands.numbers import standing_in
from lctl.session.concurrency import lanes, spawning

_PIPES = ("stdin", "stdout", "stderr")


async def serve(
    loop: Any, command: Command, make: Callable[[], Any], given: Mapping[str, Any]
) -> tuple[Any, Any]:
    """A transport and the protocol that `make` makes, in as many turns as those of a process with such pipes.

    Raises:
        OSError: it could not be started in the recording.
    """
    spawning.child_process()  # whose lane the next has not
    if command.is_failure:
        await command.await_end_async()
    protocol = make()
    pipes = [fd for fd, name in enumerate(_PIPES) if given.get(name) == asyncio.subprocess.PIPE]
    transport = _Transport(loop, protocol, command, pipes)
    made = loop.create_future()
    if isinstance(loop, asyncio.BaseEventLoop):
        loop.create_task(transport.connect(made))
    else:
        _aside(loop, transport.connect(made))  # uvloop makes no task of it, which would have a lane
    await made
    return transport, protocol


def _aside(loop: Any, coroutine: Coroutine[Any, Any, None]) -> Any:
    """A task of it that is none of the program's."""
    token = suppress.silence(suppress.REPORTED)
    try:
        return loop.create_task(coroutine)
    finally:
        suppress.end_silence(token)


class _Transport(asyncio.SubprocessTransport):
    """Of a process that is none: what it said, and its end, come when they did."""

    def __init__(self, loop: Any, protocol: Any, command: Command, pipes: list[int]) -> None:
        super().__init__()
        self._loop = loop
        self._protocol = protocol
        self._command = command
        self._pipes = {fd: _Pipe(self, fd) for fd in pipes}
        self._code: int | None = None
        self._pid = standing_in(command, lambda: self._code is None)
        self._waiters: list[asyncio.Future[int]] = []
        self._is_over = self._is_closed = False
        self._ending: asyncio.Task[None] | None = None
        self._signalled = asyncio.Event()

    async def connect(self, made: asyncio.Future[None]) -> None:
        for _ in self._pipes:
            ready = self._loop.create_future()
            self._loop.call_soon(ready.set_result, None)
            await ready
        self._loop.call_soon(self._protocol.connection_made, self)
        self._ending = _aside(self._loop, self._end())
        if not made.cancelled():
            made.set_result(None)

    async def _end(self) -> None:
        command, protocol = self._command, self._protocol
        left = {fd: command.recorded(STREAMS[fd - 1]) for fd in self._pipes if fd}
        command.said = {STREAMS[fd - 1]: [] for fd in left}
        async for fd, size in command.recorded_pieces():
            if not fd:
                await self._until_signalled()
                self._code = command.recorded_code
                command.exited(self._code)
                self._loop.call_soon(protocol.process_exited)
                continue
            said, left[fd] = left[fd][: size or None], left[fd][size:] if size else b""
            if said:
                command.came(fd, said)
                protocol.pipe_data_received(fd, said)
            if not size:
                del left[fd]
                command.came(fd, b"")
                protocol.pipe_connection_lost(fd, None)
        await command.await_end_async()
        code = self._code = command.recorded_code
        self._is_over = True
        protocol.connection_lost(None)
        for fd in left:  # uvloop may tell of the end of all before that of a stream
            protocol.pipe_connection_lost(fd, None)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(code)
        token = lanes.enter(command.lane)
        try:
            command.ended(code)
        finally:
            lanes.leave(token)

    async def _until_signalled(self) -> None:
        """One that a signal ended does not end before that, as far as it is known, on a loop that has the
        world's clock (uvloop's): who ends it may have waited for it in vain for some time."""
        if self._command.recorded_code >= 0 or isinstance(self._loop, asyncio.BaseEventLoop):
            return
        late = self._loop.call_later(self._command.recorded_seconds, self._signalled.set)
        await self._signalled.wait()
        late.cancel()

    async def _wait(self) -> int:
        if self._code is not None:
            return self._code
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        code: int = await waiter
        return code

    def lost(self, fd: int) -> None:
        """The program has closed that stream."""
        if fd == 0:
            self._loop.call_soon(self._protocol.pipe_connection_lost, 0, None)

    def get_pid(self) -> int:
        return self._pid

    def get_returncode(self) -> int | None:
        return self._code

    def get_pipe_transport(self, fd: int) -> Any:
        return self._pipes.get(fd)

    def send_signal(self, signal: int) -> None:
        if self._is_over:
            raise ProcessLookupError
        self._signalled.set()

    def terminate(self) -> None:
        self.send_signal(15)

    def kill(self) -> None:
        self.send_signal(9)

    def close(self) -> None:
        self._is_closed = True

    def is_closing(self) -> bool:
        return self._is_closed


class _Pipe(asyncio.Transport):
    """Swallows what is written, and has nothing to hold back."""

    def __init__(self, process: _Transport, fd: int) -> None:
        super().__init__()
        self._process = process
        self._fd = fd
        self._is_closed = False

    def write(self, data: Any) -> None:
        pass

    def writelines(self, list_of_data: Any) -> None:
        pass

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.close()

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def is_closing(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._process.lost(self._fd)

    abort = close
