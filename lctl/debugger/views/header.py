"""One run in a few lines: what it is, where it comes from, how it ended, who took part."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lctl.analysis.log import number, tokens_of
from lctl.analysis.run import Run as Recorded
from lctl.analysis.run import lost_of, origin
from lctl.analysis.wording import plural
from lctl.codec import Log
from lctl.debugger.asking import Question
from lctl.debugger.checking import Checking
from lctl.debugger.columns import Columns
from lctl.debugger.failed import failed
from lctl.debugger.moments import state_at
from lctl.debugger.opened import Opened
from lctl.debugger.serving import Server
from lctl.debugger.shapes.common import Totals
from lctl.debugger.shapes.runs import AgentRange, Fork, Parent, Problem, Program, RunHeader
from lctl.debugger.views.aside import is_aside
from lctl.debugger.views.runs import edits_of, kind_of, parent_keys, status_of
from lctl.debugger.views.state import totals
from lctl.kinship import names, parent_of
from lctl.state.model import Tokens
from lctl.state.summary import outcome_of

_AGENTS = 1000
_PROBLEMS = 100
_BEHIND = 64  # events from the end in which what the program did last is looked for
#: Logs of up to so many events are folded to their end at once.
_FOLDED = 20_000
#: Logs of up to so many bytes are looked through for what is wrong in them.
_CHECKED = 64_000_000


class HeaderAsked(Question, kw_only=True):
    run: str | None = None


def header(server: Server, asked: HeaderAsked) -> RunHeader:
    """What is known of a run."""
    run = server.runs.open(asked.run)
    return header_of(run, server.runs.run(run.key), server.runs.runs())


def header_of(run: Opened, known: Recorded, others: list[tuple[str, Recorded]]) -> RunHeader:
    """`known`: the run as the ends of its file tell it; `others`: those beside it, by key."""
    log, chain = run.log, run.log.chain
    columns = run.columns_now(patience=0.0 if run.is_long else 0.05)
    problems = _problems(run)
    first, last = _ends(run)
    program = chain.get("program")
    parent_id = origin(known)
    parent_key = parent_keys(others).get(known.place)
    seq = known.parent.get("seq")
    return RunHeader(
        key=run.key,
        id=known.id,
        name=str(chain.get("name") or "") or _program_name(program) or known.id,
        path=run.place,
        version=log.version,
        form=log.form,
        size=known.size,
        first_seq=log.first_seq,
        last_seq=log.last_seq,
        end_seq=_end(log),
        events=len(log),
        first_timestamp=first,
        last_timestamp=last,
        duration_ms=run.elapsed(first, last),
        status=_status(run, known),
        live=run.live,
        notes=_notes(run),
        problems=(problems or [])[:_PROBLEMS],
        problem_count=len(problems or []),
        kind=kind_of(chain, known.is_child),
        parent=Parent(id=parent_id, key=parent_key, seq=seq if type(seq) is int else None)
        if parent_id
        else None,
        edits=edits_of(chain.get("fork")),
        forks=_forks(others, known.id, chain),
        program=_program(program),
        certificate=known.certificate or None,
        can_fork=_program(program) is not None,
        progress=run.progress if problems is not None else min(run.progress, 0.99),
        agents=run.kept(("agents", len(columns)), lambda: _agents(columns), passing=True),
        types=columns.types(),
        totals=_totals(run),
        failures=len(failed(run, columns)),
    )


def _status(run: Opened, known: Recorded) -> str:
    """As in the list, as of now; where the log's end does not say how it ended, its events do."""
    if not known.problem and not known.open and "outcome" not in known.summary and len(run.log) <= _FOLDED:
        outcome = outcome_of(run.timeline.at(run.log.last_seq))
        known = known._replace(ending=outcome or "")
    said = status_of(known)
    if said in ("live", "unfinished"):
        return "live" if run.live else "unfinished"
    if said == "ok" and run.log.recovered is not None:
        return "unfinished"  # no journal, and yet its end is missing
    return said


def _notes(run: Opened) -> list[str]:
    log = run.log
    notes = []
    if log.open and not run.live:
        notes.append("not closed by its program: it ended abruptly, or goes on elsewhere")
    if log.recovered is not None and not run.live and not (log.open and "not closed" in log.recovered.text):
        notes.append(str(log.recovered))
    lost = lost_of((log.tail or {}).get("summary"))
    if lost:
        notes.append(f"{plural(lost, 'event')} could not be recorded")
    if not len(log):
        notes.append("no events yet" if run.live else "no events")
    return notes


