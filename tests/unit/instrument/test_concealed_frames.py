"""Secrets in AWS's frames: taken out, and the frames as valid as before; what holds none stays as it is."""

from __future__ import annotations

import base64
import zlib

import orjson
import pytest

from lctl.instrument import concealment
from lctl.instrument.codecs import aws
from lctl.session.redaction.redact import Redactor
from lctl.testing.wire.bedrock import frame

SECRET = "sk-proj-" + "Ab3dEf6hIj9lMn2pQr5t" * 2


def sealed(payload: dict[str, object]) -> bytes:
    return frame("chunk", {"bytes": base64.b64encode(orjson.dumps(payload)).decode()})


def streams(text: str) -> list[list[bytes]]:
    """Converse, Anthropic's and Llama's form of InvokeModel, each with the text in two pieces."""
    cut = len(text) // 2
    halves = text[:cut], text[cut:]
    return [
        [frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": half}}) for half in halves],
        [
            sealed({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": half}})
            for half in halves
        ],
        [sealed({"generation": half}) for half in halves],
    ]


@pytest.mark.parametrize("form", range(3))
def test_a_secret_is_taken_out_of_the_frames(form: int) -> None:
    """Though no frame holds it whole; lengths and checksums are those of what is there now."""
    chunks = streams(f"The key is {SECRET}, keep it.")[form]
    redactor = Redactor()
    assert concealment.may_hold_secret(redactor, chunks, [{"content": SECRET}], frames=True)
    clean = concealment.conceal(redactor, chunks, frames=True)
    assert len(clean) == len(chunks)
    said = b"".join(aws.payload_of(one) for one in clean).decode()
    assert SECRET[:20] not in said and SECRET[-12:] not in said
    assert "The key is" in said and "keep it." in said
    for one in clean:
        assert int.from_bytes(one[:4], "big") == len(one)
        assert int.from_bytes(one[8:12], "big") == zlib.crc32(one[:8])
        assert int.from_bytes(one[-4:], "big") == zlib.crc32(one[:-4])


@pytest.mark.parametrize("form", range(3))
def test_frames_without_a_secret_stay_as_they_are(form: int) -> None:
    """The base64 of a JSON object begins as a token does, which makes it none."""
    chunks = streams("The weather is fine today.")[form]
    assert not concealment.may_hold_secret(Redactor(), chunks, [{"content": "fine"}], frames=True)
    assert concealment.conceal(Redactor(), chunks, frames=True) == chunks
