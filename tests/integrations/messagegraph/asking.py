"""What a client asks with a graph, and what the log says of it."""

from __future__ import annotations

import json
from typing import Any

from lctl.conversation.identity import identity
from lctl.session import LCTLSession
from lctl.testing import ModelServer

WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def events(session: LCTLSession) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.lines()]


def kinds(session: LCTLSession) -> list[str]:
    return [event["type"] for event in events(session)]


def ask(client: Any, graph: Any, **options: Any) -> Any:
    return client.chat.completions.create(model="gpt-4o", messages=graph, **options)


def said(client: Any, graph: Any, **options: Any) -> Any:
    return ask(client, graph, **options).choices[0].message


def starts(session: LCTLSession) -> list[dict[str, Any]]:
    return [event["data"] for event in events(session) if event["type"] == "step_start"]


def check_prompts(session: LCTLSession, models: ModelServer) -> None:
    """Each request, as the server got it, is the path to its step's prompt, message by message."""
    prompts = [data["prompt"] for data in starts(session)]
    assert len(prompts) == len(models.requests)
    for prompt, request in zip(prompts, models.requests, strict=True):
        sent = request.body["messages"]
        if request.body.get("system"):
            sent = [{"role": "system", "content": request.body["system"]}, *sent]
        assert [identity(m) for m in session.tree.transcript(prompt)] == [identity(m) for m in sent]
