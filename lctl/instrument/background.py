"""Responses and interactions begun in the background (`background=True`), and predictions of Replicate's:
answers come by later requests.

The program asks for it by its id until it is there, or as a stream. Each such request is a plain
exchange, kept in every recording. The one that brings the answer is in a step of its own, in which the answer
hangs on the prompt of the call that began it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lctl.instrument.attempts import Attempt
from lctl.instrument.callevents import STATUSES, add_answer, attempt_error, outcome_of, start_data
from lctl.instrument.codecs.interactions import Interactions
from lctl.instrument.codecs.openai import OpenAI
from lctl.instrument.codecs.replicate import PREDICTIONS, Replicate
from lctl.instrument.codecs.responses import UNDER_WAY
from lctl.instrument.plain import PlainExchange
from lctl.instrument.recordings import recording_of
from lctl.record.recorder import Draft

if TYPE_CHECKING:
    from lctl.instrument.codecs.model import Codec, ModelAnswer, ModelRequest
    from lctl.session import LCTLSession


class Poll(PlainExchange):
    """One request for a response, or to cancel it."""

    # Polls that bring nothing new differ in nothing: what they say is in the log once.
    inline = 256

    def __init__(self, session: LCTLSession, response_id: str, method: str) -> None:
        super().__init__(session)
        self._id = response_id
        self._verb = "retrieve" if method == "GET" else "cancel"

    def drafts(
        self, first: int, attempt: Attempt, data: dict[str, Any], blob: dict[str, Any] | None
    ) -> list[Draft]:
        begun = recording_of(self._session).conversations.begun.get(self._id)
        answer = None if begun is None else _answer(attempt, begun[0].operation)
        if begun is None or answer is None:
            return super().drafts(first, attempt, data, blob)
        return self._answered(first, attempt, answer, *begun)

    def _answered(
        self, first: int, attempt: Attempt, answer: ModelAnswer, request: ModelRequest, leaf: str | None
    ) -> list[Draft]:
        """The step in which the answer came."""
        begun = recording_of(self._session).conversations.begun
        asked = begun[self._id]
        answer.response_id = next(name for name, one in begun.items() if one is asked)  # not where it is sent
        verb = f"{request.operation}.{self._verb}"
        return answered(self._session, self._agent, self._step, first, attempt, answer, (verb, request, leaf))


def answered(
    session: LCTLSession,
    agent: str,
    parent: int | None,
    first: int,
    attempt: Attempt,
    answer: ModelAnswer,
    begun: tuple[str, ModelRequest, str | None],
) -> list[Draft]:
    """The step in which the answer came that was asked for before; its first event gets seq `first`.

    Args:
        parent: the step that the request was made in.
        begun: the operation of the step; what was asked, and the last message of its prompt.
    """
    operation, request, leaf = begun
    conversations = recording_of(session).conversations
    cancelled = answer.finish_reason == "cancelled"
    outcome = "cancelled" if cancelled else outcome_of(attempt, answer, None)
    messages, ids = conversations.plan_answer(
        answer, request, leaf, first + 2, agent, first, status=STATUSES.get(outcome, "complete")
    )
    texts = {said["message_id"]: said for kind, _, said, _ in messages if kind == "message"}
    redactor = session.redactor
    if redactor is not None and attempt.is_pieced:
        attempt.conceal(redactor, texts.values())
    asked = replace(request, operation=operation, stream=attempt.is_stream, input=None)
    name = conversations.toolsets.name(request.tools)
    start = start_data(asked, leaf, None if name is None else {"tools": name})
    exchange = {"kind": "http", **attempt.data(texts, True)}
    end: dict[str, Any] = {"outcome": outcome}
    add_answer(end, answer, ids)
    end["duration_ms"] = exchange["duration_ms"]
    error = attempt_error(attempt, answer)
    return [
        ("step_start", agent, start, parent),
        ("exchange", agent, exchange, first),
        *messages,
        *([] if error is None else [("error", agent, error, first)]),
        ("step_end", agent, end, first),
    ]


_CODECS: dict[str, Codec] = {"interactions": Interactions(), PREDICTIONS: Replicate()}


def _answer(attempt: Attempt, operation: str) -> ModelAnswer | None:
    """What a poll brings; None where the response is still under way, or nothing whole came."""
    if attempt.status != 200 or attempt.error is not None:
        return None
    codec = _CODECS.get(operation) or OpenAI()
    answer = codec.read_answer(operation, attempt.status, attempt.headers, attempt.body)
    is_final = answer.finish_reason is not None and answer.finish_reason not in UNDER_WAY
    return answer if answer.complete and is_final else None


__all__ = ["Poll", "answered"]
