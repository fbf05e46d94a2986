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


@click.command()
@click.argument("target", required=False)
@click.option("--no-import", is_flag=True, help="Do not import the libraries to try their patches.")
@screened()
def doctor(screen: Screen, target: str | None, no_import: bool) -> None:
    """Say what is installed, what is patched, and what a run failed to record.

    The libraries found are imported and patched here to see whether that works, then restored. With
    TARGET (default: the last run), what its recording missed and why.
    """
    from lctl.cli import diagnosis

    report: dict[str, Any] = {
        "lctl": _installation(),
        "libraries": diagnosis.libraries(try_patches=not no_import),
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith("LCTL_")},
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
    for name, value in report["environment"].items():
        screen.line("  ", (f"{plain(name)}={plain(value, 200)}", "dim"))
    _print_libraries(screen, report["libraries"])
    if report["run"] is not None:
        _print_run(screen, report["run"])


def _print_libraries(screen: Screen, libraries: list[dict[str, Any]]) -> None:
    here = [one for one in libraries if one["version"]]
    absent = [one["name"] for one in libraries if not one["version"]]
    screen.line()
    screen.line(("Libraries", "bold"))
    rows: list[list[Piece]] = [[_mark(one), one["name"], one["version"], _status(one)] for one in here]
    if rows:
        columns = [Column(), Column(), Column(), Column(flexible=True)]
        screen.table(columns, rows, indent=2)
    if absent:
        screen.line("  ", (f"not installed: {', '.join(absent)}", "dim"))


def _mark(one: dict[str, Any]) -> Piece:
    if one["state"] == "failed":
        return ("✗", "red")
    return ("!", "yellow") if one["supported"] is False else ("✓", "green")


def _status(one: dict[str, Any]) -> Piece:
    if one["state"] == "failed":
        return (plain(one["failure"] or "cannot be patched", 200), "red")
    untested = f"; tested with {one['range']}" if one["supported"] is False else ""
    if one["state"] == "patched":
        return (
            f"recorded at {plural(len(one['points']), 'point')}{untested}",
            "yellow" if untested else "dim",
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
    ):
        if hosts:
            some = ", ".join(f"{plain(host, 60)} ({n})" for host, n in list(hosts.items())[:8])
            screen.line("  ", (f"{what}: {some}", "dim"))
    if run["open_calls"]:
        seqs = ", ".join(str(seq) for seq in run["open_calls"][:8])
        screen.line("  ", ("! ", "yellow"), f"model calls without an answer: at seq {seqs}")
    if not (run["recovered"] or run["problems"] or run["missed"] or run["open_calls"]):
        screen.line("  ", ("✓ ", "green"), "nothing was missed")
