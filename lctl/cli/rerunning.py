"""`lctl rerun`: execute a recorded program again on its tape."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lctl.cli.options import disk_options, log_option, screened
from lctl.values import mapping

if TYPE_CHECKING:
    from lctl.cli.screen import Screen
    from lctl.codec import Log
    from lctl.rerun.exactness.certificate import Certificate


_NOT_FULL = (
    "lctl: what its code read of clocks, chance and environment is not in this recording; "
    "'lctl run' records it, too\n"
)


class _TargetCommand(click.Command):
    """What follows `--` is a command line in place of the recorded one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words: list[str] = []
        if "--" in args:
            at = args.index("--")
            args, words = args[:at], args[at + 1 :]
        rest = super().parse_args(ctx, args)
        ctx.params["words"] = tuple(words)
        return rest


@click.command(cls=_TargetCommand)
@click.argument("target", default="last")
@click.option("--to", type=int, metavar="N", help="Stop after event N, in the state of that moment.")
@click.option("--pdb", is_flag=True, help="With --to: a debugger there; 'continue' goes on.")
@click.option(
    "--policy",
    type=click.Choice(["strict", "pin", "until-divergence"]),
    default="strict",
    show_default=True,
    help="What a request that is not the recorded one gets: a stop, the recorded answer, a real call.",
)
@click.option(
    "--on-miss",
    type=click.Choice(["stop", "live"]),
    default="stop",
    show_default=True,
    help="What a call gets that the tape does not hold.",
)
@disk_options
@click.option("--realtime", is_flag=True, help="Wait as long as the recording did.")
@click.option("--allow", multiple=True, metavar="WHAT", help="Let through what the guard would refuse.")
@log_option("Write the new log here.")
@click.option(
    "--verify", is_flag=True, help="Compare the newest rerun's log with its recording; run nothing."
)
@screened("Print the certificate as one JSON document.")
def rerun(
    screen: Screen,
    target: str,
    to: int | None,
    pdb: bool,
    policy: str,
    on_miss: str,
    files: str,
    writes: str,
    realtime: bool,
    allow: tuple[str, ...],
    output: str | None,
    verify: bool,
    words: tuple[str, ...] = (),
) -> int:
    """Run a recorded program again on its tape: offline, exact.

    No network, no key. Every model call, tool call and recorded reading is answered from the log. At the
    end a certificate says how exact that was; the exit code is 0 only if all was exact and the new log and
    output equal the recorded ones.

    \b
      lctl rerun last                     the newest recording or fork
      lctl rerun last --to 41 --pdb       a debugger in the live program at event 41
      lctl rerun last -- python other.py  another program on the same tape
    """
    from lctl.cli.target import resolve
    from lctl.codec import open_log
    from lctl.errors import UsageError
    from lctl.rerun.exactness.reporting import lines
    from lctl.rerun.settings import Settings, new_log
    from lctl.rerun.tape.tape import Tape
    from lctl.run.again import program, run

    path = resolve(target, reruns=False)
    log = open_log(path)
    if pdb and to is None:
        raise UsageError("--pdb goes with --to N: the event at which the debugger stops")
    if to is not None and not log.first_seq <= to <= log.last_seq:
        raise UsageError(f"--to {to}: {log.name} has events {log.first_seq} to {log.last_seq}")
    Tape(log).check()
    if verify:
        return _verify(path)
    settings = Settings(
        log=str(path.resolve()),
        policy=policy,  # type: ignore[arg-type]  # checked by click
        on_miss=on_miss,  # type: ignore[arg-type]
        to=to,
        pdb=pdb,
        files=files,  # type: ignore[arg-type]
        writes=writes,  # type: ignore[arg-type]
        realtime=realtime,
        allow=allow,
        output=new_log(output),
    )
    started = program(log, settings, words)
    for warning in started.warnings:
        sys.stderr.write(f"lctl: {warning}\n")
    certificates, code = run(started, settings, aside=screen.json)
    if not certificates:
        sys.stderr.write(
            "lctl: no certificate: the program was killed, or is no Python that has lctl installed\n"
        )
        return code or 1
    certificate = certificates[0]
    if screen.json:
        others = [one.to_dict() for one in certificates[1:]]
        screen.json_value({**certificate.to_dict(), **({"others": others} if others else {})})
    elif certificate.until is not None:
        _stand(screen, log, certificate)
    if not screen.json:
        sys.stderr.writelines(f"{line}\n" for one in certificates for line in lines(one))
    if not all(one.ok for one in certificates):
        if not Tape(log).full:
            sys.stderr.write(_NOT_FULL)
        return 1
    return 0 if certificate.until is not None else code


def _verify(path: Path) -> int:
    """Event by event: the log of a rerun and its recording, or a recording and its newest rerun."""
    from lctl.codec import open_log
    from lctl.errors import LogNotFound
    from lctl.rerun.exactness.comparing import differences
    from lctl.rerun.exactness.labels import Labels

    log = open_log(path)
    of = mapping(log.chain.get("rerun")).get("of")
    recorded, again = (_log_of(str(of), path), log) if of else (log, _newest_rerun(log.id))
    if recorded is None:
        raise LogNotFound(f"{log.name}: its recording {of} is not among the runs here")
    if again is None:
        raise LogNotFound(f"{log.name}: no rerun of it is here; run one with: lctl rerun {path}")
    labels = Labels()
    found = list(differences(recorded, again, labels))
    for one in found[:10]:
        click.echo(str(one))
    if len(found) > 10:
        click.echo(f"and {len(found) - 10} more")
    if not found:
        but = " but for line numbers" if labels.moved else ""
        click.echo(f"{len(again)} events of {again.name} equal those of {recorded.name}{but}")
    return 1 if found else 0


def _log_of(id: str, beside: Path) -> Log | None:
    from lctl.cli.runs import files, read_run
    from lctl.codec import open_log

    for _, path in [*files(str(beside.parent)), *files()]:
        if read_run(path).id == id:
            return open_log(path)
    return None


def _newest_rerun(id: str) -> Log | None:
    from lctl.cli.runs import runs
    from lctl.codec import open_log

    for run in runs():
        if mapping(run.chain.get("rerun")).get("of") == id:
            return open_log(run.path)
    return None


def _stand(screen: Screen, log: Log, certificate: Certificate) -> None:
    """The state at the event it stopped at, and where the program was."""
    from lctl.cli.replaying import state_at

    state_at(screen, log, certificate.until or 0)
    screen.lines(f"  at {line}" for line in certificate.standing)
