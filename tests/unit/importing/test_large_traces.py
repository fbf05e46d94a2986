"""Traces of many spans: what an import of them takes."""

from __future__ import annotations

import json
import sys
import tracemalloc
from types import FrameType
from typing import Any

import pytest

from lctl.importing import Imported, convert
from lctl.importing.source import Source


def lines(count: int, size: int) -> bytes:
    """Traces of an agent with one call, a line each, whose messages have `size` letters."""

    def span(n: int, name: str, parent: str, attributes: dict[str, str]) -> dict[str, Any]:
        return {
            "traceId": f"{n:032x}",
            "spanId": f"{n:08x}{len(name):08x}",
            "parentSpanId": parent,
            "name": name,
            "startTimeUnixNano": str((1767225600 + n) * 10**9),
            "endTimeUnixNano": str((1767225601 + n) * 10**9),
            "attributes": [
                {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
            ],
        }

    def messages(role: str, n: int) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": f"{n} " + "x" * size}]}])

    def trace(n: int) -> bytes:
        agent = span(n, "agent", "", {"gen_ai.operation.name": "invoke_agent"})
        call = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
        call |= {
            "gen_ai.input.messages": messages("user", n),
            "gen_ai.output.messages": messages("assistant", n),
        }
        spans = [agent, span(n, "chat m", agent["spanId"], call)]
        return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()

    return b"".join(trace(n) + b"\n" for n in range(1, count + 1))


@pytest.mark.slow
def test_memory_is_a_few_times_the_file() -> None:
    """Decoded values, and lines with room for every letter to be escaped, would be many times as much."""
    data = lines(800, 1500)
    tracemalloc.start()
    try:
        found = convert(Source(data, "traces.jsonl"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.messages == 1600
    assert peak < 5 * len(data), f"{peak / len(data):.1f} times the file"


def test_work_is_in_proportion_to_the_spans() -> None:
    """Functions called, for twice as many spans."""

    def calls(data: bytes) -> int:
        count = 0

        def note(frame: FrameType, event: str, arg: object) -> None:
            nonlocal count
            count += event == "call"

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            convert(Source(data, "traces.jsonl"))
        finally:
            sys.setprofile(before)
        return count

    small, large = lines(150, 10), lines(300, 10)
    convert(Source(small, "traces.jsonl"))  # what is imported first is imported
    assert calls(large) < 2.2 * calls(small)


def test_a_broken_line_and_metrics_among_lines_are_counted() -> None:
    """Each once, however often the lines are read."""
    more = json.dumps({"resourceMetrics": []}).encode()
    data = lines(2, 10) + b'{"resourceSpans": [\n' + more + b"\n\n"
    found: Imported = convert(Source(data, "traces.jsonl"))
    assert [(loss.what, loss.times, loss.where) for loss in found.lost] == [
        ("metrics of OpenTelemetry", 1, ("line 4",)),
        ("line that is no JSON object (cut short?)", 1, ("line 3",)),
    ]
