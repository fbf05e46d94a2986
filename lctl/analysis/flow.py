"""What came from what: whether a step used anything an earlier one produced, as far as the log shows it.

Evidence of use is a fact the earlier added and the later names or read, a hand-off between their agents,
the earlier's answer in the later's conversation, or its words in the later's input. Absence of all of
these is what `independent_runs` means by independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lctl.analysis.log import Log, raw_events, text
from lctl.analysis.spans import StepSpan, ToolSpan
from lctl.analysis.survey import Survey
from lctl.analysis.wording import compact

#: Words this long of an output, found in an input, are no coincidence.
_QUOTE = 24
#: Of each output this many beginnings of quotes are looked for, of each input this much is looked at.
_QUOTES = 8
_LOOK = 200_000
#: Clocks of two events differ by this much without meaning anything.
_JITTER_MS = 0.5


class Flow:
    """Answers about one log; reads it again only when asked about steps."""

    def __init__(self, log: Log, found: Survey) -> None:
        self._log = log
        self._found = found

    def independent_runs(self) -> Iterator[list[StepSpan]]:
        """Siblings that ran one after the other, two or more in a row, none using what another made."""
        rows = [row for row in self._sequential_rows() if len(row) > 1]
        if not rows:
            return
        words = self._words({step.seq for row in rows for step in row})
        for row in rows:
            run: list[StepSpan] = []
            for step in row:
                if any(self._uses(step, earlier, words) for earlier in run):
                    if len(run) > 1:
                        yield run
                    run = []
                run.append(step)
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

    def _words(self, steps: set[int]) -> dict[int, _Words]:
        """What went into and came out of these steps, of everything in their subtrees."""
        found = self._found
        words = {step: _Words() for step in steps}
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
        return words

    def _add_prompts(self, seq: int, words: Mapping[int, _Words]) -> None:
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

    def _uses(self, later: StepSpan, earlier: StepSpan, words: Mapping[int, _Words]) -> bool:
        mine, made = words[later.seq], words[earlier.seq]
        if made.failed and (later.agent, later.kind, later.intent) == (
            earlier.agent,
            earlier.kind,
            earlier.intent,
        ):
            return True  # trying again
        if (
            later.agent == earlier.agent
            and later.kind == earlier.kind
            and not later.is_model_call
            and later.parent is None
        ):
            return True  # one agent's turns at the top: its memory between them is not in the log
        if (made.answers & mine.conversation) - {""} or made.facts & mine.facts_read:
            return True
        for seq, sender, receiver in self._found.handoffs:
            if receiver == later.agent and sender == earlier.agent and seq < later.seq:
                return True
        read = mine.input_text()
        return any(_names(fact, read) for fact in made.facts) or any(quote in read for quote in made.quotes())


class _Words:
    """Of one step: texts in and out, facts made and read, messages answered and seen."""

    def __init__(self) -> None:
        self.facts: set[str] = set()
        self.facts_read: set[str] = set()
        self.answers: set[str] = set()
        self.conversation: set[str] = set()
        self.failed = False
        self._in: list[str] = []
        self._out: list[str] = []

    def take(self, type: object, data: dict[str, Any]) -> None:
        if type == "step_start":
            self._in += [text(data.get("input_summary")), text(data.get("intent"))]
            self.conversation.add(text(data.get("prompt")))
            if "input" in data:
                self.read(data["input"])
        elif type == "step_end":
            self._out.append(text(data.get("output_summary")))
            self.failed = self.failed or text(data.get("outcome")) in ("error", "failed", "cancelled")
            if "output" in data:
                self._out.append(compact(data["output"]))
        elif type == "message":
            if data.get("sampled") is True:
                self.answers.add(text(data.get("message_id")))
                self._out.append(compact(data.get("content")))
            else:
                self.conversation |= {text(data.get("message_id")), text(data.get("parent_id"))}
                self.read(data)
        elif type == "tool_call":
            self.read(data.get("input"))
            self._out.append(compact(data.get("output")))
        elif type in ("fact_added", "fact_modified"):
            self.facts.add(str(data.get("id")))
            self._out.append(text(data.get("text")))
        elif type == "fact_read":
            read = data.get("facts", data.get("ids", data.get("id")))
            self.facts_read.update(map(str, read) if isinstance(read, list) else [str(read)])

    def read(self, value: object) -> None:
        self._in.append(value if isinstance(value, str) else compact(value))

    def input_text(self) -> str:
        return "\n".join(self._in)[:_LOOK]

    def quotes(self) -> Iterator[str]:
        """Stretches of what came out, from places spread over each text."""
        for said in self._out:
            said = said.strip('"')
            if len(said) < _QUOTE:
                if len(said) >= 12:
                    yield said
                continue
            room = len(said) - _QUOTE
            for n in range(_QUOTES):
                at = room * n // (_QUOTES - 1)
                yield said[at : at + _QUOTE]


def _names(fact: str, read: str) -> bool:
    """The input names the fact as a word of its own."""
    at = read.find(fact)
    while at >= 0:
        before = read[at - 1] if at else " "
        after = read[at + len(fact)] if at + len(fact) < len(read) else " "
        if not (before.isalnum() or after.isalnum()):
            return True
        at = read.find(fact, at + 1)
    return False


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
