"""Arguments and options that commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from lctl.cli.screen import Screen
from lctl.errors import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    from lctl.cli.target import completions

    return [*map(CompletionItem, completions(incomplete)), CompletionItem(incomplete, type="file")]


def target(name: str = "target", default: str = "last") -> Callable[[Function], Function]:
    """A TARGET argument; without it, `default`."""
    return click.argument(name, default=default, required=False, shell_complete=_complete)


class Folder(click.Path):
    """A folder that is there, or the address of a store."""

    def __init__(self) -> None:
        super().__init__(exists=True, file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from lctl.stores.address import is_address

        return value if is_address(value) else super().convert(value, param, ctx)


def screened(
    json_help: str = "Print one JSON document.",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds --json and --no-color, and passes the `Screen` they make as first argument."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inner(*args: Any, as_json: bool, no_color: bool, **kwargs: Any) -> Any:
            return function(Screen(json=as_json, no_color=no_color), *args, **kwargs)

        colored = click.option("--no-color", is_flag=True, help="No colour, also on a terminal.")(inner)
        return click.option("--json", "as_json", is_flag=True, help=json_help)(colored)

    return wrap


def log_option(help: str) -> Callable[[Function], Function]:
    """-o PATH of a log that is recorded: a file of its own."""
    return click.option(
        "-o", "--output", metavar="PATH", type=click.Path(dir_okay=False), callback=_no_stream, help=help
    )


def disk_options(command: Function) -> Function:
    """--files and --writes, of what runs a program again."""
    command = click.option(
        "--writes",
        type=click.Choice(["refused", "aside"]),
        default="refused",
        show_default=True,
        help="What the guard would refuse to be written may go into a folder of the rerun's own.",
    )(command)
    return click.option(
        "--files",
        type=click.Choice(["recorded", "now"]),
        default="recorded",
        show_default=True,
        help="What the program's own code finds in files that are not as they were.",
    )(command)


def _no_stream(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value == "-":
        raise UsageError(
            "-o -: a log is recorded into a file, and standard output is the program's; give a file, "
            "which 'lctl convert FILE' prints"
        )
    return value


def output_option(
    help: str = "Write to FILE, not to stdout.", *, folder: bool = False
) -> Callable[[Function], Function]:
    """-o FILE; without it, and as `-`, standard output: None.

    Args:
        folder: a folder will do.
    """
    return click.option(
        "-o",
        "--output",
        metavar="FILE",
        type=click.Path(dir_okay=folder),
        callback=lambda ctx, param, value: None if value == "-" else value,
        help=help,
    )
