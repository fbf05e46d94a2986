"""`lctl.fork`: a recorded program run again, from the tape up to an event and live behind it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lctl.codec import Log, open_log
from lctl.errors import RerunError, UsageError
from lctl.rerun.exactness.certificate import Certificate, Difference
from lctl.rerun.forks.forking import Edits, edits_of, point
from lctl.rerun.forks.forkpoint import ForkPoint
from lctl.rerun.forks.reach import refuse_events
from lctl.rerun.settings import Settings, new_log
from lctl.rerun.tape.entries import Entry
from lctl.rerun.tape.tape import Tape
from lctl.rerun.tooling.toolpolicy import ToolPolicy
from lctl.run import again
from lctl.values import mapping, texts

if TYPE_CHECKING:
    from lctl.chain import Chain

#: What clients of these providers take their key from.
_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


class Prepared(NamedTuple):
    """A fork that can begin."""

    log: Log
    tape: Tape
    point: ForkPoint
    settings: Settings
    program: again.Program

    @property
    def notes(self) -> list[str]:
        """What the user should know before it begins."""
        return [*self.point.notes, *self.program.warnings]

    @property
    def live_calls(self) -> list[Entry]:
        """Recorded model calls that lie behind the fork point."""
        return self.point.live_calls

    def early(self, made: Certificate) -> Difference | None:
        """Where the fork is not the recording though it was to be: before the fork point."""
        found = made.first_difference
        if made.stopped is not None or found is None or found.seq > self.point.prefix:
            return None
        return found


class Forked:
    """A fork that was run.

    Attributes:
        certificate: how much of it came from the tape.
        code: the program's exit code.
        output: what it wrote to standard output, where that was kept.
        early: where it is not the recording though before the fork point.
    """

    def __init__(
        self, certificate: Certificate, code: int, output: bytes = b"", early: Difference | None = None
    ) -> None:
        self.certificate = certificate
        self.code = code
        self.output = output
        self.early = early

    @property
    def path(self) -> Path:
        """Of the fork's own log."""
        return Path(self.certificate.log)

    @cached_property
    def chain(self) -> Chain:
        """The fork, complete in itself."""
        from lctl.chain import Chain

        return Chain.load(self.path)

    @property
    def ok(self) -> bool:
        """It is the recording up to the fork point, ran to its end, and every edit changed something."""
        made = self.certificate
        is_whole = made.stopped is None and self.early is None and not made.unaddressed
        return self.code == 0 and is_whole and bool(made.log)

    def __repr__(self) -> str:
        return f"<Forked {self.certificate.log}: exit code {self.code}>"


def prepare(
    log: Log,
    at: int,
    edits: Edits = (),
    results: Edits = (),
    *,
    tools: Sequence[str] = (),
    all_live: bool = False,
    on_miss: Literal["stop", "live"] = "stop",
    files: Literal["recorded", "now"] = "recorded",
    writes: Literal["refused", "aside"] = "refused",
    allow: Sequence[str] = (),
    output: str | os.PathLike[str] | None = None,
    words: Sequence[str] = (),
    pdb: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Prepared:
    """Everything that can be checked before anything runs.

    Raises:
        UsageError: an edit cannot be read, or cannot be made there; no such event.
        RerunError: the log holds no tape, not how its program is started, or a key is missing.
    """
    if log.path in (None, "-"):
        raise UsageError("a fork needs the log as a file")
    changes = [*edits_of(edits), *edits_of(results, results=True)]
    refuse_events(changes)  # before a long log is read for nothing
    tape = Tape(log)
    tape.check()
    ToolPolicy.parse(tools)
    settings = Settings(
        log=str(Path(str(log.path)).resolve()),
        policy="until-divergence",
        on_miss=on_miss,
        files=files,
        writes=writes,
        at=at,
        all_live=all_live,
        edits=tuple(str(edit) for edit in changes),
        tools=tuple(tools),
        allow=tuple(allow),
        output=new_log(output),
    )
    found = point(tape, settings)
    assert found is not None
    if pdb:
        settings = replace(settings, to=found.prefix, pdb=True)
    started = again.program(log, settings, words, environ)
    _check_keys(log, found, started)
    return Prepared(log, tape, found, settings, started)


def _check_keys(log: Log, found: ForkPoint, started: again.Program) -> None:
    """A key the recording had, and the calls behind the fork point need, is not there now."""
    program = log.chain.get("program")
    had = set(texts(mapping(program).get("keys")))
    steps = {entry.step for entry in found.live_calls}
    providers = [log.event(step).data.get("provider") for step in steps if step is not None]
    missing = sorted(
        key
        for name, key in _KEYS.items()
        if name in providers and key in had and not started.environment.get(key)
    )
    if missing:
        raise RerunError(
            f"not set: {', '.join(missing)}; the recording had it, and what comes after event {found.at} is "
            "asked for real"
        )


def fork(
    chain: Chain | Log | str | os.PathLike[str],
    at: int,
    *,
    set: Edits = (),
    result: Edits = (),
    tools: str | Mapping[str, str] = (),  # type: ignore[assignment]
    all_live: bool = False,
    on_miss: Literal["stop", "live"] = "stop",
    files: Literal["recorded", "now"] = "recorded",
    writes: Literal["refused", "aside"] = "refused",
    output: str | os.PathLike[str] | None = None,
    command: Sequence[str] = (),
) -> Forked:
    """Run the recorded program again: events up to `at` from the tape, live behind it, with changes.

    Args:
        chain: the recording, or its path.
        at: the last event that comes from the tape; 0 for none.
        set: edits of what the program sends: {"model": "gpt-4.1-mini"}, or texts of the patch language.
        result: edits of what comes back: {"tool:read_file": {"text": ""}}.
        tools: how tools run behind `at`: "live", "recorded", "dry-run", "ask", or {name: one of them}.
        all_live: nothing behind `at` comes from the tape, in no strand of the program.
        on_miss: "live" sends what the tape does not hold before `at`, too.
        files: up to `at` the program's own code reads files as they were "recorded", or as they are "now".
        writes: up to `at` what the guard would refuse is "refused", or goes "aside": into a folder of the
            fork's own, which goes with it.
        output: path of the fork's log.
        command: a command line in place of the recorded one.

    Raises:
        UsageError, RerunError: as `prepare`; an edit changed nothing.
        LogError: the log cannot be read.
    """
    given: Any = getattr(chain, "log", chain)
    log = given if isinstance(given, Log) else open_log(given)
    if isinstance(tools, str):
        policy = [tools]
    else:
        policy = [f"{name}={choice}" for name, choice in dict(tools).items()]
    prepared = prepare(
        log,
        at,
        set,
        result,
        tools=policy,
        all_live=all_live,
        on_miss=on_miss,
        files=files,
        writes=writes,
        output=output,
        words=command,
    )
    certificates, code = again.run(prepared.program, prepared.settings)
    if not certificates:
        raise RerunError("the program was killed, or is no Python that has lctl installed")
    made = certificates[0]
    if made.unaddressed:
        raise UsageError("an edit changed nothing: " + "; ".join(made.unaddressed))
    return Forked(made, code, early=prepared.early(made))