def _problems(run: Opened) -> list[Problem] | None:
    """None while they are looked for."""
    if run.size > _CHECKED or run.live:
        return []
    checking: Checking = run.kept("problems", lambda: Checking(run.log, run.size))
    if checking.found is None:
        return None
    return [Problem(seq=one.seq, line=one.line, text=one.text) for one in checking.found]


def _end(log: Log) -> int:
    """Where somebody begins to look: what the program did last, without what a rerun is told behind it."""
    last = log.last_seq
    for seq in range(last, max(log.first_seq, last - _BEHIND) - 1, -1):
        event = next(iter(log.events(seq, seq + 1)), None)
        if event is not None and not is_aside(event):
            return seq
    return last


def _ends(run: Opened) -> tuple[str | None, str | None]:
    """Timestamps of the first and the last event."""
    log = run.log
    ends = [next(iter(log.events(seq, seq + 1)), None) for seq in (log.first_seq, log.last_seq) if len(log)]
    found = [one.timestamp or None if one is not None else None for one in ends]
    return (found[0], found[1]) if found else (None, None)


def _forks(others: list[tuple[str, Recorded]], id: str, chain: dict[str, Any]) -> list[Fork]:
    found = []
    for key, one in others:
        if "fork" in one.chain and names(parent_of(one.chain), chain, id):
            at = one.parent.get("seq")
            edits = edits_of(one.chain.get("fork"))
            found.append(Fork(key=key, id=one.id, at=at if type(at) is int else None, edits=edits))
    return found


def _program(program: Any) -> Program | None:
    argv = program.get("argv") if isinstance(program, dict) else None
    if not isinstance(argv, list) or not argv:
        return None
    cwd = program.get("cwd")
    return Program(argv=[str(word) for word in argv], cwd=cwd if isinstance(cwd, str) else None)


def _program_name(program: Any) -> str:
    found = _program(program)
    return "" if found is None else " ".join(found.argv[1:5])


def _agents(columns: Columns) -> list[AgentRange]:
    """In order of first event."""
    with columns.lock:
        agents, length = columns.agents, len(columns)
        found = []
        if length > 200_000:
            return _many(columns)
        places: dict[int, list[int]] = {}
        for row, code in enumerate(agents):
            place = places.get(code)
            if place is None:
                places[code] = [1, row, row]
            else:
                place[0] += 1
                place[2] = row
        for code, (count, first, last) in places.items():
            if columns.names[code]:
                found.append(
                    AgentRange(
                        name=columns.names[code],
                        events=count,
                        first=columns.seq(first),
                        last=columns.seq(last),
                    )
                )
        return found[:_AGENTS]


def _many(columns: Columns) -> list[AgentRange]:
    """The same of a long log, by counting in pieces."""
    agents, length, piece = columns.agents, len(columns), 8192
    counts: Counter[int] = Counter()
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for at in range(0, length, piece):
        some = agents[at : at + piece]
        for code, count in Counter(some).items():
            counts[code] += count
            first.setdefault(code, at + some.index(code))
            last[code] = at
    for code, at in last.items():
        some = agents[at : at + piece]
        last[code] = at + max(n for n in range(len(some)) if some[n] == code)
    return [
        AgentRange(
            name=columns.names[code],
            events=counts[code],
            first=columns.seq(first[code]),
            last=columns.seq(last[code]),
        )
        for code in sorted(first, key=first.__getitem__)
        if columns.names[code]
    ][:_AGENTS]


def _totals(run: Opened) -> Totals | None:
    """Sums at the end; of a long log what its end says, until the events have been read."""
    if len(run.log) <= _FOLDED or run.timeline.known >= run.log.last_seq:
        return totals(run, run.timeline.at(run.log.last_seq))
    if not run.is_being_built:
        run.index_ahead()
    summary = (run.log.tail or {}).get("summary")
    if not isinstance(summary, dict) or "steps" not in summary:
        if run.is_being_built:
            return None
        now, progress = state_at(run, None)
        return totals(run, now) if progress == 1.0 else None
    tokens = tokens_of(summary)
    counts = {
        key: value if type(value := summary.get(key)) is int else 0
        for key in ("events", "steps", "llm_calls", "tool_calls", "errors", "messages", "facts")
    }
    duration = summary.get("duration_ms")
    return Totals(
        **counts,
        tokens=tokens or Tokens(),
        duration_ms=number(duration) or 0.0,
        cost=None,
        checkpoints=len(run.columns.checkpoints),
    )
