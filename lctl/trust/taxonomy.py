"""What a failure is called: one readable table from statuses, words and exceptions to the taxonomy.

Categories and types are the protocol's (spec part 6) and a few finer ones; `suggested_action` is what a
program, or the person reading the log, should do next. A program adds rules of its own, which come first:

    add_rule(Kind("execution_error", "rate_limited", True, "retry_with_backoff"), exception="QuotaError")
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class Kind(NamedTuple):
    category: str
    type: str
    recoverable: bool
    suggested_action: str


#: The protocol's categories, their types and what each means.
TAXONOMY: dict[str, dict[str, str]] = {
    "input_error": {
        "invalid_format": "Input doesn't match expected schema",
        "missing_context": "Required context not provided",
        "ambiguous_request": "Cannot determine intent",
    },
    "execution_error": {
        "tool_failure": "Tool invocation failed",
        "timeout": "Operation exceeded time limit",
        "resource_exhausted": "Token/memory limit reached",
        "rate_limited": "API rate limit hit",
    },
    "output_error": {
        "generation_failed": "LLM produced invalid output",
        "validation_failed": "Output doesn't meet constraints",
        "unsafe_content": "Output flagged by safety filters",
    },
    "orchestration_error": {
        "routing_failed": "Could not determine next agent",
        "delegation_rejected": "Target agent refused task",
        "cycle_detected": "Infinite loop detected",
        "chain_depth_exceeded": "Maximum chain depth reached",
    },
}

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

_TOOL = Kind("execution_error", "tool_failure", True, "fix_tool_input_or_retry")
_CANCELLED = Kind("execution_error", "cancelled", False, "none")
_MEMORY = Kind("execution_error", "resource_exhausted", False, "use_less_memory")
_RECURSION = Kind("execution_error", "resource_exhausted", False, "fix_recursion")
_DEPTH = Kind("orchestration_error", "chain_depth_exceeded", False, "raise_limit_or_fix_loop")
_TURNS = Kind("orchestration_error", "chain_depth_exceeded", False, "raise_limit_or_fix_loop")
_ROUTING = Kind("orchestration_error", "routing_failed", False, "fix_routing")
_REJECTED = Kind("orchestration_error", "delegation_rejected", True, "choose_other_agent")
_BLOCKED = Kind("orchestration_error", "fact_blocked", True, "verify_fact")
_CONTRACT = Kind("output_error", "validation_failed", True, "fix_output")
_SCHEMA = Kind("output_error", "validation_failed", True, "retry_with_errors")
_MISSING = Kind("input_error", "missing_context", False, "provide_file")

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
    words = f"{error.get('code')} {error.get('type')} {error.get('message')}".lower() if error else ""
    ruled = _ruled([], status, words) if _rules else None
    if ruled is not None:
        return ruled
    if error:
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
    ruled = _ruled([cls.__name__ for cls in type(error).__mro__], None, error) if _rules else None
    if ruled is not None:
        return ruled
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


#: Exceptions of programs, frameworks and validators, by class name from the class up to its bases. Unlike the
#: table above these are whole names: a program's own `ToolTimeoutPolicy` is no timeout.
_OF_PROGRAMS = {
    "TimeoutError": _TIMEOUT,
    "MemoryError": _MEMORY,
    "GraphRecursionError": _DEPTH,  # LangGraph; a RecursionError, so before it
    "RecursionError": _RECURSION,
    "MaxTurnsExceeded": _TURNS,  # OpenAI Agents
    "UsageLimitExceeded": Kind("execution_error", "resource_exhausted", False, "raise_limit"),  # Pydantic AI
    "UnexpectedModelBehavior": _GENERATION,
    "ModelBehaviorError": _GENERATION,
    "OutputParserException": _GENERATION,  # LangChain
    "InputGuardrailTripwireTriggered": Kind("input_error", "unsafe_content", False, "revise_prompt"),
    "OutputGuardrailTripwireTriggered": _UNSAFE,
    "ContentFilterFinishReasonError": _UNSAFE,
    "LengthFinishReasonError": Kind("output_error", "generation_failed", True, "raise_max_tokens"),
    "ContextWindowExceededError": _CONTEXT,  # LiteLLM
    "ValidationError": _SCHEMA,  # pydantic, jsonschema, msgspec, marshmallow
    "JSONDecodeError": _SCHEMA,
    "ToolException": _TOOL,  # LangChain
    "ToolError": _TOOL,  # MCP
    "McpError": _TOOL,
    "ToolRetryError": _TOOL,
    "UserError": _INVALID,
    "NoSuchAgentError": _ROUTING,
    "DelegationRejected": _REJECTED,
    "FactBlocked": _BLOCKED,
    "ContractViolated": _CONTRACT,
    "CancelledError": _CANCELLED,
    "Cancelled": _CANCELLED,
    "FileNotFoundError": _MISSING,
}


class Rule(NamedTuple):
    """A program's own: every condition that is given has to hold."""

    kind: Kind
    exception: str | None = None
    status: int | None = None
    words: re.Pattern[str] | None = None

    def fits(self, names: list[str], status: int | None, text: str) -> bool:
        return (
            (self.exception is None or self.exception in names)
            and (self.status is None or self.status == status)
            and (self.words is None or self.words.search(text) is not None)
        )


