"""Identifiers: `uuid`, `os.urandom` and `os.getrandom`, the process id.

The program's own are recorded. Those that installed libraries make (of tool calls and messages, which may go
into later prompts; of memories and rows, which are found by them; of the clients of a page, which they say
again) are derived from the run's seed and the place that makes them: they are the same in a rerun, and no
event is spent on them. In what is live in a fork, a thing made in the world (a row, a payment) needs another
one than the recorded run's: there only those of agent frameworks, which prompts hold, go on as they were.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from lctl.instrument.ambient import callers, chance, logged, reads, slots, stamps
from lctl.instrument.ambient.callers import own
from lctl.instrument.ambient.values import bytes_of, from_bytes
from lctl.instrument.hooks import Hook, on_import
from lctl.interrupts import step_out
from lctl.session import border
from lctl.session.concurrency import lanes

_getframe = sys._getframe
_HERE = _getframe().f_code.co_filename
_FRAMEWORKS = """
ag2 agents agno autogen autogen_agentchat autogen_core chainlit crewai dask distributed dspy google gradio
haystack instructor langchain langchain_anthropic langchain_community langchain_core langchain_openai
langgraph litellm llama_index magentic mcp nicegui panel pydantic_ai semantic_kernel smolagents strands
streamlit workflows
"""
#: LangChain draws its ids of runs and messages by the second, LiteLLM its ids of calls by the last.
_MODULES = ("uuid", "uuid_utils.compat", "pydantic_ai._uuid", "fastuuid")
_framework_names = frozenset(_FRAMEWORKS.split())
_hooks: list[Hook] = []
_watching: list[Hook] = []
_SIGKILL = getattr(signal, "SIGKILL", None)
_frameworks: dict[str, bool] = {}
#: Ids that this process had when it was recorded, as the program was told.
_recorded: set[int] = set()
#: Of a rerun: the program is about to kill itself, and nothing of it runs any more.
killing: Callable[[], None] | None = None
_parents: dict[int, int] = {}  # by their recorded numbers
#: Told of each id that is drawn here and now, for the program or a library, and is in no log.
_drew: Callable[[Any], None] | None = None


def install() -> None:
    slots.replace_builtin(os, "urandom", _bytes)
    slots.replace_builtin(os, "getrandom", _bytes_of_kernel)
    slots.replace_builtin(os, "getpid", _process)
    slots.replace_builtin(os, "kill", _kill)
    _hooks[:] = [on_import(name, _replace_uuid) for name in _MODULES]


def uninstall() -> None:
    for hook in _hooks:
        hook.remove()
    _hooks.clear()


def watch(drew: Callable[[Any], None]) -> None:
    """Tell `drew` of each `uuid.UUID` that is drawn from now on, also where reads are not recorded."""
    global _drew
    _drew = drew
    if not _hooks:
        _watching[:] = [on_import(name, _replace_uuid) for name in _MODULES]


def unwatch() -> None:
    global _drew
    _drew = None
    for hook in _watching:
        hook.remove()
    if _watching and not _hooks:
        slots.undo_all()
    _watching.clear()


def _bytes(original: Any) -> Callable[..., Any]:
    def urandom(_: Any, size: int, /) -> bytes:
        frame = own(_getframe(1))
        try:
            if frame is None:
                return original(size)  # type: ignore[no-any-return]
            return reads.read("random", "os.urandom", frame, lambda: original(size), bytes_of, from_bytes)  # type: ignore[no-any-return]
        except BaseException as error:
            step_out(error)
            raise

    return urandom


def _bytes_of_kernel(original: Any) -> Callable[..., Any]:
    def getrandom(_: Any, size: int, flags: int = 0) -> bytes:
        frame = own(_getframe(1))
        if frame is None:
            return original(size, flags)  # type: ignore[no-any-return]
        return reads.read(  # type: ignore[no-any-return]
            "random", "os.getrandom", frame, lambda: original(size, flags), bytes_of, from_bytes
        )

    return getrandom


def _process(original: Any) -> Callable[..., Any]:
    def getpid(_: Any) -> int:
        reader = _getframe(1)
        frame = own(reader)
        if frame is None:
            logger = logged.numbered(reader, "process")
            return original() if logger is None else stamps.read(f"{logger}: process", reader, original)  # type: ignore[no-any-return]
        told: int = reads.read("process", "os.getpid", frame, original)
        if told != original():
            _recorded.add(told)
        return told

    return getpid


def know_parent(told: int, real: int) -> None:
    """Of a rerun: who started this process was `told` to be that one. In a forked child the number may be
    known as its own, which it was of its parent."""
    if told > 1 and told != real:
        _recorded.discard(told)
        _parents[told] = real


def processes_told() -> set[int]:
    """The numbers of this process: its own and, in a rerun, those that the program was told."""
    return {os.getpid(), *_recorded}


def is_own(process: object) -> bool:
    """Whether that is this process, by its number or, in a rerun, by the recorded one's."""
    return process == os.getpid() or process in _recorded


