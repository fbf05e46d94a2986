"""What is read out of an imported trace."""

from __future__ import annotations

import json
from typing import Any

from lctl.chain import Chain
from lctl.codec import validate, verify
from lctl.importing import Imported, convert
from lctl.importing.source import Source

ASK = [{"role": "user", "content": "2+2?"}]


def imported(value: Any, form: str = "auto") -> Imported:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    found = convert(Source(data, "export"), form)
    assert validate(found.log) == [] and verify(found.log).ok
    return found


def steps(found: Imported) -> list[tuple[Any, ...]]:
    """(kind, intent, agent, parent's intent) of each step, in the order they began."""
    named = {e.seq: e.data.get("intent") for e in found.log.events() if e.type == "step_start"}
    return [
        (e.data.get("kind"), e.data.get("intent"), e.agent, named.get(e.step or 0))
        for e in found.log.events()
        if e.type == "step_start"
    ]


def ends(found: Imported) -> dict[str, dict[str, Any]]:
    named = {e.seq: e.data.get("intent", "") for e in found.log.events() if e.type == "step_start"}
    return {named[e.step or 0]: e.data for e in found.log.events() if e.type == "step_end"}


def tools(found: Imported) -> list[dict[str, Any]]:
    return [event.data for event in found.log.events() if event.type == "tool_call"]


def said(found: Imported) -> list[tuple[str, Any]]:
    (leaf,) = Chain.of(found.log).tree.leaves
    return [(one["role"], one["content"]) for one in Chain.of(found.log).transcript(leaf.id)]


def span(n: int, name: str, parent: int | None, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A span of OTLP that begins at second `n`; values that are no texts and no numbers are JSON."""
    tagged = [
        {
            "key": key,
            "value": {"intValue": str(value)}
            if isinstance(value, int)
            else {"stringValue": value if isinstance(value, str) else json.dumps(value)},
        }
        for key, value in attributes.items()
    ]
    return {
        "traceId": "1" * 32,
        "spanId": f"{n:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": name,
        "startTimeUnixNano": str((1767225600 + n) * 10**9),
        "endTimeUnixNano": str((1767225600 + n) * 10**9 + 5 * 10**8),
        "attributes": tagged,
        **more,
    }


def otlp(*spans: dict[str, Any], scope: str = "") -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}]}
