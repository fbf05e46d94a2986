"""What a long log must be read through for, by a process of its own: columns, states, the flow of agents.

A thread beside the server would take the interpreter from the requests, and leave its working memory behind.
The process tells what it has as it comes, in pieces the server only has to keep, and ends. Pieces are
pickled: they come from our own program over a pipe nobody else has.
"""

from __future__ import annotations

import contextlib
import heapq
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from lctl.analysis.agentflow import AgentFlow
from lctl.codec import open_log
from lctl.debugger.columns import Columns
from lctl.state.model import State
from lctl.state.timeline import Timeline

What = Literal["columns", "read", "progress", "states", "flow", "longest"]
#: Events in a block of the states of a long log.
EVERY = 128
#: Steps that a flame graph may be asked for at once.
LONGEST = 10_000
_PIECE = 100_000  # events after which the columns are told
_STEP = 16_384
_SHELVES = "states.sqlite"


class Building:
    """The process for one log, and what has come from it.

    Attributes:
        progress: of the states, 0 to 1.
        ended: nothing more will come.
        failed: it ended before it was done; what is missing must be read here.
    """

    def __init__(self, path: Path, take: Callable[[What, Any], None]) -> None:
        """`take` is called in a thread, with each piece in turn."""
        self._path = path
        self._take = take
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self.folder = tempfile.mkdtemp(prefix="lctl-debug-")
        self._tidy = weakref.finalize(self, shutil.rmtree, self.folder, True)
        self.progress = 0.0
        self.columns = threading.Event()
        self.states = threading.Event()
        self.failed = False
        self.ended = False

    @property
    def shelves(self) -> str:
        """Where the states are kept that are not at hand."""
        return str(Path(self.folder) / _SHELVES)

    def start(self) -> None:
        """Once; later calls do nothing."""
        with self._lock:
            if self._process is not None or self.failed:
                return
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "lctl.debugger.building", str(self._path), self.folder],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            except OSError:
                self._end()
                return
        threading.Thread(
            target=self._listen, args=(self._process,), name="lctl-building", daemon=True
        ).start()

    def stop(self) -> None:
        """Its input ends, and with that the process."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                what, piece = pickle.load(process.stdout)
                if what == "progress":
                    self.progress = piece
                    continue
                self._take(what, piece)
                if what == "read":
                    self.columns.set()
                elif what == "states":
                    self.states.set()
        self._end()
        self.stop()
        process.stdout.close()
        process.wait()

    def _end(self) -> None:
        self.failed = not self.states.is_set()
        self.progress = 1.0
        self.ended = True
        self.columns.set()
        self.states.set()

    def tidy(self) -> None:
        """The files are open: their names may go. Where the system refuses, they go with this process."""
        if os.name != "nt":
            self._tidy()


def main(path: str, folder: str) -> None:
    """The process: one pass for the columns, one for the states, one for the flow."""
    beside()
    answers = sys.stdout.buffer
    log = open_log(path)

    def tell(what: What, piece: Any) -> None:
        pickle.dump((what, piece), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()

    columns, told = Columns(log), Columns(log)
    for _ in columns.read():
        if len(columns) - len(told) >= _PIECE:
            _tell_columns(columns, told, tell)
    _tell_columns(columns, told, tell)
    tell("read", None)
    del columns, told
    timeline = Timeline(log, every=EVERY, shelved=str(Path(folder) / _SHELVES))
    first, last = log.first_seq, log.last_seq
    for seq in range(first + _STEP, last + _STEP, _STEP):
        timeline.read_to(min(seq, last))
        tell("progress", min(1.0, (seq - first) / max(1, last - first)))
    packed = timeline.packed()
    if packed is None:
        return  # lines that are not in order: the server reads them itself
    tell("states", packed)
    tell("flow", AgentFlow.of(log).packed())
    tell("longest", longest_steps(timeline.at(last), LONGEST))


def longest_steps(end: State, most: int) -> list[int]:
    """Steps that took longest in a whole run, longest first; those still open come before all."""
    return [
        step.seq
        for step in heapq.nlargest(
            most,
            end.steps.values(),
            key=lambda step: float("inf") if step.end_seq is None else step.duration_ms or 0.0,
        )
    ]


def _tell_columns(columns: Columns, told: Columns, tell: Callable[[What, Any], None]) -> None:
    piece = columns.since(told)
    tell("columns", piece)
    told.take(piece)


def beside() -> None:
    """Be a process beside a server: what is asked of that comes first, and we end when our input does."""
    threading.Thread(target=_watch, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)


def _watch() -> None:
    """Whoever asked has gone, or wants no more."""
    with contextlib.suppress(OSError, ValueError):
        while os.read(0, 1 << 10):
            pass
    os._exit(0)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main(*sys.argv[1:])
