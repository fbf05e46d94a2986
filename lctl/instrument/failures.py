"""What a failed attempt is called: one readable table from statuses and exceptions to the taxonomy.

Categories and types are the protocol's (spec part 6); `suggested_action` is what a program, or the
person reading the log, should do next.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Kind(NamedTuple):
    category: str
    type: str
    recoverable: bool
    suggested_action: str


_AUTHENTICATION = Kind("input_error", "authentication_failed", False, "check_api_key")
_FORBIDDEN = Kind("input_error", "permission_denied", False, "check_permissions")
_INVALID = Kind("input_error", "invalid_format", False, "fix_request")
_NOT_FOUND = Kind("input_error", "not_found", False, "check_model_and_url")
_CONTEXT = Kind("execution_error", "resource_exhausted", False, "shorten_context")
_TOO_LARGE = Kind("execution_error", "resource_exhausted", False, "shorten_request")
_QUOTA = Kind("execution_error", "resource_exhausted", False, "check_quota_and_billing")
_RATE = Kind("execution_error", "rate_limited", True, "retry_with_backoff")
_TIMEOUT = Kind("execution_error", "timeout", True, "retry_with_timeout_increase")
_CONNECTION = Kind("execution_error", "connection_failed", True, "retry")
_CUT = Kind("execution_error", "connection_lost", True, "retry")
_SERVER = Kind("execution_error", "server_error", True, "retry_with_backoff")
_OVERLOADED = Kind("execution_error", "overloaded", True, "retry_with_backoff")
_CONFLICT = Kind("execution_error", "conflict", True, "retry")
_UNSAFE = Kind("output_error", "unsafe_content", False, "revise_prompt")
_OUTPUT = Kind("output_error", "validation_failed", False, "inspect_answer")
_GENERATION = Kind("output_error", "generation_failed", True, "retry")

_BY_STATUS = {
    400: _INVALID,
    401: _AUTHENTICATION,
    402: _QUOTA,
    403: _FORBIDDEN,
    404: _NOT_FOUND,
    408: _TIMEOUT,
    409: _CONFLICT,
    413: _TOO_LARGE,
    422: _INVALID,
    429: _RATE,
    503: _OVERLOADED,
    504: _TIMEOUT,
    529: _OVERLOADED,
}

#: Words of the provider's own error (code, type, message), first match wins over the status.
_BY_WORDS = (
    ("context_length_exceeded", _CONTEXT),
    ("maximum context length", _CONTEXT),
    ("prompt is too long", _CONTEXT),
    ("context window", _CONTEXT),
    ("string_above_max_length", _TOO_LARGE),
    ("request_too_large", _TOO_LARGE),
    ("insufficient_quota", _QUOTA),
    ("credit balance", _QUOTA),
    ("billing_", _QUOTA),
    ("content_filter", _UNSAFE),
    ("content_policy", _UNSAFE),
    ("responsibleai", _UNSAFE),
    ("overloaded", _OVERLOADED),
    ("rate_limit", _RATE),
    ("authentication_error", _AUTHENTICATION),
    ("invalid_api_key", _AUTHENTICATION),
    ("permission_error", _FORBIDDEN),
    ("model_not_found", _NOT_FOUND),
)

#: Exceptions of every HTTP library, by words of their class names from the class up to its bases.
_BY_EXCEPTION = (
    ("Timeout", _TIMEOUT),
    ("TimedOut", _TIMEOUT),
    ("ConnectError", _CONNECTION),
    ("ConnectionRefused", _CONNECTION),
    ("NewConnectionError", _CONNECTION),
    ("ConnectorError", _CONNECTION),
    ("NameResolution", _CONNECTION),
    ("gaierror", _CONNECTION),
    ("SSLError", Kind("execution_error", "connection_failed", False, "check_tls")),
    ("ProxyError", Kind("execution_error", "connection_failed", False, "check_proxy")),
    ("UnsupportedProtocol", _INVALID),
    ("InvalidURL", _INVALID),
    ("RemoteProtocolError", _CUT),
    ("ProtocolError", _CUT),
    ("IncompleteRead", _CUT),
    ("PayloadError", _CUT),
    ("Disconnected", _CUT),
    ("ReadError", _CUT),
    ("WriteError", _CUT),
    ("ConnectionReset", _CUT),
    ("BrokenPipe", _CUT),
    ("ConnectionError", _CONNECTION),
    ("NetworkError", _CONNECTION),
    ("OSError", _CONNECTION),
)
_UNKNOWN = Kind("execution_error", "request_failed", False, "inspect_error")


def of_status(status: int, error: dict[str, Any] | None) -> Kind:
    """What an HTTP error status with the provider's `error` ({type, code, message}) is."""
    if error:
        words = f"{error.get('code')} {error.get('type')} {error.get('message')}".lower()
        for word, kind in _BY_WORDS:
            if word in words:
                return kind
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    if status >= 500:
        return _SERVER
    # Below 400: an error inside a good answer (an `error` event of a stream).
    return _INVALID if status >= 400 else _GENERATION


def of_exception(error: BaseException) -> Kind:
    """What an attempt that raised `error`, and so has no whole response, is."""
    for cls in type(error).__mro__:
        for word, kind in _BY_EXCEPTION:
            if word in cls.__name__:
                return kind
    return _UNKNOWN


def of_sdk(error: BaseException) -> Kind:
    """What it is when the SDK raises at a good answer (`parse()` at finish_reason length)."""
    if "ContentFilter" in type(error).__name__:
        return _UNSAFE
    if "LengthFinishReason" in type(error).__name__:
        return Kind("output_error", "generation_failed", True, "raise_max_tokens")
    return _OUTPUT


def name_of(error: BaseException) -> str:
    """`module.Class`, with private submodules of a public package left out: `httpx.ReadTimeout`."""
    cls = type(error)
    module = cls.__module__
    if module == "builtins":
        return cls.__qualname__
    public = module.split("._", 1)[0]
    return f"{public}.{cls.__qualname__}"
