"""Sounds and files in messages: as the providers have them, and as the GenAI conventions do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]

#: Keys beneath which a part holds what it is of: OpenAI's, Anthropic's, Google's.
_INNER = ("input_audio", "file", "source", "inlineData", "inline_data", "fileData", "file_data")
_SOUNDS = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/opus"}
_FORMATS = {"audio/x-wav": "wav", "audio/mp3": "mp3", **{type: name for name, type in _SOUNDS.items()}}


def media_of(part: Data) -> dict[str, Any] | None:
    """A sound or a file as a part of the conventions; None of what is neither.

    What the log keeps aside by its hash has the hash for its `file_id`.
    """
    if part.get("type") in ("input_file", "file") and not isinstance(part.get("file"), Mapping):
        inner: Data = part
    else:
        held = next((part[key] for key in _INNER if isinstance(part.get(key), Mapping)), None)
        if held is None or part.get("type") not in (None, "input_audio", "file", "document"):
            return None
        inner = held
    content = inner.get("data", inner.get("file_data"))
    mime = next(
        (v for k in ("media_type", "mimeType", "mime_type") if isinstance(v := inner.get(k), str)), None
    )
    mime = mime or _SOUNDS.get(str(inner.get("format"))) or _head(content)
    said: dict[str, Any] = {"mime_type": mime, "modality": _modality(mime)}
    if isinstance(inner.get("filename"), str):
        said["filename"] = inner["filename"]
    if isinstance(content, Mapping) and isinstance(content.get("$blob"), str):
        return {"type": "file", **said, "file_id": content["$blob"]}
    if isinstance(content, str):
        if mime == "text/plain" and inner.get("type") == "text":
            return {"type": "text", "content": content}
        return {"type": "blob", **said, "content": content.partition(",")[2] if _head(content) else content}
    for key, kind, name in (("file_id", "file", "file_id"), ("url", "uri", "uri"), ("file_url", "uri", "uri"),
                            ("fileUri", "uri", "uri"), ("file_uri", "uri", "uri")):  # fmt: skip
        if isinstance(inner.get(key), str):
            return {"type": kind, **said, name: inner[key]}
    return None


def part_of(media: Data) -> dict[str, Any] | None:
    """The other way: a `blob` as OpenAI's chat has it; None where it has no such part."""
    mime, content = media.get("mime_type"), media.get("content")
    if not isinstance(mime, str) or not isinstance(content, str):
        return None
    if mime in _FORMATS:
        return {"type": "input_audio", "input_audio": {"data": content, "format": _FORMATS[mime]}}
    file = {"file_data": f"data:{mime};base64,{content}"}
    if isinstance(media.get("filename"), str):
        file["filename"] = media["filename"]
    return {"type": "file", "file": file}


def _head(content: Any) -> str | None:
    """The media type that a data URL begins with; of one kept aside, its `prefix` does."""
    text = content.get("prefix") if isinstance(content, Mapping) else content
    return text[5:].split(";")[0] or None if isinstance(text, str) and text.startswith("data:") else None


def _modality(mime: str | None) -> str:
    kind = (mime or "").partition("/")[0]
    return kind if kind in ("image", "audio", "video") else "document"