def _kill(original: Any) -> Callable[..., Any]:
    """Of a rerun: the recorded id is another's by now, and the program means itself, or who started it."""

    def kill(_: Any, pid: int, number: int, /) -> None:
        if killing is not None and number == _SIGKILL and is_own(pid):
            killing()
        try:
            original(os.getpid() if is_own(pid) else _parents.get(pid, pid), number)
        except BaseException as error:  # also what a handler raises
            step_out(error)
            raise

    return kill


def _replace_uuid(module: ModuleType) -> None:
    for name in ("uuid1", "uuid4", "uuid6", "uuid7", "uuid8"):
        original = getattr(module, name, None)
        if original is not None:
            slots.replace(module, name, _identifier(name, original, _class_in(module)))


def _class_in(module: ModuleType) -> Any:
    """What the module's ids are: fastuuid has a class of its own."""
    return sys.modules["uuid" if module.__name__ != "fastuuid" else "fastuuid"].UUID


def _identifier(name: str, original: Callable[..., Any], UUID: Any) -> Callable[..., Any]:
    def identifier(*args: Any, **kwargs: Any) -> Any:
        caller = _getframe(1)
        frame = own(caller)
        if frame is not None:
            drawn = reads.read("uuid", name, frame, lambda: original(*args, **kwargs), str, UUID)
            if reads.active():  # it stands in the log; behind a fork point the world knows it by no other
                return drawn
        elif caller.f_code.co_filename == _HERE:  # watched, and recorded: the outer one tells
            return original(*args, **kwargs)
        elif (
            name in _DERIVED
            and reads.active()
            and not (args or kwargs)
            and (maker := _deriving(caller)) is not None
        ):
            drawn = UUID(int=_DERIVED[name](f"{name} {maker.f_code.co_qualname}"))
            if _is_framework(maker):
                return drawn
        else:
            drawn = original(*args, **kwargs)
        if _drew is not None:
            _drew(drawn)
        return drawn

    made = slots.like(identifier, original)
    made.__wrapped__ = original  # type: ignore[attr-defined]
    return made


def _version_4(kind: str) -> int:
    return _marked(chance.numbered(kind), 4)


def _version_7(kind: str) -> int:
    return _marked(chance.timed(kind), 7)


def _marked(number: int, version: int) -> int:
    """With the bits that say which version of UUID it is (RFC 9562, 4.1 and 4.2)."""
    variant = number & ~(0b11 << 62) | 0b10 << 62
    return variant & ~(0xF << 76) | version << 76


_DERIVED = {"uuid4": _version_4, "uuid7": _version_7}


def _deriving(caller: FrameType) -> FrameType | None:
    """The frame of a library's code that `caller` acts for, if the ids that it makes are derived here."""
    maker = callers.library(caller)
    if maker is None or callers.is_lctl(maker.f_code.co_filename):
        return None
    if _is_framework(maker):
        return maker
    player = border.player()
    return None if player is not None and player.is_live(lanes.current()) else maker


def _is_framework(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    known = _frameworks.get(file)
    if known is None:
        top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        # Those that build on one are named after it: langgraph_supervisor, llama_index_x.
        known = top in _framework_names or any(top.startswith(f"{name}_") for name in _framework_names)
        _frameworks[file] = known
    return known
