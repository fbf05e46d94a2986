"""Edits that make something fail: a status as each provider sends it, an exception by its name."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import orjson

from lctl.errors import UsageError
from lctl.session.border import RecordedError

#: Status -> what Anthropic calls it, what OpenAI calls it, what it is in words.
_STATUSES = {
    400: ("invalid_request_error", "invalid_request_error", "Bad request"),
    401: ("authentication_error", "invalid_request_error", "Incorrect API key provided"),
    403: ("permission_error", "invalid_request_error", "Permission denied"),
    404: ("not_found_error", "invalid_request_error", "Not found"),
    413: ("request_too_large", "invalid_request_error", "Request too large"),
    422: ("invalid_request_error", "invalid_request_error", "Unprocessable"),
    429: ("rate_limit_error", "rate_limit_error", "Rate limit reached"),
    500: ("api_error", "server_error", "Internal server error"),
    503: ("overloaded_error", "server_error", "Service unavailable"),
    529: ("overloaded_error", "server_error", "Overloaded"),
}
#: What Google calls them.
_GOOGLE = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
#: Where each HTTP library keeps its exceptions.
_MODULES = {
    "httpx": "httpx",
    "httpx2": "httpx2",
    "requests": "requests.exceptions",
    "urllib3": "urllib3.exceptions",
    "aiohttp": "aiohttp.client_exceptions",
    "http.client": "http.client",
    "lm15": "dspy._vendor.lm15.transports",
}


def split(text: str) -> tuple[str, str]:
    """`429: slow` to its name and its message."""
    name, _, message = text.partition(": ")
    return name, message


def error_body(operation: str, status: int, message: str) -> bytes:
    """The body of an error response; `message` as JSON is the body itself."""
    if message[:1] == "{":
        try:
            return orjson.dumps(orjson.loads(message))
        except orjson.JSONDecodeError:
            pass
    anthropic, openai, words = _STATUSES.get(status, _STATUSES[400 if status < 500 else 500])
    said = message or words
    if operation.startswith("messages"):
        return orjson.dumps({"type": "error", "error": {"type": anthropic, "message": said}})
    if operation in ("generate_content", "embed_content", "generate_content.count_tokens", "interactions"):
        error = {"code": status, "message": said, "status": _GOOGLE.get(status, "UNKNOWN")}
        return orjson.dumps({"error": error})
    if operation.startswith(("cohere.", "converse", "invoke_model", "agents.")):
        return orjson.dumps({"message": said})
    if operation.startswith("ollama."):
        return orjson.dumps({"error": said})
    code = "rate_limit_exceeded" if status == 429 else None
    return orjson.dumps({"error": {"message": said, "type": openai, "param": None, "code": code}})


def transport_error(http: str, name: str, message: str) -> RecordedError:
    """The exception an HTTP library raises in place of a response.

    A bare name is looked for in that library, then among Python's own.
    """
    module, _, cls = name.rpartition(".")
    if not module:
        own = _MODULES.get(http, http)
        found = hasattr(sys.modules.get(own), cls) or not hasattr(builtins, cls)
        module = own if found else "builtins"
    return RecordedError(module, cls, message)


def exception(name: str, message: str) -> BaseException:
    """The exception a tool fails with.

    Raises:
        UsageError: there is no such class in this program.
    """
    module, _, cls = name.rpartition(".")
    home: Any = sys.modules.get(module) if module else builtins
    if home is None:
        try:
            from importlib import import_module

            home = import_module(module)
        except ImportError:
            raise UsageError(f"{name}: this program has no module {module}") from None
    found = getattr(home, cls, None)
    if not (isinstance(found, type) and issubclass(found, BaseException)):
        raise UsageError(
            f"{name}: no exception of that name; others than Python's own are package.module.Name"
        )
    try:
        return found(message) if message else found()
    except TypeError:
        made = found.__new__(found)
        made.args = (message,)
        return made
