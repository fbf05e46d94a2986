"""Which hosts are told of the run with every request: none, unless the program or LCTL_PROPAGATE names them.

A header more changes a request, and says to whoever reads it what program runs: that is for one's own hosts.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from fnmatch import fnmatchcase
from typing import Any

from lctl.guard import guard

VARIABLE = "LCTL_PROPAGATE"

_named: set[str] = set()
# Asked before every request: without a call into Python, where the platform's environment allows it.
_environment: Any = getattr(os.environ, "_data", os.environ)
_KEY: Any = os.environ.encodekey(VARIABLE) if _environment is not os.environ else VARIABLE
_read: tuple[str, frozenset[str]] = ("", frozenset())


def propagate(*hosts: str) -> None:
    """Tell these hosts: `api.internal`, `*.internal`, `localhost:8080`. Seen in httpx, aiohttp, requests and
    urllib3, where `lctl.auto_instrument()` is on."""
    _named.update(host.lower() for host in hosts)


def patterns() -> set[str]:
    global _read
    text = os.environ.get(VARIABLE, "")
    if text != _read[0]:
        _read = (text, frozenset(one.strip().lower() for one in text.split(",") if one.strip()))
    return _named | _read[1]


def is_told(url: str) -> bool:
    """Whether the host of a URL is told."""
    wanted = patterns()
    if not wanted:
        return False
    place = url.partition("://")[2].partition("/")[0].rpartition("@")[2].lower()
    host = place.rpartition(":")[0] if place.rpartition(":")[2].isdigit() else place
    return any(fnmatchcase(name, pattern) for name in (place, host.strip("[]")) for pattern in wanted)


def tell(url: Any, headers: MutableMapping[str, Any]) -> None:
    """Before a request leaves: put the run into its headers, if its host is told."""
    if not _named and _KEY not in _environment:
        return
    with guard("a request's trace context"):
        if is_told(str(url)):
            from lctl.distributed.carriers import inject

            inject(headers)
