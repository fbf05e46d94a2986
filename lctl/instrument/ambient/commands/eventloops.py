"""Commands that the program's own code has run in an event loop, asyncio's or uvloop's: by asyncio's
`create_subprocess_exec` and `_shell`, by the loop's own `subprocess_exec` and `_shell` with a protocol of its
own, and by anyio."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from subprocess import PIPE
from types import FrameType
from typing import Any

from lctl.instrument.ambient import reads, slots
from lctl.instrument.ambient.commands import lines
from lctl.instrument.ambient.commands.command import Command
from lctl.instrument.ambient.commands.servedprocesses import serve
from lctl.instrument.ambient.commands.starting import PLACE, begun, own
from lctl.instrument.ambient.commands.watchedprocesses import watch
from lctl.instrument.ambient.filereaders import below
from lctl.session.concurrency import pythons, turns

#: Of asyncio's own, the arguments that have a default; of a loop's, all streams are pipes.
_STREAMS: dict[str, Any] = {"stdin": None, "stdout": None, "stderr": None}
_PIPES: dict[str, Any] = dict.fromkeys(_STREAMS, PIPE)
#: Modules, and their classes of loops that start processes by those functions.
_LOOPS = {"asyncio.base_events": "BaseEventLoop", "uvloop": "Loop"}
#: Who have asked for what a loop is asked for: seen where they were.
_SEEN = ("asyncio.subprocess", __name__)

#: The program's own code that has called anyio, which may ask the loop in a task of its own.
_caller: ContextVar[FrameType | None] = ContextVar("lctl_commands_caller", default=None)


def install() -> None:
    from lctl.instrument.hooks import on_import

    for module in ("asyncio.subprocess", "asyncio"):  # which has them by name, too
        slots.on_undo(on_import(module, _patch).remove)
    for module in _LOOPS:
        slots.on_undo(on_import(module, _patch_loops).remove)
    for module in ("anyio._core._subprocesses", "anyio"):
        slots.on_undo(on_import(module, _patch_anyio).remove)


def _patch(module: Any) -> None:
    for name in ("create_subprocess_exec", "create_subprocess_shell"):
        original = getattr(module, name)
        slots.replace(module, name, slots.like(_creating(original, name.endswith("shell")), original))


def _patch_loops(module: Any) -> None:
    loop = getattr(module, _LOOPS[module.__name__])
    for name in ("subprocess_exec", "subprocess_shell"):
        original = getattr(loop, name)
        slots.replace(loop, name, slots.like(_asking(original, name.endswith("shell")), original))


def _is_known(loop: Any) -> bool:
    """Whether it is of a class whose processes are those of asyncio's protocols, and told as they are."""
    found = (getattr(sys.modules.get(module), name, None) for module, name in _LOOPS.items())
    return isinstance(loop, tuple(kind for kind in found if isinstance(kind, type)))


def _patch_anyio(module: Any) -> None:
    for name in ("open_process", "run_process"):
        original = getattr(module, name)
        slots.replace(module, name, slots.like(_calling(original), original))


def _calling(original: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        frame = own(sys._getframe(1))
        made = original(*args, **kwargs)
        return made if frame is None else _called(made, frame)

    return call


async def _called(made: Any, frame: FrameType) -> Any:
    token = _caller.set(frame)
    try:
        return await made
    except BaseException as error:
        error.__traceback__ = below(error.__traceback__)
        raise
    finally:
        _caller.reset(token)


def _asking(original: Any, is_shell: bool) -> Callable[..., Any]:
    def ask(self: Any, protocol_factory: Any, *args: Any, **kwargs: Any) -> Any:
        caller, frame = sys._getframe(1), None
        line = None if caller.f_globals.get("__name__") in _SEEN else _line(is_shell, args, kwargs)
        if line is not None:
            frame = _caller.get() or own(caller)
        if line is None or frame is None:
            return original(self, protocol_factory, *args, **kwargs)
        make, given = partial(original, self), {**_PIPES, **kwargs}
        return _started(make, protocol_factory, is_shell, line, frame, args, given)

    return ask


def _creating(original: Any, is_shell: bool) -> Callable[..., Any]:
    def create(*args: Any, **kwargs: Any) -> Any:
        line = _line(is_shell, args, kwargs)
        frame = None if line is None else own(sys._getframe(1))
        if line is None or frame is None:
            return original(*args, **kwargs)
        return _created(original, is_shell, line, frame, args, kwargs)

    return create


def _line(is_shell: bool, args: tuple[Any, ...], given: dict[str, Any]) -> str | None:
    words: Any = args
    if is_shell and len(args) == 1:  # its other arguments have names
        [words] = args
    elif is_shell or not args:
        return None
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
    """What `asyncio` makes of it."""
    loop = turns.running()
    if not _is_known(loop):
        return await original(*args, **kwargs)
    module: Any = sys.modules["asyncio.subprocess"]
    given = {**_STREAMS, **kwargs}
    limit = given.pop("limit", module.streams._DEFAULT_LIMIT)

    def protocol() -> Any:
        return module.SubprocessStreamProtocol(limit=limit, loop=loop)

    make = loop.subprocess_shell if is_shell else loop.subprocess_exec
    transport, made = await _started(make, protocol, is_shell, line, frame, args, given)
    return module.Process(transport, made, loop)


async def _started(
    make: Callable[..., Any],
    protocol: Callable[[], Any],
    is_shell: bool,
    line: str,
    frame: FrameType,
    args: tuple[Any, ...],
    given: dict[str, Any],
) -> tuple[Any, Any]:
    """A transport and its protocol, as `make` gives them."""
    try:
        started = begun(line, frame, "/bin/sh -c " if is_shell else "")
        if started is None:
            return await make(protocol, *args, **given)  # type: ignore[no-any-return]
        command, is_served = started
        try:
            if is_served:
                return await serve(turns.running(), command, protocol, given)
            return await _watched(make, protocol, command, args, given)
        except BaseException as error:
            command.failed(error)
            raise
    except BaseException as error:
        error.__traceback__ = below(error.__traceback__)
        raise


async def _watched(
    make: Callable[..., Any],
    protocol: Callable[[], Any],
    command: Command,
    args: tuple[Any, ...],
    given: dict[str, Any],
) -> tuple[Any, Any]:
    def factory() -> Any:
        made = protocol()
        watch(made, command)
        return made

    return await make(factory, *args, **given)  # type: ignore[no-any-return]
