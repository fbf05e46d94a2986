"""What crosses a border: W3C Trace Context, with the chain and the event in `tracestate`.

    traceparent: 00-<trace id>-<span id>-01
    tracestate: lctl=<chain id, percent-encoded>@<seq>@<mark>

`tracestate` is what links the chains (the mark tells runs of one id apart, see `lctl.kinship`); `traceparent`
has it pass through whatever else follows traces. One that is there already, of a tracing library, stays as it
is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from lctl.kinship import MARK, mark_of
from lctl.session.default import get_session
from lctl.session.session import LCTLSession

PARENT, STATE = "traceparent", "tracestate"
_KEY = "lctl"
#: Version ff is none, nor is an id of zeros.
_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")
_VALUE = re.compile(rf"(.+?)@(\d{{1,18}})(?:@({MARK}))?")
#: Members of a tracestate, ours included, and characters of one (W3C Trace Context, section 3.3).
_MEMBERS, _LENGTH = 32, 256


class Origin(NamedTuple):
    """Where a request came from.

    Attributes:
        chain_id: "" where the sender does not record with lctl.
        seq: the sender's newest event.
        trace_id, span_id: of its traceparent, "" without one.
        run: what tells the sender's run from others of that id, "" where it does not say.
    """

    chain_id: str
    seq: int
    trace_id: str
    span_id: str
    run: str = ""

    @property
    def link(self) -> dict[str, Any] | None:
        """What a chain's header says of its parent."""
        if not self.chain_id:
            return None
        return {"id": self.chain_id, "seq": self.seq, **({"run": self.run} if self.run else {})}


def inject(carrier: MutableMapping[str, Any], session: LCTLSession | None = None) -> MutableMapping[str, Any]:
    """Put the running session (or the one given) into HTTP headers, MCP `_meta`, a message's attributes.

    Without a session the carrier stays as it is.
    """
    known = session or get_session()
    if known is None:
        return carrier
    names = {str(name).lower(): name for name in carrier}
    if PARENT not in names:
        carrier[PARENT] = traceparent(known)
    state_name = names.get(STATE, STATE)
    mark = mark_of(known.store.chain)
    value = f"{quote(known.chain_id, safe='')}@{known.last_seq}{f'@{mark}' if mark else ''}"
    if len(value) > _LENGTH:
        return carrier  # nothing longer may be in a tracestate
    others = [one for one in _members(carrier.get(state_name)) if not one.startswith(f"{_KEY}=")]
    carrier[state_name] = ",".join([f"{_KEY}={value}", *others[: _MEMBERS - 1]])
    return carrier


def extract(carrier: Any) -> Origin:
    """What a carrier says: a mapping of any case, pairs, or an object whose fields are such (MCP's meta)."""
    found = {name: value for name, value in _pairs(carrier) if name in (PARENT, STATE)}
    parent = _PARENT.fullmatch(found.get(PARENT, "").strip().lower())
    chain_id, seq, run = "", 0, ""
    for member in _members(found.get(STATE)):
        key, _, value = member.partition("=")
        known = _VALUE.fullmatch(value.strip()) if key.strip() == _KEY else None
        # Whoever asks a server writes what he likes here; an id with a NUL no store would take.
        if known is not None and "\0" not in unquote(known[1]):
            chain_id, seq, run = unquote(known[1]), int(known[2]), known[3] or ""
            break
    trace, span = parent.groups() if parent is not None else ("", "")
    return Origin(chain_id, seq, trace, span, run)


def traceparent(session: LCTLSession) -> str:
    """The session's place as a traceparent: the whole tree of chains has one trace id."""
    frame = session.frame()
    return f"00-{trace_id(session)}-{_hex(f'{session.chain_id}:{frame.step or 0}', 16)}-01"


def trace_id(session: LCTLSession) -> str:
    """That of the request this chain came of, else made of its root's id."""
    told = session.store.chain.get("trace")
    if isinstance(told, Mapping) and told.get("id"):
        return str(told["id"])
    parent = session.parent or {}
    return _hex(str(parent.get("id") or session.chain_id), 32)


def _hex(text: str, digits: int) -> str:
    return sha256(text.encode()).hexdigest()[:digits]


def _members(state: Any) -> list[str]:
    return [kept for one in str(state or "").split(",") if (kept := one.strip())]


def _pairs(carrier: Any) -> list[tuple[str, str]]:
    if carrier is None:
        return []
    if not isinstance(carrier, Mapping):
        extra = getattr(carrier, "model_extra", None)
        carrier = extra if isinstance(extra, Mapping) else carrier
    items = carrier.items() if isinstance(carrier, Mapping) or hasattr(carrier, "items") else carrier
    try:
        return [(_text(name).lower(), _text(value)) for name, value in items]
    except (TypeError, ValueError):
        return []


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
