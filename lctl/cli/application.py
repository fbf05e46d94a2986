"""The `lctl` command: a table of contents. A command's module is imported when that command runs."""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword
from typing import Any, NamedTuple

import click

from lctl._version import __version__
from lctl.cli import ReaderGone


class Entry(NamedTuple):
    """Where a command lives (`lctl.cli.<module>`, attribute named as the command) and what it does."""

    module: str
    help: str


SECTIONS: dict[str, dict[str, Entry]] = {
    "Record": {
        "run": Entry("running", "Run a program and record it."),
        "import": Entry("importing", "Take a conversation of another program as a log."),
        "claude": Entry("claudehooks", "Record Claude Code, by its hooks."),
        "demo": Entry("demonstration", "Record a three-agent review against a local model server."),
    },
    "Travel": {
        "debug": Entry("debugging", "Open a run, or a folder of them, in the browser."),
        "serve": Entry("serving", "Serve the debugger to a team: a store or a folder, to be read."),
        "replay": Entry("replaying", "Go through the events; on a terminal, step by step."),
        "show": Entry("showing", "Show the state at an event, or one event in full."),
        "ls": Entry("listing", "List recorded runs, newest first."),
        "runs": Entry("lineage", "Show recordings, reruns and forks as a tree of lineage."),
        "rerun": Entry("rerunning", "Run a recorded program again on its tape: offline, exact."),
        "fork": Entry("forking", "Run a program again from any event on, with one thing changed."),
        "tail": Entry("tailing", "Print the last events; -f follows a running program."),
    },
    "Understand": {
        "stats": Entry("statistics", "Sum up duration, tokens, cost and errors."),
        "bottleneck": Entry("statistics", "Find where the time went and what would help."),
        "diff": Entry("comparing", "Compare two runs by what happened in them."),
        "tree": Entry("conversing", "Draw the conversations with all their branches."),
        "branches": Entry("branching", "List the branches: length, cost, and where each parts."),
        "transcript": Entry("transcribing", "Print one branch as its model reads it."),
        "what-if": Entry("whatif", "Change an event and see what follows, without running."),
        "confidence": Entry("confiding", "Show how sure each fact is, and how that came."),
        "query": Entry("querying", "Ask in SQL: facts, steps, tools, messages, errors."),
        "errors": Entry("failing", "Group what went wrong, over one run or many."),
        "agents": Entry("profiling", "Show how far each agent was right, and what it used."),
    },
    "Check": {
        "verify": Entry("checking", "Check that the events are the ones that were written."),
        "validate": Entry("checking", "Check every event against the protocol."),
        "doctor": Entry("examining", "Say what is installed, patched, and was not recorded."),
    },
    "Take elsewhere": {
        "push": Entry("pushing", "Bring runs to a store: SQLite, PostgreSQL or another folder."),
        "pull": Entry("pushing", "Write a run of a store to a file."),
        "prune": Entry("pushing", "Remove old runs from a store."),
        "convert": Entry("converting", "Write a log in another form or from an older version."),
        "export": Entry("exporting", "Write what a log says for other tools."),
        "samples": Entry("sampling", "List the training samples a log gives."),
        "completion": Entry("completing", "Print the completion script of a shell."),
    },
}

#: What runs the user's program in this process, where nothing of ours is written but the log.
_PROGRAMS = frozenset({"run", "rerun", "fork", "doctor"})

COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}

EPILOG = """\
\b
TARGET is a path, a chain id or the start of one, 'last', 'last~1' (the run
before it), or '-' for standard input. Runs are looked for in LCTL_DIR, or in
.lctl/ under the working directory; with LCTL_STORE, in that store. A run in any
store is sqlite:///FILE#ID or postgresql://HOST/DB#ID. 'TARGET+' is the run
with all that it started, on this machine or others, as one.

\b
Exit codes:
    0  done
    1  a difference or violation was found
    2  wrong usage
    3  the log cannot be read
    4  another process is writing the log
    5  an optional dependency is missing
   70  a bug in lctl
  130  interrupted
'lctl run' exits with the code of the program it ran.

\b
Environment:
  LCTL_DIR                where runs are kept (default: .lctl)
  LCTL_STORE              where runs go and are looked for: sqlite:///FILE, ...
  LCTL_DISABLED=1         record nothing
  LCTL_COMMANDS=off       not what commands gave that the program's own code has run
  LCTL_FILES=off          not what the program's own code reads in files
  LCTL_OTEL               where recorded programs export to: a URL, or 1
  NO_COLOR, FORCE_COLOR   never, always colour
  LCTL_DEBUG=1            show tracebacks of lctl's own errors
"""


class Application(click.Group):
    """Lists commands from the table above, so that help imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        name = cmd_name.replace("-", "_")
        module = import_module(f"lctl.cli.{entry.module}")
        command = getattr(module, f"{name}_" if iskeyword(name) else name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if error.ctx is None and ctx.invoked_subcommand:  # click's parser says no command
                command = self.get_command(ctx, ctx.invoked_subcommand)
                if command is not None:
                    error.ctx = click.Context(command, parent=ctx, info_name=ctx.invoked_subcommand)
            raise
        except BrokenPipeError as error:  # click would exit with 1
            raise ReaderGone from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are: {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command '{args[0]}'; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<10}", entry.help) for name, entry in entries.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for block in (self.epilog or "").split("\n\n"):
            formatter.write_paragraph()
            for line in block.replace("\b\n", "").rstrip().split("\n"):
                formatter.write(line + "\n")


@click.group(
    cls=Application,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
    invoke_without_command=True,
)
@click.version_option(__version__, "-V", "--version", prog_name="lctl", message="%(prog)s %(version)s")
@click.pass_context
def lctl(ctx: click.Context, /, **_: Any) -> None:
    """Time-travel debugging for AI agents.

    'lctl run agent.py' records; every other command reads what was recorded.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    elif ctx.invoked_subcommand not in _PROGRAMS:
        from lctl.analysis import keptprices

        keptprices.keep()
