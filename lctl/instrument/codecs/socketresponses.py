"""OpenAI's Responses API over a WebSocket: requests as of HTTP, and the events of their streams."""

from __future__ import annotations

from typing import Any

from lctl.guard import guard
from lctl.instrument.codecs import responses
from lctl.instrument.codecs.bodies import read_error
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.live import News
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest

_FINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})


class SocketResponses:
    """Reads one connection to `/responses`: one response after the other."""

    def __init__(self, url: str) -> None:
        self._provider = provider_of(url, "openai")
        self._count = 0
        self._events: list[dict[str, Any]] = []

    def sent(self, event: dict[str, Any]) -> News:
        news = News()
        if event.get("type") == "response.create":
            with guard("a response asked for over a WebSocket"):
                news.begun[self._key(next_one=True)] = self._request(event)
        return news

    def received(self, event: dict[str, Any]) -> News:
        news = News()
        self._events.append(event)
        if event.get("type") in _FINAL:
            news.ended[self._key()] = self.left(self._key())
        elif event.get("type") == "error":
            answer = self.left(self._key())
            answer.error, answer.complete = read_error(int(event.get("status") or 400), event), False
            news.ended[self._key()] = answer
        return news

    def left(self, key: str) -> ModelAnswer:
        events, self._events = self._events, []
        answer = responses.read_events(events, False)
        if answer.error is not None:
            answer.error["status"] = 200
        return answer

    def _key(self, *, next_one: bool = False) -> str:
        self._count += next_one
        return str(self._count)

    def _request(self, event: dict[str, Any]) -> ModelRequest:
        document = {name: value for name, value in event.items() if name != "type"}
        request = responses.read_request(document, self._provider)
        request.stream = True
        return request
