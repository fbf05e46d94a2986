"""Processes that a test with a cassette starts: they ask no model.

A cassette holds what the test's own process asks. What another one asked would go out in every replay, and
nobody would see it; so it is refused, in the recording too, and the test is told.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import orjson

from lctl.errors import RerunStopped
from lctl.rerun.guarding.auditing import Guard
from lctl.session import border, default
from lctl.session.border import Answer, Live, Player, WireRequest
from lctl.session.concurrency import processes

if TYPE_CHECKING:
    from lctl.session.concurrency.lane import Lane
    from lctl.session.tooling.served import Served
    from lctl.session.tooling.toolcalls import ToolCall

VARIABLE = "LCTL_CASSETTE"
_BOOTSTRAP = Path(__file__).parents[2] / "run" / "bootstrap"


@dataclass(frozen=True)
class Outsiders:
    """Told to every process that is started while this is entered, and followed by those that are forked.

    Attributes:
        cassette: whose test it is.
        note: file that is to hold what was refused.
        allow: what the guard of a replay lets through; None where there is none, when recording.
    """

    cassette: str
    note: str
    allow: tuple[str, ...] | None

    def enter(self, on_fork: Callable[[], object]) -> Callable[[], None]:
        """Begin; what ends it. `on_fork` is called in a forked process, which has left the test's."""
        before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH")}
        paths = [str(_BOOTSTRAP), *filter(None, (before["PYTHONPATH"] or "").split(os.pathsep))]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
        os.environ[VARIABLE] = orjson.dumps(asdict(self)).decode()

        def forked() -> None:
            on_fork()
            default.forget()
            self._refuse()

        def leave() -> None:
            processes.followers.remove(forked)
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

        processes.followers.append(forked)
        return leave

    def refused(self) -> str:
        """What was refused since the last time, as it is told to the test."""
        note = Path(self.note)
        try:
            text = note.read_text(encoding="utf-8")
            note.unlink()
        except FileNotFoundError:
            return ""
        return text.rstrip()

    def _refuse(self) -> None:
        border.set_player(_Refusing(self))
        if self.allow is not None:
            Guard(self.allow).begin()


class _Refusing(Player):
    def __init__(self, ours: Outsiders) -> None:
        self._ours = ours

    def exchange(self, request: WireRequest) -> Answer | Live:
        if request.kind != "model":
            return Live(match=None)
        text = (
            f"{self._ours.cassette}: process {os.getpid()}, which the test started, asks a model "
            f"({request.operation}): a cassette holds what the test's own process asks, and in a replay this "
            "would go out; ask in the test's process, or run that program under lctl run, outside the test"
        )
        with Path(self._ours.note).open("a", encoding="utf-8") as note:
            note.write(text + "\n")
        raise RerunStopped(text)

    def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
        return None

    def ambient(self, source: str, key: str, lane: Lane, number: int) -> tuple[object] | None:
        return None


def begin(told: str) -> None:
    """In a process that was started: `told` is what its environment has."""
    from lctl.instrument import ensure_installed

    known = orjson.loads(told)
    allow = known["allow"]
    ensure_installed(always=True)
    _say_only_why()
    Outsiders(known["cassette"], known["note"], None if allow is None else tuple(allow))._refuse()


def _say_only_why() -> None:
    """Where it was refused says nothing: why is what its standard error gets."""
    hook, thread_hook = sys.excepthook, threading.excepthook

    def say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, RerunStopped):
            sys.stderr.write(f"lctl: {error}\n")
        else:
            hook(kind, error, trace)

    def say_in_thread(args: threading.ExceptHookArgs) -> None:
        if not issubclass(args.exc_type, RerunStopped):
            thread_hook(args)

    sys.excepthook, threading.excepthook = say, say_in_thread
