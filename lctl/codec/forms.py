"""Tell the forms of a log apart, read each, and bring its version up to 4."""

from __future__ import annotations

import codecs
import re
from typing import Any

from lctl.codec.bytesource import Bytes, MemoryBytes, read_all
from lctl.codec.document import Parsed, collector_paused, read_json, read_lines, read_yaml
from lctl.codec.eventfile import EventFile
from lctl.codec.eventlist import EventList
from lctl.codec.journal import Layout, jsonl_layout, layout
from lctl.codec.lines import decode
from lctl.codec.log import Log, Problem, Recovery, origin_of
from lctl.codec.numbering import number
from lctl.codec.salvage import headless
from lctl.codec.upgrade import upgrade
from lctl.errors import LogError, NotALog, UnsupportedVersion
from lctl.events import VERSION

#: Largest document read whole, by form; journals and JSON Lines of canonical events have no limit.
JSON_LIMIT = 512 << 20
YAML_LIMIT = 64 << 20

_YAML = re.compile(rb"^(?:lctl|chain|events|trace)[ \t]*:|^[ \t]*(?:-[ \t]+)?seq[ \t]*:", re.MULTILINE)
_VERSION = re.compile(r"(\d{1,4})(?:\.(\d{1,4}))?(?:\.\d+)*$")
_READS = "logs are .lctl.json, JSON Lines or YAML, perhaps in gzip or zstd"
_TAIL = ("state", "summary", "hash")
_UPGRADED = ("trace", "facts", "handoff", "instruction")


def read(data: Bytes, *, path: str | None, name: str, cut: str = "") -> Log:
    """The log in `data`, whatever its form.

    Args:
        cut: what is wrong with the archive the bytes came out of, "" when nothing is.
    """
    try:
        log = _read_as_it_is(data, path, name, cut)
    except NotALog:
        found = _read_headless(data, path, name, cut)
        if found is None:
            raise
        return found
    if len(log) or _has_header(data):
        return log
    return _read_headless(data, path, name, cut) or log


def _has_header(data: Bytes) -> bool:
    """Whether the header can be read, though there is no event below it that can be."""
    found = layout(data)
    return found is not None and bool(found.header)


def _read_headless(data: Bytes, path: str | None, name: str, cut: str) -> Log | None:
    """The events of a journal whose header is damaged: each line stands for itself."""
    found = headless(data)
    if found is None or not found.last_seq:
        return None
    note = Problem(None, 1, "the header cannot be read; what it says of the chain is left out")
    return _lined(data, found, "journal", path, name, cut, (note,))


def _read_as_it_is(data: Bytes, path: str | None, name: str, cut: str) -> Log:
    _refuse_binary(data, name)
    found = layout(data)
    if found is not None:
        return _lined(data, found, "journal", path, name, cut)
    head = data.read(0, 1 << 16)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = _read(data, name, "UTF-16", JSON_LIMIT).decode("utf-16", "replace").encode()
        return _read_as_it_is(MemoryBytes(text), path, name, cut)
    first = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if first in (b"{", b"["):
        lined = jsonl_layout(data)
        if lined is not None:
            return _lined(data, lined, "jsonl", path, name, cut)
        raw = _read(data, name, "one JSON document", JSON_LIMIT)
        form = "jsonl" if _is_lines(raw) else "json"
        with collector_paused():
            parsed = read_lines(raw, name) if form == "jsonl" else read_json(raw, name)
            return _listed(parsed, form, path, name, cut)
    if _YAML.search(head):
        raw = _read(data, name, "YAML", YAML_LIMIT)
        with collector_paused():
            return _listed(read_yaml(raw, name), "yaml", path, name, cut)
    raise NotALog(f"{name}: not a log: it begins with {_beginning(head)}; {_READS}")


def version_of(raw: Any, name: str) -> str:
    """The version a log says it is, as "major.minor"; VERSION when it says none.

    Raises:
        UnsupportedVersion: it is not from 3.0 to 4.x.
    """
    if raw is None:
        return VERSION
    known = _VERSION.match(str(raw)) if isinstance(raw, str | int | float) else None
    if known is None:
        raise UnsupportedVersion(f"{name}: its 'lctl' is {raw!r:.40}, expected a version such as \"4.0\"")
    major = int(known[1])
    version = f"{major}.{int(known[2] or 0)}"
    if major > 4:
        raise UnsupportedVersion(
            f"{name}: version {version}, this lctl reads 3.0 to 4.x; upgrade it with: pip install -U lctl"
        )
    if major < 3:
        raise UnsupportedVersion(
            f"{name}: version {version}, this lctl reads 3.0 to 4.x; versions 1 and 2 hold no events"
        )
    return version


