"""anthropic: the logical call above the client's retries, its exceptions, what tool runners call.

`request` is the outer function in every version (2.x prepares options there and opens its own span).
`messages.create/stream/parse/count_tokens`, beta, the tool runner's turns, Bedrock's and Vertex's
clients all pass it. A function that `@beta_tool` or `@beta_async_tool` made a tool is one, whoever calls it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.sdks import logical_call, logical_call_async, retry_delay
from lctl.instrument.structure import Tool, around_tool
from lctl_integrations.openai import describe  # both clients come out of the same generator

_FUNCTIONS = "anthropic.lib.tools._beta_functions"


class Anthropic:
    """anthropic 0.40 to 1 on httpx, 2 on httpx2."""

    name = "anthropic"
    supported = ">=0.40,<3"
    modules = ("anthropic._base_client", _FUNCTIONS)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == _FUNCTIONS:
            for kind in ("BetaFunctionTool", "BetaAsyncFunctionTool"):
                patches.wrap(module, f"{kind}.call", around_tool("a tool of anthropic's", _tool))
            return
        patches.wrap(module, "SyncAPIClient.request", logical_call(describe))
        patches.wrap(module, "AsyncAPIClient.request", logical_call_async(describe))
        patches.wrap(module, "BaseClient._calculate_retry_timeout", retry_delay)


def _tool(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """`BetaFunctionTool.call(input)`"""
    given = args[0] if args else kwargs.get("input")
    if not isinstance(given, dict):
        return None  # refused before the function is called
    return Tool(str(instance.name), given, function=instance.func)
