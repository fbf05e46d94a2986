"""Steps of which an interrupt (Ctrl-C, a time limit by a signal) has left only half in the log: it came
between the store and who asked it to record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from lctl.guard import guard

if TYPE_CHECKING:
    from collections.abc import Container

    from lctl.session.runs.context import Frame

#: How far back a beginning is looked for whose number did not arrive: what other threads may have recorded
#: since.
_SINCE = 16


def begun(frame: Frame, data: dict[str, Any], above: int | None, known: Container[int]) -> int:
    """The seq of the step that was to be `frame`, inside `above`, if it is in the log; else 0.

    Args:
        data: what its beginning says.
        known: the seqs of open steps and model calls, which are others.
    """
    wanted = frame.agent, above, data.get("kind"), data.get("intent")
    with guard("the beginning of a step that was interrupted"):
        store = frame.session.store
        last = store.last_seq
        events = _events(frame, max(1, last - _SINCE + 1), last + 1)
        over = {event.get("step") for event in events if event["type"] == "step_end"}
        for event in reversed(events):
            if event["type"] != "step_start" or event["seq"] in known or event["seq"] in over:
                continue
            said = event["data"]
            if (event["agent"], event.get("step"), said.get("kind"), said.get("intent")) == wanted:
                return int(event["seq"])
    return 0


def end(frame: Frame, data: dict[str, Any]) -> None:
    """Write the end of the step if it is not in the log."""
    with guard("the end of a step that was interrupted"):
        step = frame.step or 0
        first = max(step, frame.session.store.last_seq - _SINCE + 1)
        events = _events(frame, first, frame.session.store.last_seq + 1)
        if not any(event["type"] == "step_end" and event.get("step") == step for event in events):
            frame.session.emit("step_end", data, agent=frame.agent, step=step)


def _events(frame: Frame, start: int, stop: int) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in frame.session.store.read(start, stop)]
