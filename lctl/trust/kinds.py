"""The kinds of failures, and the tables from statuses, words and names of exceptions to them."""

from __future__ import annotations

from typing import NamedTuple


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
INVALID = Kind("input_error", "invalid_format", False, "fix_request")
_NOT_FOUND = Kind("input_error", "not_found", False, "check_model_and_url")
_CONTEXT = Kind("execution_error", "resource_exhausted", False, "shorten_context")
_TOO_LARGE = Kind("execution_error", "resource_exhausted", False, "shorten_request")
_QUOTA = Kind("execution_error", "resource_exhausted", False, "check_quota_and_billing")
_RATE = Kind("execution_error", "rate_limited", True, "retry_with_backoff")
_TIMEOUT = Kind("execution_error", "timeout", True, "retry_with_timeout_increase")
_CONNECTION = Kind("execution_error", "connection_failed", True, "retry")
_CUT = Kind("execution_error", "connection_lost", True, "retry")
SERVER = Kind("execution_error", "server_error", True, "retry_with_backoff")
_OVERLOADED = Kind("execution_error", "overloaded", True, "retry_with_backoff")
_CONFLICT = Kind("execution_error", "conflict", True, "retry")
UNSAFE = Kind("output_error", "unsafe_content", False, "revise_prompt")
OUTPUT = Kind("output_error", "validation_failed", False, "inspect_answer")
GENERATION = Kind("output_error", "generation_failed", True, "retry")

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

BY_STATUS = {
    400: INVALID,
    401: _AUTHENTICATION,
    402: _QUOTA,
    403: _FORBIDDEN,
    404: _NOT_FOUND,
    408: _TIMEOUT,
    409: _CONFLICT,
    413: _TOO_LARGE,
    422: INVALID,
    429: _RATE,
    503: _OVERLOADED,
    504: _TIMEOUT,
    529: _OVERLOADED,
}

#: Words of the provider's own error (code, type, message), first match wins over the status.
BY_WORDS = (
    ("context_length_exceeded", _CONTEXT),
    ("maximum context length", _CONTEXT),
    ("prompt is too long", _CONTEXT),
    ("context window", _CONTEXT),
    ("exceed context limit", _CONTEXT),
    ("maximum number of tokens", _CONTEXT),
    ("input is too long", _CONTEXT),
    ("string_above_max_length", _TOO_LARGE),
    ("request_too_large", _TOO_LARGE),
    ("insufficient_quota", _QUOTA),
    ("credit balance", _QUOTA),
    ("billing_", _QUOTA),
    ("content_filter", UNSAFE),
    ("content_policy", UNSAFE),
    ("responsibleai", UNSAFE),
    ("overloaded", _OVERLOADED),
    ("rate_limit", _RATE),
    ("authentication_error", _AUTHENTICATION),
    ("invalid_api_key", _AUTHENTICATION),
    ("api key not valid", _AUTHENTICATION),
    ("permission_error", _FORBIDDEN),
    ("model_not_found", _NOT_FOUND),
)

#: Exceptions of every HTTP library, by words of their class names from the class up to its bases.
BY_EXCEPTION = (
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
    ("UnsupportedProtocol", INVALID),
    ("InvalidURL", INVALID),
    ("MissingSchema", INVALID),
    ("InvalidSchema", INVALID),
    ("TooManyRedirects", Kind("execution_error", "connection_failed", False, "check_url")),
    ("RemoteProtocolError", _CUT),
    ("ProtocolError", _CUT),
    ("IncompleteRead", _CUT),
    ("PayloadError", _CUT),
    ("Disconnected", _CUT),
    ("ReadError", _CUT),
    ("WriteError", _CUT),
    ("ChunkedEncodingError", _CUT),
    ("DecodingError", _CUT),  # of the content-encoding
    ("ConnectionReset", _CUT),
    ("ConnectionAborted", _CUT),
    ("BrokenPipe", _CUT),
    ("ConnectionError", _CONNECTION),
    ("NetworkError", _CONNECTION),
    ("OSError", _CONNECTION),
)
UNKNOWN = Kind("execution_error", "request_failed", False, "inspect_error")


#: Exceptions of programs, frameworks and validators, by class name from the class up to its bases. Unlike the
#: table above these are whole names: a program's own `ToolTimeoutPolicy` is no timeout.
OF_PROGRAMS = {
    "TimeoutError": _TIMEOUT,
    "TimeoutExpired": _TIMEOUT,  # subprocess
    "TimeoutException": _TIMEOUT,  # Selenium
    "DeadlineExceeded": _TIMEOUT,  # gRPC of Google's clients
    "MemoryError": _MEMORY,
    "GraphRecursionError": _DEPTH,  # LangGraph; a RecursionError, so before it
    "RecursionError": _RECURSION,
    "MaxTurnsExceeded": _TURNS,  # OpenAI Agents
    "UsageLimitExceeded": Kind("execution_error", "resource_exhausted", False, "raise_limit"),  # Pydantic AI
    "UnexpectedModelBehavior": GENERATION,
    "ModelBehaviorError": GENERATION,
    "OutputParserException": GENERATION,  # LangChain
    "InputGuardrailTripwireTriggered": Kind("input_error", "unsafe_content", False, "revise_prompt"),
    "OutputGuardrailTripwireTriggered": UNSAFE,
    "ContentFilterFinishReasonError": UNSAFE,
    "APIResponseValidationError": OUTPUT,  # OpenAI's and Anthropic's SDKs
    "LengthFinishReasonError": Kind("output_error", "generation_failed", True, "raise_max_tokens"),
    "ContextWindowExceededError": _CONTEXT,  # LiteLLM
    "ValidationError": _SCHEMA,  # pydantic, jsonschema, msgspec, marshmallow
    "JSONDecodeError": _SCHEMA,
    "ToolException": _TOOL,  # LangChain
    "ToolError": _TOOL,  # MCP
    "McpError": _TOOL,
    "ToolRetryError": _TOOL,
    "UserError": INVALID,
    "NoSuchAgentError": _ROUTING,
    "DelegationRejected": _REJECTED,
    "FactBlocked": _BLOCKED,
    "ContractViolated": _CONTRACT,
    "CancelledError": _CANCELLED,
    "Cancelled": _CANCELLED,
    "FileNotFoundError": _MISSING,
    "IncompleteReadError": _CUT,  # asyncio's streams
}

#: Packages whose errors are of talking to others.
WIRE_LIBRARIES = frozenset(
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
        "urllib",
        "google",
        "botocore",
    }
)
