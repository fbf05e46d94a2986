"""Processes of event loops that run in earnest, watched: what comes of them, and in which turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lctl.instrument.ambient import reads
from lctl.instrument.ambient.commands.command import STREAMS, Command
from lctl.instrument.ambient.commands.starting import PLACE
from lctl.session.concurrency import lanes

_TOLD = (
    "connection_made",
    "process_exited",
    "pipe_data_received",
    "pipe_connection_lost",
    "connection_lost",
)


def watch(protocol: Any, command: Command) -> None:
    """Tell `command` what this protocol of a process is told."""
    watcher = _Watcher(command)
    try:
        for name in _TOLD:
            told = partial(getattr(watcher, name), getattr(protocol, name))
            setattr(protocol, name, told)
    except Exception as error:  # one that has no attributes of its own
        command.forget()
        reads.failed(PLACE, error)


class _Watcher:
    def __init__(self, command: Command) -> None:
        self._command = command
        self._transport: Any = None
        self._code: int | None = None
        self._is_stdin = False  # the end of that is told as the end of all

    def connection_made(self, real: Callable[[Any], None], transport: Any) -> None:
        real(transport)
        command = self._command
        for fd, stream in enumerate(STREAMS, 1):
            if transport.get_pipe_transport(fd) is not None:
                command.said.setdefault(stream, [])
        self._transport = transport
        command.pid = transport.get_pid()
        if transport.get_returncode() is not None:
            self._exits()
        elif hasattr(transport, "_process_exited"):
            transport._process_exited = self._exiting(transport._process_exited)

    def _exits(self) -> None:
        if self._code is None:
            code: int = self._transport.get_returncode()
            self._code = code
            self._command.exited(code)

    def _exiting(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def _process_exited(returncode: int) -> None:
            real(returncode)
            self._exits()

        return _process_exited

    def process_exited(self, real: Callable[[], None]) -> None:
        self._exits()  # where that was on its way before
        real()

    def pipe_data_received(self, real: Callable[[int, Any], None], fd: int, data: Any) -> None:
        self._command.came(fd, bytes(data))
        real(fd, data)

    def pipe_connection_lost(self, real: Callable[[int, Any], None], fd: int, exc: Any) -> None:
        self._is_stdin = fd == 0
        if fd:
            self._command.came(fd, b"")
        try:
            real(fd, exc)
        finally:
            self._is_stdin = False

    def connection_lost(self, real: Callable[[Any], None], exc: Any) -> None:
        real(exc)
        if self._code is None or self._is_stdin:
            return
        token = lanes.enter(self._command.lane)
        try:
            self._command.ended(self._code)
        finally:
            lanes.leave(token)
