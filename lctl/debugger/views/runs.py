"""The folder view: runs with filters, their lineage, their shape in time; and the header of one run."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from lctl._version import __version__
from lctl.analysis.log import tokens_of
from lctl.analysis.run import FAILED, STOPPED, lost_of, origin, tree
from lctl.analysis.run import Run as Recorded
from lctl.analysis.runcosts import needs_events, of_sums
from lctl.debugger.asking import Question
from lctl.debugger.catalogue import Catalogue
from lctl.debugger.opened import Opened
from lctl.debugger.ownsums import has_own
from lctl.debugger.serving import Server
from lctl.debugger.shapes.runs import Lineage, Run, Runs, Session, Sparks
from lctl.errors import LctlError
from lctl.kinship import parents

_STATUSES = ("ok", "error", "interrupted", "live", "unfinished", "unknown", "unreadable")


def session(server: Server, asked: Question) -> Session:
    """What this server is."""
    runs = server.runs
    return Session(
        version=__version__,
        allow_run=server.allow_run,
        run=runs.default,
        folder=runs.place,
        platform=sys.platform,
        static=False,
    )


class RunsAsked(Question, kw_only=True):
    q: str = ""
    status: str | None = None
    sort: Literal["newest", "errors", "cost", "duration", "events"] = "newest"
    offset: int = 0
    limit: int = 100


def runs(server: Server, asked: RunsAsked) -> Runs:
    """The runs of the folder, filtered and sorted."""
    known = server.runs.runs()
    keys = parent_keys(known)
    found = [(key, run, status_of(run)) for key, run in known if _fits(run, asked.q)]
    counts = {status: sum(one[2] == status for one in found) for status in _STATUSES}
    chosen = [one for one in found if asked.status is None or one[2] == asked.status]
    costs: dict[str, float | None] = {}
    until = server.runs.own_sums.begin()
    if asked.sort == "cost":
        costs = {key: cost_of(server.runs, run, until) for key, run, _ in chosen}
    lengths: dict[str, float | None] = {}
    if asked.sort == "duration":
        lengths = {key: server.runs.own_sums.duration(run) for key, run, _ in chosen}
    chosen.sort(key=lambda one: _rank(asked.sort, one[1], one[2], costs.get(one[0]), lengths.get(one[0])))
    offset = max(0, asked.offset)
    shown = chosen[offset : offset + max(1, min(asked.limit, 1000))]
    after = offset + len(shown)
    return Runs(
        total=len(chosen),
        next=after if after < len(chosen) else None,
        counts=counts,
        runs=[row(server.runs, key, run, keys, until) for key, run, _ in shown],
    )


def lineage(server: Server, asked: Question) -> Lineage:
    """All runs as a tree, in the order of its drawing: newest recording first, below it what came of it."""
    known = server.runs.runs()
    keys = parent_keys(known)
    by_place = {run.place: key for key, run in known}
    placed = tree([run for _, run in known])
    until = server.runs.own_sums.begin()
    rows = [row(server.runs, by_place[run.place], run, keys, until, depth) for run, depth in placed]
    return Lineage(runs=rows)


def parent_keys(known: list[tuple[str, Recorded]]) -> dict[str, str]:
    """Of the run at a place the key of the one it came of, if that is there."""
    found = parents([run.born for _, run in known])
    return {known[at][1].place: known[above][0] for at, above in enumerate(found) if above is not None}


def row(
    catalogue: Catalogue, key: str, run: Recorded, keys: dict[str, str], until: float, depth: int = 0
) -> Run:
    """A run as the ends of its file tell it. `keys`: as of `parent_keys`; `until`: as of `OwnSums`."""
    sums = run.summary
    parent = origin(run)
    made = run.chain.get("fork")
    agents = sums.get("agents")
    at = run.parent.get("seq")
    own = catalogue.own_sums.of(run, until) if has_own(run) else None
    tokens = None if has_own(run) else tokens_of(sums)
    if tokens is not None and not tokens.total and _whole(sums.get("llm_calls")):
        tokens = None  # its calls do not say what they used
    return Run(
        key=key,
        id=run.id,
        name=_name(run),
        path=run.place,
        started=datetime.fromtimestamp(run.started, UTC).isoformat().replace("+00:00", "Z"),
        events=run.events,
        size=run.size,
        duration_ms=catalogue.own_sums.duration(run) if own is None else own.duration_ms,
        tokens=tokens if own is None else own.tokens,
        cost=cost_of(catalogue, run, until) if own is not None or tokens is not None else None,
        errors=_whole(sums.get("errors")),
        facts=_whole(sums.get("facts")),
        agents=[str(one) for one in agents[:20]] if isinstance(agents, list) else [],
        status=status_of(run),
        live=run.live,
        kind=kind_of(run.chain, run.is_child),
        parent=(keys.get(run.place) or parent) if parent else None,
        at=at if type(at) is int else None,
        edits=edits_of(made),
        depth=depth,
        problem=run.problem,
        damage=catalogue.own_sums.damage(run, until),
        lost=lost_of(sums),
    )


def status_of(run: Recorded) -> str:
    """As `lctl runs` marks it: an error on the way that did not end the run is none of the run's."""
    if run.problem:
        return "unreadable"
    if run.open:
        return "live" if run.live else "unfinished"
    if run.is_unknown:
        return "unknown"
    if run.is_unended:
        return "unfinished"
    return "error" if run.outcome in FAILED else "interrupted" if run.outcome in STOPPED else "ok"


