"""Bytes that are no log: one clear line each, at once, in little memory."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from lctl.codec import compression, forms, open_log
from lctl.errors import LctlError, LogError, LogNotFound, NotALog, UnsupportedVersion
from tests.unit.codec.samples import SPEC_EVENTS, closed, document, event

DEEP = b"[" * 100_000
READS = "logs are .lctl.json, JSON Lines or YAML, perhaps in gzip or zstd"

BAD: dict[str, tuple[bytes, type[LctlError], str]] = {
    "empty": (b"", NotALog, "F: empty, not a log; nothing was recorded in it"),
    "blank": (b" \n\n", NotALog, "F: only blanks, not a log"),
    "NULs": (b"\0" * 5000, NotALog, f"F: binary data, not a log; {READS}"),
    "binary": (bytes(range(256)) * 20, NotALog, f"F: binary data, not a log; {READS}"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", NotALog, f"F: binary data, not a log; {READS}"),
    "a text": (b"Dear reader,\n\nhello", NotALog, f"F: not a log: it begins with 'Dear reader,'; {READS}"),
    "HTML": (b"<html></html>", NotALog, f"F: not a log: it begins with '<html></html>'; {READS}"),
    "a number": (b"42", NotALog, f"F: not a log: it begins with '42'; {READS}"),
    "other JSON": (
        b'{"name": "x", "version": 1}',
        NotALog,
        "F: JSON, but not a log: it has no 'events' (its keys are 'name', 'version')",
    ),
    "an empty object": (b"{}", NotALog, "F: JSON, but not a log: it is empty"),
    "a list of numbers": (b"[1, 2, 3]", NotALog, "F: JSON, but not a log: it is a list"),
    "other JSON Lines": (
        b'{"a": 1}\n{"a": 2}\n',
        NotALog,
        "F: JSON Lines, but not a log: no line is an event",
    ),
    "broken JSON": (
        b'{"name": "x",\n "b',
        NotALog,
        "F: not a log: JSON that breaks at line 2",
    ),
    "deep brackets": (DEEP, NotALog, "F: not a log: JSON nested too deeply"),
    "deep objects": (b'{"a":' * 100_000, NotALog, "F: not a log: JSON nested too deeply"),
    "deep YAML": (
        b"lctl: '4.0'\nevents: " + DEEP,
        NotALog,
        "F: not a log: YAML that cannot be read (line 2: nested too deeply)",
    ),
    "YAML that is none": (
        b"lctl: '4.0'\nchain: {id: x\nevents: []",
        NotALog,
        "F: not a log: YAML that cannot be read (line 3: did not find expected ',' or '}')",
    ),
    "YAML that holds itself": (
        b"lctl: '4.0'\nchain: &c {id: x, me: *c}\nevents: []\n",
        NotALog,
        "F: not a log: YAML that cannot be read (an alias of what it stands in)",
    ),
    "YAML aliases without end": (
        b"lctl: '4.0'\na: &a [" + b"1," * 40 + b"]\nb: &b [" + b"*a," * 40 + b"]\nc: [" + b"*b," * 40 + b"]",
        NotALog,
        "F: not a log: YAML that cannot be read (its aliases expand to many times its size)",
    ),
    "a damaged gzip": (
        b"\x1f\x8b\x08" + b"\xff" * 100,
        NotALog,
        "F: begins like gzip but cannot be unpacked; the file is damaged",
    ),
    "a damaged zstd": (
        b"\x28\xb5\x2f\xfd" + b"\xff" * 100,
        NotALog,
        "F: begins like zstd but cannot be unpacked; the file is damaged",
    ),
    "an empty gzip": (gzip.compress(b""), NotALog, "F: empty, not a log; nothing was recorded in it"),
    "version 5": (
        closed(SPEC_EVENTS, version="5.0"),
        UnsupportedVersion,
        "F: version 5.0, this lctl reads 3.0 to 4.x; upgrade it with: pip install -U lctl",
    ),
    "version 10 in a document": (
        document(SPEC_EVENTS, lctl="10.2"),
        UnsupportedVersion,
        "F: version 10.2, this lctl reads 3.0 to 4.x; upgrade it with: pip install -U lctl",
    ),
    "version 2": (
        document([], lctl=2),
        UnsupportedVersion,
        "F: version 2.0, this lctl reads 3.0 to 4.x; versions 1 and 2 hold no events",
    ),
    "a version that is none": (
        document([], lctl="four"),
        UnsupportedVersion,
        "F: its 'lctl' is 'four', expected a version such as \"4.0\"",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_one_clear_line_for_each(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the file, what is wrong, and what to do where something can be done."""
    raw, kind, message = BAD[name]
    monkeypatch.chdir(tmp_path)
    Path("F").write_bytes(raw)
    with pytest.raises(LctlError) as caught:
        open_log("F")
    assert (type(caught.value), str(caught.value)) == (kind, message)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_and_the_same_inside_an_archive(name: str, pack: Callable[[bytes], bytes]) -> None:
    """Compression hides nothing."""
    raw, kind, message = BAD[name]
    with pytest.raises(kind) as caught:
        open_log(pack(raw))
    assert str(caught.value) == message.replace("F:", "<bytes>:", 1)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """No such file; a directory; a path through a file."""
    missing = tmp_path / "run.lctl.json"
    with pytest.raises(LogNotFound) as caught:
        open_log(missing)
    assert str(caught.value) == f"{missing}: no such file; 'lctl ls' lists the recordings here"
    with pytest.raises(LogError) as caught_dir:
        open_log(tmp_path)
    assert str(caught_dir.value) == (
        f"{tmp_path}: a directory, not a log; 'lctl ls {tmp_path}' lists the logs in it"
    )
    missing.write_bytes(b"{}")
    with pytest.raises(LogError, match="not a file"):
        open_log(missing / "x")
    with pytest.raises(LogError, match="cannot be read"):
        open_log("a\0b")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's refusal becomes a sentence (the superuser is refused nothing, so it is feigned)."""

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "run.lctl.json"
    path.write_bytes(closed(SPEC_EVENTS))
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(LogError) as caught:
        open_log(path)
    assert str(caught.value) == f"{path}: no permission to read it; check its owner and mode"


