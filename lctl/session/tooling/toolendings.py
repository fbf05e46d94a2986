"""What a `tool_call` event says of how the call ended, and what its tape holds beside the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lctl.guard import guard
from lctl.session import jsonable
from lctl.session.concurrency.comings import Coming
from lctl.session.concurrency.lane import Lane
from lctl.session.faithful import Given, sharing
from lctl.session.tooling.generators import Draws
from lctl.session.tooling.toolcalls import Failure, Pause, ToolCall
from lctl.session.tooling.toolevents import ranges
from lctl.session.tooling.toolresults import Items
from lctl.session.tooling.wrote import Body


def said_of_end(
    parts: Mapping[str, Any],
    items: Items | None,
    shown: Callable[[Any], Any] | None,
    paused: Callable[[BaseException], Any] | None,
    *,
    closed_early: bool,
) -> dict[str, Any]:
    """`output`, `error`, `paused` and `closed_early` of the event.

    Args:
        parts: "output", or "error" with the exception.
        items: of a generator, what it gave.
        shown: makes of a result what the event says of it.
        paused: see `begin_tool`.
    """
    said: dict[str, Any] = {}
    error = parts.get("error")
    waits = None if error is None or paused is None else paused(error)
    if waits is not None:
        said["paused"] = waits
    elif error is not None:
        said["error"] = {"type": jsonable.name_of(type(error)), "message": jsonable.text_of_error(error)}
    if closed_early:
        said["closed_early"] = True
    if items is not None and (items.count or error is None):
        said["output"] = items.shown
    elif "output" in parts:
        _say_output(said, parts["output"], shown)
    return said


def _say_output(said: dict[str, Any], output: Any, shown: Callable[[Any], Any] | None) -> None:
    if shown is not None:
        with guard("what a tool's result says"):  # the result itself is there all the same
            output = shown(output)
    if type(output) is Failure:  # not `isinstance`, which asks the value as well (see `jsonable`)
        said["error"] = output._asdict()
    elif type(output) is Pause:
        said["paused"] = output.waits
    else:
        said["output"] = output


def tape_of_end(
    call: ToolCall,
    given: Given,
    tape: dict[str, Any] | None,
    lane: Lane | None,
    comings: Sequence[Coming],
    gives: str | None,
    output: Any = None,
    draws: Draws | None = None,
) -> dict[str, Any] | None:
    """A tape of a result (see `toolresults`), with what else it holds of the run; None where that is nothing.

    Args:
        lane: of the body; None where it did not run.
        output: the result itself, of a call that gave one.
        draws: since its body began.
    """
    # Where the result could not be kept the tool runs again, and all this with it.
    kept = "executed" not in (tape or ())
    sink = None if lane is None else lane.wrote
    signals = None if lane is None else lane.signals
    found = {
        "owner": call.owner.tape(given) if kept and call.owner is not None else None,
        "shared": sharing.tape(output, call.owner, given) if kept and call.owner is not None else None,
        "inside": ranges(lane.inside) if lane is not None and lane.inside else None,
        "wrote": sink.tape(call.tool) if kept and isinstance(sink, Body) else None,
        "received": call.incoming.tape() if kept and call.incoming is not None else None,
        "signals": signals.tape() if kept and signals is not None else None,
        "chance": draws.tape() if kept and draws is not None else None,
        "items": [list(one) for one in comings] or None if kept else None,
        "gives": gives,
    }
    about = {name: value for name, value in found.items() if value is not None}
    return {**(tape or {}), **about} if tape or about else tape
