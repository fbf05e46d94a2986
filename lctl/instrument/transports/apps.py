"""Clients of httpx whose requests stay in this process: an application answers them.

Such a request is no crossing of the border. What the application does for it is a part of the program: its
model calls are recorded, and in a rerun it runs again.
"""

from __future__ import annotations

from typing import Any

from lctl.instrument import codecs

#: Of httpx and its fork, and starlette's `TestClient`.
_TRANSPORTS = frozenset({"ASGITransport", "WSGITransport", "_TestClientTransport"})


def is_answered_here(client: Any, request: Any) -> bool:
    """Whether an application in this process answers the request. Not of what models are asked with: a server
    of models that a test has made is one all the same."""
    try:
        transport = client._transport_for_url(request.url)
    except AttributeError:  # a client of another making
        return False
    if not any(base.__name__ in _TRANSPORTS for base in type(transport).__mro__):
        return False
    return codecs.find(request.method, str(request.url), request.headers) is None


__all__ = ["is_answered_here"]
