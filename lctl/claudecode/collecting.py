"""A session's spool, and the file that Claude Code itself keeps of it, as a log.

The session's file tells what was said and what each model call used; the hooks tell when, how long tools
took, what people were asked, and what the file lacks. Collecting again, with more of both there, gives the
same events with more after them; a log that is as it would become is not written.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lctl.claudecode.sessions import AGENT_TOOLS, moment, rows_of, words_of
from lctl.claudecode.spool import HookLine, Spool
from lctl.codec import Log, open_log, write_log
from lctl.codec.lines import decode, encode_value
from lctl.events import VERSION
from lctl.importing import claudecode, claudefiles
from lctl.importing.draft import Draft, Noted, Said
from lctl.importing.source import Source
from lctl.importing.times import stamp
from lctl.importing.values import mapping
from lctl.importing.writing import events_of, imported_of
from lctl.session.redaction.redact import Redactor
from lctl.state.messages import tool_calls_of, tool_results_of
from lctl.state.summary import tail_of

_USER = "user"


class Collected(NamedTuple):
    """What came of collecting one session.

    Attributes:
        path: of its log; there is none yet where it has no events.
        written: whether the log changed.
        events: how many it has.
        hooks: how many lines of hooks it rests on.
        transcript: whether Claude Code's own file was there.
        broken: lines of the spool that could not be read.
    """

    path: Path
    session: str
    written: bool
    events: int
    hooks: int
    transcript: bool
    broken: int


def collect(spool_path: Path) -> Collected:
    """Bring the log of a session up to date; it lies beside the folder of the spools. There is none of a
    session in which nothing has happened yet.

    Raises:
        UsageError: there is no such spool.
        LogError: a file cannot be read or written.
    """
    with _alone(spool_path):
        spool = Spool.read(spool_path)
        log = log_of(spool)
        path = spool_path.parent.parent / _name(spool.session)
        count = len(log)
        known = _known(path)
        written = count > 0 if known is None else not _holds(known, log)
        if written:
            write_log(log, path, format="json", tail=tail_of(log, log.chain))
        at_hand = spool.transcript is not None
        return Collected(path, spool.session, written, count, len(spool.lines), at_hand, len(spool.broken))


def log_of(spool: Spool) -> Log:
    """The log of what hooks and the session's file say, without secrets."""
    draft = Draft("claude-code", agent="claude-code")
    transcript = spool.transcript
    source = Source.open(str(transcript)) if transcript else Source(b"", spool.path.name, spool.path)
    if source.rows:
        rows = claudecode.in_time(list(source.rows), claudefiles.beside(source, draft))
    else:
        rows = rows_of(spool)
    claudecode.read_rows(rows, draft)
    _add_hooks(draft, spool)
    redactor = Redactor(key=hashlib.sha256(spool.session.encode()).digest()[:16])
    imported = imported_of(draft, source, "")
    del imported["sha256"], imported["file"]
    imported["transcript"] = bool(source.rows)
    chain: dict[str, Any] = {"id": f"claude-{spool.session}", "imported": imported}
    reason = spool.last("reason")
    if reason:
        chain["ended"] = reason
    lines = [encode_value({"lctl": VERSION, "chain": redactor.value(chain)})]
    events = map(decode, bytes(events_of(draft)).splitlines())
    lines += [encode_value(redactor.event(event) or event) for event in events]
    return open_log(b"\n".join(lines) + b"\n")


def _add_hooks(draft: Draft, spool: Spool) -> None:
    """What the session's file does not tell, from the hooks."""
    asked, answered = _calls(draft.said)
    for line in spool.lines:
        hook, call = line.hook, line.text("tool_use_id")
        if line.event in ("PostToolUse", "PostToolUseFailure") and call:
            if isinstance(hook.get("duration_ms"), int | float):
                draft.durations[call] = hook["duration_ms"]
            if call not in asked or call not in answered:
                _note(draft, line, "tool_call", _tool_call(line))
                asked.add(call)
                answered.add(call)
        elif line.event == "PermissionRequest":
            about = {"tool": line.text("tool_name"), "input": hook.get("tool_input")}
            _ask(draft, line, "permission", about)
        elif line.event == "Notification":
            _ask(draft, line, line.text("notification_type") or "notification", line.text("message"))
        elif line.event == "PreCompact":
            fact = {"id": f"compaction:{line.line}", "text": f"compacted ({line.text('trigger') or 'auto'})"}
            _note(draft, line, "fact_added", {**fact, "source": "claude-code"})
        elif line.event == "SubagentStop" and (agent := draft.agents.get(line.text("agent_id"))):
            agent.over = True


def _calls(said: list[Said]) -> tuple[set[str], set[str]]:
    """Ids of the tool calls, and of those that have a result."""
    asked = {str(call["id"]) for one in said for call in tool_calls_of(one.message)}
    return asked, {str(result["call_id"]) for one in said for result in tool_results_of(one.message)}


def _tool_call(line: HookLine) -> dict[str, Any]:
    data: dict[str, Any] = {"tool": line.text("tool_name"), "input": line.hook.get("tool_input")}
    if line.event == "PostToolUseFailure":
        data["error"] = line.text("error")
    else:
        response = line.hook.get("tool_response")
        data["output"] = words_of(response) if line.text("tool_name") in AGENT_TOOLS else response
    if isinstance(line.hook.get("duration_ms"), int | float):
        data["duration_ms"] = line.hook["duration_ms"]
    return {**data, "call_id": line.text("tool_use_id")}


def _ask(draft: Draft, line: HookLine, reason: str, about: object) -> None:
    """It waits for a person."""
    said = {"from": _who(draft, line) or draft.agent, "to": _USER, "reason": reason, "instruction": about}
    _note(draft, line, "handoff", said)


def _note(draft: Draft, line: HookLine, type: str, data: dict[str, Any]) -> None:
    draft.noted.append(Noted(type, stamp(moment(line.at)), _who(draft, line), data))


def _who(draft: Draft, line: HookLine) -> str:
    agent = draft.agents.get(line.text("agent_id"))
    return agent.name if agent else line.text("agent_type")


# -- the log on disk -----------------------------------------------------------------------


def _name(session: str) -> str:
    return f"claude-{re.sub(r'[^A-Za-z0-9._-]+', '-', session)}.lctl.json"


def _known(path: Path) -> Log | None:
    return open_log(path) if path.exists() else None


def _holds(known: Log, log: Log) -> bool:
    """Whether the log on disk stands: it is the same, or has more, Claude Code's own file being gone."""
    if _has_file(known) and not _has_file(log):
        return True
    if len(known) != len(log) or known.chain != log.chain:
        return False
    return all(one == other for one, other in zip(known.events(), log.events(), strict=True))


def _has_file(log: Log) -> bool:
    return bool(mapping(log.chain.get("imported")).get("transcript"))


@contextmanager
def _alone(spool: Path) -> Iterator[None]:
    """One collector of a session at a time; the others wait."""
    try:
        import fcntl
    except ImportError:  # where there are no such locks, the last one writes
        yield
        return
    try:
        file = spool.with_suffix(".lock").open("w")
    except FileNotFoundError:
        yield  # no folder, so no spool: reading says so
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


__all__ = ["Collected", "collect", "log_of"]
