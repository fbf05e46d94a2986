"""`lctl doctor`: what is here, what would be recorded, and what was not."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from lctl._version import __version__
from lctl.analysis.wording import plain
from lctl.cli.options import screened
from lctl.cli.screen import Column, Piece, Screen
from lctl.cli.text import plural, size
from lctl.errors import LctlError


class _TargetOrProgram(click.Command):
    """With --repeat, what follows our options is a program and its own arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not any(word == "--repeat" or word.startswith("--repeat=") for word in _until_dashes(args)):
            return super().parse_args(ctx, args)
        from lctl.cli.running import split, with_value

        ours, words, is_command = split(args, with_value(self, ctx))
        rest = super().parse_args(ctx, ours)
        ctx.meta["lctl.words"], ctx.meta["lctl.command"] = words, is_command
        return rest


def _until_dashes(args: list[str]) -> list[str]:
    return args[: args.index("--")] if "--" in args else args


@click.command(cls=_TargetOrProgram)
@click.argument("target", required=False)
@click.option("--no-import", is_flag=True, help="Do not import the libraries to try their patches.")
@click.option(
    "--repeat",
    type=click.IntRange(min=2),
    metavar="N",
    help="Run a program N times, live, and say what differs from run to run.",
)
@click.option("-m", "module", metavar="MODULE", help="With --repeat: a module, as 'python -m MODULE' does.")
@screened()
@click.pass_context
def doctor(
    ctx: click.Context,
    screen: Screen,
    target: str | None,
    no_import: bool,
    repeat: int | None,
    module: str | None,
) -> None:
    """Say what is installed, what is patched, and what a run failed to record.

    The libraries found are imported and patched here to see whether that works, then restored. With
    TARGET (default: the last run), what its recording missed and why.

    \b
      lctl doctor --repeat 2 agent.py ARGS    what in this program is not reproducible

    runs the program N times, and once more with another hash seed: real calls, which cost what they
    cost. Then it names every answer from outside that differed, by line of the program where it is
    known. Exits with 1 if something did.
    """
    if repeat is not None:
        from lctl.cli.repeating import examine
        from lctl.run.program import program

        words = ctx.meta.get("lctl.words", [])
        argv = program(words, module=module, command=bool(ctx.meta.get("lctl.command")))
        ctx.exit(examine(screen, argv, repeat))
    if module is not None:
        raise click.UsageError("-m goes with --repeat", ctx)
    from lctl.cli import diagnosis
    from lctl.instrument.settings import is_disabled

    report: dict[str, Any] = {
        "lctl": _installation(),
        "libraries": diagnosis.libraries(try_patches=not no_import),
        "unrecorded": diagnosis.unrecorded(),
        "environment": _environment(),
        "disabled": is_disabled(),
        "folder": _folder(),
        "run": _run(target),
    }
    if screen.json:
        screen.json_value(report)
    else:
        _print(screen, report)


def _installation() -> dict[str, Any]:
    import lctl

    return {
        "version": __version__,
        "path": str(Path(str(lctl.__file__)).parent),
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
    }


def _environment() -> dict[str, str]:
    """What steers lctl here; a report is shown to others, so secrets are taken out."""
    from lctl.session import Redactor

    ours = {name: value for name, value in sorted(os.environ.items()) if name.startswith("LCTL_")}
    return {name: str(Redactor().value(value, name)) for name, value in ours.items()}


def _folder() -> dict[str, Any]:
    from lctl.cli.runs import files

    folder = Path(os.environ.get("LCTL_DIR") or ".lctl")
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    return {
        "path": str(folder.absolute()),
        "writable": os.access(there, os.W_OK),
        "free": shutil.disk_usage(there).free,
        "runs": len(files()),
    }


def _run(target: str | None) -> dict[str, Any] | None:
    from lctl.cli import diagnosis
    from lctl.cli.target import opened

    try:
        return diagnosis.recording(opened(target or "last"))
    except LctlError:
        if target is not None:
            raise
        return None  # no run yet


