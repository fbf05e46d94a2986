"""`lctl replay`: the events in order, the state at a seq, or both step by step on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lctl.cli.options import screened, target
from lctl.cli.screen import Screen
from lctl.cli.text import plain, plural
from lctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lctl.codec import Log
    from lctl.events import Event
    from lctl.state.model import State

    Test = Callable[[Event], bool]


@click.command()
@target()
@click.option(
    "--to-seq",
    type=click.IntRange(0),
    metavar="N",
    help="Stop after event N and say what the state is there.",
)
@click.option("--from-seq", type=click.IntRange(1), metavar="N", help="Begin with event N.")
@click.option(
    "--filter", "wanted", metavar="QUERY", help="Only events that fit, e.g. 'agent:reviewer timeout'."
)
@click.option("--types", metavar="A,B", help="Only events of these types.")
@click.option("--full", is_flag=True, help="Print each event with its data.")
@click.option("--no-interactive", is_flag=True, help="Print, also on a terminal.")
@screened("Print the events as JSON lines; with --to-seq, the state as one document.")
def replay(
    screen: Screen,
    target: str,
    to_seq: int | None,
    from_seq: int | None,
    wanted: str | None,
    types: str | None,
    full: bool,
    no_interactive: bool,
) -> None:
    """Go through the events of TARGET.

    On a terminal: step forward and back, jump, search, and see the state at each point. Into a pipe, or
    with any option but --from-seq: print.

    \b
    A QUERY is words and "phrases" that must all be there, field:value for one field
    (type, agent, step, seq, tool, model, error, data.PATH, ...; * for any text, a,b for
    either, 10..20 or >5 for numbers), and - in front of what must not be there.
    """
    from lctl.cli.target import opened

    log = opened(target)
    if from_seq is not None and len(log) and from_seq > log.last_seq:
        raise UsageError(f"--from-seq {from_seq}: the log has events {log.first_seq} to {log.last_seq}")
    if from_seq is not None and to_seq is not None and from_seq > to_seq:
        raise UsageError(f"--from-seq {from_seq} is behind --to-seq {to_seq}")
    chosen = _chosen(wanted, types)
    plainly = full or screen.json or no_interactive or chosen is not None or to_seq is not None
    if not plainly and _at_a_terminal(screen, target) and len(log):
        from lctl.cli.stepping import step_through

        step_through(log, start=log.first_seq if from_seq is None else from_seq)
        return
    if to_seq is not None and not (full or chosen or from_seq is not None):
        state_at(screen, log, to_seq)
        return
    _events(screen, log, from_seq, to_seq, chosen, full)
    if types is not None:
        _say_unknown(log, types)


def _at_a_terminal(screen: Screen, target: str) -> bool:
    return screen.terminal and target != "-" and sys.stdin.isatty()


def _say_unknown(log: Log, types: str) -> None:
    """Types that the log has nothing of: perhaps a slip."""
    there = {event.type for event in log.events()}
    missing = [name for name in dict.fromkeys(map(str.strip, types.split(","))) if name not in there]
    if missing:
        sys.stderr.write(
            f"lctl: there is no event of type {plain(', '.join(missing), 200)}; "
            f"there are {plain(', '.join(sorted(there)), 1000)}\n"
        )


def _chosen(wanted: str | None, types: str | None) -> Test | None:
    tests: list[Test] = []
    if wanted is not None:
        from lctl.analysis.search import Query

        tests.append(Query(wanted).matches)
    if types is not None:
        named = {name.strip() for name in types.split(",")}
        tests.append(lambda event: event.type in named)
    return (lambda event: all(test(event) for test in tests)) if tests else None


def state_at(screen: Screen, log: Log, seq: int) -> None:
    from lctl.state.reducer import fold, initial

    state = fold(log.events(stop=seq + 1), initial(log.id))
    if screen.json:
        from lctl.state.summary import state_to_dict

        screen.json_value({"seq": state.seq, "agent": _agent(state) or None, "state": state_to_dict(state)})
        return
    screen.line(f"Replaying to event {seq}...")
    screen.line(f"State at seq {state.seq}: {plural(len(state.facts), 'fact')}, agent={_agent(state) or '-'}")
    if seq > log.last_seq:
        screen.line((f"(the log ends at seq {log.last_seq})", "dim"))


def _agent(state: State) -> str:
    """Who is at work: the agent of the step opened last, else of the newest event."""
    current = state.current_step
    return plain(state.steps[current].agent if current is not None else state.last_agent or "", 60)


def _events(
    screen: Screen, log: Log, start: int | None, last: int | None, chosen: Test | None, full: bool
) -> None:
    from lctl.cli.eventview import data_lines, numbered
    from lctl.state.reducer import fold

    stop = None if last is None else last + 1
    if not screen.json:
        screen.line(_opening(log, start, last))
    shown = seen = 0
    for event in log.events(start or 1, stop):
        seen += 1
        if chosen is not None and not chosen(event):
            continue
        shown += 1
        if screen.json:
            screen.json_line(event.to_dict())
        else:
            screen.line(*numbered(event))
            if full:
                screen.lines("      " + line for line in data_lines(event, screen.columns - 6))
    if screen.json:
        return
    state = fold(log.events(stop=stop))
    some = f" {shown:,} of {plural(seen, 'event')} shown." if chosen is not None else ""
    if last is not None:
        screen.line(
            f"State at seq {state.seq}: {plural(len(state.facts), 'fact')}, agent={_agent(state) or '-'}"
        )
    else:
        screen.line(f"Replay complete.{some} Final state has {plural(len(state.facts), 'fact')}.")


def _opening(log: Log, start: int | None, last: int | None) -> str:
    if start is None and last is None:
        return f"Replaying {plural(len(log), 'event')}..."
    if start is None:
        return f"Replaying to event {last}..."
    return f"Replaying events {start} to {log.last_seq if last is None else last}..."
