"""google-genai: the logical call above its retries, and the functions that it calls for the model.

What was asked and answered is read on the wire: httpx2 (or httpx), and aiohttp where the async client finds
it. Automatic function calling makes several model calls of one `generate_content`; each function that it runs
is a tool.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.sdks import logical_call, logical_call_async, retry_delay
from lctl.instrument.structure import Tool, around_tool

_CLIENT = "google.genai._api_client"
#: The client of the Interactions API is one of its own.
_INTERACTIONS = "google.genai._gaos.basesdk"
_RETRIES = "google.genai._gaos.utils.retries"


class GoogleGenAI:
    """google-genai 1 on httpx, 2 and 3 on httpx2."""

    name = "google-genai"
    supported = ">=1,<4"
    modules = (_CLIENT, "google.genai._extra_utils", _INTERACTIONS, _RETRIES)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == _CLIENT:
            # What `request` and `request_streamed` both go through, once for each logical call.
            patches.wrap(module, "BaseApiClient._request", logical_call(_describe))
            patches.wrap(module, "BaseApiClient._async_request", logical_call_async(_describe))
            return
        if module.__name__ == _INTERACTIONS:
            patches.wrap(module, "BaseSDK.do_request", logical_call(_describe_sent))
            patches.wrap(module, "AsyncBaseSDK.do_request_async", logical_call_async(_describe_sent))
            return
        if module.__name__ == _RETRIES:
            patches.wrap(module, "_get_sleep_interval", retry_delay)
            return
        for name in ("invoke_function_from_dict_args", "invoke_function_from_dict_args_async"):
            patches.wrap(module, name, around_tool("a function that google-genai calls", _tool))


def _describe(client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str] | None:
    request = args[0] if args else kwargs.get("http_request")
    return None if request is None else (str(request.method).upper(), str(request.url))


def _describe_sent(client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str] | None:
    """`do_request(hook_ctx, request, ...)`"""
    request = args[1] if len(args) > 1 else kwargs.get("request")
    return None if request is None else (str(request.method).upper(), str(request.url))


def _tool(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """`invoke_function_from_dict_args(args, function_to_invoke)`"""
    given = args[0] if args else kwargs.get("args")
    function = args[1] if len(args) > 1 else kwargs.get("function_to_invoke")
    return Tool(str(getattr(function, "__name__", "function")), dict(given or {}), function=function)