_rules: list[Rule] = []


def add_rule(
    kind: Kind | tuple[str, str, bool, str],
    *,
    exception: type[BaseException] | str | None = None,
    status: int | None = None,
    words: str | None = None,
) -> Rule:
    """What fits is `kind`, before everything in the tables; the newest rule first.

    Args:
        exception: a class, or the name of one, that the failure is or comes from.
        status: HTTP status of the failed attempt.
        words: a regular expression found in the failure's text (case does not matter).

    Raises:
        UsageError: no condition is given, or `words` is no regular expression.
    """
    from lctl.errors import UsageError

    if exception is None and status is None and words is None:
        raise UsageError("a rule of the taxonomy needs an exception, a status or words")
    try:
        pattern = None if words is None else re.compile(words, re.IGNORECASE)
    except re.error as error:
        raise UsageError(f"words={words!r}: no regular expression ({error})") from None
    name = exception.__name__ if isinstance(exception, type) else exception
    rule = Rule(Kind(*kind), name, status, pattern)
    _rules.insert(0, rule)
    return rule


def remove_rule(rule: Rule) -> None:
    """Take a rule away again."""
    if rule in _rules:
        _rules.remove(rule)


def of_error(error: BaseException) -> Kind | None:
    """What an exception that left a program's step or tool is; None where nothing tells.

    An SDK's own error is what its status and the provider's words say it is.
    """
    names = [cls.__name__ for cls in type(error).__mro__]
    status = _status_of(error)
    kind = _ruled(names, status, error)
    if kind is not None:
        return kind
    if status is not None and status >= 400:
        return of_status(status, {"message": _text_of(error), **_said(error)})
    found = next((_OF_PROGRAMS[name] for name in names if name in _OF_PROGRAMS), None)
    if found is not None or not _of_a_library(error):
        return found
    wire = of_exception(error)
    return None if wire is _UNKNOWN else wire


def _ruled(names: list[str], status: int | None, error: object) -> Kind | None:
    text = _text_of(error) if _rules else ""
    return next((rule.kind for rule in _rules if rule.fits(names, status, text)), None)


def _status_of(error: BaseException) -> int | None:
    """The HTTP status of an SDK's or HTTP library's error."""
    for holder in (error, _attribute(error, "response")):
        status = _attribute(holder, "status_code") or _attribute(holder, "status")
        if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
            return status
    return None


def _said(error: BaseException) -> dict[str, Any]:
    """The provider's own `error` object, where the SDK keeps it."""
    body = _attribute(error, "body")
    inner = body.get("error", body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _attribute(holder: object, name: str) -> Any:
    """An attribute of somebody's exception, which may be a property that raises."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


def _of_a_library(error: BaseException) -> bool:
    """The exception, or one it comes from, is an operating system's or a library's for talking to others."""
    roots = {cls.__module__.partition(".")[0] for cls in type(error).__mro__}
    return bool(roots & _WIRE) or isinstance(error, ConnectionError)


def _text_of(error: object) -> str:
    try:
        return str(error)
    except Exception:  # a program's own __str__
        return ""


_WIRE = frozenset(
    {
        "openai",
        "anthropic",
        "httpx",
        "httpx2",
        "httpcore",
        "requests",
        "urllib3",
        "aiohttp",
        "socket",
        "ssl",
        "http",
    }
)
