"""A fork made ready: checked as `lctl fork` checks it, as a command, with what it would ask for real."""

from __future__ import annotations

import secrets
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lctl.analysis.run import SUFFIX
from lctl.debugger.opened import Opened
from lctl.debugger.serving import Server
from lctl.debugger.shapes.findings import ForkAsked, ForkPrepared, LiveCall
from lctl.errors import LctlError
from lctl.patch import Edit

if TYPE_CHECKING:
    from lctl.run.forking import Prepared

_CALLS = 200


def fork_prepare(server: Server, asked: ForkAsked) -> ForkPrepared:
    """The command that forks, and whether it could begin."""
    # Half of lctl is needed to run a program again, and none of it to look at a log.
    from lctl.rerun.forks.forking import edits_of
    from lctl.run.eventedit import edits_between
    from lctl.run.forking import prepare

    run = server.runs.open(asked.run)
    at = asked.at
    edits: list[Edit] = []
    made: Prepared | None = None
    problem = ""
    try:
        edits = [*edits_of(asked.set), *edits_of(asked.result, results=True)]
        if asked.data is not None:
            changed = edits_between(run.log, run.event(at), asked.data)
            edits += changed
            at -= any(edit.side == "input" for edit in changed)
        tools = ([asked.tools] if asked.tools else []) + asked.policy
        made = prepare(run.log, at, edits, tools=tools, all_live=asked.all_live)
    except LctlError as error:
        problem = str(error)
    output = _output(run, at) if server.allow_run and made is not None else None
    argv = _argv(run, at, asked, edits, output)
    program = made.program if made is not None else None
    return ForkPrepared(
        command=shlex.join(argv),
        argv=argv,
        notes=made.notes if made is not None else [],
        live_calls=_live_calls(run, made) if made is not None else [],
        program=program.argv if program is not None else [],
        cwd=str(program.cwd) if program is not None and program.cwd is not None else None,
        edits=[str(edit) for edit in edits],
        at=at,
        possible=made is not None,
        problem=problem,
        confirm=server.confirmations.add(argv, output, run.key) if output is not None else None,
    )


def _argv(run: Opened, at: int, asked: ForkAsked, edits: list[Edit], output: Path | None) -> list[str]:
    words = ["lctl", "fork", run.place, "--at", str(at)]
    for edit in edits:
        words += ["--result" if edit.side == "result" else "--set", str(edit)]
    if asked.tools:
        words += ["--tools", asked.tools]
    for one in asked.policy:
        words += ["--tool-policy", one]
    if asked.all_live:
        words.append("--all-live")
    return words if output is None else [*words, "--output", str(output)]


def _output(run: Opened, at: int) -> Path:
    """Beside the recording, under the name that logs of forks have."""
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return run.path.with_name(f"{now}-fork-{at}-{secrets.token_hex(2)}{SUFFIX}")


def _live_calls(run: Opened, made: Prepared) -> list[LiveCall]:
    found = []
    for entry in made.live_calls[:_CALLS]:
        start = run.event(entry.step) if entry.step is not None else None
        name = str(start.data.get("model") or "") if start is not None else ""
        found.append(
            LiveCall(seq=entry.step or entry.seq, name=name, agent=start.agent if start is not None else "")
        )
    return found
