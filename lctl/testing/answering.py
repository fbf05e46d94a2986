"""From a request to what is sent back: the script first, then the checks, then the wire format."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson

from lctl.clock import Clock
from lctl.testing.connection import Outgoing
from lctl.testing.faults import Fault
from lctl.testing.replies import Reply
from lctl.testing.request import Request
from lctl.testing.script import Script
from lctl.testing.seeded import Seeded
from lctl.testing.threads import Stored, continues, is_kept, kept, not_found
from lctl.testing.wire import (
    bedrock,
    chat,
    cohere,
    google,
    interactions,
    invoke,
    messages,
    ollama,
    others,
    responses,
)
from lctl.testing.wire.call import Call, Ids
from lctl.testing.wire.checks import problem
from lctl.testing.wire.errors import error_body, error_event
from lctl.testing.wire.prompts import PROVIDERS

_OPERATIONS = (
    (re.compile(r"/chat/completions$"), "chat.completions"),
    (re.compile(r"/responses$"), "responses"),
    (re.compile(r"/embeddings$"), "embeddings"),
    (re.compile(r"/messages/count_tokens$"), "messages.count_tokens"),
    (re.compile(r"/messages$"), "messages"),
    (re.compile(r"/completions$"), "completions"),
    (re.compile(r":(stream)?[gG]enerateContent$"), "generate_content"),
    (re.compile(r"/interactions$"), "interactions"),
    (re.compile(r":countTokens$"), "generate_content.count_tokens"),
    (re.compile(r":(embedContent|batchEmbedContents)$"), "embed_content"),
    (re.compile(r"/model/[^/]+/converse(-stream)?$"), "converse"),
    (re.compile(r"/model/[^/]+/invoke(-with-response-stream)?$"), "invoke_model"),
    (re.compile(r"/api/chat$"), "ollama.chat"),
    (re.compile(r"/api/generate$"), "ollama.generate"),
    (re.compile(r"/v2/chat$"), "cohere.chat"),
    (re.compile(r"/models(/[^/]+)?$|/api/(show|tags)$"), "models"),
)
_WIRES: Mapping[str, Any] = {
    "chat.completions": chat,
    "responses": responses,
    "completions": others,
    "messages": messages,
    "generate_content": google,
    "interactions": interactions,
    "converse": bedrock,
    "invoke_model": invoke,
    "ollama.chat": ollama,
    "ollama.generate": ollama,
    "cohere.chat": cohere,
}


class Answering:
    """The provider behind the port. Safe to use from the connections' threads."""

    def __init__(self, script: Script, seeded: Seeded, *, strict: bool, clock: Clock) -> None:
        self._script = script
        self._seeded = seeded
        self._strict = strict
        self._clock = clock
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._seen: dict[tuple[str, bytes], int] = {}
        self._stored: dict[str, Stored] = {}

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in order of arrival."""
        with self._lock:
            return list(self._requests)

    def forget(self) -> None:
        """Drop requests and stored responses."""
        with self._lock:
            self._requests.clear()
            self._seen.clear()
            self._stored.clear()

    def answer(
        self, method: str, path: str, headers: Mapping[str, str], raw: bytes
    ) -> tuple[Outgoing, bytes]:
        """What is sent back, and 32 bytes that are the same for the nth such request of any run."""
        request, times = self._receive(method, path, headers, raw)
        digest = self._seeded.digest(request.path, raw.hex(), times)
        ids = Ids(digest)  # of the HTTP layer; the answer's own ids come from another one
        out = Outgoing(headers=_headers(request, ids))
        try:
            self._fill(out, request, digest, ids)
        except Exception as error:  # a reply function of the user's: say so to whoever called the model
            said = f"the model server's answer failed: {type(error).__name__}: {error}"
            self._fail(out, request, Fault(500, message=said, headers={"x-should-retry": "false"}), ids)
        return out, digest

    def _receive(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> tuple[Request, int]:
        """The request, noted, and how often the very same one came before."""
        clean = path.partition("?")[0].rstrip("/")
        operation = next((name for pattern, name in _OPERATIONS if pattern.search(clean)), "")
        try:
            body = orjson.loads(raw) if raw else {}
        except orjson.JSONDecodeError:
            body = {}
        body = body if isinstance(body, dict) else {}
        with self._lock:
            times = self._seen.get((path, raw), 0)
            self._seen[path, raw] = times + 1
            earlier, offered = self._stored.get(str(continues(body)), ((), ()))
            number = len(self._requests) + 1
            at = self._clock.now()
            request = Request(number, method, path, headers, body, raw, at, operation, earlier, offered)
            self._requests.append(request)
        return request, times

    def _fill(self, out: Outgoing, request: Request, digest: bytes, ids: Ids) -> None:
        choice = self._script.choose(request)
        out.fault = choice.fault
        if choice.fault is not None and choice.fault.replaces:
            if choice.fault.status is not None:
                self._fail(out, request, choice.fault, ids)
            return
        refused = self._refusal(request, choice.reply)
        if refused is not None:
            self._fail(out, request, refused, ids)
            return
        if request.operation in _WIRES:
            replies = self._replies(request, choice.reply)
            self._speak(out, Call(request, replies, Ids(digest + b"answer"), int(time.time())))
            out.error_event = partial(
                error_event, request.operation, out.fault or Fault(), ids.make("req_", 24)
            )
        else:
            out.body = orjson.dumps(self._other(request))

    def _refusal(self, request: Request, reply: Reply | None) -> Fault | None:
        if not request.operation:
            return Fault(
                404, message=f"Unknown request URL: {request.method} {request.path}.", code="unknown_url"
            )
        previous = continues(request.body)
        if previous is not None and not request.earlier:
            return not_found(request, previous)
        wrong = problem(request)
        if wrong is not None:
            return Fault(400, message=wrong)
        if self._strict and reply is None and request.operation in _WIRES:
            return Fault(
                400,
                message=f"strict model server: nothing answers {request.path}: {request.last_text[:80]!r}",
            )
        return None

    def _replies(self, request: Request, reply: Reply | None) -> list[Reply]:
        """One for each choice the request asks for."""
        count = request.body.get("n")
        choices = range(count if isinstance(count, int) and count > 0 else 1)
        return [self._seeded.reply(request, n) if reply is None else reply.nth(n) for n in choices]

    def _speak(self, out: Outgoing, call: Call) -> None:
        wire, request = _WIRES[call.request.operation], call.request
        out.headers |= call.reply.headers
        if is_kept(request):
            body = wire.complete(call.copy())
            with self._lock:
                self._stored[body["id"]] = kept(request, body)
        if request.stream:
            out.headers["content-type"] = getattr(wire, "CONTENT_TYPE", "text/event-stream; charset=utf-8")
            out.events = wire.stream(call)
        else:
            out.body = orjson.dumps(wire.complete(call))

    def _other(self, request: Request) -> dict[str, Any]:
        if request.operation == "embeddings":
            return others.embed(request, self._seeded.seed)
        if request.operation == "models":
            return others.models(request, created=1_735_689_600)
        if request.operation == "embed_content":
            return google.embed(request, self._seeded.seed)
        if request.operation == "generate_content.count_tokens":
            return google.count(request)
        return messages.count_tokens(request)

    def _fail(self, out: Outgoing, request: Request, fault: Fault, ids: Ids) -> None:
        out.status = fault.status or 500
        if fault.body is not None:
            out.headers["content-type"] = "text/plain; charset=utf-8"
            out.body = fault.body.encode()
        else:
            out.body = orjson.dumps(error_body(request.provider, out.status, fault, ids.make("req_", 24)))
        if fault.retry_after is not None:
            out.headers["retry-after"] = f"{fault.retry_after:g}"
            out.headers["retry-after-ms"] = f"{max(1, round(fault.retry_after * 1000))}"
        out.headers |= fault.headers


def _headers(request: Request, ids: Ids) -> dict[str, str]:
    """The headers an SDK or a debugger reads."""
    if request.operation in PROVIDERS:
        return {"content-type": "application/json", "x-amzn-requestid": ids.make("", 32, hex=True)}
    if request.provider == "anthropic":
        return {
            "content-type": "application/json",
            "request-id": ids.make("req_011", 21),
            "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
            "anthropic-ratelimit-requests-limit": "4000",
            "anthropic-ratelimit-requests-remaining": "3999",
        }
    return {
        "content-type": "application/json",
        "x-request-id": ids.make("req_", 32, hex=True),
        "openai-version": "2020-10-01",
        "openai-organization": "test",
        "openai-processing-ms": "12",
        "x-ratelimit-limit-requests": "5000",
        "x-ratelimit-remaining-requests": "4999",
    }
