"""A request as recorded and as asked now, in one form: to be compared, and to be shown.

The hash of the body decides nearly always. Where it differs (a secret that the log does not hold, an
idempotency key in the body) the two are compared by what the model reads: messages, tools, parameters,
each after redaction, as the recorded ones were redacted before they were written.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import orjson

from lctl.conversation.blobs import take_blobs
from lctl.conversation.identity import canonical, identity
from lctl.conversation.node import RESERVED
from lctl.instrument import codecs
from lctl.instrument.codecs.model import ModelRequest
from lctl.instrument.plain import MOST_SENT
from lctl.rerun.settings import DUMMY_KEY, SCRATCH
from lctl.rerun.tape.entries import Entry
from lctl.rerun.tape.tape import Tape
from lctl.session.border import WireRequest, digest_of
from lctl.session.border import settled as unchancy
from lctl.session.redaction.redact import Redactor
from lctl.state.messages import reasoning_of, text_of, tool_calls_of, tool_results_of

#: Fields of a body that are new in each run and change nothing.
_VOLATILE = frozenset(
    {"idempotency_key", "prompt_cache_key", "request_id", "client_request_id", "trace_id", "traceparent"}
)
#: The digits of a placeholder are keyed anew in each run; and a rerun has other secrets, if any.
_PLACEHOLDER = re.compile(rf"\[redacted:[\w-]+(?::[0-9a-f]{{4}})?\]|{DUMMY_KEY}")
_SECRET = "[redacted]"
#: Where an object is in memory, as its `repr` says it: elsewhere in each run.
_ADDRESS = re.compile(r"(?<= at )0x[0-9a-f]{6,16}(?=>)")
#: The folder that a rerun's temporary files are in, within the one they were in when recorded.
_MOVED = re.compile(rf"(?:/|\\+){SCRATCH}[a-z0-9_]{{8}}")
#: Google's and Amazon's.
_MODEL_IN_URL = re.compile(r"/(?:models|tunedModels|model)/[^/?]+(?::|/(?:converse|invoke))")
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


class Canonical:
    """What is compared of a request.

    Attributes:
        head: operation, model, parameters, tools, input: by name.
        messages: the prompt, without what the log adds.
        goes_on: from an answer that the provider keeps; the messages are the newest ones only.
    """

    __slots__ = ("_digests", "goes_on", "head", "messages")

    def __init__(self, head: dict[str, Any], messages: list[dict[str, Any]], goes_on: bool = False) -> None:
        self.goes_on = goes_on
        self.head = head
        self.messages = messages
        self._digests: list[bytes] | None = None

    @property
    def digests(self) -> list[bytes]:
        if self._digests is None:
            self._digests = [identity(message) for message in self.messages]
        return self._digests

    def same(self, other: Canonical) -> bool:
        return self.head == other.head and self.digests == other.digests

    def text(self) -> str:
        """The same of all that are the `same`."""
        try:
            messages = [canonical(message) for message in self.messages]
        except (TypeError, RecursionError):  # nested deeper than `identity` looks
            messages = self.messages
        return orjson.dumps([self.head, messages], option=_SORTED).decode()

    def words(self) -> list[str]:
        """Of the messages; of a request without any, of everything."""
        lines = [line for message in self.messages for line in _told(message)[1:]]
        return " ".join(lines or self.lines()).split()

    def lines(self) -> list[str]:
        """As a person reads it, for a diff."""
        lines: list[str] = []
        for name, value in self.head.items():
            lines += _named(name, value)
        for message in self.messages:
            lines += _told(message)
        return lines


class Comparer:
    """Brings requests into canonical form. One per tape; keeps what it has read."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._redactor = Redactor()
        self._recorded: dict[int, Canonical] = {}

    def recorded(self, entry: Entry) -> Canonical:
        """The request of a recorded exchange."""
        known = self._recorded.get(entry.seq)
        if known is None:
            known = self._recorded[entry.seq] = self._plain(entry) if entry.plain else self._model(entry)
        return known

    def asked(self, request: WireRequest) -> Canonical:
        """The request that is about to leave."""
        if request.provider is not None and request.body is not None:
            found = codecs.find(request.method, request.url, request.headers)
            if found is not None:
                try:
                    return self._of_model(found[0].read_request(found[1], request.url, request.body))
                except ValueError:
                    pass
        body = request.body
        if body is not None:
            body = unchancy(body, request.headers.get("content-type", ""))[0]
            if len(body) > MOST_SENT:  # the log has its hash alone
                body = digest_of(body, "").encode()
        return self._canonical({"request": _where(request.method, request.url)}, _body(body))

    def is_asked_alike(self, entry: Entry, request: WireRequest) -> bool:
        """Of two requests with equal bodies: the URLs of some providers say which model, and if streamed."""
        if request.provider is None or not _MODEL_IN_URL.search(request.url):
            return True
        start = self._tape.log.event(entry.step or entry.seq).data
        found = codecs.find(request.method, request.url, request.headers)
        if start.get("model") is None or found is None:
            return True
        try:
            asked = found[0].read_request(found[1], request.url, request.body or b"")
        except ValueError:
            return True
        return (asked.model, asked.stream) == (start["model"], bool(start.get("stream")))

    # -- both forms ----------------------------------------------------------------------------

    def _model(self, entry: Entry) -> Canonical:
        start = self._tape.log.event(entry.step or entry.seq).data
        head = {
            "operation": start.get("operation"),
            "model": start.get("model"),
            "stream": bool(start.get("stream")),
            "tools": start.get("tools"),
            **_params(start.get("params")),
            "input": start.get("input"),
        }
        leaf = start.get("prompt")
        messages = self._tape.prompt(leaf) if isinstance(leaf, str) else []
        return self._canonical(head, [_theirs(message) for message in messages])

    def _of_model(self, request: ModelRequest) -> Canonical:
        head = {
            "operation": request.operation,
            "model": request.model,
            "stream": request.stream,
            "tools": _tools(request.tools),
            **_params(request.params),
            "input": request.input,
        }
        messages = [take_blobs(message)[0] for message in request.messages]
        return self._canonical(head, messages, request.continues is not None)

    def _plain(self, entry: Entry) -> Canonical:
        from lctl.instrument.bodies import rebuild_body

        data = self._tape.data(entry)
        request = data.get("request")
        stored = request.get("body") if isinstance(request, dict) else None
        body = None if stored is None else rebuild_body({"body": stored}, {})
        if body is None and isinstance(request, dict) and (request.get("size") or 0) > MOST_SENT:
            body = str(request.get("hash")).encode()
        return self._canonical(
            {"request": _where(str(data.get("method")), str(data.get("url")))}, _body(body)
        )

    def _canonical(
        self, head: dict[str, Any], messages: list[dict[str, Any]], goes_on: bool = False
    ) -> Canonical:
        kept = {name: value for name, value in head.items() if value is not None and value is not False}
        return Canonical(self.clean(kept), [self.clean(message) for message in messages], goes_on)

    def clean(self, value: Any) -> Any:
        """Through JSON, redacted, without what is new in each run."""
        plain = orjson.loads(orjson.dumps(value, default=str, option=_SORTED))
        text = orjson.dumps(self._redactor.value(plain), option=_SORTED).decode()
        return orjson.loads(settled(text))


