"""Inspect's `.eval` as it writes it now: its files are packed by zstd, which Python reads from 3.14 on."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from typing import Any

import pytest

from lctl.errors import NotImportable
from tests.unit.importing.sources import imported, lost, tree

zstandard = pytest.importorskip("zstandard", reason="needs: pip install 'lctl[zstd]'")

ANSWER = {"id": "b", "role": "assistant", "content": "4", "source": "generate"}


def sample(**usage: int) -> dict[str, Any]:
    output = {"model": "gpt-4.1", "usage": usage, "choices": [{"message": ANSWER, "stop_reason": "stop"}]}
    return {
        "id": 1, "epoch": 1, "target": "4",
        "messages": [{"id": "a", "role": "user", "content": "2+2?", "source": "input"}, ANSWER],
        "events": [{"event": "model", "model": "openai/gpt-4.1", "output": output}],
    }  # fmt: skip


def archive(files: dict[str, Any]) -> bytes:
    """A zip archive with method 93 in its headers: `zipfile` writes it from Python 3.14 on."""
    held = io.BytesIO()
    contents = [json.dumps(value).encode() for value in files.values()]
    with zipfile.ZipFile(held, "w") as made:
        for name, content in zip(files, contents, strict=True):
            made.writestr(name, zstandard.ZstdCompressor().compress(content))
    data = bytearray(held.getvalue())
    for signature, method, crc, size in ((b"PK\x03\x04", 8, 14, 22), (b"PK\x01\x02", 10, 16, 24)):
        at = 0
        for content in contents:
            at = data.index(signature, at)
            struct.pack_into("<H", data, at + method, 93)
            struct.pack_into("<I", data, at + crc, zlib.crc32(content))
            struct.pack_into("<I", data, at + size, len(content))
            at += 4
    return bytes(data)


def eval_of(one: dict[str, Any]) -> bytes:
    header = {"version": 2, "eval": {"task": "t", "model": "openai/gpt-4.1"}}
    return archive({"samples/1_epoch_1.json": one, "header.json": header})


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"input_tokens": 16, "output_tokens": 7, "total_tokens": 27, "input_tokens_cache_read": 4}, 20),
        (
            {"input_tokens": 1, "output_tokens": 2, "total_tokens": 33, "input_tokens_cache_read": 10,
             "input_tokens_cache_write": 20},
            31,
        ),
        ({"input_tokens": 20, "output_tokens": 7, "total_tokens": 27, "input_tokens_cache_read": 4}, 20),
        ({"input_tokens": 20, "output_tokens": 7, "total_tokens": 27}, 20),
    ],
)  # fmt: skip
def test_an_archive_packed_by_zstd_and_its_cached_tokens(usage: dict[str, int], read: int) -> None:
    """Inspect counts what came from a cache beside the input; older logs have it in there, as totals tell."""
    found = imported(eval_of(sample(**usage)))
    assert (found.form, lost(found)) == ("inspect", {})
    assert [node.text for node in tree(found).path("b")] == ["2+2?", "4"]
    (end,) = (event.data for event in found.log.events() if event.type == "step_end")
    assert (end["tokens"]["input"], end["tokens"]["output"]) == (read, usage["output_tokens"])


def test_a_damaged_file_of_such_an_archive() -> None:
    data = eval_of(sample(input_tokens=1))
    at = data.index(b"\x28\xb5\x2f\xfd")
    for damaged in (
        data[: at + 12] + b"\xff\xff\xff\xff" + data[at + 16 :],
        data[:at] + b"____" + data[at + 4 :],
    ):
        with pytest.raises(NotImportable, match=r"1_epoch_1\.json"):
            imported(damaged)
