"""What came from what: whether a step used anything an earlier one produced, as far as the log shows it.

What counts as use is in `evidence`. Absence of all of it is what `independent_runs` means by independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from lctl.analysis.evidence import Made, Words, handed
from lctl.analysis.log import Log, raw_events
from lctl.analysis.spans import StepSpan, ToolSpan
from lctl.analysis.survey import Survey

#: Clocks of two events differ by this much without meaning anything.
_JITTER_MS = 0.5


class Flow:
    """Answers about one log; reads it again only when asked about steps."""

    def __init__(self, log: Log, found: Survey) -> None:
        self._log = log
        self._found = found
        self._handed = handed(found)

    def independent_runs(self) -> Iterator[list[StepSpan]]:
        """Siblings that ran one after the other, two or more in a row, none using what another made."""
        rows = [row for row in self._sequential_rows() if len(row) > 1]
        if not rows:
            return
        words = self._words({step.seq for row in rows for step in row})
        for row in rows:
            run: list[StepSpan] = []
            made = Made(self._handed)
            for step in row:
                if made.is_used_by(step, words[step.seq]):
                    if len(run) > 1:
                        yield run
                    run = []
                    made = Made(self._handed)
                run.append(step)
                made.take(step, words[step.seq])
            if len(run) > 1:
                yield run

    def asked_together(self) -> Iterator[list[ToolSpan]]:
        """Tool calls by the model message that asked for them, where it asked for several."""
        asked: dict[str, int] = {}
        sizes: dict[int, int] = {}
        calls = {call.call_id for call in self._found.tools if call.call_id}
        if len(calls) < 2:
            return
        for event in raw_events(self._log):
            if event.get("type") == "message" and event["data"].get("role") == "assistant":
                ids = [id for id in _call_ids(event["data"]) if id in calls]
                sizes[event["seq"]] = len(ids)
                asked.update((id, event["seq"]) for id in ids)
        together: dict[int, list[ToolSpan]] = {}
        for call in self._found.tools:
            if call.call_id in asked and sizes[asked[call.call_id]] > 1:
                together.setdefault(asked[call.call_id], []).append(call)
        yield from (calls for calls in together.values() if len(calls) > 1)

    def repeated_prefixes(self) -> Iterator[tuple[StepSpan, int]]:
        """Model calls whose prompt begins with what an earlier call to the same model had sent or answered,
        with about how many tokens of theirs that was."""
        messages = self._found.messages
        sizes: dict[str, int] = {}
        for id, message in messages.items():
            above = sizes.get(message.parent, 0) if message.parent else 0
            sizes[id] = above + message.size
        sent: dict[tuple[str | None, str | None], set[str]] = {}
        for call in self._found.model_calls:
            if call.prompt not in messages or call.tokens is None:
                continue
            seen = sent.setdefault((call.provider, call.model), set())
            shared: str | None = call.prompt
            fresh: set[str] = set()
            while shared is not None and shared not in seen and shared not in fresh:
                fresh.add(shared)
                known = messages.get(shared)
                shared = known.parent if known is not None else None
            rooted = shared not in fresh  # else its messages are each other's ancestors
            seen.update(fresh)
            if shared in sizes and rooted and sizes[call.prompt]:  # a log may lack what messages hang on
                yield call, int(call.tokens.input * sizes[shared] / sizes[call.prompt])

    # -- steps --------------------------------------------------------------------------------

    def _sequential_rows(self) -> Iterator[list[StepSpan]]:
        """Siblings in order of time, cut where they overlap."""
        siblings: dict[int | None, list[StepSpan]] = {}
        for step in self._found.steps.values():
            if not step.open and step.wall_ms > 0:
                siblings.setdefault(step.parent, []).append(step)
        for row in siblings.values():
            row.sort(key=lambda step: step.start)
            current: list[StepSpan] = []
            latest = row[0].start
            for step in row:
                if step.start < latest - _JITTER_MS:  # already at once with something
                    yield current
                    current = []
                else:
                    current.append(step)
                latest = max(latest, step.end)
            yield current

    def _words(self, steps: set[int]) -> dict[int, Words]:
        """What went into and came out of these steps, of everything in their subtrees."""
        found = self._found
        words = {step: Words() for step in steps}
        within: dict[int, tuple[int, ...]] = {}
        for seq, span in found.steps.items():
            above = within.get(span.parent, ()) if span.parent is not None else ()
            within[seq] = (*above, seq) if seq in steps else above
        open_of_agent: dict[str, int] = {}
        for event in raw_events(self._log):
            step = event.get("step")
            if event["type"] == "step_start" and event["seq"] in within:
                step = event["seq"]
                open_of_agent[event["agent"]] = step
            elif type(step) is not int:
                step = open_of_agent.get(event["agent"])
            for ancestor in within.get(step, ()) if type(step) is int else ():
                words[ancestor].take(event["type"], event["data"])
        for seq in steps:
            self._add_prompts(seq, words)
        self._add_tools(words)
        return words

    def _add_tools(self, words: Mapping[int, Words]) -> None:
        """A tool's call stands behind its body: what its parent began and had not ended when it was called is
        in that. (It may be written a while after its end: the time of its call is not known better.)"""
        steps, began = self._found.steps, defaultdict[int | None, list[StepSpan]](list)
        calls = {call.seq: call for call in self._found.tools if call.duration_ms is not None}
        for seq in sorted({*words, *calls}):
            if seq in words:
                began[steps[seq].parent].append(steps[seq])
                continue
            call = calls[seq]
            for step in reversed(began[call.step]):
                if step.end <= call.interval[0]:
                    break
                words[step.seq].tools.add(call.tool)

    def _add_prompts(self, seq: int, words: Mapping[int, Words]) -> None:
        """A model call's prompt stands before its step; its messages are its input all the same."""
        messages = self._found.messages
        span = self._found.steps[seq]
        id, depth = span.prompt, 0
        while id in messages and depth < 200:
            message = messages[id]
            words[seq].conversation.add(id)
            if not message.sampled and depth < 8:
                words[seq].read(self._log.event(message.seq).data)
            id, depth = message.parent, depth + 1


def _call_ids(data: dict[str, Any]) -> Iterator[str]:
    calls = data.get("tool_calls")
    content = data.get("content")
    for part in [
        *(calls if isinstance(calls, list) else ()),
        *(content if isinstance(content, list) else ()),
    ]:
        if isinstance(part, dict):
            id = part.get("call_id") or part.get("id")
            if isinstance(id, str):
                yield id
