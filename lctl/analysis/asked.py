"""What a program was asked or told, among the events of its surroundings; the others only a rerun needs."""

from __future__ import annotations

import re

from lctl.analysis.log import text

#: The sources of `ambient` events that tell it.
ASKED = ("cell", "gone", "keys", "prompt", "request", "signal", "stdin", "websocket")
#: Those of what tells an order only.
_ORDERING = ("wake", "resumed", "jobs")
#: For the files of a page its browser asks, and nobody else.
_FILES = "avif css eot gif ico jpeg jpg js map mjs otf png svg ttf wasm webmanifest webp woff woff2"
_FILE = re.compile(rf"GET [^?]*\.(?:{'|'.join(_FILES.split())})(?:\?|$)")


def is_asked(source: object, key: object) -> bool:
    """Whether an `ambient` event of that source and key tells it."""
    return text(source) in ASKED and not _is_file(source, key)


def is_luck(source: object, key: object) -> bool:
    """Whether where it stands among others is none of the program's doing: what threads did to each other's
    order, and which file of its page a browser asked for first."""
    return text(source) in _ORDERING or _is_file(source, key)


def _is_file(source: object, key: object) -> bool:
    return text(source) == "request" and _FILE.match(text(key) or "") is not None
