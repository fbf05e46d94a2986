"""Tool calls that no decorator reports: asked for in one answer, answered in a later prompt."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from lctl.instrument.nameless import BY_NAME, Nameless
from lctl.instrument.toolmessages import Asked, Result, asked_in, result_text, value_of

#: Runs that are remembered until a result tells which call they were.
_RUNS = 64
#: Ids that are remembered as given by an answer, when their calls are over.
_GIVEN = 4096
#: Characters of an output that does not occur by chance.
_TELLING = 8


def _asks_for(asked: Any, given: Any) -> bool:
    """A model leaves out what has a default; whoever reports the run does not."""
    if isinstance(asked, dict) and isinstance(given, dict):
        return all(name in given and given[name] == value for name, value in asked.items())
    return bool(asked == given)


def _says(result: Any, output: Any) -> bool:
    """Whether a tool's result, as it was sent to the model, is that output."""
    if result == output or result_text(result) == result_text(output):
        return True
    return isinstance(result, str) and value_of(result) == output and output is not None


class _Ran(NamedTuple):
    tool: str
    input: Any
    output: Any
    late: bool  # a call was open then, which may know it by another name
    named: bool  # under an id that no answer had given then

    def may_be(self, asked: Asked) -> bool:
        """Whether it may be that call: one under an id is that id's, or of a call that has none."""
        return not self.named or asked.id.startswith(BY_NAME)


class _Open:
    """`lent`: settled by a run that may be another call's, and its result has not been sent yet."""

    __slots__ = ("asked", "at_ns", "lent", "settled")

    def __init__(self, asked: Asked, at_ns: int, settled: bool) -> None:
        self.asked = asked
        self.at_ns = at_ns
        self.settled = settled
        self.lent = False


