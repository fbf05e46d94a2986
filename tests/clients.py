"""SDK clients of tests, closed when their test ends. A client is in cycles: where it is left to the
collector of garbage, its sockets may be taken before it, and the warning fails whichever test runs then."""

from __future__ import annotations

from typing import Any, TypeVar

_Client = TypeVar("_Client")
_open: list[Any] = []


def closing(client: _Client) -> _Client:
    """The client; `close_all`, which each test ends with, closes it."""
    _open.append(client)
    return client


def close_all() -> None:
    while _open:
        _open.pop().close()
