"""Images of messages: of kinds that cannot run anything, from the log and from nowhere else."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from lctl.analysis.log import text
from lctl.debugger.asking import Bytes, OfRun
from lctl.debugger.failing import Refused
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.conversation import Part
from lctl.state.messages import images_of

#: Characters of a data: url that are given in place; a larger image is fetched.
_IN_PLACE = 8192
#: Kinds that are shown, by how their bytes begin.
_IMAGES = {
    "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


class Images:
    """Images of one message, numbered as they come."""

    def __init__(self, run: Opened, seq: int) -> None:
        self._run = run
        self._seq = seq
        self._n = 0

    def of(self, data: Mapping[str, Any]) -> Iterator[Part]:
        for image in images_of(data):
            given = image.get("url")
            url = given if isinstance(given, str) else None
            within = url is not None and url.startswith("data:")
            content = _decoded(url) if within and url else _of_blob(self._run, image.get("blob"))
            src = self._src(url if within else None) if _media_type(content) is not None else None
            self._n += 1
            yield Part(
                kind="image",
                media_type=text(image.get("media_type")) or None,
                src=src,
                url=None if within else url,
                held=src is None and (within or content is not None),
            )

    def _src(self, url: str | None) -> str:
        """Where a page has an image from."""
        if url is not None and len(url) <= _IN_PLACE:
            return url
        asked = {"run": self._run.key, "seq": self._seq, "part": self._n}
        return f"/api/blob?{urlencode(asked)}"


class BlobAsked(OfRun, kw_only=True):
    seq: int
    part: int = 0


def blob(run: Opened, asked: BlobAsked) -> Bytes:
    """An image of a message. Only what is an image of a kind that cannot run anything."""
    data = run.event(asked.seq).data
    images = images_of(data)
    if not 0 <= asked.part < len(images):
        raise Refused("not_found", f"event {asked.seq} has no image {asked.part}")
    image = images[asked.part]
    url = image.get("url")
    content = _decoded(url) if isinstance(url, str) else _of_blob(run, image.get("blob"))
    media = _media_type(content)
    if content is None or media is None:
        raise Refused("not_found", "that is no png, jpeg, gif or webp")
    return Bytes(content, media)


def _media_type(content: bytes | None) -> str | None:
    """What the bytes are, of the kinds that cannot run anything; whatever they call themselves."""
    return next((media for media, head in _IMAGES.items() if content and content.startswith(head)), None)


def _decoded(url: str) -> bytes | None:
    """The bytes of a data: url that holds an image of a known kind."""
    head, _, body = url.partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        return None
    return _bytes(body)


def _of_blob(run: Opened, hash: Any) -> bytes | None:
    seq = run.chain.tree.forest.blobs.get(hash) if isinstance(hash, str) else None
    content = run.event(seq).data.get("content") if seq is not None else None
    return _bytes(content) if isinstance(content, str) else None


def _bytes(body: str) -> bytes | None:
    try:
        return base64.b64decode(body, altchars=b"-_" if "-" in body or "_" in body else None)
    except (binascii.Error, ValueError):
        return None
