"""The same failures together over many logs, cycles among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from lctl.analysis.failures import Failure, failures, outline
from lctl.analysis.log import Log
from lctl.analysis.together import together
from lctl.events import Event
from lctl.trust.cycles import ROUNDS, cycles


class FailureGroup(msgspec.Struct, frozen=True):
    """Failures of one kind.

    Attributes:
        source: "error", "tool_call", "step", or "cycle" (seen in the events, and not recorded as an error).
        places: run -> seqs, oldest first; a run is named by its chain's id, or by its path where several have
            that id.
        recoverable: every one of them was marked so.
        suggested_action: of the newest that names one.
    """

    source: str
    category: str
    type: str
    message: str
    agents: tuple[str, ...]
    places: dict[str, tuple[int, ...]]
    recoverable: bool
    suggested_action: str | None = None

    @property
    def count(self) -> int:
        return sum(map(len, self.places.values()))


def failed_runs(logs: Iterable[Log], rounds: int = ROUNDS) -> list[FailureGroup]:
    """Groups over all logs, the largest first; what reruns and forks repeat of their recording counts once.

    Args:
        rounds: that make a cycle, see `lctl.trust.cycles`.
    """
    groups: dict[tuple[str, str, str, str], FailureGroup] = {}
    for log, run, told in together(logs):
        for failure in [*map(_categorised, failures(log)), *_circles(log, rounds)]:
            own = tuple(seq for seq in failure.seqs if seq > told)
            if not own:
                continue
            failure = msgspec.structs.replace(failure, seqs=own)
            key = (failure.source, failure.category, failure.type, outline(failure.message))
            groups[key] = _joined(groups.get(key), failure, run)
    return sorted(groups.values(), key=lambda group: -group.count)


def _categorised(failure: Failure) -> Failure:
    """Failed tool calls and steps that no error event speaks of, in the words of the taxonomy."""
    if failure.source == "tool_call":
        return msgspec.structs.replace(
            failure,
            category="execution_error",
            type="tool_failure",
            message=f"{failure.type}: {failure.message}",
            suggested_action=failure.suggested_action or "fix_tool_input_or_retry",
        )
    if failure.source == "step":
        named = {"error": "failed", "failure": "failed"}.get(failure.type.lower(), failure.type.lower())
        return msgspec.structs.replace(failure, category="execution_error", type=named)
    return failure


def _joined(group: FailureGroup | None, failure: Failure, run: str) -> FailureGroup:
    if group is None:
        return FailureGroup(
            failure.source, failure.category, failure.type, failure.message, failure.agents,
            {run: failure.seqs}, failure.recoverable, failure.suggested_action,
        )  # fmt: skip
    places = {**group.places, run: (*group.places.get(run, ()), *failure.seqs)}
    return msgspec.structs.replace(
        group,
        agents=tuple(dict.fromkeys([*group.agents, *failure.agents])),
        places=places,
        recoverable=group.recoverable and failure.recoverable,
        suggested_action=failure.suggested_action or group.suggested_action,
    )


def _circles(log: Log, rounds: int) -> Iterator[Failure]:
    """Cycles nobody recorded an error for."""
    told: set[tuple[int, ...]] = set()

    def seen() -> Iterator[Event]:
        for event in log.events():
            if event.type == "error" and event.data.get("type") == "cycle_detected":
                context = event.data.get("context")
                seqs = context.get("seqs") if isinstance(context, dict) else None
                if isinstance(seqs, list) and all(type(seq) is int for seq in seqs):
                    told.add(tuple(seqs))
            yield event

    for cycle in cycles(seen(), rounds):
        if cycle.seqs in told:
            continue
        said = cycle.error()
        yield Failure(
            "cycle", said["category"], said["type"], cycle.message, (cycle.agent,), (cycle.seqs[-1],), True,
            said["suggested_action"],
        )  # fmt: skip
