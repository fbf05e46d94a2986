"""Where things are in a `.lctl.json` journal, found from its two ends.

    {"lctl":"4.0","chain":{"id":"..."},"events":[       header
    {"seq":1,...},                                      events, one a line
    {"seq":2,...}                                       <- events_end is after this brace
    ],"state":{...},"summary":{...},"hash":{...}}       tail, absent while the log is being written

`scan_end` is what a writer needs to go on; `layout` is what a reader needs to start. Neither reads
more than the first and the last lines.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from lctl.codec.bytesource import Bytes, FileBytes
from lctl.codec.lines import SEQ, decode, is_header
from lctl.errors import NotALog

_BLOCK = 1 << 16
#: What of the first line is read first: a header is hardly ever longer.
_LINE = 1 << 13
_HEADER_LIMIT = 1 << 26
_START = b'{"lctl":'
_OPENING = b'"events":['
_EVENTS = re.compile(rb'"events"\s*:\s*\[')
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\0"
#: The end of a tail written by us: seen whole, the tail is whole, however long its state is.
_SEALED = re.compile(rb'"hash":\{"algorithm":"sha256","events":"[0-9a-f]{64}","count":(\d+)\}\}\s*$')


class Layout(NamedTuple):
    """Offsets in bytes from the start of the file.

    Attributes:
        header: the first line as an object, without its events; {} when even that was cut.
        begin: first byte of the first event line.
        end: one past the last complete event, its comma and line end not counted. With no event it is
            the byte after the header's `[`.
        first_seq, last_seq: of the first and last complete line; 0 when there is none.
        tail_at: where the closing starts (its line feed), None in an open log.
        size: one past the last byte that means anything (trailing NULs and blanks are cut).
        sealed: events the tail's hash counts; None when there is no such tail.
        torn: what is wrong after `end`, "" when nothing is (a missing tail is nothing wrong).
    """

    header: dict[str, Any]
    begin: int
    end: int
    first_seq: int
    last_seq: int
    tail_at: int | None
    size: int
    sealed: int | None
    torn: str


class JournalEnd(NamedTuple):
    """What a writer needs to append: cut the file at `events_end`, write `,\\n` and a line.

    With `last_seq` 0 write `\\n` and a line; with `events_end` 0 the header itself was cut: start over.
    """

    chain: dict[str, Any]
    begin: int  # of the first event's line; `events_end` when there is none
    first_seq: int
    last_seq: int
    events_end: int
    torn: bool
    tail_at: int | None


def beside(path: str) -> str:
    """The file that holds the open streams of the log at `path`."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.streams")  # noqa: PTH118  (asked for at every opening of a log)


def scan_end(fd: int, name: str) -> JournalEnd:
    """Where the events of an open journal end.

    Raises:
        NotALog: it is something else than a journal as lctl writes them.
    """
    data = FileBytes(os.dup(fd), os.fstat(fd).st_size)
    found = layout(data)
    # Other line ends and blank lines can be read; but what is added, and the hash, would not go with them.
    if found is None or (found.last_seq and data.read(found.begin - 2, 2) != b"[\n"):
        raise NotALog(
            f"{name}: not a journal that can be appended to (its events are not one to a line); "
            f"write it as one with: lctl convert {name} --to json"
        )
    chain = found.header.get("chain")
    return JournalEnd(
        chain if isinstance(chain, dict) else {},
        found.begin,
        found.first_seq,
        found.last_seq,
        found.end,
        bool(found.torn),
        found.tail_at,
    )


def layout(data: Bytes) -> Layout | None:
    """The layout of a journal, or None when the bytes are not one (another form, or not a log)."""
    size = meaningful(data)
    head = _header(data, size)
    if head is None:
        return None
    header, begin = head
    if not header:
        return Layout({}, 0, 0, 0, 0, None, size, None, "header incomplete")
    if begin >= size:
        return Layout(header, begin, min(begin, size), 0, 0, None, size, None, "")
    if not _begins_event(data.read(begin, min(64, size - begin))):
        return None
    return ending(data, header, begin, size)


def jsonl_layout(data: Bytes) -> Layout | None:
    """The layout of JSON Lines whose event lines are canonical, with or without a header line; None for
    any other. There is no tail."""
    size = meaningful(data)
    head = data.read(0, min(_BLOCK, size))
    begin = len(_BOM) if head.startswith(_BOM) else 0
    header: dict[str, Any] = {}
    if not SEQ.match(head, begin):
        stop = head.find(b"\n")
        if stop < 0 or not _is_object(head[begin:stop]):
            return None
        header = decode(head[begin:stop])
        if "events" in header or not is_header(header):
            return None
        begin = _past_blanks(data, stop + 1, size)
    if not SEQ.match(head, begin) or b"\n" not in head[begin:]:
        return None
    return ending(data, header, begin, size)


