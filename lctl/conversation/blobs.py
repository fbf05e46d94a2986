"""Large binary content of messages: stored once by hash, named where it stood.

Where a message holds base64 (an image, audio, a file) of more than `LIMIT` characters, the value
becomes `{"$blob": "sha256:..."}`; a data URL keeps its head beside it as `"prefix"`, and `"alphabet": "url"`
says that it was written with - and _, so that the value can be put together again to the byte: prefix +
the blob's content.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

#: Longest base64 text that stays in its message.
LIMIT = 4096

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200};base64,")
_FOR_URLS = str.maketrans("+/", "-_")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{64}")
# Keys whose long values are base64 in some provider's content parts.
_BINARY_KEYS = frozenset({"data", "file_data", "result", "b64_json", "partial_image_b64"})
_MEDIA_KEYS = ("media_type", "mime_type", "mimeType")
_FORMATS = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/opus"}

#: Payload of one `blob` event.
Blob = dict[str, Any]


def take_blobs(message: dict[str, Any]) -> tuple[dict[str, Any], list[Blob]]:
    """The message with its large binary values named by hash, and those values.

    The message itself is not changed; one without such values comes back as it is.
    """
    found: list[Blob] = []
    replaced = message
    try:
        for key, value in message.items():
            if value and isinstance(value, (list, dict)):
                new = _replace(value, key, message, found)
                if new is not value:
                    replaced = {**replaced, key: new}
    except RecursionError:  # nobody's content parts are nested like that
        return message, []
    return replaced, found


def put_back(value: Any, content_of: Callable[[str], str | None]) -> Any:
    """The inverse: a copy of `value` with every name replaced by what it names.

    Args:
        content_of: gives the content by its hash, None where it is not to be had; then the name stays.
    """
    if isinstance(value, list):
        return [put_back(item, content_of) for item in value]
    if not isinstance(value, dict):
        return value
    name = name_in(value)
    content = content_of(name) if name is not None else None
    if content is not None:
        spelled = content.translate(_FOR_URLS) if value.get("alphabet") == "url" else content
        return str(value.get("prefix", "")) + spelled
    return {key: put_back(item, content_of) for key, item in value.items()}


def name_in(value: Mapping[str, Any]) -> str | None:
    """The hash that a value names in the place of its content; None of any other."""
    name = value.get("$blob")
    return name if isinstance(name, str) and name.startswith("sha256:") else None


def _replace(value: Any, key: str, around: dict[str, Any], found: list[Blob]) -> Any:
    if isinstance(value, str):
        return _replace_text(value, key, around, found) if len(value) > LIMIT else value
    if isinstance(value, list):
        items = [_replace(item, key, around, found) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        fields = {name: _replace(item, name, value, found) for name, item in value.items()}
        return fields if any(fields[name] is not item for name, item in value.items()) else value
    return value


def _replace_text(text: str, key: str, around: dict[str, Any], found: list[Blob]) -> Any:
    url = _DATA_URL.match(text)
    if url is None and not (key in _BINARY_KEYS and _BASE64.match(text)):
        return text
    content = text[url.end() :] if url else text
    blob = _blob(content, (url.group(1) if url else None) or _media_type(around))
    if blob is None:
        return text
    found.append(blob)
    name = {"$blob": blob["hash"]}
    if blob["encoding"] == "base64" and blob["content"] != content:
        name["alphabet"] = "url"
    return {**name, "prefix": url.group()} if url else name


def _blob(content: str, media_type: str | None) -> Blob | None:
    """None where `content` is not base64 after all; the hash is of the bytes it stands for. What spells them
    otherwise than base64 is spelled (with line ends, without padding) is a text: one hash has one content."""
    try:
        raw = base64.b64decode(content, altchars=b"-_" if "-" in content or "_" in content else None)
    except (binascii.Error, ValueError):
        return None
    plain, encoding = base64.b64encode(raw).decode(), "base64"
    if content not in (plain, plain.translate(_FOR_URLS)):
        plain, encoding, raw = content, "utf8", content.encode()
    blob: Blob = {"hash": "sha256:" + sha256(raw).hexdigest(), "encoding": encoding}
    if media_type:
        blob["media_type"] = media_type
    return {**blob, "size": len(raw), "content": plain}


def _media_type(around: dict[str, Any]) -> str | None:
    for key in _MEDIA_KEYS:
        value = around.get(key)
        if isinstance(value, str):
            return value
    return _FORMATS.get(str(around.get("format")))
