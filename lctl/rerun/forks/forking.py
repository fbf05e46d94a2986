"""A fork's parts put together: where, what is changed, who serves, and what its log says of that."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lctl.clock import time_ns
from lctl.patch import Edit, parse_edit
from lctl.patch.writing import print_setting
from lctl.rerun.edits.repeating import inherited_edits
from lctl.rerun.edits.rules import Rules
from lctl.rerun.forks.forkplayer import ForkPlayer
from lctl.rerun.forks.forkpoint import ForkPoint
from lctl.rerun.settings import Settings, new_log
from lctl.rerun.tape.tape import Tape
from lctl.session.redaction.redact import Redactor

if TYPE_CHECKING:
    from lctl.rerun.block import Block
    from lctl.rerun.guarding.halting import Halt
    from lctl.rerun.order.waiting import Order

Edits = Mapping[str, Any] | Iterable[str | Edit]


def point(tape: Tape, settings: Settings) -> ForkPoint | None:
    """Where `settings` fork the tape; None in a rerun."""
    if settings.at is None:
        return None
    edits = [parse_edit(text) for text in settings.edits]
    return ForkPoint(tape, settings.at, edits, all_live=settings.all_live)


def living(fork: ForkPoint, tape: Tape, wall: float) -> float:
    """Seconds of the clock on the wall at the recording's origin, were the fork's point now: libraries sign
    what is live with the time of the world, and what they measure goes on. `wall`: what it was there."""
    now = time_ns() / 1e9
    if fork.prefix < 1:
        return now
    then = datetime.fromisoformat(tape.log.event(fork.prefix).timestamp).timestamp()
    return now - max(0.0, then - wall)


def _lasting(tape: Tape) -> list[Edit]:
    """Inherited edits that go on holding behind a new fork point."""
    return [edit for edit in map(parse_edit, inherited_edits(tape)) if edit.scope.at is None]


def player(tape: Tape, settings: Settings, order: Order, halt: Halt, fork: ForkPoint) -> ForkPlayer:
    tape.run_bodies_of(fork.bodies)
    rules = Rules(map(parse_edit, settings.edits), tape, fork, before=_lasting(tape))
    return ForkPlayer(tape, replace(settings, policy="until-divergence"), order, halt, rules, fork)


def lineage(fork: ForkPoint, settings: Settings, process: Any = None) -> dict[str, Any]:
    """What the header of a fork's log says: where it comes from and what was changed.

    `parent.seq` is the last event that both logs share to the byte; `fork.at` the one it was asked for.

    Args:
        process: of a child process, the link to the chain that started it, which is a fork itself.
    """
    said: dict[str, Any] = {"at": fork.asked, "edits": Redactor().value(list(settings.edits))}
    if process is not None:
        said["process"] = process
    if fork.inherited:
        said["inherited"] = Redactor().value(fork.inherited)
    if settings.tools:
        said["tools"] = list(settings.tools)
    if settings.all_live:
        said["all_live"] = True
    return {"parent": {"id": fork.chain_id, "seq": fork.prefix}, "fork": said}


def edits_of(given: Edits, *, results: bool = False) -> list[Edit]:
    """Edits from texts, or from a mapping of targets to values."""
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        given = [print_setting(str(target), value) for target, value in given.items()]
    return [one if isinstance(one, Edit) else parse_edit(one, results=results) for one in given]


def fork_block(
    path: str | os.PathLike[str],
    at: int,
    *,
    set: Edits = (),
    result: Edits = (),
    tools: Sequence[str] = (),
    all_live: bool = False,
    output: str | os.PathLike[str] | None = None,
) -> Block:
    """A block that is served from the log up to event `at` and live behind it, as `lctl.rerun` makes one.

    Raises:
        LogError: the log cannot be read.
        RerunError: it holds nothing that could be served.
        UsageError: an edit cannot be read, or cannot be made there.
    """
    from lctl.rerun.block import Block

    tape = Tape.load(path if isinstance(path, str) else Path(path))
    edits = [*edits_of(set), *edits_of(result, results=True)]
    settings = Settings(
        log=str(Path(path).absolute()),
        at=at,
        edits=tuple(str(edit) for edit in edits),
        tools=tuple(tools),
        all_live=all_live,
        output=new_log(output),
    )
    return Block(tape, settings)
