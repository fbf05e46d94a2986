"""How far the edits of a fork reach: which calls they can be about, and what future they drop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from lctl.errors import UsageError
from lctl.patch import Edit, parse_edit

if TYPE_CHECKING:
    from lctl.rerun.tape.callindex import CallIndex
    from lctl.rerun.tape.entries import Entry


def refuse_events(edits: Iterable[Edit]) -> None:
    """Raises UsageError for edits of what the program writes itself."""
    for edit in edits:
        if edit.side == "event":
            raise UsageError(f"{edit}: a fork runs the program, which writes its own events; "
                             "lctl what-if changes one without running")  # fmt: skip


def of_child(edits: Sequence[Edit], at: int, begun: int, *, all_live: bool = False) -> list[Edit] | None:
    """The edits of a fork at event `at` as they hold in a child process that was started at event `begun`:
    the events they name are its parent's. None where it comes from the tape: nothing is changed before it."""
    first = min((edit.scope.at or edit.scope.start or 0 for edit in edits), default=0)
    if begun <= at or (begun < first and not all_live):
        return None
    found = []
    for edit in edits:
        scope = edit.scope
        if scope.at is None and (scope.start is None or scope.start <= begun):
            found.append(replace(edit, scope=replace(scope, start=None)))
    return found


class Reach:
    """Of the edits of one fork.

    Args:
        edits: this fork's own.
        at: the last event that is the tape's.
        call: seq of the crossing that `at` belongs to, which a result edit addresses too.
        recorded: the recording's calls.

    Attributes:
        is_open: whether the fork drops the future of its lane: not if every edit says where it holds.
        since: the recorded calls before this event come from the tape all the same: no edit is about them.
    """

    def __init__(self, edits: Sequence[Edit], at: int, call: int | None, recorded: CallIndex) -> None:
        self._edits = edits
        self._at = at
        self._call = call
        self._recorded = recorded
        open_ended = [e.scope for e in edits if not (e.scope.agent or e.scope.at or e.scope.everywhere)]
        self.is_open = not edits or bool(open_ended)
        self.since = min((scope.start or 0 for scope in open_ended), default=0)

    def check(self, live: Sequence[Entry]) -> None:
        """Raises UsageError for an edit that cannot be made.

        Args:
            live: recorded calls that the fork drops.
        """
        refuse_events(self._edits)
        for edit in self._edits:
            if edit.scope.at is not None:
                self._check_call(edit, edit.scope.at)
            named = edit.scope.at or edit.scope.start
            if named is not None and named > self._at:
                self._check_known(edit, named, live)

    def _check_call(self, edit: Edit, at: int) -> None:
        call = self._recorded.call_of(at)
        if call is None:
            raise UsageError(f"{edit}: event {at} is part of no model or tool call of this recording")
        if call <= self._at and not (edit.side == "result" and call == self._call):
            raise UsageError(
                f"{edit}: event {at} is before the fork point {self._at}; choose an earlier --at"
            )
        begins = self._recorded.crossings[call].begins
        if edit.side == "request" and begins <= self._at and begins != call:
            raise UsageError(
                f"{edit}: the request of event {at} was made at {begins}, before the fork point {self._at}; "
                "choose an earlier --at"
            )

    def _check_known(self, edit: Edit, named: int, live: Sequence[Entry]) -> None:
        """Which call of a lane that has left the tape stands for a recorded one nobody can tell."""
        call, lane = self._recorded.call_of(named), self._recorded.lane_of(named) + "."
        first = min(
            (
                entry.seq
                for entry in live
                if entry.seq < named
                and entry.seq != call
                and lane.startswith((f"{entry.lane}.", f"{entry.lane}/"))
            ),
            default=None,
        )
        if first is not None:
            raise UsageError(
                f"{edit}: from event {first} on this fork is live, so which call stands for event {named} "
                f"cannot be told; choose a later --at, or let the other edits hold 'from {named}', too"
            )

    def notes(self, inherited: Iterable[str]) -> list[str]:
        """What a user should know of edits of the forks before this one that name events of theirs."""
        found = []
        for edit in map(parse_edit, inherited):
            if edit.scope.at is not None and edit.scope.at > self._at:
                found.append(
                    f"{edit}: it was made once, in the fork before this one, and is not made again here"
                )
            elif edit.scope.start is not None and edit.scope.start > self._at:
                found.append(f"{edit}: of the fork before this one; here it holds from {self._at} on")
        return found
