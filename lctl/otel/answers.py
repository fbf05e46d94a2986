"""What a receiver of OTLP answered over HTTP.

The SDK's exporters take any answer below 400 as success: a redirect that they do not follow, the page of a
login, a receiver that says it refused some of what was sent. Of what failed they log the reason phrase alone.
"""

from __future__ import annotations

import inspect
import os
from importlib import import_module
from typing import Any

from lctl.codec.lines import decode
from lctl.values import mapping, text

#: How variables begin that name a session of the user's own, which is left to the exporter.
_CREDENTIALS = "OTEL_PYTHON_EXPORTER_OTLP_HTTP_"
_MOST = 200
_PROTOBUF = "application/x-protobuf"


class Answers:
    """Hears the answers that an exporter gets.

    Attributes:
        options: what the exporter is made with, so that they are heard.
    """

    def __init__(self, make: Any) -> None:
        self.options: dict[str, Any] = {}
        self._last: Any = None
        has_own = any(name.startswith(_CREDENTIALS) and "CREDENTIAL" in name for name in os.environ)
        if has_own or "session" not in inspect.signature(make.__init__).parameters:
            return  # that of gRPC says itself what fails
        import requests

        session = requests.Session()
        session.hooks["response"].append(self._hear)
        self.options["session"] = session

    def forget(self) -> None:
        self._last = None

    def trouble(self) -> str:
        """Why what was sent last is not all there; "" where it is, or nobody answered."""
        answer = self._last
        if answer is None:
            return ""
        code, kind = answer.status_code, _kind(answer)
        if code >= 400:
            reason, said = _line(answer.reason or ""), _line(_said(answer, kind))
            return f"HTTP {code} {reason}".strip() + (f": {said}" if said and said != reason else "")
        if code >= 300:
            where = _line(answer.headers.get("location") or "nowhere")
            return f"HTTP {code}: redirects to {where}, which is not followed; give that address"
        if answer.request.method != "POST":  # exporters of before 1.45 followed it, and sent nothing there
            return f"redirects to {_line(answer.url)}; give that address"
        if kind == "text/html":
            return f"HTTP {code} with a page (text/html): it is no receiver of OTLP"
        return _refused(answer, kind)

    def _hear(self, answer: Any, *_: Any, **__: Any) -> None:
        self._last = answer


def _kind(answer: Any) -> str:
    return str(answer.headers.get("content-type") or "").partition(";")[0].strip().lower()


def _said(answer: Any, kind: str) -> str:
    """The words of a refusal: of a status of protobuf, of JSON that has a message, or the text."""
    if kind == "text/html":
        return ""
    if kind == _PROTOBUF:
        return text(getattr(_parsed("google.rpc.status_pb2", "Status", answer.content), "message", ""))
    words = str(answer.text)
    try:
        told = mapping(decode(words.encode()))
    except ValueError:
        return words
    found = [
        one.get(key) for one in (told, mapping(told.get("error"))) for key in ("message", "error", "detail")
    ]
    return next((text(one) for one in found if text(one)), words)


def _refused(answer: Any, kind: str) -> str:
    """What it took but for some: a partial success, alike for every signal."""
    if kind == "application/json":
        try:
            partial = mapping(mapping(decode(answer.content or b"{}")).get("partialSuccess"))
        except ValueError:
            return ""
        count = next((str(n) for key, n in partial.items() if key.startswith("rejected")), "0")
        why = text(partial.get("errorMessage"))
    else:
        module = "opentelemetry.proto.collector.trace.v1.trace_service_pb2"
        told = _parsed(module, "ExportTraceServiceResponse", answer.content)
        if told is None:
            return ""
        count, why = str(told.partial_success.rejected_spans), told.partial_success.error_message
    return "" if count == "0" else f"refused {count} of what was sent" + (f": {_line(why)}" if why else "")


def _parsed(module: str, message: str, data: bytes) -> Any:
    """A message of protobuf; None where it is none, or nothing here can read it."""
    try:
        return getattr(import_module(module), message).FromString(data)
    except Exception:  # an error of protobuf's own, of whichever version
        return None


def _line(words: object) -> str:
    """Words of another machine, to be shown on one line of a terminal."""
    line = " ".join(str(words)[: 8 * _MOST].split())
    shown = "".join(one if one.isprintable() else "\ufffd" for one in line)
    return shown if len(shown) <= _MOST else shown[: _MOST - 1] + "…"
