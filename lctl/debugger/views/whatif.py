"""What if an event had been another one: the log folded again, nothing executed or written."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from lctl.analysis.farwhatif import far_what_if
from lctl.analysis.whatif import Change as Different
from lctl.analysis.whatif import Span, edits_of, what_if
from lctl.codec.lines import encode_value
from lctl.debugger.failing import Refused
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.common import Change
from lctl.debugger.shapes.findings import Confidence, WhatIf, WhatIfAsked
from lctl.patch import Edit
from lctl.patch.changing import same

_CHANGES = 2000


def whatif(run: Opened, asked: WhatIfAsked) -> WhatIf:
    """What would be otherwise."""
    edits: list[Edit] = list(edits_of(asked.set))
    if asked.data is not None:
        edits += _edits_to(run, asked)
    texts = [str(edit) for edit in edits]
    if run.is_long:
        return _far(run, asked, edits, texts)
    found = what_if(run.chain, asked.at, set=edits, drop=asked.drop, insert=asked.insert, to_seq=asked.to_seq)
    changes, spans = _shown(found.changes), _confidences(found.spans)
    return WhatIf(
        changes=changes[:_CHANGES],
        total=len(changes),
        confidence=spans,
        events=len(found.altered.events),
        touched=sorted(found.altered.touched),
        edits=texts,
        command=command(run, asked, texts),
        to_seq=found.to_seq,
    )


def _far(run: Opened, asked: WhatIfAsked, edits: list[Edit], texts: list[str]) -> WhatIf:
    """Of a long log: a stretch behind the change."""
    if run.is_being_built:
        raise Refused("conflict", "the log is still being read; ask again when that is done")
    if asked.insert:
        raise Refused("bad_request", f"into a log this long, insert with: {command(run, asked, texts)}")
    found = far_what_if(
        run.timeline, run.log, edits, at=asked.at, drop=asked.drop, to_seq=asked.to_seq, prices=run.prices
    )
    changes, spans = _shown(found.changes), _confidences(found.spans)
    return WhatIf(
        changes=changes[:_CHANGES],
        total=len(changes),
        confidence=spans[:_CHANGES],
        events=found.events,
        touched=sorted(found.touched),
        edits=texts,
        command=command(run, asked, texts),
        to_seq=found.to_seq,
        notes=[f"a long log: compared after event {found.to_seq:,}; gates and contracts stay as recorded"],
    )


def _shown(changes: Iterable[Different]) -> list[Change]:
    return [
        Change(section=one.section, name=one.name, field=one.field, before=one.before, after=one.after)
        for one in changes
    ]


def _confidences(spans: Iterable[Span]) -> list[Confidence]:
    return [
        Confidence(
            fact=one.fact, first=one.first, last=one.last, before=one.before, after=one.after, gates=one.gates
        )
        for one in spans
    ]


def _edits_to(run: Opened, asked: WhatIfAsked) -> list[Edit]:
    """The edits that make an event say the data it was given."""
    if asked.at is None:
        raise Refused("bad_request", "the changed data is of an event: say which one, at")
    before = run.event(asked.at).data
    return list(_changed((), before, asked.data or {}))


def _changed(path: tuple[Any, ...], before: Any, after: Any) -> list[Edit]:
    """Edits leaf by leaf; a list of another length is put there as a whole."""
    if same(before, after):
        return []
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        found = []
        for key in dict.fromkeys([*before, *after]):
            if key not in after:
                found.append(Edit("data", (*path, key), "del"))
            elif key not in before:
                found.append(Edit("data", (*path, key), "=", after[key]))
            else:
                found += _changed((*path, key), before[key], after[key])
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            edit
            for n, (one, other) in enumerate(zip(before, after, strict=True))
            for edit in _changed((*path, n), one, other)
        ]
    return [Edit("data", path, "=", after)]


def command(run: Opened, asked: WhatIfAsked, edits: list[str]) -> str:
    """The same question for a terminal."""
    words = ["lctl", "what-if", run.place]
    if asked.at is not None:
        words += ["--at", str(asked.at)]
    for edit in edits:
        words += ["--set", edit]
    for seq in asked.drop:
        words += ["--drop", str(seq)]
    for event in asked.insert:
        words += ["--insert", encode_value(event).decode()]
    if asked.to_seq is not None:
        words += ["--to-seq", str(asked.to_seq)]
    return shlex.join(words)
