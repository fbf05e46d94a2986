"""Large binary content leaves its message and can be put back to the byte."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import Any

import pytest

from lctl.conversation.blobs import put_back, take_blobs

RAW = bytes(range(256)) * 40
DATA = base64.b64encode(RAW).decode()
NAME = "sha256:" + sha256(RAW).hexdigest()


@pytest.mark.parametrize(
    ("part", "media_type"),
    [
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}", "detail": "low"}},
            "image/png",
        ),
        ({"type": "input_image", "image_url": f"data:image/jpeg;base64,{DATA}"}, "image/jpeg"),
        ({"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}, "audio/wav"),
        (
            {"type": "file", "file": {"filename": "f", "file_data": f"data:application/pdf;base64,{DATA}"}},
            "application/pdf",
        ),
        ({"type": "input_file", "filename": "f", "file_data": DATA}, None),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": DATA}},
            "image/gif",
        ),
        ({"type": "image_generation_call", "id": "ig", "result": DATA}, None),
        (
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
                ],
            },
            "image/png",
        ),
    ],
)
def test_every_dialects_binary_parts(part: dict[str, Any], media_type: str | None) -> None:
    """Images, audio, files, generated images, images in tool results."""
    message = {"role": "user", "content": [{"type": "text", "text": "see"}, part]}
    before = repr(message)
    stored, blobs = take_blobs(message)
    assert repr(message) == before
    (blob,) = blobs
    assert (blob["hash"], blob["encoding"], blob["size"], blob["content"]) == (NAME, "base64", len(RAW), DATA)
    assert blob.get("media_type") == media_type
    assert DATA not in repr(stored)
    assert put_back(stored, {NAME: DATA}.get) == message


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "x" * 9000},
        {"role": "user", "content": [{"type": "text", "text": "word " * 2000}]},
        {"role": "user", "content": [{"type": "text", "text": DATA}]},
        {
            "role": "user",
            "content": [{"type": "document", "source": {"type": "text", "data": "plain words " * 900}}],
        },
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + DATA[:900]}}],
        },
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/" + "a" * 5000}}]},
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:x/y;base64," + "A" * 4097}}],
        },
    ],
)
def test_everything_else_stays(message: dict[str, Any]) -> None:
    """Text of any length, small images, links, what only looks like base64: the very same object."""
    stored, blobs = take_blobs(message)
    assert stored is message
    assert blobs == []


def test_absurd_nesting_stays() -> None:
    """Nothing is taken out, nothing is raised."""
    content: list[Any] = [DATA]
    for _ in range(900):
        content = [content]
    message = {"role": "user", "content": content}
    assert take_blobs(message)[0] is message


def test_audio_of_an_answer() -> None:
    """A key of the message itself."""
    stored, blobs = take_blobs({"role": "assistant", "content": None, "audio": {"id": "a", "data": DATA}})
    assert stored["audio"] == {"id": "a", "data": {"$blob": NAME}}
    assert len(blobs) == 1


def test_the_same_bytes_in_other_letters() -> None:
    """Google's SDK writes - and _, others + and /; some break lines, or leave out padding: each as it was."""
    urls = DATA.translate(str.maketrans("+/", "-_"))
    spellings = [DATA, urls, base64.encodebytes(RAW).decode(), DATA.rstrip("="), urls.rstrip("=")]
    messages = [{"role": "user", "content": [{"data": spelled}]} for spelled in spellings]
    messages.append({"role": "user", "content": [{"url": f"data:image/png;base64,{urls}"}]})
    taken = [take_blobs(message) for message in messages]
    contents = {blob["hash"]: blob["content"] for _, blobs in taken for blob in blobs}
    assert contents[NAME] == DATA
    assert [put_back(stored, contents.get) for stored, _ in taken] == messages
