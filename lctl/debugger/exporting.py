"""The page as one file: its program, its looks, and a log's answers in it. Opens anywhere, asks nobody.

The answers are the views' own, worked out once. They stand in the file compressed and in base64, so whatever
a log holds is no markup there.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lctl._version import __version__
from lctl.analysis.prices import Prices
from lctl.analysis.run import Run as Recorded
from lctl.analysis.runends import read_run
from lctl.analysis.wording import plural
from lctl.codec import Log
from lctl.debugger import pagetalk
from lctl.debugger.failing import Refused
from lctl.debugger.heldlog import held
from lctl.debugger.opened import Opened
from lctl.debugger.packing import Packing, as_texts
from lctl.debugger.shapes.common import Row
from lctl.debugger.shapes.conversation import Call, Calls, Conversations
from lctl.debugger.shapes.runs import RunHeader, Session
from lctl.debugger.views import calldiff, calls, costs, events, flow, images, state
from lctl.debugger.views.aside import TYPES
from lctl.debugger.views.header import header_of
from lctl.debugger.views.rows import events_from, row
from lctl.errors import LctlError
from lctl.state.timeline import Timeline

STATIC = Path(__file__).parent / "static"
_STATES = 2000
_ROWS = 50_000
_BYTES = 48 << 20  # of events in full
_ON_THE_WIRE = frozenset({"exchange", *TYPES})
_CALLS = 500
_EVERY = 16  # events from one kept state to the next: the states of all of them are asked for
_STEP = 100  # events from one word on how far it is to the next
_POLICY = (
    "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; base-uri 'none'; form-action 'none'"
)
_SCRIPT = re.compile(r'<script[^>]*\bsrc="([^"]+)"[^>]*></script>')
_STYLE = re.compile(r'<link[^>]*\brel="stylesheet"[^>]*\bhref="([^"]+)"[^>]*/?>')


Value = TypeVar("Value")
#: Told how much of a page has been made, 0 to 1.
Tell = Callable[[float], None]


def page_of(log: Log, tell: Tell = lambda _: None) -> str:
    """The page with the log in it.

    Raises:
        LctlError: the page's files are not installed.
    """
    made = page(answers(log, tell))
    tell(1.0)
    return made


def page(data: dict[str, Any]) -> str:
    """The page with these answers in it."""
    held = msgspec.json.encode(as_texts(data))
    packed = base64.b64encode(gzip.compress(held, 6, mtime=0)).decode()
    try:
        html = (STATIC / "index.html").read_text(encoding="utf-8")
        script = _SCRIPT.search(html)
        style = _STYLE.search(html)
        code = _inline((STATIC / script[1]).read_text(encoding="utf-8")) if script else ""
        looks = (STATIC / style[1]).read_text(encoding="utf-8").replace("</", "<\\/") if style else ""
    except OSError as error:
        raise LctlError(f"the page's files are not here ({error.filename}); install lctl anew") from None
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = _POLICY.format(hash=digest)
    head = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    title = f"<title>{escape(str(data['run']['name']))} · lctl</title>"
    html = _SCRIPT.sub("", html)
    html = _STYLE.sub(lambda _: f"<style>{looks}</style>", html)
    html = re.sub(r"<title>.*?</title>", lambda _: head + title, html, count=1)
    kept = f'<script id="lctl-data" type="application/gzip;base64">{packed}</script>'
    return html.replace("</body>", f'{kept}<script type="module">{code}</script></body>')


def _inline(code: str) -> str:
    """The same program, as it may stand inside an element."""
    return code.replace("</script", "\\x3c/script").replace("<!--", "\\x3c!--")


# -- answers -------------------------------------------------------------------------------


def answers(log: Log, tell: Tell = lambda _: None) -> dict[str, Any]:
    """Everything the page may ask of a log; messages and requests are in it once (see `packing`)."""
    path = Path(str(log.path)) if log.path not in (None, "-") else Path(log.name)
    run = Opened(path.name, path, Prices(), held(log))
    if not run.is_long:
        run.timeline = Timeline(run.log, every=_EVERY)
    run.columns_now(patience=600.0)
    rows = [row(run, event, size) for event, size in _some(run)]
    seqs = [one.seq for one in rows]
    sampled = seqs[:: max(1, -(-len(seqs) // _STATES))]
    if seqs and sampled[-1] != seqs[-1]:
        sampled.append(seqs[-1])
    last = seqs[-1] if seqs else run.log.last_seq
    listed = pagetalk.listed(run, last)
    called = calls.calls(run, calls.CallsAsked(limit=_CALLS))
    packing = Packing()
    views, diffs = _read(run, called.calls, packing)
    talk = pagetalk.talk_of(run, listed.conversations, last, packing)
    states = {
        str(seq): state.state(run, state.StateAsked(at=seq))
        for seq in _telling(sampled or [0], tell, 0.1, 0.4)
    }
    whole = _whole(run, rows, packing, tell)
    notes = [*_lacking(run, rows, len(whole), called, listed, talk)]
    if packing.left_out:
        notes.append(f"{plural(packing.left_out, 'early call')} without the request as Python and curl")
    header = _noted(_header(run, rows), notes)
    made: dict[str, Any] = {
        "format": 1,
        "session": Session(
            version=__version__, allow_run=False, run=run.key, folder=None, platform="", static=True
        ),
        "run": header,
        "rows": rows,
        "spans": flow.steps(run, flow.StepsAsked(limit=10_000)).spans,
        "seqs": sampled or [0],
        "states": states,
        "events": whole,
        "flow": flow.flow(run, flow.FlowAsked()),
        "steps": flow.steps(run, flow.StepsAsked()),
        "conversations": listed,
        "talk": talk,
        "calls": called,
        "call": views,
        "costs": costs.costs(run, costs.CostsAsked()),
        "diffs": diffs,
        "messages": packing.messages,
        "copies": packing.copies,
        "exchanges": packing.exchanges,
        "cut": len(log) > len(rows),
    }
    plain: dict[str, Any] = msgspec.to_builtins(made, enc_hook=_listed)
    _take_in_images(run, plain)
    return plain


def _telling(all: Sequence[Value], tell: Tell, since: float, share: float) -> Iterator[Value]:
    """Each in turn, which are this share of the work behind what has been done."""
    for n, one in enumerate(all):
        if n % _STEP == 0:
            tell(since + share * n / len(all))
        yield one


def _some(run: Opened) -> Iterator[tuple[Any, int]]:
    for n, one in enumerate(events_from(run, run.log.first_seq)):
        if n == _ROWS:
            return
        yield one


def _read(run: Opened, called: list[Call], packing: Packing) -> tuple[dict[str, Any], dict[str, Any]]:
    """Calls by step, and each against the same agent's call before it: what a call has read is looked up
    once for both."""
    views: dict[str, Any] = {}
    diffs: dict[str, Any] = {}
    newest: dict[str, calls.Read] = {}
    for one in called:
        read = calls.read_of(run, one.step)
        view = calls.view_of(run, read)
        views[str(one.step)] = packing.call(view)
        before = newest.get(one.agent)
        if before is not None and before.call.step == view.previous:
            diffs[f"{view.previous}-{one.step}"] = packing.diff(calldiff.diff_of(run, before, read))
        newest[one.agent] = read
    return views, diffs


def _whole(run: Opened, rows: list[Row], packing: Packing, tell: Tell) -> dict[str, Any]:
    """Events in full, as many as fit: what the program did first, then what was on the wire; small before
    large."""
    left, fit = _BYTES, set()
    for one in sorted(rows, key=lambda one: (one.type in _ON_THE_WIRE, one.size)):
        left -= min(one.size, events.WHOLE)
        if left < 0:
            break
        fit.add(one.seq)
    whole = {
        str(one.seq): packing.event(events.view_of(run, one.seq, packing.instead))
        for one in _telling([one for one in reversed(rows) if one.seq in fit], tell, 0.5, 0.5)
    }
    return dict(reversed(whole.items()))


def _header(run: Opened, rows: list[Row]) -> RunHeader:
    """As far as the page holds the log."""
    header = header_of(run, _recorded(run), [])
    if len(run.log) == len(rows):
        return header
    last = rows[-1].seq
    return msgspec.structs.replace(header, last_seq=last, end_seq=min(last, header.end_seq))


def _noted(header: RunHeader, notes: list[str]) -> RunHeader:
    """With what the page says of the rest."""
    if not notes:
        return header
    notes[-1] += ": 'lctl debug' shows all"
    return msgspec.structs.replace(header, notes=[*header.notes, *notes])


def _lacking(
    run: Opened, rows: list[Row], whole: int, called: Calls, listed: Conversations, talk: dict[str, Any]
) -> Iterator[str]:
    """What there is no room for."""
    if len(run.log) > len(rows):
        yield f"this page holds the first {len(rows):,} of {len(run.log):,} events"
    if whole < len(rows):
        yield f"{plural(len(rows) - whole, 'large event')} without what was said in them"
    count, rest = len(talk["places"]), talk["lacking"]
    if rest:
        yield f"this page holds the last {count:,} of {count + rest:,} messages"
    if listed.total > len(listed.conversations):
        some = f"the last {len(listed.conversations):,} of {listed.total:,}"
        yield f"this page lists {some} conversations"
    if called.total > len(called.calls):
        some = f"the first {len(called.calls):,} of {called.total:,} calls"
        yield f"this page holds what {some} read and answered"


def _recorded(run: Opened) -> Recorded:
    if run.path.is_file():
        return read_run(run.path)
    log = run.log
    summary = (log.tail or {}).get("summary")
    return Recorded(
        run.path, log.chain, 0.0, 0, len(log), summary if isinstance(summary, dict) else {}, log.open
    )


def _take_in_images(run: Opened, plain: dict[str, Any]) -> None:
    """Images that the page would ask for are in it, by the address it would ask: each once, though every call
    of a conversation has read it."""
    found: dict[str, str | None] = {}
    waiting: list[Any] = [plain["messages"]]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            src = value.get("src")
            if value.get("kind") == "image" and isinstance(src, str) and src.startswith("/api/blob?"):
                if src not in found:
                    found[src] = _image(run, src)
                if found[src] is None:
                    value["src"] = None
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    plain["images"] = {src: image for src, image in found.items() if image is not None}


def _image(run: Opened, src: str) -> str | None:
    found = re.search(r"seq=(\d+)&part=(\d+)", src)
    if found is None:
        return None
    try:
        given = images.blob(run, images.BlobAsked(seq=int(found[1]), part=int(found[2])))
    except (Refused, LctlError):
        return None
    return f"data:{given.media_type};base64,{base64.b64encode(given.content).decode()}"


def _listed(value: Any) -> Any:
    return dict(value) if hasattr(value, "keys") else list(value)


def frame_of(log: Log, height: int = 640) -> str:
    """The page in a frame, for a notebook: apart from the notebook, and without its rights."""
    return (
        f'<iframe sandbox="allow-scripts" style="width:100%;height:{height}px;border:0" '
        f'srcdoc="{escape(page_of(log))}"></iframe>'
    )
