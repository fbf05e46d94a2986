"""The openai and anthropic SDKs know the platform when a client is made, not upon its first call.

An asynchronous client asks for it in a thread before its first request, so that call begins some turns of
the loop later than others. In a rerun which call is the first may differ: those that a served tool made are
not made again.
"""

from __future__ import annotations

from functools import wraps
from types import ModuleType
from typing import Any

from lctl.instrument.ambient import reads, slots

_MODULES = ("openai._base_client", "anthropic._base_client")


def install() -> None:
    from lctl.instrument.hooks import on_import

    for name in _MODULES:
        slots.on_undo(on_import(name, _replace).remove)


def _replace(module: ModuleType) -> None:
    client = getattr(module, "AsyncAPIClient", None)
    known = getattr(module, "get_platform", None)
    if client is None or known is None or not reads.active():
        return
    original = client.__init__

    @wraps(original)
    def made(self: Any, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        if reads.active() and self.__dict__.get("_platform", known) is None:
            self._platform = known()

    slots.replace(client, "__init__", made)
