"""`lctl claude`: Claude Code recorded by its hooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lctl.cli.options import screened
from lctl.cli.screen import Screen
from lctl.cli.text import plain, plural

if TYPE_CHECKING:
    from lctl.claudecode.collecting import Collected
    from lctl.claudecode.settings import Scope

_SCOPES = ("local", "project", "user")
_scope = click.option(
    "--scope",
    type=click.Choice(_SCOPES),
    default="local",
    show_default=True,
    help="Whose settings: yours in this project, the project's shared ones, yours in every project.",
)


@click.group()
def claude() -> None:
    """Record Claude Code: prompts, tools, sub-agents, file edits, MCP calls.

    \b
      lctl claude init      put the hooks into Claude Code's settings
      lctl claude status    where they are, and which sessions were recorded
      lctl claude remove    take them out again

    Each session becomes a log among the recorded runs, brought up to date at the end of every turn.
    """


@claude.command()
@_scope
@screened()
def init(screen: Screen, scope: Scope) -> None:
    """Put lctl's hooks into Claude Code's settings. What is there stays."""
    from lctl.claudecode import settings

    path = settings.path_of(scope)
    changed = settings.install(path)
    if screen.json:
        screen.json_value(
            {"settings": str(path), "changed": changed, "events": list(settings.installed(path))}
        )
        return
    if not changed:
        screen.line(f"{plain(str(path))} has lctl's hooks already")
        return
    screen.line(f"Hooks for {plural(len(settings.installed(path)), 'event')} are in {plain(str(path))}")
    screen.line("Sessions begun from now on are recorded; 'lctl claude remove' undoes it")


@claude.command()
@_scope
@screened()
def remove(screen: Screen, scope: Scope) -> None:
    """Take lctl's hooks out of Claude Code's settings. What was recorded stays."""
    from lctl.claudecode import settings

    path = settings.path_of(scope)
    changed = settings.remove(path)
    if screen.json:
        screen.json_value({"settings": str(path), "changed": changed})
    elif changed:
        screen.line(f"lctl's hooks are out of {plain(str(path))}")
    else:
        screen.line(f"{plain(str(path))} has no hooks of lctl's")


@claude.command()
@screened()
def status(screen: Screen) -> None:
    """Say where hooks are, and bring the logs of all recorded sessions up to date."""
    from lctl.claudecode import settings, spool
    from lctl.claudecode.collecting import collect

    places = {scope: settings.path_of(scope) for scope in _SCOPES}  # type: ignore[arg-type]
    hooks = {scope: sorted(settings.installed(path)) for scope, path in places.items()}
    sessions = [one for path in spool.spools(_runs(None)) if (one := collect(path)).events]
    if screen.json:
        found = [{"scope": s, "settings": str(places[s]), "events": hooks[s]} for s in _SCOPES]
        screen.json_value({"hooks": found, "sessions": [_document(one) for one in sessions]})
        return
    for scope in _SCOPES:
        count = f"hooks for {plural(len(hooks[scope]), 'event')}" if hooks[scope] else "no hooks"
        screen.line(f"{scope:<8} {count:<20} ", (plain(str(places[scope])), "dim"))
    screen.line()
    screen.line((plural(len(sessions), "recorded session"), "bold"))
    for one in sessions:
        _say(screen, one)


@claude.command(hidden=True)
@click.option("--folder", metavar="PATH", help="Where the spools are.")
@click.argument("session")
@screened()
def collect(screen: Screen, folder: str | None, session: str) -> None:
    """Bring the log of one session up to date. The hooks start this at the end of each turn."""
    from lctl.claudecode import collecting, spool

    one = collecting.collect(spool.place(_runs(folder), session))
    if screen.json:
        screen.json_value(_document(one))
    else:
        _say(screen, one)


def _runs(spools: str | None) -> Path:
    from lctl.session.naming import folder

    return Path(spools).parent if spools else folder()


def _document(one: Collected) -> dict[str, Any]:
    return {**one._asdict(), "path": str(one.path)}


def _say(screen: Screen, one: Collected) -> None:
    told = [plural(one.events, "event"), f"from {plural(one.hooks, 'hook')}"]
    if not one.transcript:
        told.append("without Claude Code's own file")
    if one.broken:
        told.append(f"{plural(one.broken, 'line')} could not be read")
    screen.line(f"  {plain(str(one.path))}  ", (", ".join(told), "dim"))