def continued(recorded: Canonical, asked: Canonical) -> Canonical:
    """`recorded` as far as `asked` repeats it: a request that goes on from an answer the provider keeps
    sends the newest messages only."""
    count = len(asked.messages)
    if not asked.goes_on:
        return recorded
    if count >= len(recorded.messages):
        return recorded
    # Instructions are said with each request, and recorded once.
    lead = recorded.messages[:1] if _is_led(recorded) and _is_led(asked) else []
    return Canonical(recorded.head, lead + recorded.messages[len(recorded.messages) - count + len(lead) :])


def _is_led(request: Canonical) -> bool:
    return bool(request.messages) and request.messages[0].get("role") == "system"


def settled(text: str) -> str:
    """`text` with placeholders of secrets, addresses of objects and names of temporary files that are the
    same in every run."""
    if SCRATCH in text:
        text = _MOVED.sub("", text)
    return _ADDRESS.sub("0x", _PLACEHOLDER.sub(_SECRET, text))


def _params(params: Any) -> dict[str, Any]:
    if not isinstance(params, dict):
        return {}
    return {name: value for name, value in params.items() if name not in _VOLATILE}


def _tools(tools: list[Any] | None) -> str | None:
    """As `Conversations.tools_fields` names them."""
    if not tools:
        return None
    try:
        text = orjson.dumps(tools, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        text = repr(tools).encode("utf-8", "replace")
    return "sha256:" + sha256(text).hexdigest()


def _theirs(message: dict[str, Any]) -> dict[str, Any]:
    """A recorded message as the provider wrote it."""
    data = {key: value for key, value in message.items() if key not in RESERVED}
    theirs = message.get("wire")
    return {**data, **theirs} if isinstance(theirs, dict) else data


def _where(method: str, url: str) -> str:
    from lctl.instrument.headers import without_secrets

    return f"{method} {without_secrets(url)}"


def _body(body: bytes | None) -> list[dict[str, Any]]:
    """The body of plain traffic as one message."""
    if not body:
        return []
    try:
        value = orjson.loads(body)
    except ValueError:
        return [{"role": "body", "content": body.decode("utf-8", "backslashreplace")}]
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if key not in _VOLATILE}
    return [{"role": "body", "content": orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()}]


def _named(name: str, value: Any) -> list[str]:
    text = value if isinstance(value, str) else orjson.dumps(value, option=_SORTED).decode()
    lines = text.splitlines() or [""]
    if len(lines) == 1:
        return [f"{name}: {lines[0]}"]
    return [f"{name}:", *("  " + line for line in lines)]


def _told(message: dict[str, Any]) -> list[str]:
    lines = [f"{message.get('role') or message.get('type') or 'message'}:"]
    for text in (reasoning_of(message), text_of(message)):
        lines += ["  " + line for line in text.splitlines()]
    for call in tool_calls_of(message):
        given = orjson.dumps(call.get("arguments"), option=_SORTED).decode()
        lines.append(f"  calls {call.get('name')}({given})")
    for result in tool_results_of(message):
        output = result.get("output")
        text = output if isinstance(output, str) else orjson.dumps(output, option=_SORTED).decode()
        if text.splitlines() != [line[2:] for line in lines[1:]]:
            lines += [f"  {line}" for line in text.splitlines()]
    if len(lines) == 1:
        rest = {key: value for key, value in message.items() if key != "role"}
        lines.append("  " + orjson.dumps(rest, option=_SORTED).decode())
    return lines
