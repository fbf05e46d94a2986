"""A state in lines: facts, the tree of steps, totals. For `show` and for the interactive replay."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from lctl.analysis.pauses import NO_PAUSE, Pause, lasted
from lctl.analysis.wording import count, plain, seconds
from lctl.cli.screen import Piece, Style
from lctl.cli.text import plural
from lctl.state.model import Fact, State, Step

Line = list[Piece]

_NEAR = 5000  # events within which the newest steps are looked for


def totals(state: State, pause: Pause = NO_PAUSE) -> Iterator[Line]:
    """`12 events over 45.2s, 4 steps, 3 model calls, ...` in one or two lines. `pause`: of the log."""
    sums = state.totals
    apart = f" (without {seconds(pause.ms)} since its recording)" if state.seq > pause.seq > 0 else ""
    parts = [
        f"{plural(sums.events, 'event')} over {seconds(lasted(pause, state.seq, sums.duration_ms))}{apart}",
        plural(sums.steps, "step"),
        plural(sums.llm_calls, "model call"),
        plural(sums.tool_calls, "tool call"),
        plural(sums.messages, "message"),
    ]
    yield [", ".join(part for part in parts if not part.startswith("0 ")) or "no events"]
    if sums.tokens.total:
        tokens = sums.tokens
        cached = f", {count(tokens.cache_read)} of it cached" if tokens.cache_read else ""
        yield [
            (
                f"{plural(tokens.total, 'token')} "
                f"(in: {count(tokens.input)}{cached} / out: {count(tokens.output)})"
            )
        ]
    if sums.errors:
        yield [(plural(sums.errors, "error"), "red"), f" at seq {_some(state.errors)}"]


def facts(state: State, most: int | None = None) -> Iterator[Line]:
    """One line a fact: confidence, id, text, and how its confidence moved. With `most`, the newest."""
    shown = [state.facts[id] for id in deque(state.facts, most)]
    if len(shown) < len(state.facts):
        yield [(f"… {plural(len(state.facts) - len(shown), 'older fact')}", "dim")]
    room = max((len(plain(fact.id, 24)) for fact in shown), default=0)
    for fact in shown:
        yield [_confidence(fact), "  ", (plain(fact.id, 24).ljust(room), "bold"), "  ", plain(fact.text, 400)]
        if len(fact.history) > 1 and len({confidence for _, confidence, _ in fact.history}) > 1:
            yield ["      " + " " * room + "  ", (" → ".join(_number(c) for _, c, _ in fact.history), "dim")]


def steps(state: State, most: int | None = None) -> Iterator[Line]:
    """The tree of steps, each with what became of it. With `most`, the newest; open ones always, and
    what they stand under."""
    kept = _kept(state, most)
    hidden = len(state.steps) - len(kept)
    if hidden:
        yield [(f"… {plural(hidden, 'step')} not shown", "dim")]
    for seq, depth in _walk(state, kept):
        yield ["  " * min(depth, 20), *step_line(state.steps[seq], is_current=seq == state.current_step)]


def step_line(step: Step, *, is_current: bool = False) -> Line:
    """`[6] security-reviewer: assess  22.5s success, 812 tokens`."""
    name = plain(step.intent or step.tool or step.kind or "step", 60)
    line: Line = [
        (f"[{step.seq}] ", "dim"),
        (plain(step.agent, 40), "cyan"),
        ": ",
        (name, "bold" if is_current else ""),
    ]
    if step.model:
        line.append((f" {plain(step.model, 40)}", "magenta"))
    if step.end is None and step.end_seq is None:
        line.append(("  open", "yellow"))
    else:
        line.append((f"  {seconds(step.duration_ms)}" if step.duration_ms is not None else "", "dim"))
        line.append(_outcome(step.outcome))
    if step.tokens is not None and step.tokens.total:
        line.append((f"  {plural(step.tokens.total, 'token')}", "dim"))
    if step.errors:
        line.append((f"  {plural(step.errors, 'error')}", "red"))
    return line


def _outcome(outcome: str | None) -> Piece:
    if not outcome or outcome == "success":
        return ""
    style: Style = "red" if outcome == "error" else "yellow" if outcome in ("aborted", "cancelled") else ""
    return (f"  {plain(outcome, 60)}", style)


def _walk(state: State, kept: set[int]) -> Iterator[tuple[int, int]]:
    """(step, depth), depth first, in order of their seqs. A step that names itself or a later one as its
    parent, which a broken log may hold, stands at the top: so no loop is walked."""
    children: dict[int | None, list[int]] = {}
    for seq in sorted(kept, reverse=True):
        parent = state.steps[seq].parent
        children.setdefault(parent if parent in kept and parent < seq else None, []).append(seq)
    stack = [(seq, 0) for seq in children.get(None, ())]
    while stack:
        seq, depth = stack.pop()
        yield seq, depth
        stack.extend((child, depth + 1) for child in children.get(seq, ()))


def _kept(state: State, most: int | None) -> set[int]:
    if most is None or len(state.steps) <= most:
        return set(state.steps)
    kept = {seq for seq in state.open_steps[-most:] if seq in state.steps}
    # From the newest event backwards: going through all steps of a long log takes too long for a screen.
    for seq in range(state.seq, max(0, state.seq - _NEAR), -1):
        if len(kept) >= most:
            break
        if seq in state.steps:
            kept.add(seq)
    for seq in list(kept):
        parent = state.steps[seq].parent
        while parent is not None and parent in state.steps and parent not in kept:
            kept.add(parent)
            parent = state.steps[parent].parent
    return kept


def _confidence(fact: Fact) -> Piece:
    if fact.confidence is None:
        return ("  - ", "dim")
    style: Style = "green" if fact.confidence >= 0.8 else "yellow" if fact.confidence >= 0.4 else "red"
    return (f"{fact.confidence:.2f}", style)


def _number(confidence: float | None) -> str:
    return "-" if confidence is None else f"{confidence:.2f}"


def _some(seqs: object) -> str:
    known = list(seqs) if isinstance(seqs, (list, tuple)) else [*seqs]  # type: ignore[misc]
    return ", ".join(str(seq) for seq in known[:5]) + (", …" if len(known) > 5 else "")
