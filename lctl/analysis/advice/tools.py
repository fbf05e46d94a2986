"""Tools that are slow, called again, or called one by one."""

from __future__ import annotations

from collections.abc import Iterator

from lctl.analysis.advice.piece import WORTH, Advice
from lctl.analysis.flow import Flow
from lctl.analysis.intervals import length, percentile
from lctl.analysis.prices import Prices
from lctl.analysis.spans import ToolSpan
from lctl.analysis.survey import Survey
from lctl.analysis.wording import percent, plain, plural, seconds


def tools_asked_at_once(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    """Calls that one model message asked for together, run one by one."""
    for calls in flow.asked_together():
        timed = [call for call in calls if call.duration_ms]
        spent = sum(call.duration_ms or 0.0 for call in timed)
        if len(timed) < 2 or length(call.interval for call in timed) < spent * 0.99:
            continue
        saving = spent - max(call.duration_ms or 0.0 for call in timed)
        if saving < wall * WORTH:
            continue
        yield Advice(
            "parallelize",
            f"Run the {len(timed)} tool calls the model asked for together at once.",
            (
                f"one message asked for {', '.join(plain(call.tool, 30) for call in timed)}",
                f"one by one they took {' + '.join(seconds(call.duration_ms or 0) for call in timed)}",
            ),
            tuple(call.seq for call in timed),
            saving,
        )


def slow_tool(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    tools: dict[str, list[ToolSpan]] = {}
    for call in found.tools:
        if call.duration_ms:
            tools.setdefault(call.tool, []).append(call)
    for tool, calls in tools.items():
        spent = length(call.interval for call in calls)
        if wall <= 0 or spent < wall * 0.2:
            continue
        durations = [call.duration_ms or 0.0 for call in calls]
        usual = percentile(durations, 0.5) or 0.0
        slowest = max(calls, key=lambda call: call.duration_ms or 0.0)
        outliers = sum(max(0.0, duration - usual) for duration in durations)
        evidence = [
            (
                f"{plural(len(calls), 'call')}, {seconds(spent)} of {seconds(wall)}; "
                f"half take under {seconds(usual)}"
            )
        ]
        if outliers > spent * 0.5 and len(calls) > 2:
            evidence.append(f"the slowest, event {slowest.seq}, took {seconds(max(durations))}")
            saving = min(outliers, spent)
        else:
            saving = spent
        yield Advice(
            "slow_tool",
            f"{plain(tool, 40)} takes {percent(min(1.0, spent / wall))} of the time: make it faster or rare.",
            tuple(evidence),
            tuple(call.seq for call in sorted(calls, key=lambda call: -(call.duration_ms or 0.0))[:5]),
            saving,
        )


def repeated(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    same: dict[tuple[int, int], list[ToolSpan]] = {}
    for call in found.tools:
        if not call.failed:
            same.setdefault((call.asked, call.got), []).append(call)
    for calls in same.values():
        if len(calls) < 2:
            continue
        saving = sum(call.duration_ms or 0.0 for call in calls[1:])
        if saving < wall * WORTH and len(calls) < 3:
            continue
        yield Advice(
            "repeated_tool_call",
            f"Keep the answer of {plain(calls[0].tool, 40)}: called {len(calls)} times with the same input, "
            "it answered the same.",
            (f"events {', '.join(str(call.seq) for call in calls[:8])}{', …' if len(calls) > 8 else ''}",),
            tuple(call.seq for call in calls),
            saving or None,
        )
