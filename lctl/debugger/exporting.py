"""The page as one file: its program, its looks, and a log's answers in it. Opens anywhere, asks nobody.

The answers are the views' own, worked out once. They stand in the file compressed and in base64, so whatever
a log holds is no markup there.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from lctl._version import __version__
from lctl.analysis.prices import Prices
from lctl.analysis.run import Run as Recorded
from lctl.analysis.runends import read_run
from lctl.analysis.wording import plural
from lctl.codec import Log
from lctl.debugger.failing import Refused
from lctl.debugger.opened import Opened
from lctl.debugger.packing import Packing, as_texts
from lctl.debugger.shapes.common import Row
from lctl.debugger.shapes.conversation import Call, Calls
from lctl.debugger.shapes.runs import RunHeader, Session
from lctl.debugger.views import calldiff, calls, conversations, costs, events, flow, images, state
from lctl.debugger.views.aside import TYPES
from lctl.debugger.views.header import header_of
from lctl.debugger.views.rows import events_from, row
from lctl.errors import LctlError

STATIC = Path(__file__).parent / "static"
_STATES = 2000
_ROWS = 50_000
_BYTES = 48 << 20  # of events in full
_ON_THE_WIRE = frozenset({"exchange", *TYPES})
_LEAVES = 200
_CALLS = 500
_POLICY = (
    "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; base-uri 'none'; form-action 'none'"
)
_SCRIPT = re.compile(r'<script[^>]*\bsrc="([^"]+)"[^>]*></script>')
_STYLE = re.compile(r'<link[^>]*\brel="stylesheet"[^>]*\bhref="([^"]+)"[^>]*/?>')


def page_of(log: Log) -> str:
    """The page with the log in it.

    Raises:
        LctlError: the page's files are not installed.
    """
    return page(answers(log))


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


def answers(log: Log) -> dict[str, Any]:
    """Everything the page may ask of a log; messages and requests are in it once (see `packing`)."""
    path = Path(str(log.path)) if log.path not in (None, "-") else Path(log.name)
    run = Opened(path.name, path, Prices(), log)
    run.columns_now(patience=600.0)
    rows = [row(run, event, size) for event, size in _some(run)]
    seqs = [one.seq for one in rows]
    sampled = seqs[:: max(1, -(-len(seqs) // _STATES))]
    if seqs and sampled[-1] != seqs[-1]:
        sampled.append(seqs[-1])
    listed = conversations.conversations(run, conversations.ConversationsAsked(limit=1000))
    called = calls.calls(run, calls.CallsAsked(limit=_CALLS))
    packing = Packing()
    views, diffs = _read(run, called.calls, packing)
    whole = _whole(run, rows, packing)
    header = _header(run, rows, len(whole), packing.left_out, called)
    made: dict[str, Any] = {
        "format": 1,
        "session": Session(
            version=__version__, allow_run=False, run=run.key, folder=None, platform="", static=True
        ),
        "run": header,
        "rows": rows,
        "spans": flow.steps(run, flow.StepsAsked(limit=10_000)).spans,
        "seqs": sampled or [0],
        "states": {str(seq): state.state(run, state.StateAsked(at=seq)) for seq in sampled or [0]},
        "events": whole,
        "flow": flow.flow(run, flow.FlowAsked()),
        "steps": flow.steps(run, flow.StepsAsked()),
        "conversations": listed,
        "conversation": {
            leaf: packing.conversation(view)
            for leaf, view in _paths(run, [one.leaf for one in listed.conversations])
        },
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


def _whole(run: Opened, rows: list[Row], packing: Packing) -> dict[str, Any]:
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
        for one in reversed(rows)
        if one.seq in fit
    }
    return dict(reversed(whole.items()))


def _header(run: Opened, rows: list[Row], whole: int, left_out: int, called: Calls) -> RunHeader:
    """As far as the page holds the log, and what it says of the rest."""
    header = header_of(run, _recorded(run), [])
    notes = []
    if len(run.log) > len(rows):
        notes.append(f"this page holds the first {len(rows):,} of {len(run.log):,} events")
    if whole < len(rows):
        notes.append(f"{plural(len(rows) - whole, 'large event')} without what was said in them")
    if called.total > len(called.calls):
        some = f"the first {len(called.calls):,} of {called.total:,} calls"
        notes.append(f"this page holds what {some} read and answered")
    if left_out:
        notes.append(f"{plural(left_out, 'early call')} without the request as Python and curl")
    if not notes:
        return header
    last = rows[-1].seq
    notes[-1] += ": 'lctl debug' shows all"
    return msgspec.structs.replace(
        header, notes=[*header.notes, *notes], last_seq=last, end_seq=min(last, header.end_seq)
    )


def _paths(run: Opened, leaves: list[str]) -> Iterator[tuple[str, Any]]:
    """The paths to the ends of all branches."""
    seen: set[str] = set()
    for leaf in leaves:
        found = conversations.conversation(run, conversations.ConversationAsked(leaf=leaf, limit=2000))
        for id in [leaf, *(branch.leaf for branch in found.branches)]:
            if id not in seen and len(seen) < _LEAVES:
                seen.add(id)
                asked = conversations.ConversationAsked(leaf=id, limit=2000)
                yield id, conversations.conversation(run, asked)


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
    waiting: list[Any] = [plain]
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
