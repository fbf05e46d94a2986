"""A certificate as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from lctl.rerun.exactness.certificate import Certificate
from lctl.rerun.places import shown

_COUNTS = ("exact", "reads", "drift", "moved", "edited", "live", "executed", "unmatched")


def lines(certificate: Certificate, verb: str = "rerun") -> Iterator[str]:
    """Its lines: two where everything is exact, else what was not."""
    made = certificate
    if made.stopped is not None:
        yield f"lctl: {verb} stopped: {made.stopped}"
        yield ""
    yield f"lctl: {_verdict(made, verb)} ({made.seconds:.2f} s)"
    for name, found in (
        ("unused", made.unused if made.stopped is None else ()),
        ("blocked", made.blocked),
        ("out of order", made.violations),
        ("run again", made.again),
    ):
        for one in found[:5]:
            yield f"  {name}: {one}"
        if len(found) > 5:
            yield f"  {name}: and {len(found) - 5} more"
    yield from on_disk(made)
    yield from changed(made)
    if made.moved_lines:
        yield f"  lines of the program have moved (not counted): {_first(made.moved_lines)}"
    if made.output_equal is False:
        yield "  the output is not the recorded one"
    if made.stderr_differs is not None and made.stopped is None:
        yield f"  libraries wrote something else to stderr (not counted): {made.stderr_differs}"
    if made.first_difference is not None and made.stopped is None:
        yield f"  first difference: {made.first_difference}"
    if made.log:
        yield f"  {made.log}"


def on_disk(made: Certificate) -> Iterator[str]:
    """What the program wrote elsewhere, and what it found that is not there."""
    if made.aside:
        yield f"  written aside, and gone: {_named(made.aside)}"
    if made.files:
        yield f"  given as recorded, not as they are now: {_named(made.files)} (--files now: as they are)"


def changed(made: Certificate) -> Iterator[str]:
    """Of what was not exact: the files that may be why, and what to do."""
    if made.ok or not made.changed:
        return
    yield (
        f"  opened, and written since the recording began: {_named(made.changed)} (not on the tape: "
        "put them back as they were then, or have a tool read them)"
    )


def _named(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(shown(path) for path in paths[:3]) + more


def _first(moved: tuple[str, ...]) -> str:
    return ", ".join(moved[:3]) + (", ..." if len(moved) > 3 else "")


def _verdict(made: Certificate, verb: str) -> str:
    counts = ", ".join(_count(getattr(made, name), name) for name in _COUNTS if getattr(made, name))
    if not made.ok:
        events = f"{_events(made.events)} of {made.recorded:,} recorded"
        return f"{verb} not exact: {events}; {counts or 'none asked'}"
    what = _events(made.events) if made.until is None else f"up to event {made.until}"
    output = ", output equal" if made.output_equal else ""
    order = f", {made.reordered} told in another order" if made.reordered else ""
    but = " but for line numbers" if made.moved_lines else ""
    return f"{verb} exact: {what}, {counts or 'none asked'}; log equal{but}{output}{order}"


def _count(number: int, name: str) -> str:
    return "1 read" if (number, name) == (1, "reads") else f"{number:,} {name}"


def _events(count: int) -> str:
    return f"{count:,} event{'' if count == 1 else 's'}"
