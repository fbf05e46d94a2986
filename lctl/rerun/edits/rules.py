"""The edits of a fork, applied to calls as they cross the border.

A rule holds for every call it addresses, not for one: an edit that reverts by itself at the next call is a
fault that is hard to see. `@N` is for those who want it once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.errors import RerunStopped
from lctl.patch import Edit, Unaddressed, change
from lctl.rerun.edits import answering, failing
from lctl.rerun.edits.amending import amend, is_of_url
from lctl.rerun.edits.contents import edit_model
from lctl.rerun.edits.rewording import (
    EditedAnswer,
    asked_model,
    failure,
    given_whole,
    rewritten,
    spoken,
    whole_of,
)
from lctl.session.border import Live, WireRequest

#: HTTP libraries whose requests can be sent to another URL of the same host.
ADDRESSED = frozenset({"httpx", "httpx2", "aiohttp", "requests", "urllib3"})

if TYPE_CHECKING:
    from lctl.rerun.forks.forkpoint import ForkPoint
    from lctl.rerun.tape.entries import Entry
    from lctl.rerun.tape.tape import Tape
    from lctl.session.tooling.toolcalls import ToolCall


class Place(NamedTuple):
    """Where a call stands, for rules that address it.

    Attributes:
        seq: of the recorded event that answers it; None where the tape has none.
        after_fork: it comes after the event the run is forked at.
        live: its lane has left the tape already.
    """

    seq: int | None
    agent: str
    lane: str
    after_fork: bool
    live: bool = False


class EditedResult(NamedTuple):
    """What a tool call gets in place of its result."""

    value: Any
    error: BaseException | None = None


class Rules:
    """The edits of one fork. Safe from several threads.

    Args:
        edits: in the order in which they are made.
        tape: of the recording that is forked.
        fork: where.
        before: edits of the forks the recording came of; they go on holding, made before the others.
    """

    def __init__(
        self, edits: Iterable[Edit], tape: Tape, fork: ForkPoint, before: Iterable[Edit] = ()
    ) -> None:
        earlier = list(before)
        self._own = len(earlier)  # where this fork's own edits begin
        self._edits = [*earlier, *edits]
        self._tape = tape
        self._fork = fork
        self._lock = threading.Lock()
        self._made = [0] * len(self._edits)
        self._refused: dict[int, str] = {}
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._edits)

    # -- requests --------------------------------------------------------------------------

    def request(self, entry: Entry | None, request: WireRequest, place: Place) -> Live | None:
        """What is to be sent in place of the program's request; None where no edit addresses it.

        Raises:
            RerunStopped: the request is signed, or cannot be replaced by its transport.
        """
        chosen = self._addressing("request", place)
        if not chosen or request.provider is None:
            return None
        body, url = request.body, request.url
        if body is None:
            self._refuse(chosen, "the body of that request cannot be seen before it is sent")
            return None
        operation = request.operation or answering.operation_of(request.url)
        for n in chosen:
            edit, new, other = self._edits[n], body, url
            try:
                if is_of_url(operation, edit):
                    other = edit_model(url, edit)
                else:
                    new = amend(operation, body, [edit])
            except (Unaddressed, ValueError) as error:
                self._refuse([n], str(error))
                continue
            _check_editable(request, edit, elsewhere=other != url)
            body, url = new, other
            self._count_made(n)
        return None if (body, url) == (request.body, request.url) else Live(body, url=url)

    # -- what comes back -------------------------------------------------------------------

    def result(
        self, entry: Entry | None, call: WireRequest | ToolCall, place: Place
    ) -> EditedAnswer | EditedResult | None:
        """What is given in place of the recorded or live answer; None where no edit addresses the call."""
        chosen = self._addressing("result", place)
        if not chosen:
            return None
        if isinstance(call, WireRequest):
            if call.provider is None:
                return None
            answers = [n for n in chosen if self._edits[n].root == "answer"]
            return self._answer(answers, entry, call, place) if answers else None
        tools = [n for n in chosen if self._edits[n].is_of_tool(call.tool)]
        return self._tool_result(tools, entry, call) if tools else None

    def gives(self, call: ToolCall, place: Place) -> bool:
        """Whether an edit puts another result in the place of a tool's."""
        return any(
            edit.is_of_tool(call.tool) for edit in (self._edits[n] for n in self._addressing("result", place))
        )

    def tool_input(self, call: ToolCall, place: Place, *, count: bool = True) -> dict[str, Any] | None:
        """The arguments a tool is to be called with instead; None where no edit addresses the call."""
        value: dict[str, Any] = {"input": call.input}
        made = False
        for n in self._addressing("input", place):
            edit = self._edits[n]
            if not edit.is_of_tool(call.tool):
                continue
            try:
                value = change(value, edit.path[1:], edit.operator, edit.value)
            except Unaddressed as error:
                self._refuse([n], str(error))
                continue
            if count:
                self._count_made(n)
            made = True
        return value["input"] if made else None

    def unused(self) -> list[tuple[Edit, str]]:
        """The edits that changed nothing, each with what is known of why."""
        why = "no call after the fork point that it speaks of"
        others = sum(not self._fork.follows(entry.lane, entry.seq) for entry in self._fork.live_calls)
        if others:
            strands = "1 call of another strand" if others == 1 else f"{others} calls of other strands"
            why += f"; {strands} after it: 'all EDIT' or 'agent=NAME EDIT' reaches them"
        return [
            (edit, self._refused.get(n, why))
            for n, edit in enumerate(self._edits)
            if n >= self._own and not self._made[n]
        ]

    # -- which ones --------------------------------------------------------------------------

    def _addressing(self, side: str, place: Place) -> list[int]:
        return [
            n
            for n, edit in enumerate(self._edits)
            if edit.side == side and self._addresses(edit, side, place)
        ]

    def _addresses(self, edit: Edit, side: str, place: Place) -> bool:
        scope = edit.scope
        if scope.agent is not None and scope.agent != (place.agent or _agent_here()):
            return False
        if scope.at is not None:
            return place.seq is not None and place.seq == self._fork.recorded.call_of(scope.at)
        here = side == "result" and place.seq is not None and place.seq == self._fork.call
        if not (place.after_fork or here):
            return False
        if scope.start is not None and place.seq is not None and place.seq < scope.start:
            return False
        if scope.agent is not None or scope.everywhere or place.live:
            return True
        return self._fork.follows(place.lane, place.seq)

    def _count_made(self, n: int) -> None:
        with self._lock:
            self._made[n] += 1

    def _refuse(self, which: Sequence[int], why: str) -> None:
        with self._lock:
            for n in which:
                self._refused[n] = why

    # -- answers -----------------------------------------------------------------------------

    def _answer(
        self, chosen: Sequence[int], entry: Entry | None, request: WireRequest, place: Place
    ) -> EditedAnswer | None:
        operation = request.operation or answering.operation_of(request.url)
        found: EditedAnswer | None = None
        for n in chosen:
            edit = self._edits[n]
            try:
                if edit.operator == "!=":
                    found = failure(operation, request, str(edit.value))
                else:
                    found = self._reworded(edit, found, operation, entry, request)
            except (Unaddressed, ValueError) as error:
                self._refuse([n], str(error))
                continue
            self._count_made(n)
        return found

    def _reworded(
        self,
        edit: Edit,
        before: EditedAnswer | None,
        operation: str,
        entry: Entry | None,
        request: WireRequest,
    ) -> EditedAnswer:
        """The answer with one more edit made."""
        recorded = before if before is not None else self._recorded(entry)
        if edit.path[:1] == ("body",):
            return rewritten(recorded, edit)
        with self._lock:
            self._count += 1
            tag = f"lctl{entry.seq if entry is not None else f'new{self._count}'}"
        speaking = answering.dialect(operation)
        whole = None if recorded is None else whole_of(operation, recorded)
        given = edit.operator == "=" and not edit.path
        if whole is None:
            if not given:
                raise Unaddressed("there is no recorded answer to change; give it whole: answer={...}")
            whole = speaking.made(asked_model(operation, request), tag)
        old = speaking.read(whole)
        if given:
            new = given_whole(edit.value, old)
        else:
            new = change({"answer": old}, ("answer", *edit.path), edit.operator, edit.value)["answer"]
        return spoken(operation, answering.written(operation, whole, new, tag), recorded, request)

    def _recorded(self, entry: Entry | None) -> EditedAnswer | None:
        """The recorded answer; None where there is none, or it is a failure."""
        if entry is None or entry.status is None or entry.status >= 400:
            return None
        data = self._tape.data(entry)
        chunks = tuple(chunk for _, chunk in self._tape.chunks(entry))
        return EditedAnswer(entry.status, dict(data.get("headers") or {}), chunks)

    # -- tools -------------------------------------------------------------------------------

    def _tool_result(self, chosen: Sequence[int], entry: Entry | None, call: ToolCall) -> EditedResult | None:
        found: EditedResult | None = None
        for n in chosen:
            edit = self._edits[n]
            if edit.operator == "!=":
                found = EditedResult(None, failing.exception(*failing.split(str(edit.value))))
            else:
                try:
                    base = self._output(
                        found, entry, call, whole=edit.operator == "=" and len(edit.path) == 2
                    )
                    value = change(base, edit.path[1:], edit.operator, edit.value)["output"]
                except Unaddressed as error:
                    self._refuse([n], str(error))
                    continue
                found = EditedResult(value)
            self._count_made(n)
        return found

    def _output(
        self, found: EditedResult | None, entry: Entry | None, call: ToolCall, *, whole: bool
    ) -> dict[str, Any]:
        """What an edit of a tool's output starts from."""
        if found is not None:
            return {"output": found.value}
        if whole:
            return {}
        data = self._tape.data(entry) if entry is not None else {}
        if data.get("tool") != call.tool or "output" not in data:
            raise Unaddressed(f"there is no recorded result of {call.tool} to change; give it whole")
        return {"output": data["output"]}


def _check_editable(request: WireRequest, edit: Edit, *, elsewhere: bool = False) -> None:
    signed = str(request.headers.get("authorization", "")).startswith("AWS4-HMAC") or (
        "x-amz-signature=" in request.url.lower()
    )
    if signed:
        raise RerunStopped(
            f"{edit}: this request cannot be edited: it is signed (AWS SigV4) over its body before it gets "
            "here, and the service refuses another body; edit what comes back (--result), or change the "
            "program and rerun it with --on-miss live"
        )
    if not request.editable or (elsewhere and request.http not in ADDRESSED):
        raise RerunStopped(f"{edit}: {request.http} sends this request in a way that cannot be edited")


def _agent_here() -> str:
    """Who is at work in the code that makes the call."""
    from lctl.session.default import get_session

    session = get_session()
    return session.frame().agent if session is not None else ""
