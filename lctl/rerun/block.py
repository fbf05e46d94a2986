"""`with lctl.rerun(path):` serves what runs in the block from the tape of that log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextvars import Token
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from lctl.rerun.exactness.certificate import Certificate
from lctl.rerun.running import Rerun
from lctl.rerun.serving.matching import Policy
from lctl.rerun.settings import Settings, new_log
from lctl.rerun.tape.drawnplaces import DrawnPlaces
from lctl.rerun.tape.tape import Tape
from lctl.session import default
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.runs import context


def rerun(
    path: str | os.PathLike[str],
    *,
    to: int | None = None,
    policy: Policy = "strict",
    on_miss: Literal["stop", "live"] = "stop",
    files: Literal["recorded", "now"] = "recorded",
    writes: Literal["refused", "aside"] = "refused",
    realtime: bool = False,
    allow: Sequence[str] = (),
    output: str | os.PathLike[str] | None = None,
) -> Block:
    """A block whose model calls, tools and recorded readings are answered from the log at `path`.

    The block writes a log of its own; sessions opened inside go there, whatever path they name. Nothing
    leaves the process: what the tape does not hold raises RerunStopped out of the block.

    Args:
        to: stop after this event: the block is left there.
        policy: "strict" (what is not exact stops), "pin" (the answer recorded at that place is served) or
            "until-divergence" (the first that is not exact goes live, with its lane).
        on_miss: "live" sends what the tape does not hold.
        files: the program's own code reads files as they were "recorded", or as they are "now". As other
            readings they are recorded and answered where `auto_instrument(record="full")` was called.
        writes: what the guard would refuse to be written is "refused", or goes "aside": into a folder of the
            rerun's own, which goes with it.
        realtime: wait as long as the recording did.
        allow: what the guard lets through.
        output: path of the new log.

    Raises:
        LogError: the log cannot be read.
        RerunError: it holds nothing that could be served.
    """
    where = os.fspath(path)
    settings = Settings(
        log=str(Path(where).absolute()),
        policy=policy,
        on_miss=on_miss,
        to=to,
        files=files,
        writes=writes,
        realtime=realtime,
        allow=tuple(allow),
        output=new_log(output),
    )
    return Block(Tape.load(where), settings)


class Block:
    """One rerun in this process.

    Attributes:
        path: of the new log, once something was recorded.
    """

    def __init__(self, tape: Tape, settings: Settings) -> None:
        self._running = Rerun(tape, settings, alone=True)
        self._undo: list[Any] = []
        self._frame: Token[Any] | None = None
        self._lane: Token[Lane] | None = None

    @property
    def certificate(self) -> Certificate:
        """How exact the rerun was; complete after the block."""
        return self._running.certificate()

    @property
    def path(self) -> Path | None:
        log = self.certificate.log
        return Path(log) if log else None

    @property
    def why_stopped(self) -> str | None:
        """Why it ended before what runs in it did; None while it goes on."""
        halt = self._running.halt
        return None if halt.why is None or halt.reached else str(halt.why)

    def know_places(self, places: DrawnPlaces) -> None:
        """Temporary folders and files that stand for recorded ones."""
        self._running.know_places(places)

    def abandon(self) -> None:
        """In a forked process: the block is its parent's."""
        self._running.abandon()

    def __enter__(self) -> Block:
        from lctl.instrument import ensure_installed, settings

        self._running.begin()
        self._frame = context.enter(None)
        self._lane = lanes.enter(Lane("0"))
        self._undo = [default.aside(), settings.full, settings.files, settings.commands]
        tape = self._running.tape
        settings.full, settings.files, settings.commands = tape.full, tape.tells_files, tape.tells_commands
        ensure_installed(always=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        from lctl.instrument import settings

        back, settings.full, settings.files, settings.commands = self._undo
        back()
        if self._lane is not None:
            lanes.leave(self._lane)
        if self._frame is not None:
            context.leave(self._frame)
        self._running.end()
        self._running.order.let_go()
        halt = self._running.halt
        return error is not None and error is halt.why and halt.reached  # it was to stop there

    async def __aenter__(self) -> Block:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return self.__exit__(kind, error, trace)