class ToolCalls:
    """The calls sampled in this chain, and which of them have an event.

    Some servers number calls from 0 in every answer: a call id belongs to the answer that used it last.
    """

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._given: dict[str, None] = {}  # ids of answers, the last ones
        self._settled: list[str] = []  # forgotten at the next answer, so that inputs are not kept for good
        self._reported: set[str] = set()  # reported before the answer that asked was complete
        self._runs: deque[_Ran] = deque(maxlen=_RUNS)  # reported, and no open call found for them yet
        self._lent: deque[str] = deque()  # ids of calls that are `lent`; the last `_RUNS`
        self.nameless = Nameless()

    def ask(self, message: dict[str, Any], at_ns: int, id: str) -> list[str]:
        """The calls that the sampled message `id` asks for can be answered from now on; their ids."""
        if self._settled:
            for settled in self._settled:
                if settled in self._open and self._open[settled].settled:
                    del self._open[settled]
            self._settled.clear()
        calls, dropped = self.nameless.ask(id, asked_in(message))
        for asked in dropped:
            self._open.pop(asked.id, None)
        if not calls:
            return []
        for asked in calls:
            early = asked.id in self._reported or self._ran_early(asked)
            self._reported.discard(asked.id)
            if asked.id in self._lent:  # used again: that one's run was its own
                self._lent.remove(asked.id)
            self._open[asked.id] = _Open(asked, at_ns, early)
            self._given[asked.id] = None
        if len(self._given) > _GIVEN:
            for old in list(self._given)[: _GIVEN // 4]:
                del self._given[old]
        return [asked.id for asked in calls]

    def report(self, call_id: str) -> bool:
        """This call has its event. False where no answer has given that id: it may come yet, and a framework
        makes ids up for calls that have none (then tell `report_run`, too)."""
        known = self._open.get(call_id)
        if known is None:
            self._reported.add(call_id)
            return False
        known.settled = True
        self._settled.append(call_id)
        return True

    def report_run(self, tool: str, input: Any, output: Any = None, *, named: bool = False) -> None:
        """A run of `tool` was reported by someone who knows no call id: the oldest open call asks for it. Of
        two agents that ask for the same at once it may be the other's: whose result comes first tells.

        Where none of that name does, the model may know the tool by another: the result that is sent for
        the call tells (see `answer`).

        Args:
            named: under an id that no answer has given: it is no call's that has an id.
        """
        for id, known in self._open.items():
            if named and not id.startswith(BY_NAME):
                continue
            if not known.settled and known.asked.tool == tool and _asks_for(known.asked.input, input):
                known.settled = known.lent = True
                self._lent.append(id)
                if len(self._lent) > _RUNS:
                    self._keep(self._lent[0])
                return
        self._runs.append(_Ran(tool, input, output, bool(self._open), named))

    def _keep(self, id: str) -> None:
        """The run that settled this call is its own."""
        self._lent.remove(id)
        self._settled.append(id)
        if (known := self._open.get(id)) is not None:
            known.lent = False

    def _take_back(self, asked: Asked) -> bool:
        """Whether a call that asks for the same had been settled by the run of this one."""
        for id in self._lent:
            other = self._open.get(id)
            if other is not None and other.asked.tool == asked.tool and other.asked.input == asked.input:
                self._lent.remove(id)
                other.settled = other.lent = False
                return True
        return False

    def _ran_early(self, asked: Asked) -> bool:
        """Whether it was run while the answer that asks for it still came."""
        for run in self._runs:
            if run.tool == asked.tool and run.may_be(asked) and _asks_for(asked.input, run.input):
                self._runs.remove(run)
                return True
        return False

    def _take_run(self, asked: Asked, result: Result) -> bool:
        """Whether a reported run is this call: it gave what is sent as its result, or was given what the
        call asks for and gave something that is in the result."""
        for run in [run for run in self._runs if run.late and run.may_be(asked)]:
            same = _says(result.output, run.output)
            fits = bool(asked.input) and _asks_for(asked.input, run.input)
            if (same and (fits or len(result_text(run.output)) >= _TELLING)) or (
                fits
                and not result.failed
                and len(result_text(run.output)) > 1
                and result_text(run.output) in result_text(result.output)
            ):
                self._runs.remove(run)
                return True
        return False

    def by_given_ids(self, results: list[Result], told: Iterable[Asked]) -> list[Result]:
        """The results, with the id that an answer gave in the place of one that the program made up.

        Some send an answer back with other ids (magentic its own, chatlas the item's for the call's): such
        a call, for which no answer asked, is the last open one that is for the same.

        Args:
            told: what new messages of the prompt ask for.
        """
        given: dict[str, str] = {}
        for asked in reversed(list(told)):
            if asked.id in self._given or asked.id in self._reported or asked.id.startswith(BY_NAME):
                continue
            for id, known in reversed(self._open.items()):
                if not known.settled and id not in given.values() and known.asked[1:] == asked[1:]:
                    given[asked.id] = id
                    break
        return [one._replace(call_id=given.get(one.call_id, one.call_id)) for one in results]

    def knows(self, result: Result) -> bool:
        """Whether an answer gave that id."""
        return result.call_id in self._open

    def answer(self, result: Result, at_ns: int) -> dict[str, Any] | None:
        """Payload of the derived `tool_call`; None where the call is unknown or has its event already."""
        known = self._open.get(result.call_id)
        if known is not None and known.lent:
            self._keep(result.call_id)
        if known is None or known.settled:
            return None
        known.settled = True
        self._settled.append(result.call_id)
        if self._lent and self._take_back(known.asked):
            return None
        if self._runs and self._take_run(known.asked, result):
            return None
        return {
            "tool": known.asked.tool,
            "input": known.asked.input,
            "error" if result.failed else "output": result.output,
            "duration_ms": round((at_ns - known.at_ns) / 1e6, 3),
            "call_id": result.call_id,
            "derived": True,
        }

    def reopen(self, call_id: str) -> None:
        """The event of `answer` was not written after all."""
        known = self._open.get(call_id)
        if known is not None:
            known.settled = False
            self._settled.remove(call_id)
