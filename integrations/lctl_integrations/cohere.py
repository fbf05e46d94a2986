"""cohere: the logical call above the client's retries.

What was asked and answered is read on the wire. A request that fails is made again by its own function, which
calls itself with the number of attempts so far; streams are asked for once. How long it waits has chance in
it: a rerun asks again when the recording did.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet, Wrapper
from lctl.instrument.sdks import logical_call, logical_call_async, retry_delay

#: Each says how long to wait; the second is there since 6.0.
_DELAYS = ("_retry_timeout", "_retry_timeout_from_retries")


class Cohere:
    """cohere 5.20 to 7, both versions of its API."""

    name = "cohere"
    supported = ">=5.20,<8"
    modules = ("cohere.core.http_client",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "HttpClient.request", _outermost(logical_call(_describe)))
        patches.wrap(module, "AsyncHttpClient.request", _outermost(logical_call_async(_describe)))
        for name in _DELAYS:
            if hasattr(module, name):
                patches.wrap(module, name, retry_delay)


def _outermost(call: Wrapper) -> Wrapper:
    """Only what the program asked for is a call: the client itself says `retries`."""

    def request(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if "retries" in kwargs:
            return wrapped(*args, **kwargs)
        return call(wrapped, client, args, kwargs)

    return request


def _describe(client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str] | None:
    """(method, url) of a request that was never sent: `request(path, method=..., base_url=...)`."""
    path = args[0] if args else kwargs.get("path")
    if not isinstance(path, str):
        return None
    base = client.get_base_url(kwargs.get("base_url"))
    return str(kwargs.get("method")).upper(), f"{base.rstrip('/')}/{path.lstrip('/')}"
