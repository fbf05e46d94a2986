"""Errors in the shape each provider gives them."""

from __future__ import annotations

from typing import Any

from lctl.testing.faults import Fault
from lctl.testing.wire.call import sse

# status -> (type, code, message)
_OPENAI: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "The request was not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "unsupported_country_region_territory", "Country not supported."),
    404: (
        "invalid_request_error",
        "model_not_found",
        "The model does not exist or you do not have access to it.",
    ),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests. Please try again later."),
    500: ("server_error", None, "The server had an error while processing your request."),
    503: ("server_error", None, "The engine is currently overloaded, please try again later."),
}
# status -> (type, message)
_ANTHROPIC: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "The request was not valid."),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "Your API key does not have permission to use this resource."),
    404: ("not_found_error", "The requested resource was not found."),
    413: ("request_too_large", "Request exceeds the maximum size."),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "The request took too long."),
    529: ("overloaded_error", "Overloaded"),
}


def error_body(
    provider: str, status: int, fault: Fault, request_id: str, param: str | None = None
) -> dict[str, Any]:
    """The JSON body of an error response."""
    if provider == "anthropic":
        kind, message = _ANTHROPIC.get(
            status, ("api_error" if status >= 500 else "invalid_request_error", "Error")
        )
        error: dict[str, Any] = {"type": fault.type or kind, "message": fault.message or message}
        if fault.details is not None:
            error["details"] = dict(fault.details)
        return {"type": "error", "error": error, "request_id": request_id}
    if provider in ("google", "bedrock", "ollama", "cohere"):
        return _other(provider, status, fault)
    fallback = _OPENAI[500] if status >= 500 else _OPENAI[400]
    kind, code, message = _OPENAI.get(status, fallback)
    return {
        "error": {
            "message": fault.message or message,
            "type": fault.type or kind,
            "param": param,
            "code": fault.code or code,
        }
    }


#: status -> the name Google has for it
_GOOGLE = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
}  # fmt: skip


def _other(provider: str, status: int, fault: Fault) -> dict[str, Any]:
    message = fault.message or _OPENAI.get(status, _OPENAI[500])[2]
    if provider == "google":
        name = fault.type or _GOOGLE.get(status, "UNKNOWN")
        return {"error": {"code": status, "message": message, "status": name}}
    return {"error": message} if provider == "ollama" else {"message": message}


def error_event(operation: str, fault: Fault, request_id: str, sent: int) -> bytes:
    """The error inside a stream that began well, after `sent` events."""
    if operation == "messages":
        return sse(error_body("anthropic", 529, fault, request_id), "error")
    if operation == "responses":
        message = fault.message or _OPENAI[500][2]
        data = {"type": "error", "code": fault.code or "server_error", "message": message, "param": None}
        return sse({**data, "sequence_number": sent}, "error")
    if operation == "generate_content":
        return sse(_other("google", 503, fault))
    return sse(error_body("openai", 500, fault, request_id))
