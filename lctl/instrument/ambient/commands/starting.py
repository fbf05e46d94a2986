"""Who starts a command, and what a recording has of it."""

from __future__ import annotations

from types import FrameType

from lctl.errors import RerunStopped
from lctl.instrument import settings
from lctl.instrument.ambient import callers, reads
from lctl.instrument.ambient.commands.command import Command
from lctl.session import actinglibraries, border
from lctl.session.concurrency import carrying, lanes, processes
from lctl.session.ownpackages import installed_as
from lctl.session.runs.silence import REPORTED, silenced

#: Of the standard library: they start a process for their caller.
_STARTERS = ("subprocess.py", "os.py", "<frozen os>", "contextlib.py")
#: Installed packages that do so.
_RUNNERS = frozenset({"anyio", "git", "invoke", "plumbum"})
_DEPTH = 32
PLACE = "a command that the program runs"


def own(frame: FrameType | None) -> FrameType | None:
    """The program's own code for which `frame` starts a process, or that of a library that works with models;
    None where another library does, a tool, or what carries messages that are recorded (a transport of the
    program's own, to the Claude Agent SDK)."""
    if not (settings.commands and reads.active()) or silenced() is REPORTED:
        return None
    for _ in range(_DEPTH):
        if frame is None or (frame := carrying.asked(frame)) is None:
            return None
        file = frame.f_code.co_filename
        is_starter = file.endswith(_STARTERS) and (file[:1] == "<" or callers.is_standard(file))
        if not (is_starter or callers.is_lctl(file) or installed_as(file) in _RUNNERS):
            break
        frame = frame.f_back
    found = callers.own(frame)
    if found is None or installed_as(found.f_code.co_filename) is not None:
        if frame is None or not actinglibraries.is_one(frame.f_code.co_filename):
            return None
        found = frame
    lane = processes.starter()
    return None if lane.tool is not None or lane.is_apart else found


def begun(line: str, frame: FrameType, shell: str = "") -> tuple[Command, bool] | None:
    """The command that is to start, and whether a recording has what came of it."""
    token = lanes.enter(processes.starter())
    try:
        command = Command(line, frame)
        player = border.player()
        if player is not None:
            command.serve(player.command(command.key, shell + line, command.lane))
        return command, command.served is not None
    except RerunStopped:
        raise
    except Exception as error:
        reads.failed(PLACE, error)
        return None
    finally:
        lanes.leave(token)
