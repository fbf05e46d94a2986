"""What a program was asked, and told, and the commands that it had run, among events of its surroundings.

The others only a rerun needs.
"""

from __future__ import annotations

import re

from lctl.analysis.log import text

#: The source of commands that the program had run.
COMMAND = "command"
#: The sources of `ambient` events that tell it.
ASKED = ("cell", COMMAND, "gone", "keys", "prompt", "request", "signal", "stdin", "websocket")
#: For the files of a page its browser asks, and nobody else.
_FILES = "avif css eot gif ico jpeg jpg js map mjs otf png svg ttf wasm webmanifest webp woff woff2"
_FILE = re.compile(rf"GET [^?]*\.(?:{'|'.join(_FILES.split())})(?:\?|$)")


def is_asked(source: object, key: object) -> bool:
    """Whether an `ambient` event of that source and key tells it."""
    return text(source) in ASKED and not is_file(source, key)


def is_file(source: object, key: object) -> bool:
    """Whether it is that of a browser which asked for a file of its page."""
    return text(source) == "request" and _FILE.match(text(key) or "") is not None
