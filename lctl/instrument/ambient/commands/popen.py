"""Commands that the program's own code has run, by `subprocess`, `os.system`, `os.popen` and asyncio.

What an agent's shell said is what its model is asked next, and what the command did to the world is not to be
done again. So a recording keeps exit code and output; a rerun gives them without starting anything. Pythons
that record logs of their own are no commands: they run again. Nor is what a tool's body starts, whose
result a rerun has, and what libraries start for themselves, but for those that work with models.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from types import FrameType, ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import reads, slots
from lctl.instrument.ambient.commands import command as commands
from lctl.instrument.ambient.commands import eventloops, lines, numbers, starting
from lctl.instrument.ambient.commands.command import Command
from lctl.instrument.ambient.commands.served import serve
from lctl.instrument.ambient.commands.tees import drain, tee
from lctl.instrument.ambient.filereaders import below
from lctl.interrupts import step_out
from lctl.session.concurrency import pythons
from lctl.session.runs.wrappedruns import step_aside


def install() -> None:
    if os.name != "posix":
        return
    from lctl.instrument.hooks import on_import
    from lctl.session import hooks

    if commands.closing not in hooks.on_closing:
        hooks.on_closing.append(commands.closing)
        os.register_at_fork(after_in_child=commands.after_fork)
    slots.replace_builtin(os, "system", _of_system)
    slots.on_undo(on_import("subprocess", _patch).remove)
    numbers.install()
    eventloops.install()


# -- subprocess --------------------------------------------------------------------------------


def _patch(module: ModuleType) -> None:
    popen: Any = module.Popen
    original = popen._execute_child
    names = list(signature(original).parameters)

    @wraps(original)
    def _execute_child(self: Any, *args: Any, **kwargs: Any) -> Any:
        started = None
        try:
            given = {**dict(zip(names[1:], args, strict=False)), **kwargs}
            started = _started(given, sys._getframe(1))
            if started is not None and started[1]:
                return serve(self, started[0], given)
            result = original(self, *args, **kwargs)
        except BaseException as error:
            if started is not None:
                started[0].failed(error)
            error.__traceback__ = below(error.__traceback__)
            raise
        if started is not None:
            tee(self, started[0])
        return result

    if os.name == "posix" and {"args", "c2pread", "errread", "p2cwrite"} <= set(names):
        slots.replace(popen, "_execute_child", _execute_child)
        for name, make in (
            ("communicate", _hearing(past=True)),
            ("_handle_exitstatus", _ending),
            ("poll", _asking),
            ("wait", _hearing(past=False)),
        ):
            slots.replace(popen, name, wraps(getattr(popen, name))(make(getattr(popen, name))))


def _started(given: Mapping[str, Any], frame: FrameType) -> tuple[Command, bool] | None:
    """As `starting.begun`, of what `_execute_child` is `given`; None of what is no command."""
    try:
        line = lines.told(given.get("args"), given.get("executable"))
        if line is None or pythons.records_itself(given["args"], given.get("executable"), given.get("env")):
            return None
        own = starting.own(frame)
    except Exception as error:
        reads.failed(starting.PLACE, error)
        return None
    return None if own is None else starting.begun(line, own, "/bin/sh -c " if given.get("shell") else "")


def _of(process: Any) -> Command | None:
    found: Command | None = process.__dict__.get("_lctl_command")
    return found


def _hearing(*, past: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Of what waits for the end. `past`: as of `Command.inside`."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def hear(self: Any, *args: Any, **kwargs: Any) -> Any:
            command = _of(self)
            if command is None:
                return original(self, *args, **kwargs)
            try:
                with command.inside(self, past=past):
                    return original(self, *args, **kwargs)
            except BaseException as error:
                step_aside(error)
                raise

        return hear

    return make


def _asking(original: Callable[..., Any]) -> Callable[..., Any]:
    def poll(self: Any) -> Any:
        command = _of(self)
        if command is None:
            return original(self)
        with command.inside(self):
            code = original(self)
        if code is None:
            command.polls += 1
        return code

    return poll


def _ending(original: Callable[..., Any]) -> Callable[..., Any]:
    def _handle_exitstatus(self: Any, *args: Any, **kwargs: Any) -> Any:
        result, command = original(self, *args, **kwargs), _of(self)
        # Else Python itself tidies up after a process that the program has let go.
        if command is not None and command.is_asked and self.returncode is not None:
            with guard(starting.PLACE):
                if command.is_read_past:
                    command.take(self)
                else:
                    drain(self)
            command.ended(self.returncode)
        return result

    return _handle_exitstatus


# -- os.system ---------------------------------------------------------------------------------


def _of_system(original: Any) -> Callable[..., Any]:
    def system(_: Any, command: Any) -> Any:
        frame = starting.own(sys._getframe(1))
        line = None if frame is None else lines.told(command, None)
        started = None if frame is None or line is None else starting.begun(line, frame)
        if started is None:
            try:
                return original(command)
            except BaseException as error:
                step_out(error)
                raise
        running, is_served = started
        running.told_as = "status"
        try:
            if is_served:
                running.await_end()
                status = running.recorded_code
            else:
                status = original(command)
        except BaseException as error:
            running.failed(error)
            step_aside(error)
            raise
        running.ended(status)
        return status

    return system
