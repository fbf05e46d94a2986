"""The model calls of a live session: each response is a step, written where it begins and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lctl.clock import monotonic_ns
from lctl.instrument.callevents import STATUSES, add_answer, start_data, status_error
from lctl.instrument.recordings import recording_of
from lctl.record.recorder import Draft

if TYPE_CHECKING:
    from lctl.instrument.codecs.live import LiveReader, News
    from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
    from lctl.session import LCTLSession


@dataclass(slots=True)
class _Open:
    """A response under way."""

    request: ModelRequest
    leaf: str | None
    step: int
    agent: str
    started_ns: int


class LiveCalls:
    """Of one connection."""

    def __init__(self, session: LCTLSession, reader: LiveReader) -> None:
        self._session = session
        self._reader = reader
        self._open: dict[str, _Open] = {}

    def sent(self, event: dict[str, Any]) -> None:
        self._take(self._reader.sent(event))

    def received(self, event: dict[str, Any]) -> None:
        self._take(self._reader.received(event))

    def ended(self) -> None:
        """The connection is over: what came of responses under way is all there is of them."""
        for key in list(self._open):
            self._end(key, self._reader.left(key))

    def _take(self, news: News) -> None:
        for key, request in news.begun.items():
            self._begin(key, request)
        for key, answer in news.ended.items():
            self._end(key, answer)
        if news.failure is not None:
            self._fail(news.failure)

    def _begin(self, key: str, request: ModelRequest) -> None:
        frame = self._session.frame()
        conversations = recording_of(self._session).conversations
        planned: list[int] = []

        def build(first: int) -> list[Draft]:
            planned[:] = [first]
            plan = conversations.plan_request(request, first, frame.agent, frame.step)
            drafts = plan.drafts
            step = first + len(drafts)
            tools = conversations.tools_fields(request) if request.tools else None
            data = start_data(request, plan.leaf, tools)
            drafts.append(("step_start", frame.agent, data, frame.step))
            self._open[key] = _Open(request, plan.leaf, step, frame.agent, monotonic_ns())
            return drafts

        if not self._session.emit_many(build) and planned:
            conversations.rollback(planned[0])
            self._open.pop(key, None)

    def _end(self, key: str, answer: ModelAnswer) -> None:
        call = self._open.pop(key, None)
        if call is None:
            return
        conversations = recording_of(self._session).conversations
        outcome = "error" if answer.error else "success" if answer.complete else "cancelled"
        planned: list[int] = []

        def build(first: int) -> list[Draft]:
            planned[:] = [first]
            drafts, ids = conversations.plan_answer(
                answer,
                call.request,
                call.leaf,
                first,
                call.agent,
                call.step,
                status=STATUSES.get(outcome, "complete"),
            )
            end: dict[str, Any] = {"outcome": outcome}
            add_answer(end, answer, ids)
            end["duration_ms"] = (monotonic_ns() - call.started_ns) // 1000 / 1000
            if answer.error is not None:
                drafts.append(("error", call.agent, status_error(answer.error), call.step))
            drafts.append(("step_end", call.agent, end, call.step))
            return drafts

        if not self._session.emit_many(build) and planned:
            conversations.rollback(planned[0])

    def _fail(self, failure: dict[str, Any]) -> None:
        """What was refused began no response."""
        frame = self._session.frame()
        drafts: list[Draft] = [("error", frame.agent, status_error(failure), frame.step)]
        self._session.emit_many(lambda first: drafts)