def kind_of(chain: dict[str, Any], is_child: bool) -> str:
    if "fork" in chain:
        return "fork"
    if "rerun" in chain:
        return "rerun"
    return "child" if is_child else "recording"


def edits_of(made: Any) -> list[str]:
    edits = made.get("edits") if isinstance(made, dict) else None
    return [str(edit) for edit in edits] if isinstance(edits, list) else []


def cost_of(catalogue: Catalogue, run: Recorded, until: float) -> float | None:
    """Of what its summary counts, by model; where that does not say it, of its events. None where it is not
    known."""
    if run.summary and needs_events(run, catalogue.prices):
        own = catalogue.own_sums.of(run, until)
        return None if own is None else own.cost
    return of_sums(run, catalogue.prices) if run.summary else None


def _name(run: Recorded) -> str:
    """What it was called, else the program it is of."""
    name = run.chain.get("name")
    if isinstance(name, str) and name:
        return name
    program = run.chain.get("program")
    argv = program.get("argv") if isinstance(program, dict) else None
    words = [str(word) for word in argv[1:]] if isinstance(argv, list) else []
    return " ".join(words[:4]) or run.id


def _fits(run: Recorded, q: str) -> bool:
    agents = run.summary.get("agents")
    names = map(str, agents) if isinstance(agents, list) else ()
    text = " ".join([run.id, _name(run), Path(run.place).name, *names]).lower()
    return all(word in text for word in q.lower().split())


def _rank(sort: str, run: Recorded, status: str, cost: float | None, length: float | None) -> float:
    """Smallest first; equal ones stay newest first."""
    sums = run.summary
    if sort == "errors":
        rank = {"live": 0, "error": 1, "interrupted": 2, "unfinished": 3, "unknown": 4}.get(status, 5)
        return rank * 1e9 - (_whole(sums.get("errors")) or 0)
    if sort == "cost":
        return -(cost or 0.0)
    if sort == "duration":
        return -(length or 0.0)
    return -(run.events or 0) if sort == "events" else 0


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None


# -- sparks --------------------------------------------------------------------------------


class SparksAsked(Question, kw_only=True):
    keys: list[str] = msgspec.field(default_factory=list)
    bins: int = 24


def sparks(server: Server, asked: SparksAsked) -> Sparks:
    """Events per slice of a run's time, from as many events as there are slices: a shape, no counts."""
    bins = max(2, min(asked.bins, 200))
    found: dict[str, list[int]] = {}
    for key in asked.keys[:200]:
        try:
            read = server.runs.run(key).events is not None  # else it would be read whole, for a curve
            found[key] = spark(server.runs.open(key), bins) if read else []
        except LctlError:
            found[key] = []
    return Sparks(sparks=found)


def spark(run: Opened, bins: int) -> list[int]:
    log = run.log
    if not len(log):
        return []
    first, count = log.first_seq, log.last_seq - log.first_seq + 1
    samples = min(count, 4 * bins)
    seqs = [first + count * n // samples for n in range(samples)]
    times = []
    for seq in seqs:
        event = next(iter(log.events(seq, seq + 1)), None)
        at = run.ms(event.timestamp) if event is not None else None
        if at is not None:
            times.append(at)
    made = [0] * bins
    if not times:
        return made
    start, length = min(times), max(times) - min(times)
    for at in times:
        n = min(bins - 1, int((at - start) / length * bins)) if length else 0
        made[n] += max(1, count // samples)
    return made
