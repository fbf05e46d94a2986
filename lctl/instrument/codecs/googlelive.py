"""Google's Live API: turns in, turns out, over one connection that keeps the conversation."""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.bodies import objects
from lctl.instrument.codecs.google import COUNTS, google_error, joined, tokens_of
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.live import News, size_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest

_KEY = "turn"  # one at a time
_COUNTS = {**COUNTS, "output": ("responseTokenCount", *COUNTS["output"])}
_SETTINGS = ("generationConfig", "realtimeInputConfig", "inputAudioTranscription", "outputAudioTranscription")


class GoogleLive:
    """Reads one connection to `BidiGenerateContent`. Its SDK writes some names with underscores."""

    def __init__(self, url: str) -> None:
        self._provider = provider_of(url, "google")
        self._setup: dict[str, Any] = {}
        self._messages: list[dict[str, Any]] = []
        self._heard: dict[str, Any] = {}  # of the user, that no turn of the model has answered
        self._parts: list[dict[str, Any]] = []  # of the turn under way
        self._spoken: list[str] = []
        self._is_under_way = False
        self._usage: dict[str, Any] | None = None

    def sent(self, event: dict[str, Any]) -> News:
        setup = event.get("setup")
        if isinstance(setup, dict):
            self._setup = setup
        content = _inside(event, "client_content", "clientContent")
        self._messages += [_content(turn, "user") for turn in objects(content.get("turns"))]
        said = _inside(event, "realtime_input", "realtimeInput")
        self._hear(said)
        results = _inside(event, "tool_response", "toolResponse")
        given = objects(_either(results, "function_responses", "functionResponses"))
        if given:
            self._messages.append({"role": "user", "parts": [{"functionResponse": one} for one in given]})
        return News()

    def received(self, event: dict[str, Any]) -> News:
        news = News()
        usage, content, call = event.get("usageMetadata"), event.get("serverContent"), event.get("toolCall")
        if isinstance(usage, dict):
            self._usage = usage
        if isinstance(content, dict):
            self._take(content, news)
        if isinstance(call, dict):
            self._begin(news)
            self._parts += [{"functionCall": one} for one in objects(call.get("functionCalls"))]
            self._end(news, "TOOL_CALL")
        if event.get("error") or ("code" in event and "message" in event):
            news.failure = google_error(400, event)
        return news

    def left(self, key: str) -> ModelAnswer:
        answer = self._answer(None)
        answer.complete = False
        return answer

    def _take(self, content: dict[str, Any], news: News) -> None:
        heard, spoken = content.get("inputTranscription"), content.get("outputTranscription")
        if isinstance(heard, dict):
            self._heard["text"] = self._heard.get("text", "") + str(heard.get("text") or "")
        turn = content.get("modelTurn")
        parts = objects(turn.get("parts")) if isinstance(turn, dict) else []
        if parts or isinstance(spoken, dict):
            self._begin(news)
            self._parts += parts
            if isinstance(spoken, dict):
                self._spoken.append(str(spoken.get("text") or ""))
        if content.get("interrupted"):
            self._end(news, "INTERRUPTED")
        elif content.get("turnComplete"):
            self._end(news, str(content.get("turnCompleteReason") or "STOP"))

    def _hear(self, said: dict[str, Any]) -> None:
        if isinstance(said.get("text"), str):
            self._messages.append({"role": "user", "parts": [{"text": said["text"]}]})
        chunks = objects(_either(said, "media_chunks", "mediaChunks"))
        for chunk in [said.get("audio"), said.get("video"), *chunks]:
            if isinstance(chunk, dict):
                kind = str(chunk.get("mimeType") or chunk.get("mime_type"))
                sizes = self._heard.setdefault("sizes", {})
                sizes[kind] = sizes.get(kind, 0) + size_of(str(chunk.get("data") or ""))

    def _begin(self, news: News) -> None:
        if self._is_under_way:
            return
        self._is_under_way = True
        if self._heard:
            parts = _counted(self._heard.get("sizes", {}))
            text = self._heard.get("text")
            self._messages.append({"role": "user", "parts": [*([{"text": text}] if text else []), *parts]})
            self._heard = {}
        model = self._setup.get("model")
        request = ModelRequest(
            provider=self._provider,
            operation="live",
            kind="llm",
            model=model.rpartition("/")[2] if isinstance(model, str) else None,
            messages=list(self._messages),
            tools=self._setup.get("tools") or None,
            params={name: self._setup[name] for name in _SETTINGS if name in self._setup},
            stream=True,
        )
        system = self._setup.get("systemInstruction")
        if isinstance(system, dict):
            request.instructions = True
            request.messages.insert(0, {"role": "system", "parts": objects(system.get("parts"))})
        news.begun[_KEY] = request

    def _end(self, news: News, reason: str) -> None:
        if not self._is_under_way:
            return
        answer = self._answer(reason)
        self._messages += answer.messages
        self._is_under_way = False
        news.ended[_KEY] = answer

    def _answer(self, reason: str | None) -> ModelAnswer:
        parts, sizes = [], dict[str, int]()
        for part in self._parts:
            sound = part.get("inlineData")
            if isinstance(sound, dict):
                kind = str(sound.get("mimeType"))
                sizes[kind] = sizes.get(kind, 0) + size_of(str(sound.get("data") or ""))
            else:
                parts.append(part)
        spoken = "".join(self._spoken)
        if spoken:
            parts.append({"text": spoken})
        parts = [*joined(parts), *_counted(sizes)]
        usage, self._usage, self._parts, self._spoken = self._usage, None, [], []
        answer = ModelAnswer(finish_reason=reason, usage=usage, tokens=tokens_of(usage, _COUNTS))
        if parts:
            answer.messages, answer.finish_reasons = [{"role": "model", "parts": parts}], [reason]
        return answer


def _counted(sizes: dict[str, int]) -> list[dict[str, Any]]:
    return [{"inlineData": {"mimeType": kind, "bytes": size}} for kind, size in sizes.items()]


def _content(turn: dict[str, Any], role: str) -> dict[str, Any]:
    return turn if isinstance(turn.get("role"), str) else {**turn, "role": role}


def _either(said: dict[str, Any], snake: str, camel: str) -> Any:
    value = said.get(snake)
    return said.get(camel) if value is None else value


def _inside(event: dict[str, Any], snake: str, camel: str) -> dict[str, Any]:
    value = _either(event, snake, camel)
    return value if isinstance(value, dict) else {}