def meaningful(data: Bytes) -> int:
    """Size without trailing NULs and blanks. A file system may leave blocks of NULs after a crash, and
    they may be gigabytes of holes: where NULs end is found by halving, as text never holds them."""
    size = data.size
    if size and data.read(size - 1, 1) == b"\0":
        low, high = 0, size  # byte `low - 1` is text (or low is 0), byte `high - 1` is NUL
        while low < high:
            middle = (low + high) // 2
            if data.read(middle, 1) == b"\0":
                high = middle
            else:
                low = middle + 1
        size = low
    while size:
        block = data.read(max(0, size - 512), min(512, size))
        kept = len(block.rstrip(_BLANK))
        size -= len(block) - kept
        if kept:
            break
    return size


def _header(data: Bytes, size: int) -> tuple[dict[str, Any], int] | None:
    """The header and the offset where events begin; ({}, 0) when the file was cut inside the header."""
    want = _LINE
    while True:
        head = data.read(0, min(want, size))
        skip = len(_BOM) if head.startswith(_BOM) else 0
        if not head[skip : skip + len(_START)].startswith(_START[: max(len(head) - skip, 1)]):
            return None
        stop = head.find(b"\n")
        if stop >= 0 or len(head) >= size or want >= _HEADER_LIMIT:
            break
        want *= 8
    line = head[skip : stop if stop >= 0 else None].rstrip(b"\r \t")
    if not line.endswith(_OPENING):
        cut = stop < 0 and not _EVENTS.search(line) and not _is_json(line)
        return ({}, 0) if cut else None
    try:
        header = decode(line + b"]}")
    except ValueError:
        return None
    header.pop("events", None)
    return header, (_past_blanks(data, stop + 1, size) if stop >= 0 else skip + len(line))


def _past_blanks(data: Bytes, at: int, size: int) -> int:
    """`at`, or the first byte after it that is no blank."""
    while at < size:
        block = data.read(at, min(512, size - at))
        kept = len(block.lstrip(b" \t\r\n"))
        at += len(block) - kept
        if kept:
            break
    return at


def _is_json(line: bytes) -> bool:
    try:
        decode(line)
    except ValueError:
        return False
    return True


def _begins_event(line: bytes) -> bool:
    """A canonical event, its first bytes when the file was cut there, or a closing bracket."""
    return bool(SEQ.match(line)) or line.startswith(b"]") or _cut_event(line.split(b"\n")[0])


def _cut_event(line: bytes) -> bool:
    prefix = b'{"seq":'
    return prefix.startswith(line) or (line.startswith(prefix) and line[len(prefix) :].isdigit())


def ending(data: Bytes, header: dict[str, Any], begin: int, size: int) -> Layout | None:
    """Looks at the last line: a tail, a whole event, or what is left of one."""
    at, last = _last_line(data, begin, size)
    tail_at: int | None = None
    sealed: int | None = None
    torn = ""
    if last.startswith(b"]"):
        seal = _SEALED.search(last[-200:])
        sealed = int(seal[1]) if seal else None
        torn = "" if seal or _is_tail(last) else "closing incomplete"
        tail_at = None if torn else at - 1
        end = at
    elif _is_object(last):
        end = size
    elif _whole_document(last):
        return None
    else:
        end, torn = at, "last line incomplete"
    end = max(_trimmed(data, begin, end), begin)
    first, last_seq = _bounds(data, begin, end)
    if not last_seq:
        end = begin = _after_bracket(data, begin)
    return Layout(header, begin, end, first, last_seq, tail_at, size, sealed, torn)


def _is_tail(line: bytes) -> bool:
    return _is_object(b'{"events":[' + line)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(decode(line), dict)
    except ValueError:
        return False


def _whole_document(last: bytes) -> bool:
    """The last line closes the document in a way that is not the journal's: another form of JSON."""
    if last.endswith(b"}") and not last.startswith(b'{"seq":'):
        return True
    return last.endswith(b"}") and b"]" in last and _is_tail(last)


def _last_line(data: Bytes, begin: int, size: int) -> tuple[int, bytes]:
    """Offset and bytes of the last line before `size`."""
    want = 4096
    while True:
        start = max(begin, size - want)
        block = data.read(start, size - start)
        at = block.rfind(b"\n")
        if at >= 0 or start == begin:
            return start + at + 1, block[at + 1 :]
        want *= 8


def _trimmed(data: Bytes, begin: int, end: int) -> int:
    """`end` moved back over the comma and line end before it."""
    block = data.read(max(begin, end - 64), min(64, end - begin))
    return end - (len(block) - len(block.rstrip(b", \t\r\n")))


def _bounds(data: Bytes, begin: int, end: int) -> tuple[int, int]:
    """Seq of the first and of the last line that has one."""
    first = SEQ.match(data.read(begin, min(64, end - begin)))
    at = end
    while at > begin:
        at, line = _last_line(data, begin, at)
        found = SEQ.match(line)
        if found:
            return int(first[1]) if first else 0, int(found[1])
        at -= 1
    return 0, 0


def _after_bracket(data: Bytes, begin: int) -> int:
    """End of the header line, before its line feed: where a first event's line feed goes."""
    at = begin
    while at and data.read(at - 1, 1) in b" \t\r\n":
        at -= 1
    return at