def sparse(path: Path, size: int, begin: bytes = b"") -> Path:
    with path.open("wb") as file:
        file.write(begin)
        file.truncate(size)
    return path


def opened_lightly(path: Path) -> str:
    """What opening says, having looked that it took little memory."""
    tracemalloc.start()
    try:
        log = open_log(path)
        said = f"{log!r} {log.recovered}"
    except LctlError as error:
        said = str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000
    return said


TWO_GB = 2 << 30


ADVICE = "write it one event a line, such a log is read at any size"
MANY = closed([event(n) for n in range(1, 400)])
BIG = {
    "NULs": (b"", f"P: binary data, not a log; {READS}"),
    "text": (b"x" * 5000, f"P: not a log: it begins with 'xxxxxxxxxxxxxxxxxxxxxxxx'; {READS}"),
    "JSON": (
        b'{"a":' * 2000,
        f"P: 2048 MB as one JSON document cannot be read (limit 512 MB); {ADVICE}",
    ),
    "YAML": (
        b"events:\n" + b"- seq: 1\n" * 600,
        f"P: 2048 MB as YAML cannot be read (limit 64 MB); {ADVICE}",
    ),
    "a closed log": (
        MANY,
        "<Log P: 399 events, version 4.0> recovered: 399 events, NUL bytes at its end",
    ),
    "a cut log": (
        MANY[:-60],
        "<Log P: 399 events, version 4.0> recovered: 399 events, closing incomplete",
    ),
}


@pytest.mark.parametrize(("begin", "said"), BIG.values(), ids=BIG)
def test_two_gigabytes_are_refused_or_read_without_reading_them(
    begin: bytes, said: str, tmp_path: Path
) -> None:
    """A file of holes is as quick as a small one."""
    path = sparse(tmp_path / "big", TWO_GB, begin)
    assert opened_lightly(path).replace(str(path), "P") == said


def test_an_archive_that_unpacks_without_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file may come to any size: past the limit the message says how to go on."""
    monkeypatch.setattr(compression, "LIMIT", 1 << 20)
    for name, pack in (("gzip", gzip.compress), ("zstd", zstandard.compress)):
        path = tmp_path / f"x.{name}"
        path.write_bytes(pack(b'{"lctl":"4.0"' + b" " * (3 << 20)))
        with pytest.raises(LogError, match=f"unpack it to a file first \\({name} -dk {path}\\)"):
            open_log(path)


def test_a_document_past_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One JSON value must be read whole; journals and JSON Lines need not be."""
    monkeypatch.setattr(forms, "JSON_LIMIT", 1000)
    many = [event(n) for n in range(1, 40)]
    with pytest.raises(LogError, match="as one JSON document cannot be read"):
        open_log(document(many))
    assert len(open_log(closed(many))) == 39


def test_a_device_that_never_ends_is_given_up() -> None:
    """/dev/zero is not read for ever."""
    with pytest.raises(NotALog, match="/dev/zero: not a log: it begins with NUL bytes"):
        open_log("/dev/zero")
