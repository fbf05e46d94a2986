"""Which answer a request gets: rules first, then the queue, each in the order it was written."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from lctl.testing.accepting import answer_of, check_times, given, listed
from lctl.testing.faults import Fault
from lctl.testing.replies import Answer, Reply
from lctl.testing.request import Request

Matches: TypeAlias = Callable[[Request], bool]


class Choice(NamedTuple):
    """What a request gets. `reply` None: nothing was written for it."""

    reply: Reply | None
    fault: Fault | None


@dataclass(slots=True, eq=False)
class _Entry:
    matches: Matches
    answer: Answer
    left: int | None  # None: any number of times


class Script:
    """Answers in the order written. Safe to use from the connections' threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[_Entry] = []
        self._queue: list[_Entry] = []
        self._struck: dict[tuple[str, bytes], int] = {}

    def add(self, answer: Answer, times: int | None, matches: Matches | None = None) -> None:
        """Append to the rules when `matches` is given, else to the queue."""
        check_times(times)
        with self._lock:
            if matches is None:
                self._queue.append(_Entry(_always, answer, times))
            else:
                self._rules.append(_Entry(matches, answer, times))

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()
            self._queue.clear()
            self._struck.clear()

    @property
    def pending(self) -> int:
        """Answers written for a number of times and not given that often yet."""
        with self._lock:
            return sum(entry.left or 0 for entry in (*self._rules, *self._queue))

    def choose(self, request: Request) -> Choice:
        """The answer of `request`, used up as far as it is limited. Raises what an answer function raises.

        A fault that only shapes an answer is taken together with the answer that comes after it.
        """
        fault = self._asked_for(request)
        if fault is not None and fault.replaces:
            return Choice(None, fault)
        for entries in (self._rules, self._queue):
            for entry in list(entries):
                found = self._take(entry, entries, request)
                if isinstance(found, Fault):
                    fault = found.over(fault)
                    if fault.replaces:
                        return Choice(None, fault)
                elif found is not None:
                    return Choice(found, found.fault.over(fault) if found.fault else fault)
        return Choice(None, fault)

    def _take(self, entry: _Entry, entries: list[_Entry], request: Request) -> Reply | Fault | None:
        if not entry.matches(request):
            return None
        with self._lock:
            if entry not in entries:  # another request took its last use
                return None
            if entry.left is not None:
                entry.left -= 1
                if entry.left <= 0:
                    entries[:] = [e for e in entries if e is not entry]
        answer = entry.answer
        if isinstance(answer, str):
            return Reply(answer)
        return answer if isinstance(answer, (Reply, Fault)) else given(answer(request))

    def _asked_for(self, request: Request) -> Fault | None:
        """The fault named by the request's own header, while it still strikes this very request."""
        text = request.headers.get("x-lctl-fault")
        if not text:
            return None
        fault = Fault.parse(text)
        with self._lock:
            struck = self._struck.get((text, request.raw), 0)
            self._struck[text, request.raw] = struck + 1
        return fault if fault.times is None or struck < fault.times else None


class Rule:
    """Answers for the requests that match; what `ModelServer.when` returns. Calls can be chained."""

    def __init__(self, script: Script, matches: Matches) -> None:
        self._script = script
        self._matches = matches

    def reply(self, answer: Any = None, /, *, times: int | None = None, **options: Any) -> Rule:
        """Answer matching requests like this, `times` times (None: always). Options are `Reply`'s."""
        self._script.add(answer_of(answer, options), times, self._matches)
        return self

    def script(self, answers: Iterable[Any]) -> Rule:
        """Answer matching requests with these, each once, in order."""
        for answer in listed(answers):
            self.reply(answer, times=answer.times if isinstance(answer, Fault) else 1)
        return self

    def fault(self, status: int | None = None, /, **options: Any) -> Rule:
        """Let matching requests fail; see `Fault`."""
        fault = Fault(status, **options)
        self._script.add(answer_of(fault, {}), fault.times, self._matches)
        return self


def matcher(
    model: str | None, contains: str | None, operation: str | None, where: Callable[[Request], object] | None
) -> Matches:
    """True for a request that satisfies everything given. `contains` ignores case."""
    wanted = contains.casefold() if contains is not None else None

    def matches(request: Request) -> bool:
        return (
            (model is None or request.model == model)
            and (operation is None or request.operation == operation)
            and (wanted is None or wanted in request.text.casefold())
            and (where is None or bool(where(request)))
        )

    return matches


def _always(request: Request) -> bool:
    return True
