"""Commands that the program's own code has run by `asyncio.create_subprocess_exec` and `_shell`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from lctl.instrument.ambient import reads, slots
from lctl.instrument.ambient.commands import lines
from lctl.instrument.ambient.commands.command import STREAMS, Command
from lctl.instrument.ambient.commands.servedprocesses import serve
from lctl.instrument.ambient.commands.starting import PLACE, begun, own
from lctl.instrument.ambient.filereaders import below
from lctl.session.concurrency import lanes, pythons, turns


def install() -> None:
    from lctl.instrument.hooks import on_import

    for module in ("asyncio.subprocess", "asyncio"):  # which has them by name, too
        slots.on_undo(on_import(module, _patch).remove)


def _patch(module: Any) -> None:
    for name in ("create_subprocess_exec", "create_subprocess_shell"):
        original = getattr(module, name)
        slots.replace(module, name, slots.like(_creating(original, name.endswith("shell")), original))


def _creating(original: Any, is_shell: bool) -> Callable[..., Any]:
    def create(*args: Any, **kwargs: Any) -> Any:
        line = frame = None
        if is_shell and len(args) == 1:  # its other arguments have names
            line = _line(args[0], kwargs)
        elif args and not is_shell:
            line = _line(args, kwargs)
        if line is not None:
            frame = own(sys._getframe(1))
        if line is None or frame is None:
            return original(*args, **kwargs)
        return _created(original, is_shell, line, frame, args, kwargs)

    return create


def _line(words: Any, given: dict[str, Any]) -> str | None:
    try:
        if pythons.records_itself(words, given.get("executable"), given.get("env")):
            return None
        return lines.told(words, given.get("executable"))
    except Exception as error:
        reads.failed(PLACE, error)
        return None


async def _created(
    original: Any, is_shell: bool, line: str, frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    try:
        loop, started = turns.running(), None
        if isinstance(loop, sys.modules["asyncio"].BaseEventLoop):
            started = begun(line, frame, "/bin/sh -c " if is_shell else "")
        if started is None:
            return await original(*args, **kwargs)
        command, is_served = started
        try:
            if is_served:
                return await serve(loop, command, kwargs)
            return await _watched(loop, command, is_shell, args, kwargs)
        except BaseException as error:
            command.failed(error)
            raise
    except BaseException as error:
        error.__traceback__ = below(error.__traceback__)
        raise


async def _watched(
    loop: Any, command: Command, is_shell: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """As `asyncio` makes it, by a protocol that tells `command` what comes."""
    module: Any = sys.modules["asyncio.subprocess"]
    given = {"stdin": None, "stdout": None, "stderr": None, **kwargs}
    limit = given.pop("limit", module.streams._DEFAULT_LIMIT)
    watching = _watching(module, command)
    make = loop.subprocess_shell if is_shell else loop.subprocess_exec
    transport, protocol = await make(lambda: watching(limit=limit, loop=loop), *args, **given)
    return module.Process(transport, protocol, loop)


def _watching(module: Any, command: Command) -> Any:
    base = module.SubprocessStreamProtocol

    class SubprocessStreamProtocol(base):  # type: ignore[misc, valid-type]
        _lctl_transport: Any = None
        _lctl_code: int | None = None
        _lctl_stdin = False  # the end of that is told as the end of all

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            for fd, stream in enumerate(STREAMS, 1):
                if transport.get_pipe_transport(fd) is not None:
                    command.said.setdefault(stream, [])
            self._lctl_transport = transport
            command.pid = transport.get_pid()
            if transport.get_returncode() is not None:
                self._exits()
            elif hasattr(transport, "_process_exited"):
                transport._process_exited = self._exiting(transport._process_exited)

        def _exits(self) -> None:
            if self._lctl_code is None:
                self._lctl_code = self._lctl_transport.get_returncode()
                command.came(0, b"")

        def _exiting(self, real: Callable[[int], None]) -> Callable[[int], None]:
            def _process_exited(returncode: int) -> None:
                real(returncode)
                self._exits()

            return _process_exited

        def process_exited(self) -> None:
            self._exits()  # where that was on its way before
            super().process_exited()

        def pipe_data_received(self, fd: int, data: bytes) -> None:
            command.came(fd, bytes(data))
            super().pipe_data_received(fd, data)

        def pipe_connection_lost(self, fd: int, exc: Any) -> None:
            self._lctl_stdin = fd == 0
            if fd:
                command.came(fd, b"")
            try:
                super().pipe_connection_lost(fd, exc)
            finally:
                self._lctl_stdin = False

        def connection_lost(self, exc: Any) -> None:
            super().connection_lost(exc)
            if self._lctl_code is None or self._lctl_stdin:
                return
            token = lanes.enter(command.lane)
            try:
                command.ended(self._lctl_code)
            finally:
                lanes.leave(token)

    for name in ("__module__", "__qualname__"):
        setattr(SubprocessStreamProtocol, name, getattr(base, name))
    return SubprocessStreamProtocol
