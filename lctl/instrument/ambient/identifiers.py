"""Identifiers: `uuid`, `os.urandom`, the process id.

The program's own are recorded. Those that agent frameworks make (the ids of tool calls and messages, which
may go into later prompts) are derived from the run's seed and the place that makes them: they are the
same in a rerun, and no event is spent on them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from lctl.instrument.ambient import callers, chance, reads, slots
from lctl.instrument.ambient.callers import own
from lctl.instrument.ambient.values import bytes_of, from_bytes
from lctl.instrument.hooks import Hook, on_import

_getframe = sys._getframe
_FRAMEWORKS = """
ag2 agents agno autogen autogen_agentchat autogen_core crewai dspy google haystack instructor langchain
langchain_anthropic langchain_community langchain_core langchain_openai langgraph litellm llama_index mcp
pydantic_ai semantic_kernel smolagents strands workflows
"""
_framework_names = frozenset(_FRAMEWORKS.split())
_hooks: list[Hook] = []
_frameworks: dict[str, bool] = {}


def install() -> None:
    slots.replace_builtin(os, "urandom", _bytes)
    slots.replace_builtin(os, "getpid", _process)
    _hooks[:] = [on_import("uuid", _replace_uuid)]


def uninstall() -> None:
    for hook in _hooks:
        hook.remove()
    _hooks.clear()


def _bytes(original: Any) -> Callable[..., Any]:
    def urandom(_: Any, size: int, /) -> bytes:
        frame = own(_getframe(1))
        if frame is None:
            return original(size)  # type: ignore[no-any-return]
        return reads.read("random", "os.urandom", frame, lambda: original(size), bytes_of, from_bytes)  # type: ignore[no-any-return]

    return urandom


def _process(original: Any) -> Callable[..., Any]:
    def getpid(_: Any) -> int:
        frame = own(_getframe(1))
        return original() if frame is None else reads.read("process", "os.getpid", frame, original)  # type: ignore[no-any-return]

    return getpid


def _replace_uuid(module: ModuleType) -> None:
    for name in ("uuid1", "uuid4", "uuid6", "uuid7", "uuid8"):
        original = getattr(module, name, None)
        if original is not None:
            slots.replace(module, name, _identifier(module, name, original))


def _identifier(module: ModuleType, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    make = module.UUID

    def identifier(*args: Any, **kwargs: Any) -> Any:
        caller = _getframe(1)
        frame = own(caller)
        if frame is not None:
            return reads.read("uuid", name, frame, lambda: original(*args, **kwargs), str, make)
        if name == "uuid4" and reads.active():
            maker = callers.library(caller)
            if maker is not None and _is_framework(maker):
                return make(int=chance.numbered(f"uuid4 {maker.f_code.co_qualname}"), version=4)
        return original(*args, **kwargs)

    made = slots.like(identifier, original)
    made.__wrapped__ = original  # type: ignore[attr-defined]
    return made


def _is_framework(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    known = _frameworks.get(file)
    if known is None:
        top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        known = _frameworks[file] = top in _framework_names
    return known