def _print(screen: Screen, report: dict[str, Any]) -> None:
    here, folder = report["lctl"], report["folder"]
    screen.line(("lctl ", "bold"), f"{here['version']}  ", (plain(here["path"]), "dim"))
    screen.line(f"Python {here['python']}  ", (f"{plain(here['executable'])}, {here['platform']}", "dim"))
    writable: Piece = "" if folder["writable"] else ("  not writable: nothing can be recorded here", "red")
    screen.line(f"Runs in {plain(folder['path'])}: {folder['runs']:,}, {size(folder['free'])} free", writable)
    if report["disabled"]:
        screen.line(("Recording is turned off here, by LCTL_DISABLED", "red"))
    for name, value in report["environment"].items():
        screen.line("  ", (f"{plain(name)}={plain(value, 200)}", "dim"))
    _print_libraries(screen, report["libraries"])
    some = ", ".join(f"{one['name']} {one['version']} ({one['traffic']})" for one in report["unrecorded"])
    screen.line(
        "  ",
        (
            "never recorded: WebSockets (but those of websockets and aiohttp), gRPC, raw sockets"
            + (f"; installed here: {some}" if some else ""),
            "dim",
        ),
    )
    if report["run"] is not None:
        _print_run(screen, report["run"])


def _print_libraries(screen: Screen, libraries: list[dict[str, Any]]) -> None:
    here = [one for one in libraries if one["version"]]
    absent = dict.fromkeys(one["name"] for one in libraries if not one["version"])
    screen.line()
    screen.line(("Libraries", "bold"))
    rows: list[list[Piece]] = []
    for one in here:  # parts of one library that are instrumented apart are told once where all is the same
        row: list[Piece] = [_mark(one), one["name"], one["version"], _status(one)]
        if row not in rows:
            rows.append(row)
    if rows:
        columns = [Column(), Column(), Column(), Column(flexible=True)]
        screen.table(columns, rows, indent=2)
    if absent:
        screen.line("  ", (f"not installed: {', '.join(absent)}", "dim"))


def _mark(one: dict[str, Any]) -> Piece:
    if one["state"] == "failed":
        return ("✗", "red")
    return ("!", "yellow") if one["supported"] is False or one["missing"] else ("✓", "green")


def _status(one: dict[str, Any]) -> Piece:
    if one["state"] == "failed":
        return (plain(one["failure"] or "cannot be patched", 200), "red")
    untested = f"; tested with {one['range']}" if one["supported"] is False else ""
    if one["state"] == "patched":
        absent = f"; not found: {', '.join(one['missing'])}" if one["missing"] else ""
        return (
            f"recorded at {plural(len(one['points']), 'point')}{untested}{plain(absent, 200)}",
            "yellow" if untested or absent else "dim",
        )
    return (f"would be patched when imported{untested}", "yellow" if untested else "dim")


def _print_run(screen: Screen, run: dict[str, Any]) -> None:
    screen.line()
    screen.line(("Run ", "bold"), plain(run["id"]), (f"  {plural(run['events'], 'event')}", "dim"))
    if run["recovered"]:
        screen.line("  ", ("! ", "yellow"), plain(run["recovered"]))
    for problem in run["problems"][:5]:
        screen.line("  ", ("✗ ", "red"), plain(problem))
    for missed in run["missed"]:
        example = f": {plain(missed['example'], 160)}" if missed["example"] else ""
        screen.line(
            "  ", ("✗ ", "red"), f"not recorded, {missed['count']} times: {plain(missed['place'])}{example}"
        )
    for what, hosts in (
        ("not model calls", run["other_traffic"]),
        ("telemetry, never recorded", run["telemetry"]),
        ("tools that a rerun has to run again, for what they gave cannot be kept", run["run_again"]),
        (
            "tool calls around which it could not be seen what they changed, by error",
            run["surroundings_unseen"],
        ),
        (
            "tools that wrote more than is kept, or no text; a rerun does not write it",
            run["output_dropped"],
        ),
        (
            "messages of MCP servers that no call keeps: none followed, or it has too many",
            run["messages_dropped"],
        ),
    ):
        if hosts:
            some = ", ".join(f"{plain(host, 60)} ({n})" for host, n in list(hosts.items())[:8])
            screen.line("  ", (f"{what}: {some}", "dim"))
    if run["open_calls"]:
        seqs = ", ".join(str(seq) for seq in run["open_calls"][:8])
        screen.line("  ", ("! ", "yellow"), f"model calls without an answer: at seq {seqs}")
    if not (run["recovered"] or run["problems"] or run["missed"] or run["open_calls"]):
        screen.line("  ", ("✓ ", "green"), "nothing was missed")
