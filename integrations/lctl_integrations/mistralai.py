"""mistralai: the logical call above the client's retries.

What was asked and answered is read on the wire, in OpenAI's format. The client tries again only where it is
given a `retry_config`; how long it waits has chance in it: a rerun asks again when the recording did. The
copies of the client for Azure and Google Cloud are recorded on the wire alone: there each attempt is a call.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.sdks import logical_call, logical_call_async, retry_delay


class Mistral:
    """mistralai 2 on httpx, 3 on httpx2."""

    name = "mistralai"
    supported = ">=2,<4"
    modules = ("mistralai.client.basesdk", "mistralai.client.utils.retries")

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__.endswith(".retries"):
            patches.wrap(module, "_get_sleep_interval", retry_delay)
            return
        patches.wrap(module, "BaseSDK.do_request", logical_call(_describe))
        patches.wrap(module, "BaseSDK.do_request_async", logical_call_async(_describe))


def _describe(client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str] | None:
    """(method, url) of a request that was never sent: `do_request(hook_ctx, request, ...)`."""
    request = args[1] if len(args) > 1 else kwargs.get("request")
    return None if request is None else (str(request.method).upper(), str(request.url))
