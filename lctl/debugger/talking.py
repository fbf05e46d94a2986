"""The conversations of a long log, for who would rather see some of them now than all of them later.

The tree of all messages takes seconds to read, what the calls cost takes longer. Both are read in a thread;
until the tree is there, a moment's conversations are those of the events just before it.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from lctl.analysis.callcosts import CallCosts, call_costs
from lctl.conversation.tree import Tree
from lctl.debugger.opened import Opened

#: Events that a moment's conversations are read from while the whole tree is being read.
WINDOW = 5000


class Talk(NamedTuple):
    """Conversations up to a seq.

    Attributes:
        counted: what the calls cost has been read, or is worth waiting for.
        since: the tree is of the events from this seq on; None: of all.
    """

    tree: Tree
    counted: bool
    since: int | None = None

    @property
    def progress(self) -> float:
        """Below 1: a better answer comes."""
        return 0.1 if self.since is not None else 1.0 if self.counted else 0.5


def costs_of(run: Opened) -> CallCosts:
    return run.kept("call costs", lambda: call_costs(run.log))


def talk(run: Opened, seq: int, *, early: bool, leaf: str | None = None) -> Talk:
    """`early`: of a long log that is finished, what there is. `leaf`: a message that must be in the tree."""
    if not early or not run.is_long or run.live:
        return Talk(run.chain.tree.at(seq), True)
    reading = run.kept("talk", lambda: _Reading(run))
    if reading.done.is_set() and not reading.read.is_set():
        return Talk(run.chain.tree.at(seq), True)  # it failed: whoever asks is told why
    if not reading.read.is_set():
        first = max(run.log.first_seq, seq - WINDOW + 1)
        tree = run.kept(("window", seq), lambda: Tree.of(run.log.events(first, seq + 1)), passing=True)
        reading.start()  # only now: it takes turns with this
        if leaf is None or leaf in tree:
            return Talk(tree, False, first)
        reading.done.wait()
        return talk(run, seq, early=early)
    return Talk(run.chain.tree.at(seq), reading.done.is_set())


class _Reading:
    """Reads the tree, then the costs. `read`: the tree is there; `done`: nothing more comes."""

    def __init__(self, run: Opened) -> None:
        self.read = threading.Event()
        self.done = threading.Event()
        self._run = run
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Once; later calls do nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._go, name="lctl-talk", daemon=True)
            self._thread.start()

    def _go(self) -> None:
        try:
            len(self._run.chain.tree)
            self.read.set()
            costs_of(self._run)
        except Exception:
            pass  # tried again by who needs it, and told there
        finally:
            self.done.set()
