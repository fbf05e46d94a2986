"""`lctl run`: start a program so that it records itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lctl.cli.options import log_option

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # that of click before 8.2 takes no type


class _ProgramCommand(click.Command):
    """Takes options up to the program; what follows is the program's, untouched, `--` included."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ours, words, is_command = split(args, with_value(self, ctx))
        rest = super().parse_args(ctx, ours)
        ctx.params["words"] = tuple(words)
        ctx.meta["lctl.command"] = is_command
        return rest


class _Depth(_Choice):
    """What is recorded. "calls" is an older name of "model": taken, and not told."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert("model" if value == "calls" else value, param, ctx)


def with_value(command: click.Command, ctx: click.Context) -> set[str]:
    """Names of the options that take a value."""
    options = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    return {name for option in options if not option.is_flag for name in option.opts}


def split(args: list[str], with_value: set[str]) -> tuple[list[str], list[str], bool]:
    """Our options, the program's words, and whether they are a command line (after `--`)."""
    at = 0
    while at < len(args):
        word = args[at]
        if word == "--":
            return args[:at], args[at + 1 :], True
        if not word.startswith("-") or word == "-":
            break
        at += 2 if word in with_value else 1
        if word.startswith("-m"):
            break
    return args[:at], args[at:], False


@click.command(cls=_ProgramCommand)
@click.option("-m", "module", metavar="MODULE", help="Run a module, as 'python -m MODULE' does.")
@log_option("Record into this new file.")
@click.option(
    "--chain", metavar="NAME", help="Chain id of the run (default: the program's name and the time)."
)
@click.option(
    "--durability",
    type=click.Choice(["process", "buffered", "power"]),
    help="What an event survives: a killed process (default), all but the last 100 ms of one, a power cut.",
)
@click.option("--no-commands", is_flag=True, help="Do not record what commands gave that the program runs.")
@click.option("--no-files", is_flag=True, help="Do not record what the program's own code reads in files.")
@click.option("--no-redact", is_flag=True, help="Keep keys, tokens and passwords as they are.")
@click.option(
    "--record",
    type=_Depth(["model", "full"]),
    help="Record model calls only, or all that running again needs (default): also every other HTTP "
    "exchange, clocks, chance, environment, output.",
)
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="MODULE:FUNCTION",
    help="Record this function's calls as tool calls, as @lctl.tool does. May be repeated.",
)
@click.option(
    "--own",
    multiple=True,
    metavar="PACKAGE",
    help="This installed package is the program's own: what it reads (clock, chance, environment) is "
    "recorded. The one that -m or a console script starts mostly is. May be repeated.",
)
@click.argument("words", nargs=-1, metavar="PROGRAM [ARGS]...", type=click.UNPROCESSED)
@click.pass_context
def run(
    ctx: click.Context,
    module: str | None,
    output: str | None,
    chain: str | None,
    durability: str | None,
    no_commands: bool,
    no_files: bool,
    no_redact: bool,
    record: str | None,
    tools: tuple[str, ...],
    own: tuple[str, ...],
    words: tuple[str, ...],
) -> None:
    """Run a program and record it, with no change to the program.

    \b
      lctl run agent.py --verbose       a script
      lctl run -m package.tool ARGS     a module
      lctl run agent.ipynb              a notebook's cells, in this process
      lctl run -- python -u agent.py    any command; each Python it starts is recorded

    The program runs as under Python itself: same arguments, input, signals, tracebacks and exit code.
    Child processes record runs of their own, linked to this one. Options of 'lctl run' come before
    the program.
    """
    from lctl.instrument.settings import DISABLED, is_disabled
    from lctl.instrument.wrapat import parsed
    from lctl.run.environment import Recording, environment
    from lctl.run.launch import launch
    from lctl.run.program import program, unrecordable

    for tool in tools:
        parsed(tool)
    argv = program(words, module=module, command=bool(ctx.meta["lctl.command"]))
    if is_disabled():
        click.echo(
            f"lctl: this program is not recorded: {DISABLED}={os.environ[DISABLED]} turns that off", err=True
        )
        launch(argv, os.environ)
    recording = Recording(
        name=chain,
        path=Path(output).absolute() if output else None,
        durability=durability,
        redact=not no_redact,
        files=not no_files,
        commands=not no_commands,
        record=record,
        tools=tools,
        own=own,
    )
    inner = environment(recording)
    if (option := unrecordable(argv)) is not None:
        click.echo(
            f"lctl: this program is not recorded: {option} keeps {argv[0]} from reading PYTHONPATH, by which "
            "'lctl run' comes in; leave it out, or call lctl.auto_instrument() in the program",
            err=True,
        )
    launch(argv, inner)
