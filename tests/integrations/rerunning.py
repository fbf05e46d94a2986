"""A program run live, then on its tape; what it saw and what was recorded must be the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lctl.instrument import ensure_installed, settings, uninstrument
from lctl.session import LCTLSession, border
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from tests.integrations import tapeplayer
from tests.integrations.tapeplayer import TapePlayer, stripped

#: Called with the server's URL.
Program = Callable[[str], Any]


@contextmanager
def recording(path: Path, *, full: bool = False) -> Iterator[LCTLSession]:
    """A session whose main flow is a lane of its own, numbered from the start."""
    ensure_installed()
    settings.full = full
    token = lanes.enter(Lane("0"))
    try:
        with LCTLSession("test", path) as session:
            yield session
    finally:
        lanes.leave(token)
        uninstrument()


@contextmanager
def playing(tape: Path, path: Path, *, full: bool = False, watched: bool = True) -> Iterator[TapePlayer]:
    """The same with a player in force and every connection refused."""
    player = TapePlayer(tape)
    serving: Any = player  # of exchanges alone
    border.set_player(serving)
    tapeplayer.attempts.clear()
    tapeplayer.watching = watched
    try:
        with recording(path, full=full):
            yield player
    finally:
        tapeplayer.watching = False
        border.set_player(None)
    assert tapeplayer.attempts == []


def events(path: Path) -> list[Any]:
    return [stripped(event) for event in json.loads(path.read_text())["events"]]


class Rerun:
    """Runs a program live, then on its tape, and compares what it saw and what was recorded."""

    def __init__(self, tmp_path: Path) -> None:
        self.tape = tmp_path / "tape.lctl.json"
        self.log = tmp_path / "rerun.lctl.json"

    def __call__(self, program: Program, url: str, *, full: bool = False) -> Any:
        with recording(self.tape, full=full):
            first = outcome(program, url)
        with playing(self.tape, self.log, full=full) as player:
            second = outcome(program, url)
        assert second == first
        assert events(self.log) == events(self.tape)
        assert player.unused == 0
        return first


def outcome(program: Program, url: str) -> Any:
    """What the program returned, or what it raised, causes included."""
    try:
        return program(url)
    except Exception as error:
        said = []
        at: BaseException | None = error
        while at is not None:
            said.append((type(at).__module__, type(at).__qualname__, str(at).replace(hex(id(at)), "")))
            at = at.__cause__
        return said[0], said[1:]
