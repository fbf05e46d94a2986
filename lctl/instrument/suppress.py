"""Who silences whom: one exchange is reported once even where layers that all report it lie in a stack.

Whoever reports an exchange runs the layers beneath it with `reporting` set, and a transport that sees
it set passes the request on unrecorded: aiohttp beneath an httpx client, urllib3 beneath requests.
A user's own "do not record this" is the same variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_silenced: ContextVar[bool] = ContextVar("lctl_silenced", default=False)

#: True where a layer above reports, or the user asked for silence.
silenced = _silenced.get
silence = _silenced.set
end_silence = _silenced.reset


@contextmanager
def suppress() -> Iterator[None]:
    """`with suppress():` records no model call made in the block, in this thread or task."""
    token = _silenced.set(True)
    try:
        yield
    finally:
        _silenced.reset(token)
