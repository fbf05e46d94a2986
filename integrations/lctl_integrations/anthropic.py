"""anthropic: the logical call above the client's retries and middleware, and the client's exceptions.

`request` is the outer function in every version (2.x prepares options there and opens its own span).
`messages.create/stream/parse/count_tokens`, beta, the tool runner's turns, Bedrock's and Vertex's
clients all pass it.
"""

from __future__ import annotations

from types import ModuleType

from lctl.instrument.patches import PatchSet
from lctl.instrument.sdks import logical_call, logical_call_async
from lctl_integrations.openai import describe  # both clients come out of the same generator


class Anthropic:
    """anthropic 0.40 to 1 on httpx, 2 on httpx2."""

    name = "anthropic"
    supported = ">=0.40,<3"
    modules = ("anthropic._base_client",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "SyncAPIClient.request", logical_call(describe))
        patches.wrap(module, "AsyncAPIClient.request", logical_call_async(describe))
