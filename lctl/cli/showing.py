"""`lctl show`: the state at a seq, and one event in full with the model call it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lctl.analysis.run import lost_of
from lctl.analysis.wording import plain
from lctl.cli.options import screened, target
from lctl.cli.panels import Line
from lctl.cli.screen import Screen
from lctl.cli.text import plural
from lctl.errors import UsageError
from lctl.events import Event

if TYPE_CHECKING:
    from lctl.cli.modelcall import ModelCall
    from lctl.codec import Log
    from lctl.state.model import State

_MOST_STEPS, _MOST_FACTS = 60, 40


@click.command()
@target()
@click.argument("seq", type=int, required=False)
@click.option("--event", "only_event", is_flag=True, help="Only the event at SEQ, not the state there.")
@click.option("--state", "only_state", is_flag=True, help="Only the state at SEQ, not the event.")
@click.option("--all", "everything", is_flag=True, help="Every step and fact, however many.")
@screened()
def show(
    screen: Screen, target: str, seq: int | None, only_event: bool, only_state: bool, everything: bool
) -> None:
    """Show the state of TARGET after event SEQ (default: at its end), and that event in full.

    An event of a model call is shown with the prompt as the model read it, and the answer.
    'lctl show 12' is event 12 of the last run.
    """
    from lctl.cli.target import opened
    from lctl.state.timeline import Timeline

    if only_event and only_state:
        raise UsageError("--event and --state leave out each other; give one of them, or neither for both")
    if seq is None and target.isdecimal() and not Path(target).exists():
        target, seq = "last", int(target)
    log = opened(target)
    if only_event and seq is None:
        raise UsageError("--event needs a SEQ: lctl show TARGET SEQ --event")
    timeline = Timeline(log)
    event = None if seq is None or only_state else log.event(seq)
    state = timeline.at(log.last_seq if seq is None else seq)
    call = _call(log, timeline, event)
    if screen.json:
        screen.json_value(_document(state, event, call, only_event))
        return
    if event is not None:
        from lctl.cli.eventview import event_lines

        for line in event_lines(event, call, screen.columns):
            screen.line(*line)
    if event is not None and not only_event:
        screen.line()
    if not only_event:
        _show_state(screen, log, state, everything, after=seq)


def _call(log: Log, timeline: Any, event: Event | None) -> ModelCall | None:
    """The whole call of an event, its end and answer too, though they come after it."""
    from lctl.cli.modelcall import model_call

    if event is None:
        return None
    return model_call(log, timeline.at(log.last_seq), event)


def _document(state: State, event: Event | None, call: ModelCall | None, only_event: bool) -> dict[str, Any]:
    from lctl.state.summary import state_to_dict

    document: dict[str, Any] = {"seq": state.seq}
    if event is not None:
        document["event"] = event.to_dict()
    if call is not None:
        document["call"] = {
            "step": call.start.seq,
            "prompt": [message.to_dict() for message in call.prompt],
            "answers": [message.to_dict() for message in call.answers],
            "end": None if call.end is None else call.end.to_dict(),
        }
    if not only_event:
        document["state"] = state_to_dict(state)
    return document


def _show_state(screen: Screen, log: Log, state: State, everything: bool, *, after: int | None) -> None:
    from lctl.analysis.pauses import pause_of
    from lctl.cli import panels

    end = f"after event {state.seq}" if after is not None else "at the end" if not log.open else "so far"
    screen.line(("State", "bold"), f" {end} of {plain(state.chain_id or log.name, 80)}")
    _section(screen, "", panels.totals(state, pause_of(log)))
    _section(screen, "", _lost(log))
    _section(screen, "Steps", panels.steps(state, None if everything else _MOST_STEPS))
    _section(screen, "Facts", panels.facts(state, None if everything else _MOST_FACTS))
    _section(
        screen, "Could not be taken at its word", ([plain(str(d.text), 200)] for d in state.diagnostics[:10])
    )


def _lost(log: Log) -> list[Line]:
    """That the log is not whole, as its writer knew."""
    lost = lost_of((log.tail or {}).get("summary"))
    if not lost:
        return []
    return [[(f"{plural(lost, 'event')} could not be recorded", "yellow")]]


def _section(screen: Screen, title: str, lines: Iterable[Line]) -> None:
    some = list(lines)
    if title and some:
        screen.line()
        screen.line((title, "bold"))
    for line in some:
        screen.line("  ", *line)
