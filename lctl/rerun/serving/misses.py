"""What is said when the tape does not hold what the program asks for."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from lctl.errors import RerunError
from lctl.rerun.places import Line, stack
from lctl.rerun.serving.matching import Match, Matcher
from lctl.rerun.serving.requests import Canonical, continued
from lctl.rerun.tape.entries import Entry, Read
from lctl.session.border import WireRequest

_NEAREST = 4
_DIFF_LINES = 40
#: Characters of a line of a diff, and of those that stand before what differs in a long one.
_WIDTH, _BEFORE = 160, 40


#: Of a program that had begun its recording itself (`provenance.BEGUN`).
NOT_BEGUN = (
    "the program did not begin its recording this time: it calls auto_instrument(), or opens a session, "
    "under a condition that was not met (an environment variable?)"
)


def of_exchange(matcher: Matcher, match: Match, request: WireRequest, policy: str) -> str:
    """Why a request was refused: what was asked where, and the nearest recorded calls."""
    lane = request.lane.path
    what = request.operation or request.method
    asked = matcher.comparer.asked(request)
    model = asked.head.get("model")
    lines = [
        f"{_verdict(match)} (policy {policy})",
        "",
        f"  asked     call {match.number} of lane {lane}: {what}{f', {model}' if model else ''}",
        *_where(stack()),
    ]
    entry = match.entry
    nearest = _nearest(matcher, lane, asked, match)
    if entry is not None:
        lines.append(f"  recorded  {entry.place}: event {entry.seq}")
        lines += ["", *_diff(matcher, entry, asked)]
    elif nearest and nearest[0][0] >= 0.3:
        likest = nearest[0][2]
        lines += ["", f"  the likest recorded: event {likest.seq}", *_diff(matcher, likest, asked)]
    if nearest:
        lines += ["", "  nearest recorded calls:"]
        lines += [f"    event {one.seq:<5} {one.place:<20} {why}" for _, why, one in nearest]
    lines += ["", _advice(match, policy)]
    return "\n".join(lines)


def of_unrecorded(request: WireRequest, host: str) -> str:
    """Why traffic that is no model call was refused."""
    why = (
        "was made where the program asked that nothing be recorded"
        if request.kind == "suppressed"
        else "is no model call, and this recording holds model calls only ('lctl run' records all)"
    )
    return "\n".join(
        [
            f"this request {why}",
            "",
            f"  asked     {request.method} {request.url}",
            *_where(stack()),
            "",
            f"  --allow {host} lets it out",
        ]
    )


def of_other(what: str, name: str, match: Match, lane: str, detail: list[str], policy: str) -> str:
    """Why a tool call or an ambient read was refused."""
    lines = [
        f"{_verdict(match, what)} (policy {policy})",
        "",
        f"  asked     {what} {match.number} of lane {lane}: {name}",
        *_where(stack()),
    ]
    if match.entry is not None:
        lines.append(f"  recorded  {match.entry.place}: {match.entry.name}, event {match.entry.seq}")
    if detail:
        lines += ["", *detail]
    return "\n".join(lines)


def of_read(source: str, key: str, lane: str, number: int, recorded: Read | None) -> str:
    """Why a read of the surroundings was refused."""
    if recorded is None:
        said = "the recording has no more of them here"
    else:
        where = f" at {recorded.place}" if recorded.place else ""
        said = f"recorded  {recorded.key}{where}: event {recorded.seq}"
    return "\n".join(
        [
            "the program reads something else of its surroundings than it did in the recording",
            "",
            f"  asked     {source} read {number} of lane {lane}: {key}",
            *_where(stack()),
            f"  {said}",
        ]
    )


def diff_lines(recorded: list[str], asked: list[str], seq: int) -> list[str]:
    """A unified diff, cut to what a person reads; [] where the two are equal."""
    made = list(unified_diff(recorded, asked, f"recorded (event {seq})", "asked now", n=2, lineterm=""))
    if len(made) > _DIFF_LINES:
        made = [*made[:_DIFF_LINES], f"... and {len(made) - _DIFF_LINES} more lines"]
    return ["  " + line for line in _cut(made)]


def _cut(diff: list[str]) -> Iterator[str]:
    """In a width to be read: of a long line that stands for another, what is around where they part."""
    parts = [0] * len(diff)
    gone = 2  # the first two lines name the sides
    while gone < len(diff):
        come = gone
        while come < len(diff) and diff[come][:1] == "-":
            come += 1
        for n, one in enumerate(diff[gone:come]):
            if come + n < len(diff) and diff[come + n][:1] == "+":
                parts[gone + n] = parts[come + n] = _alike(one[1:], diff[come + n][1:])
        gone = max(come, gone + 1)
    for line, part in zip(diff, parts, strict=True):
        begin = part - _BEFORE
        if len(line) <= _WIDTH or begin < _BEFORE:
            yield line if len(line) <= _WIDTH else line[: _WIDTH - 3] + "..."
        else:
            shown = line[begin : begin + _WIDTH - 7]
            yield f"{line[0]}...{shown}" + ("..." if begin + len(shown) < len(line) else "")


def _alike(one: str, other: str) -> int:
    """How many characters the two begin with alike."""
    unlike = (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(unlike, min(len(one), len(other)))


def told(tool: object, input: object) -> list[str]:
    """A tool call as a person reads it."""
    import orjson

    text = orjson.dumps(input, default=str, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    return [f"tool: {tool}", *text.splitlines()]


def _verdict(match: Match, what: str = "call") -> str:
    return {
        "none": f"the tape holds no such {what}: the program made more of them here than in the recording",
        "drift": f"this {what} is not the recorded one",
        "moved": f"this {what} was recorded, but not here",
        "pending": f"this {what} did not end in the recording",
    }.get(match.how, "the tape does not hold this")


def _where(lines: list[Line]) -> Iterator[str]:
    for line in reversed(lines[-3:]):
        yield f"            at {line}" + (f":  {line.text}" if line.text else "")


def where() -> list[str]:
    """Lines of the program's code that run now."""
    return list(_where(stack()))


