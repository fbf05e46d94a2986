"""openai: the logical call above the client's retries, and the client's own exceptions.

Every resource and helper goes through `SyncAPIClient.request` or its async twin: `create`, `parse`,
`stream`, `with_raw_response`, `with_streaming_response`, beta, the module-level client, Azure's and
Bedrock's subclasses, copies made by `with_options`. What was asked and answered is read on the wire. In a
rerun a request is made again after a failure when it was in the recording.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.sdks import logical_call, logical_call_async, retry_delay


class OpenAI:
    """openai 1.30 to 2 on httpx, 3 on httpx2."""

    name = "openai"
    supported = ">=1.30,<4"
    modules = ("openai._base_client",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "SyncAPIClient.request", logical_call(describe))
        patches.wrap(module, "AsyncAPIClient.request", logical_call_async(describe))
        patches.wrap(module, "BaseClient._calculate_retry_timeout", retry_delay)


def describe(client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str] | None:
    """(method, url) of a request that was never sent: `request(cast_to, options, ...)`."""
    options = args[1] if len(args) > 1 else kwargs.get("options")
    if options is None:
        return None
    return str(options.method).upper(), str(client._prepare_url(options.url))