def _lined(
    data: Bytes,
    found: Layout,
    form: str,
    path: str | None,
    name: str,
    cut: str,
    damage: tuple[Problem, ...] = (),
) -> Log:
    header = dict(found.header)
    begun = bool(header)
    version = version_of(header.pop("lctl", None), name)
    chain, notes = _chain(header.pop("chain", None), begun and form == "journal")
    source = EventFile(
        data,
        found.begin,
        found.end,
        first_seq=found.first_seq,
        last_seq=found.last_seq,
        line=data.read(0, found.begin).count(b"\n") + 1,
        first=origin_of(chain, found.first_seq),
        sealed=found.sealed,
        tail_at=found.tail_at + 1 if found.tail_at is not None else None,
    )
    unclosed = form == "journal" and found.tail_at is None
    ending = cut or found.torn or _nuls(data, found.size)
    if unclosed and not ending:
        ending = "not closed: it is being written, or its program ended abruptly"
    return Log(
        source,
        path=path,
        name=name,
        version=version,
        chain=chain,
        extra=header,
        form=form,
        recovered=Recovery(len(source), ending) if ending else None,
        open=unclosed,
        notes=damage + notes,
    )


def _first_seq(parsed: Parsed) -> object:
    first = parsed.values[0] if parsed.values else None
    return first.get("seq") if isinstance(first, dict) else None


def _listed(parsed: Parsed, form: str, path: str | None, name: str, cut: str) -> Log:
    top = dict(parsed.top or {})
    notes = list(parsed.notes)
    bare = parsed.top is None  # a list of events, JSON Lines without header: no place for a version
    version = version_of(top.get("lctl"), name)
    if "lctl" not in top and not bare:
        notes.append(Problem(None, 1, f"lctl: missing; read as version {VERSION}"))
    chain, more = _chain(top.get("chain"), not bare)
    notes += more
    if version.startswith("3.") and not parsed.values:
        events, wrong = upgrade(top)
        problems = [Problem(None, None, text) for text in wrong]
        places: dict[int, int] = {}
        top = {k: v for k, v in top.items() if k not in _UPGRADED}
    else:
        events, problems, places = number(
            parsed.values, parsed.line_of, first=origin_of(chain, _first_seq(parsed))
        )
    tail = {key: top.pop(key) for key in _TAIL if key in top}
    ending = cut or parsed.cut
    return Log(
        EventList(
            events,
            problems,
            tail or None,
            lambda seq: parsed.line_of(places[seq]) if seq in places else None,
            {seq: parsed.written[n] for seq, n in places.items() if n in parsed.written},
        ),
        path=path,
        name=name,
        version=version,
        chain=chain,
        extra={k: v for k, v in top.items() if k not in ("lctl", "chain")},
        form=form,
        recovered=Recovery(len(events), ending) if ending else None,
        notes=tuple(notes),
    )


def _chain(raw: Any, expected: bool) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    if isinstance(raw, dict):
        missing = (Problem(None, 1, "chain.id: missing"),) if "id" not in raw else ()
        return dict(raw), missing
    if isinstance(raw, str):
        return {"id": raw}, (Problem(None, 1, f"chain: expected an object with an id, got {raw!r:.40}"),)
    if not expected and raw is None:
        return {}, ()
    return {}, (Problem(None, 1, "chain: missing; expected an object with an id"),)


def _is_lines(raw: bytes) -> bool:
    """Several values, one a line, rather than one document."""
    first, _, rest = raw.removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")
    second = rest.lstrip()[:1]
    if not second:
        return False
    try:
        return isinstance(decode(first), dict)
    except ValueError:
        return second == b"{" and first[:1] != b"[" and first.rstrip()[-1:] not in (b"{", b"[")


def _refuse_binary(data: Bytes, name: str) -> None:
    head = data.read(0, 1 << 12)
    if not head:
        raise NotALog(f"{name}: empty, not a log; nothing was recorded in it")
    if not head.strip(b" \t\r\n"):
        raise NotALog(f"{name}: only blanks, not a log")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return
    at = head.find(b"\0")
    if at >= 0 and not head.lstrip(codecs.BOM_UTF8).lstrip().startswith((b"{", b"[", b"l", b"c", b"e", b"-")):
        raise NotALog(f"{name}: binary data, not a log; {_READS}")


def _read(data: Bytes, name: str, form: str, limit: int) -> bytes:
    if data.size > limit:
        raise LogError(
            f"{name}: {data.size >> 20} MB as {form} cannot be read (limit {limit >> 20} MB); "
            "write it one event a line, such a log is read at any size"
        )
    return read_all(data)


def _nuls(data: Bytes, size: int) -> str:
    return "NUL bytes at its end" if data.size > size and data.read(data.size - 1, 1) == b"\0" else ""


def _beginning(head: bytes) -> str:
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()[:24].decode("utf-8", "replace")
    return repr(text.split("\n")[0])