def _diff(matcher: Matcher, entry: Entry, asked: Canonical) -> list[str]:
    try:
        recorded = continued(matcher.comparer.recorded(entry), asked)
    except RerunError as error:
        return [f"  ({error})"]
    made = diff_lines(recorded.lines(), asked.lines(), entry.seq)
    return made or ["  (both say the same)"]


def _nearest(matcher: Matcher, lane: str, asked: Canonical, match: Match) -> list[tuple[float, str, Entry]]:
    """(likeness, why it was refused, entry), the likest first; this lane's before others."""
    found: list[tuple[bool, float, str, Entry]] = []
    calls = [entry for entry in matcher.tape.entries if entry.kind == "exchange"]
    for entry in calls[-2000:]:
        here = entry.lane == lane
        if entry is match.entry:
            continue
        like = matcher.likeness(entry, asked) if here or len(calls) < 200 else 0.0
        if not here and like < 0.99:
            continue
        found.append((here, like, _refused(entry, here, like), entry))
    found.sort(key=lambda one: (one[1] < 0.99, not one[0], -one[1], one[3].seq))
    return [(like, why, entry) for _, like, why, entry in found[:_NEAREST]]


def _refused(entry: Entry, here: bool, like: float) -> str:
    reasons = []
    if like >= 0.999:
        reasons.append("the same request")
    else:
        reasons.append(f"{int(like * 100)}% alike")
    if entry.used:
        reasons.append("already served")
    if not here:
        reasons.append("of another lane")
    return ", ".join(reasons)


def _advice(match: Match, policy: str) -> str:
    if match.how == "drift" and policy == "strict":
        return (
            "  --policy pin serves the recorded answer all the same; "
            "--on-miss live goes on from here with real calls"
        )
    return "  --on-miss live goes on from here with real calls"


def of_log(verb: str, error: Exception) -> str:
    """The new log cannot be written."""
    why = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error
    return f"the log of this {verb} cannot be written ({why}); -o PATH puts it elsewhere"
