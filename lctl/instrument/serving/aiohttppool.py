"""Connections of served answers in aiohttp's pool.

A connector keeps the connection of an answer that was read, and closes it with the session, which takes
turns of the event loop: as many as are in its pool, and as its version needs. So those of served answers are
kept there, too. Nothing real is sent over them: they say that they are closing.
"""

from __future__ import annotations

from typing import Any


class Pooled:
    """What a served connection asks of the connector it came from."""

    force_close = False

    def __init__(self, connector: Any) -> None:
        self._connector = connector

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:
        connector = self._connector
        if should_close or not isinstance(getattr(connector, "_conns", None), dict):
            protocol.close()
            return
        if not (connector._force_close or protocol.should_close or connector._closed):
            protocol.transport.is_kept = True
        connector._release(key, protocol)


def reclaim(connector: Any, key: Any) -> None:
    """A request goes over a connection that is there, if there is one."""
    pools = getattr(connector, "_conns", None)
    if not isinstance(pools, dict):
        return
    there = pools.get(key)
    if there and getattr(there[0][0].transport, "is_kept", False):
        del there[0]
        if not there:
            del pools[key]
