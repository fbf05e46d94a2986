"""Model calls without a network: the request is read as the wire capture reads it, the answer is given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from lctl.instrument.codecs import find
from lctl.instrument.codecs.model import ModelAnswer
from lctl.instrument.recordings import recording_of
from lctl.record.recorder import Draft
from lctl.session import LCTLSession

CHAT = "https://api.openai.com/v1/chat/completions"

Message = dict[str, Any]


def user(text: Any) -> Message:
    return {"role": "user", "content": text}


def assistant(text: Any, **more: Any) -> Message:
    return {"role": "assistant", "content": text, **more}


def system(text: Any) -> Message:
    return {"role": "system", "content": text}


def call(
    session: LCTLSession, messages: Iterable[Any], *answers: Message, model: str = "m", tools: Any = None
) -> str:
    """A model call with these messages, which are read as a client reads them; id of the prompt's last."""
    body: dict[str, Any] = {"model": model, "messages": [dict(message) for message in messages]}
    if tools:
        body["tools"] = tools
    found = find("POST", CHAT, {})
    assert found is not None
    codec, operation = found
    conversations = recording_of(session).conversations
    request = conversations.read_request(codec, operation, CHAT, orjson.dumps(body))
    leaf: list[str | None] = []
    planned: list[int] = []

    def begin(first: int) -> list[Draft]:
        planned[:] = [first]
        plan = conversations.plan_request(request, first, "main", None)
        leaf[:] = [plan.leaf]
        start = {"kind": "llm", "model": model, "prompt": plan.leaf}
        return [*plan.drafts, ("step_start", "main", start, None)]

    def end(first: int) -> list[Draft]:
        planned[:] = [first]
        return conversations.plan_answer(answer, request, leaf[0], first, "main", step)[0]

    step = session.emit_many(begin)
    if not step:
        conversations.rollback(planned[0])
    answer = ModelAnswer(messages=list(answers))
    if answers and step and not session.emit_many(end):
        conversations.rollback(planned[0])
    assert leaf[0] is not None
    return leaf[0]


def events(session: LCTLSession) -> list[Message]:
    return [orjson.loads(line) for line in session.lines()]


def told(session: LCTLSession) -> list[Message]:
    """Data of the message events so far."""
    return [event["data"] for event in events(session) if event["type"] == "message"]
