"""Who silences whom: one exchange is reported once even where layers that all report it lie in a stack.

Whoever reports an exchange runs the layers beneath it with `reporting` set, and a transport that sees
it set passes the request on unrecorded: aiohttp beneath an httpx client, urllib3 beneath requests.
A user's own "do not record this" is the same variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lctl.session.runs.silence import REPORTED, end_silence, silence, silenced


@contextmanager
def suppress() -> Iterator[None]:
    """`with suppress():` records no model call made in the block, in this thread or task."""
    token = silence(silenced() or True)
    try:
        yield
    finally:
        end_silence(token)


__all__ = ["REPORTED", "end_silence", "silence", "silenced", "suppress"]
