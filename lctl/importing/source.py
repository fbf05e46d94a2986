"""The file to import: its bytes, and what they are as JSON, as lines of JSON, as a table, as an archive."""

from __future__ import annotations

import codecs
import io
import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from lctl.codec.bytesource import MemoryBytes
from lctl.codec.compression import is_compressed, unpack
from lctl.codec.lines import decode
from lctl.errors import LogError, LogNotFound, NotALog, NotImportable
from lctl.importing import tables
from lctl.importing.pages import stored_calls

_BOM = b"\xef\xbb\xbf"
_ZIP = b"PK\x03\x04"
#: How an entry says that zstd packed it, and the bytes before its name.
_BY_ZSTD, _HEAD = 93, 30
_BLACK = re.compile(rb"\S")
#: Most bytes one entry of an archive may come to.
_LARGEST = 1 << 30


class Row(NamedTuple):
    """One object of a file that holds many, and where it is (`line 7`, `item 3`)."""

    where: str
    value: dict[str, Any]


class Source:
    """A file that may hold conversations.

    Attributes:
        path: None for standard input.
        name: for messages to people.
        broken: places of lines that are no JSON (a torn last line).
        goes_on: it is a page, after which there are others.
        damage: what is wrong with the compressed file it was, "" when nothing is.
    """

    def __init__(self, data: bytes, name: str, path: Path | None = None) -> None:
        data, self.damage = unpack(MemoryBytes(data), name) if is_compressed(data[:4]) else (data, "")
        self.name = name
        self.path = path
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # what PowerShell's `>` writes
            data = data.decode("utf-16", "replace").encode()
        self.data = data.removeprefix(_BOM)
        self.broken: list[str] = []
        self.goes_on = False

    @classmethod
    def open(cls, name: str) -> Source:
        """The file at a path; "-" is standard input.

        Raises:
            LogNotFound: no such file.
            LogError: it cannot be read.
        """
        if name == "-":
            return cls(sys.stdin.buffer.read(), "standard input")
        path = Path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise LogNotFound(f"{name}: no such file") from None
        except OSError as error:
            raise LogError(f"{name}: cannot be read ({(error.strerror or str(error)).lower()})") from None
        return cls(data, name, path)

    @cached_property
    def document(self) -> Any:
        """The whole as one JSON value; None where it is none."""
        head = self.data[:64].lstrip()
        if head[:1] not in (b"{", b"[") or self._first_line_stands_alone():
            return None
        try:
            return self._of_page(decode(self.data))
        except ValueError:
            return None

    @property
    def is_json(self) -> bool:
        """The whole is one JSON value, of whatever kind."""
        try:
            decode(self.data)
        except ValueError:
            return False
        return True

    def _first_line_stands_alone(self) -> bool:
        """JSON Lines, told without reading them all as one value."""
        begin = len(self.data) - len(self.data.lstrip()) if self.data[:1].isspace() else 0
        end = self.data.find(b"\n", begin)
        if end < 0 or not _BLACK.search(self.data, end):
            return False
        line = self.data[begin:end]
        try:
            decode(line)
        except ValueError:
            return False
        return True

    @cached_property
    def rows(self) -> list[Row]:
        """Objects: one per line of JSON Lines, or row of Parquet; items of a JSON list; the one document."""
        if self.data.startswith(tables.MAGIC):
            return [Row(f"row {n}", value) for n, value in enumerate(tables.rows_of(self.data, self.name), 1)]
        whole = self.document
        if isinstance(whole, dict):
            return [Row("the document", whole)]
        if isinstance(whole, list):
            return [Row(f"item {n}", value) for n, value in enumerate(whole, 1) if isinstance(value, dict)]
        return list(self._lines())

    @cached_property
    def first(self) -> dict[str, Any]:
        """What the first line says, of a file that holds JSON Lines; {} of any other."""
        if "rows" in self.__dict__ or not self._first_line_stands_alone():
            return {}
        value = decode(next(line for line in io.BytesIO(self.data) if line.strip()))
        return value if isinstance(value, dict) else {}

    def taken(self) -> Iterator[Row]:
        """The rows, which are not kept: each is freed when it has been read. Decoded, a large file is several
        times as large. What asks for rows after this has them decoded anew."""
        if "rows" not in self.__dict__ and self.first:
            yield from self._lines()
            return
        rows = self.rows[::-1]
        for name in ("document", "rows"):
            self.__dict__.pop(name, None)
        while rows:
            yield rows.pop()

    @cached_property
    def is_lines(self) -> bool:
        """JSON Lines of more than one line, or a table."""
        return self.document is None and bool(self.rows)

    def _lines(self) -> Iterator[Row]:
        self.broken = []
        if self.data[:64].lstrip()[:1] != b"{":
            return
        for n, line in enumerate(io.BytesIO(self.data), 1):
            if not line.strip():
                continue
            try:
                value = decode(line)
            except ValueError:
                value = None
            if isinstance(value, dict):
                told = self._of_page(value)
                yield from (Row(f"line {n}", one) for one in (told if isinstance(told, list) else [value]))
            else:
                self.broken.append(f"line {n}")

    def _of_page(self, value: Any) -> Any:
        """The answers in a page of those that OpenAI stored; any other value as it is."""
        held = stored_calls(value)
        if held:
            self.goes_on = value.get("has_more") is True
        return held or value

    @cached_property
    def entries(self) -> dict[str, int]:
        """Names in a zip archive and their sizes; {} where it is none."""
        if not self.data.startswith(_ZIP):
            return {}
        try:
            with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
                return {entry.filename: entry.file_size for entry in archive.infolist()}
        except zipfile.BadZipFile:
            raise NotImportable(f"{self.name}: a zip archive that is damaged or was cut") from None

    def entry(self, name: str) -> Any:
        """The JSON value of a file in the archive.

        Raises:
            NotImportable: it cannot be unpacked, or is no JSON.
        """
        if self.entries[name] > _LARGEST:
            raise NotImportable(f"{self.name}: {name} in it comes to more than {_LARGEST >> 30} GiB")
        try:
            with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
                return decode(archive.read(name).removeprefix(_BOM))
        except NotImplementedError:  # a way to pack that this Python has not: zstd, below 3.14
            return self._unpacked(name)
        except Exception as error:  # each way to pack has an error of its own
            raise NotImportable(f"{self.name}: {name} in it cannot be read ({error})") from None

    def _unpacked(self, name: str) -> Any:
        """The JSON value of a file in the archive that is packed by zstd, as Inspect packs them.

        Raises:
            NotImportable: it is packed otherwise, or damaged.
            MissingExtra: zstd, and `zstandard` is not installed.
        """
        with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
            entry = archive.getinfo(name)
        if entry.compress_type != _BY_ZSTD:
            raise NotImportable(f"{self.name}: {name} in it is packed in a way this Python cannot unpack")
        head = self.data[entry.header_offset : entry.header_offset + _HEAD]
        begin = (
            entry.header_offset + _HEAD + sum(struct.unpack("<HH", head[-4:]))
        )  # its name, what else it says
        packed = MemoryBytes(self.data[begin : begin + entry.compress_size])
        try:
            unpacked, damage = unpack(packed, name)
        except NotALog as error:
            raise NotImportable(f"{self.name}: {error}") from None
        if damage or crc32(unpacked) != entry.CRC:
            raise NotImportable(f"{self.name}: {name} in it cannot be read ({damage or 'wrong checksum'})")
        try:
            return decode(unpacked.removeprefix(_BOM))
        except ValueError as error:
            raise NotImportable(f"{self.name}: {name} in it cannot be read ({error})") from None
