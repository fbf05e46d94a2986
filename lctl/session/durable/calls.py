"""Tool calls that an earlier process made in a session: what was done is not done again.

A call is the same one if its id is. Without ids, a call of the same tool with the same input is, in a step
that stands for one which was left (see `Turn`). Calls that failed are made again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import orjson

from lctl.errors import ToolInDoubt
from lctl.session import jsonable
from lctl.session.durable.writing import as_stored
from lctl.session.found import recorded_here
from lctl.session.tooling.tools import call_tool

if TYPE_CHECKING:
    from lctl.session.durable.session import Session
    from lctl.session.session import LCTLSession

T = TypeVar("T")

_TYPES = (b'"type":"tool_call"', b'"type":"step_start"')


class Made(NamedTuple):
    """A call that has its end in the log. `value` is what it gave, as JSON holds it."""

    value: Any


class EarlierCalls:
    """The calls in a session's log up to the event it was taken up at."""

    def __init__(self, session: Session, seq: int) -> None:
        self._session = session
        self._seq = seq
        self._read = False
        self._parents: dict[int, int] = {}  # step -> the one around it
        self._repeats: dict[int, int] = {}  # step -> the one it stands for
        self._done: list[tuple[int, dict[str, Any]]] = []  # (step, data) of calls that ended well
        self._begun: list[tuple[int, dict[str, Any]]] = []  # of calls that were announced
        self._used: set[int] = set()

    def answer(self, tool: str, input: Mapping[str, Any], call_id: str | None) -> Made | None:
        """What the call gave; None for one that has not been made."""
        found = self._find(self._done, tool, input, call_id, taking=True)
        return None if found is None else Made(found.get("output"))

    def check(self, tool: str, input: Mapping[str, Any], call_id: str | None) -> None:
        """Raises ToolInDoubt for a call that was announced and has no end."""
        begun = self._find(self._begun, tool, input, call_id, taking=False)
        if begun is not None:
            name = f"{tool} ({call_id})" if call_id is not None else tool
            raise ToolInDoubt(
                f"{name} was begun at event {begun['seq']} of {self._session.log.chain_id} and its end is "
                "not recorded: it may have been done; find out, then session.settle(...) with its result, "
                "or call it without once=True",
                tool,
                call_id,
            )

    def _find(
        self,
        calls: list[tuple[int, dict[str, Any]]],
        tool: str,
        input: Mapping[str, Any],
        call_id: str | None,
        *,
        taking: bool,
    ) -> dict[str, Any] | None:
        self._load()
        if not calls:
            return None
        left = self._left() if call_id is None else set()
        given = as_stored(self._session.log, {"input": dict(input)})["input"] if call_id is None else None
        for n, (step, data) in enumerate(calls):
            if data.get("tool") != tool:
                continue
            if call_id is not None:
                if data.get("call_id") == call_id:
                    return data
            elif n not in self._used and self._around(step) & left and data.get("input") == given:
                if taking:
                    self._used.add(n)
                return data
        return None

    def _left(self) -> set[int]:
        """The steps that the running one stands for."""
        found: set[int] = set()
        for turn in self._session.turns:
            step = turn.left
            while step and step not in found:
                found.add(step)
                step = self._repeats.get(step, 0)
        return found

    def _around(self, step: int) -> set[int]:
        found: set[int] = set()
        while step and step not in found:
            found.add(step)
            step = self._parents.get(step, 0)
        return found

    def _load(self) -> None:
        if self._read:
            return
        self._read = True
        ended: set[Any] = set()
        for line in recorded_here(self._session.log.store).read(
            max(self._session.start_seq, 1), self._seq + 1
        ):
            if not any(type in line[:64] for type in _TYPES):
                continue
            event = orjson.loads(line)
            seq, step, data = event["seq"], event.get("step") or 0, event.get("data") or {}
            if event["type"] == "step_start":
                self._parents[seq] = step
                if isinstance(data.get("repeats"), int):
                    self._repeats[seq] = data["repeats"]
                if data.get("once"):
                    self._begun.append((seq, {**data, "seq": seq}))
                continue
            ended.add(step)
            ended.add((data.get("tool"), data.get("call_id")))
            if data.get("error") is None:
                self._done.append((step, data))
        self._begun = [
            (step, data)
            for step, data in self._begun
            if step not in ended and (data.get("tool"), data.get("call_id") or step) not in ended
        ]


def call_once(
    log: LCTLSession,
    earlier: EarlierCalls | None,
    name: str,
    input: dict[str, Any],
    run: Callable[[], T],
    call_id: str | None,
) -> T:
    """As `Session.call_tool` with `once`: announced before it is made, and both in the log's store."""
    if earlier is not None:
        made = earlier.answer(name, input, call_id)
        if made is not None:
            return made.value  # type: ignore[no-any-return]
        earlier.check(name, input, call_id)
    told = {"tool": name, "input": jsonable.plain(input), "call_id": call_id, "once": True}
    with log.step(intent=name, kind="tool", **{k: v for k, v in told.items() if v is not None}):
        log.sync()
        value = call_tool(name, input, run, call_id=call_id)
    log.sync()
    return value
