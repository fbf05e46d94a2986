"""Which reader a live session has, by its URL."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from lctl.instrument.codecs.googlelive import GoogleLive
from lctl.instrument.codecs.live import LiveReader
from lctl.instrument.codecs.realtime import Realtime
from lctl.instrument.codecs.socketresponses import SocketResponses


def reader_of(url: str) -> LiveReader | None:
    """None for what is no live session with a model."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if "BidiGenerateContent" in path:
        return GoogleLive(url)
    if path.endswith("/responses"):
        return SocketResponses(url)
    if not path.endswith("/realtime"):
        return None
    asked = parse_qs(parts.query)
    named = asked.get("model") or asked.get("deployment")
    return Realtime(url, named[0] if named else None)
