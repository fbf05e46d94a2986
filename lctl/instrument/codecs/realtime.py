"""OpenAI's Realtime API: a conversation of items that the provider keeps, and responses to it.

Items are those of the Responses API, and form messages as there. What was heard is told by its transcript,
where one is made.
"""

from __future__ import annotations

from typing import Any

from lctl.conversation.items import assistant, own_message
from lctl.instrument.codecs.bodies import objects, read_error
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.live import News, size_of, without_sound
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.usage import read_tokens

_PARAMS = ("output_modalities", "modalities", "max_output_tokens", "temperature", "tool_choice", "voice")
_SAID = frozenset({"response.output_text.delta", "response.text.delta"})
_SPOKEN = frozenset({"response.output_audio_transcript.delta", "response.audio_transcript.delta"})
_HEARD = frozenset({"response.output_audio.delta", "response.audio.delta"})
_TRANSCRIBED = "conversation.item.input_audio_transcription."


class Realtime:
    """Reads one connection to `/realtime`.

    Args:
        model: that the URL names.
    """

    def __init__(self, url: str, model: str | None) -> None:
        self._provider = provider_of(url, "openai")
        self._model = model
        self._session: dict[str, Any] = {}
        self._items: dict[str, dict[str, Any]] = {}  # in their order
        self._answers: dict[str, list[dict[str, Any]]] = {}  # items of a response, by the id of its first one
        self._asked: list[dict[str, Any]] = []  # `response.create` that nothing has answered
        self._waiting: tuple[str, dict[str, Any]] | None = None  # a response that is to begin
        self._pieces: dict[str, dict[str, list[str]]] = {}  # of responses under way
        self._sounds: dict[str, int] = {}  # bytes of what an item says
        self._unheard: set[str] = set()  # items whose transcript is to come

    def sent(self, event: dict[str, Any]) -> News:
        if event.get("type") == "response.create":
            asked = event.get("response")
            self._asked.append(asked if isinstance(asked, dict) else {})
        return News()

    def received(self, event: dict[str, Any]) -> News:
        kind, news = str(event.get("type")), News()
        response, item = event.get("response"), event.get("item")
        if kind in ("session.created", "session.updated") and isinstance(event.get("session"), dict):
            self._session = event["session"]
        elif kind.startswith("conversation.item.") and isinstance(item, dict):
            self._note(item)
        elif kind == "conversation.item.deleted":
            self._items.pop(str(event.get("item_id")), None)
        elif kind.startswith(_TRANSCRIBED):
            self._transcribed(kind, event)
            self._begin_waiting(news, only_heard=True)
        elif kind == "response.created" and isinstance(response, dict):
            self._begin_waiting(news)
            self._waiting = str(response.get("id")), response
            self._pieces[str(response.get("id"))] = {"text": [], "spoken": []}
            self._begin_waiting(news, only_heard=True)
        elif kind == "response.done" and isinstance(response, dict):
            self._begin_waiting(news)
            news.ended[str(response.get("id"))] = self._answer(response)
        elif kind == "error":
            self._asked = self._asked[1:]
            news.failure = read_error(400, event)
        else:
            self._piece(kind, event)
        return news

    def left(self, key: str) -> ModelAnswer:
        pieces = self._pieces.pop(key, {})
        parts = []
        if pieces.get("text"):
            parts.append({"type": "output_text", "text": "".join(pieces["text"])})
        if pieces.get("spoken"):
            parts.append({"type": "output_audio", "transcript": "".join(pieces["spoken"])})
        said = {"type": "message", "role": "assistant", "content": parts}
        return ModelAnswer(response_id=key, complete=False, messages=[assistant([said])] if parts else [])

    # -- what the conversation holds ---------------------------------------------------------

    def _note(self, item: dict[str, Any]) -> None:
        id = str(item.get("id"))
        known = self._items.get(id)
        told = _told(item, self._sounds.get(id))
        if known is not None and known.get("role") == "user":
            told = {**told, "content": _heard(objects(known.get("content")), objects(told.get("content")))}
        self._items[id] = told
        unheard = any(
            part.get("type") == "input_audio" and not part.get("transcript")
            for part in objects(told.get("content"))
        )
        if unheard and known is None and self._transcribes():
            self._unheard.add(id)

    def _transcribes(self) -> bool:
        sound = self._session.get("audio")
        heard = sound.get("input") if isinstance(sound, dict) else None
        asked = heard.get("transcription") if isinstance(heard, dict) else None
        return bool(asked or self._session.get("input_audio_transcription"))

    def _transcribed(self, kind: str, event: dict[str, Any]) -> None:
        id, at = str(event.get("item_id")), event.get("content_index") or 0
        if kind.endswith(".failed"):
            self._unheard.discard(id)
        if not kind.endswith(".completed"):
            return
        self._unheard.discard(id)
        item = self._items.get(id)
        parts = objects(item.get("content")) if item is not None else []
        if item is not None and isinstance(at, int) and at < len(parts):
            parts[at] = {**parts[at], "transcript": event.get("transcript")}
            self._items[id] = {**item, "content": parts}

    def _piece(self, kind: str, event: dict[str, Any]) -> None:
        delta, pieces = event.get("delta"), self._pieces.get(str(event.get("response_id")))
        if not isinstance(delta, str):
            return
        if kind in _HEARD:
            id = str(event.get("item_id"))
            self._sounds[id] = self._sounds.get(id, 0) + size_of(delta)
        elif pieces is not None and (kind in _SAID or kind in _SPOKEN):
            pieces["text" if kind in _SAID else "spoken"].append(delta)

    # -- responses ---------------------------------------------------------------------------

    def _begin_waiting(self, news: News, *, only_heard: bool = False) -> None:
        """A response begins when what it answers is known in words, or at the latest when it ends."""
        if self._waiting is None or (only_heard and self._unheard):
            return
        (id, response), self._waiting = self._waiting, None
        self._unheard.clear()
        news.begun[id] = self._request(response)

    def _request(self, response: dict[str, Any]) -> ModelRequest:
        asked = self._asked.pop(0) if self._asked else {}
        said = {**self._session, **asked}
        model = said.get("model") or self._model
        request = ModelRequest(
            provider=self._provider,
            operation="realtime",
            kind="llm",
            model=model if isinstance(model, str) else None,
            tools=said.get("tools") or None,
            params={
                name: value
                for name in _PARAMS
                if (value := asked.get(name, response.get(name, self._session.get(name)))) is not None
            },
            stream=True,
        )
        given = asked.get("input")
        if isinstance(given, list):
            request.messages = [message for item in objects(given) for message in _messages([_told(item)])]
        else:
            request.messages = self._messages()
        instructions = said.get("instructions")
        if instructions:
            request.instructions = True
            request.messages.insert(0, {"role": "system", "content": instructions})
        return request

    def _messages(self) -> list[dict[str, Any]]:
        inside = {item.get("id") for items in self._answers.values() for item in items}
        messages: list[dict[str, Any]] = []
        for id, item in self._items.items():
            if id in self._answers:
                messages.append(assistant(self._answers[id]))
            elif id not in inside and item.get("status") != "in_progress":
                messages += _messages([item])
        return messages

    def _answer(self, response: dict[str, Any]) -> ModelAnswer:
        id, status, usage = response.get("id"), response.get("status"), response.get("usage")
        self._pieces.pop(str(id), None)
        details = response.get("status_details")
        details = details if isinstance(details, dict) else {}
        output = [
            _told(item, self._sounds.get(str(item.get("id")))) for item in objects(response.get("output"))
        ]
        if output and response.get("conversation_id", "") is not None:  # one beside the conversation has none
            self._items |= {str(item.get("id")): item for item in output}
            self._answers[str(output[0].get("id"))] = output
        reason = details.get("reason")
        answer = ModelAnswer(
            response_id=id if isinstance(id, str) else None,
            finish_reason=f"{status}:{reason}" if reason else status if isinstance(status, str) else None,
            usage=usage if isinstance(usage, dict) else None,
            tokens=read_tokens(usage),
            complete=status != "cancelled",
        )
        if output:
            answer.messages, answer.finish_reasons = [assistant(output)], [answer.finish_reason]
        if status == "failed":
            answer.error = read_error(200, details)
        return answer


def _told(item: dict[str, Any], size: int | None = None) -> dict[str, Any]:
    """An item without its sound, and without what is always the same of it."""
    told = {key: value for key, value in without_sound(item).items() if key != "object"}
    parts = objects(told.get("content"))
    if parts:
        told["content"] = [
            {key: value for key, value in part.items() if value is not None}
            | ({"bytes": size} if size and "audio" in str(part.get("type")) else {})
            for part in parts
        ]
    return told


def _heard(known: list[dict[str, Any]], told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts as they are told again, with what was transcribed meanwhile."""
    return [
        part if at >= len(known) or part.get("transcript") else {**known[at], **part}
        for at, part in enumerate(told)
    ]


def _messages(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for item in items:
        own = own_message(item)
        own = assistant([item]) if own is None else own
        found.append({key: value for key, value in own.items() if key not in ("id", "type", "status")})
    return found
