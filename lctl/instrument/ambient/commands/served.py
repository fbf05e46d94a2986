"""Commands that a rerun does not start: `subprocess.Popen` as if it had."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from types import MethodType
from typing import Any

from lctl.instrument.ambient.commands.command import STREAMS, Command
from lctl.instrument.ambient.commands.numbers import standing_in
from lctl.instrument.ambient.filelooks import nameless
from lctl.instrument.ambient.filereaders import below

_NOWHERE = -1


def serve(process: Any, command: Command, given: Mapping[str, Any]) -> None:
    """In the place of `_execute_child`, when the pipes are there: they are full of what was said."""
    if command.is_failure:
        command.await_end()
    _fill(given["c2pread"], command, "stdout")
    _fill(given["errread"], command, "stderr")
    if given["p2cwrite"] != _NOWHERE:
        deaf = os.open(os.devnull, os.O_WRONLY)
        os.dup2(deaf, given["p2cwrite"], inheritable=False)
        os.close(deaf)
    for name, other in (("p2cread", "p2cwrite"), ("c2pwrite", "c2pread"), ("errwrite", "errread")):
        if given[name] != _NOWHERE and given[other] != _NOWHERE:
            os.close(given[name])
    process._closed_child_pipe_fds = True
    process.pid = standing_in(command, lambda: process.returncode is None)
    process._child_created = False  # there is nobody to wait for
    for function in (communicate, wait, poll, send_signal):
        process.__dict__[function.__name__] = MethodType(function, process)
    process.__dict__["_lctl_command"] = command


def _fill(descriptor: int, command: Command, stream: str) -> None:
    if descriptor == _NOWHERE:
        return
    said = command.recorded(stream)
    command.said[stream] = [said]
    file = nameless(said)
    os.dup2(file.fileno(), descriptor, inheritable=False)
    file.close()


def communicate(self: Any, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
    command: Command = self._lctl_command
    if self._communication_started and input:
        raise ValueError("Cannot send input after starting communication")
    self._communication_started = True
    try:
        self.wait(timeout=timeout)  # which somebody may have put theirs around
    except BaseException as error:
        if isinstance(error, subprocess.TimeoutExpired) and command.late:
            error.stdout, error.stderr = (
                command.recorded(stream)[:size] or None
                for stream, size in zip(STREAMS, command.late[-1], strict=False)
            )
        error.__traceback__ = below(error.__traceback__)
        raise
    said = [_said(self, stream, command.recorded(stream)) for stream in STREAMS]
    for file in (self.stdin, self.stdout, self.stderr):
        if file is not None and not file.closed:
            file.close()
    return said[0], said[1]


def wait(self: Any, timeout: float | None = None) -> int:
    try:
        _end(self, timeout)
    except BaseException as error:
        error.__traceback__ = below(error.__traceback__)
        raise
    code: int = self.returncode
    return code


def poll(self: Any) -> int | None:
    command: Command = self._lctl_command
    if self.returncode is None:
        if command.is_polled():
            command.polls += 1
            return None
        _end(self, None)
    found: int | None = self.returncode
    return found


def send_signal(self: Any, sig: int) -> None:
    """What comes of it is recorded; it asks first whether there is anybody to hear it."""
    poll(self)


def _end(process: Any, timeout: float | None) -> None:
    """Return when it has ended; raises TimeoutExpired where that took too long in the recording."""
    command: Command = process._lctl_command
    if process.returncode is not None:
        return
    if timeout is not None and command.is_late():
        time.sleep(max(0.0, timeout))
        late = command.recorded_late()
        command.late.append(list(late))
        raise subprocess.TimeoutExpired(process.args, timeout if late[2] is None else late[2])
    command.await_end()
    process.returncode = command.recorded_code
    command.ended(process.returncode)


def _said(process: Any, stream: str, said: bytes) -> Any:
    file = getattr(process, stream)
    if file is None:
        return None
    if not process.text_mode:
        return said
    return process._translate_newlines(said, file.encoding, file.errors)
