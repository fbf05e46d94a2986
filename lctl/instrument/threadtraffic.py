"""Threads and assistants that OpenAI keeps (Assistants API): what runs read and say that stands in no run.

Each request about them is a plain exchange, kept in every recording. Messages that are put into a thread
become part of the prompt of the run that reads them. The request that tells how a run has ended is in a
step of its own, with its tokens and the calls it asks for; what the run has said comes with the thread's
messages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lctl.instrument.attempts import Attempt
from lctl.instrument.background import answered
from lctl.instrument.codecs.assistants import (
    RUN,
    is_over,
    message_of,
    read_run,
    said_by,
)
from lctl.instrument.codecs.bodies import loads_or_none, objects
from lctl.instrument.codecs.model import ModelAnswer
from lctl.instrument.plain import PlainExchange
from lctl.instrument.recordings import recording_of
from lctl.instrument.threads import Ended
from lctl.record.recorder import Draft


class ThreadExchange(PlainExchange):
    """One request about an assistant, a thread, its messages or a run of it."""

    inline = 256  # polls, as of `Poll`
    _asked: bytes | None = None

    def begin(self, http: str, method: str, url: str, headers: Any, body: bytes | None) -> Attempt:
        self._asked = body
        return super().begin(http, method, url, headers, body)

    def drafts(
        self, first: int, attempt: Attempt, data: dict[str, Any], blob: dict[str, Any] | None
    ) -> list[Draft]:
        said = loads_or_none(b"".join(attempt.body)) if attempt.status == 200 else None
        if not isinstance(said, dict):
            return super().drafts(first, attempt, data, blob)
        kind, conversations = said.get("object"), recording_of(self._session).conversations
        threads, id = conversations.threads, str(said.get("id"))
        if kind == "thread.run" and id in conversations.begun and is_over(said):
            return self._ended(first, attempt, said)
        drafts = super().drafts(first, attempt, data, blob)
        if kind == "assistant":
            threads.note_assistant(said)
        elif kind == "thread" and attempt.method == "POST" and id not in threads.waiting:
            asked = loads_or_none(self._asked or b"")
            put = objects(asked.get("messages")) if isinstance(asked, dict) else []
            threads.waiting[id] = [message_of(message) for message in put]
        elif kind == "thread.message" and attempt.method == "POST":
            threads.waiting.setdefault(str(said.get("thread_id")), []).append(message_of(said))
        elif kind == "list" or kind == "thread.message":
            drafts += self._said(first + len(drafts), objects(said.get("data")) or [said])
        return drafts

    def _ended(self, first: int, attempt: Attempt, run: dict[str, Any]) -> list[Draft]:
        """The step in which a run has ended."""
        conversations = recording_of(self._session).conversations
        id = str(run["id"])
        request, leaf = conversations.begun[id]
        conversations.threads.note_assistant(run, by_run=True)
        answer = read_run(200, run)
        conversations.threads.ended[id] = Ended(request, leaf, first)
        verb = "cancel" if attempt.method == "POST" else "retrieve"
        asked = replace(request, model=request.model or answer.model)
        return answered(
            self._session, self._agent, self._step, first, attempt, answer, (f"{RUN}.{verb}", asked, leaf)
        )

    def _said(self, first: int, messages: list[dict[str, Any]]) -> list[Draft]:
        """The messages, below what they answer, of ended runs that nothing was known to have said."""
        conversations = recording_of(self._session).conversations
        runs: dict[str, list[dict[str, Any]]] = {}
        for message in messages:
            run = message.get("run_id")
            if run in conversations.threads.ended and message.get("role") == "assistant":
                runs.setdefault(run, []).append(message)
        drafts: list[Draft] = []
        for id, said in runs.items():
            ended = conversations.threads.ended.pop(id)
            said.sort(key=lambda message: message.get("created_at") or 0)
            thread = str(said[0].get("thread_id"))
            answer = ModelAnswer(messages=said_by(said, []))
            if conversations.is_tip(thread, ended.leaf):
                answer.conversation = thread
            made, _ = conversations.plan_answer(
                answer, ended.request, ended.leaf, first + len(drafts), self._agent, ended.step
            )
            drafts += made
        return drafts
