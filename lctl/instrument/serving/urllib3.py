"""Served answers for urllib3, 1.26 and 2: what `HTTPConnectionPool._make_request` returns."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from lctl.instrument.serving import message
from lctl.instrument.serving.errors import revive
from lctl.session.border import Answer

#: What the constructor of a response takes; versions differ.
_taken: dict[type, frozenset[str]] = {}


def respond(pool: Any, conn: Any, method: str, path: str, answer: Answer, asked: Mapping[str, Any]) -> Any:
    """The response; raises the recorded error where there is none. `asked` are the keyword arguments."""

    def raised() -> BaseException:
        assert answer.error is not None
        errors = sys.modules["urllib3.exceptions"]
        return revive(answer.error, errors.HTTPError, pool=pool, conn=conn, url=path)

    answer.wait()
    if answer.status is None:
        raise raised()
    original = message.received(answer, method, path, raised)
    if "preload_content" not in asked and "response_conn" not in asked:
        # 1.26: what calls makes a response of its own of it, which looks at the headers for its framing.
        streams = original.chunked and "event-stream" in original.msg.get("content-type", "")
        if streams and "transfer-encoding" not in original.msg:
            original.msg["transfer-encoding"] = "chunked"
        return original
    return _response(pool, method, path, original, asked)


def _response(pool: Any, method: str, path: str, original: Any, asked: Mapping[str, Any]) -> Any:
    """As `HTTPConnection.getresponse` and `_make_request` of urllib3 2 make it."""
    responses = sys.modules["urllib3.response"]
    cls = responses.HTTPResponse
    preload = asked.get("preload_content", True)
    fields = {
        "body": original,
        "headers": sys.modules["urllib3._collections"].HTTPHeaderDict(original.msg.items()),
        "status": original.status,
        "version": original.version,
        "version_string": "HTTP/1.1",
        "reason": original.reason,
        "preload_content": False,
        "decode_content": asked.get("decode_content", True),
        "original_response": original,
        "enforce_content_length": asked.get("enforce_content_length", True),
        "request_method": method,
        "request_url": path,
    }
    response = cls(**{name: value for name, value in fields.items() if name in _arguments(cls)})
    response.chunked = original.chunked  # also where the head does not say so
    if preload:
        response._body = response.read(decode_content=fields["decode_content"])
    response.retries = asked.get("retries")
    response._connection = asked.get("response_conn")
    response._pool = pool
    return response


def _arguments(cls: Any) -> frozenset[str]:
    known = _taken.get(cls)
    if known is None:
        code = cls.__init__.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        known = _taken[cls] = frozenset(code.co_varnames[:count])
    return known
