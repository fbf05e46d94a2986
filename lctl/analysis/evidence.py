"""Evidence that a step used what an earlier one made: a fact the earlier added and the later names or read, a
hand-off between their agents, the earlier's answer in the later's conversation, its words in the later's
input, or the later is in the body of a tool that the earlier's answer asked for.

Of all that a row of steps has made together, so that one more costs what it has read, and not that times
the steps before it: there may be ten thousand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lctl.analysis.log import text
from lctl.analysis.messagewords import names_of_calls
from lctl.analysis.spans import StepSpan
from lctl.analysis.survey import Survey
from lctl.analysis.wording import compact

#: Words this long of an output, found in an input, are no coincidence.
_QUOTE = 24
#: Of each output this many beginnings of quotes are looked for, of each input this much is looked at.
_QUOTES = 8
_LOOK = 200_000
#: So many texts are looked for one by one; among more, each place of what was read is looked up.
_FEW = 500

#: Receiver of hand-offs -> sender -> event of the first.
Handed = Mapping[str, Mapping[str, int]]


def handed(found: Survey) -> Handed:
    """Who handed over to whom, and since when."""
    first: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for seq, sender, receiver in found.handoffs:
        first[receiver].setdefault(sender, seq)
    return first


class Made:
    """What steps that ran one after the other have made."""

    def __init__(self, handed: Handed) -> None:
        self._handed = handed
        self._agents: set[str] = set()
        self._turns: set[tuple[str, str]] = set()
        self._failed: set[tuple[str, str, str]] = set()
        self._answers: set[str] = set()
        self._asked: set[str] = set()
        self._facts = _Texts()
        self._quotes = _Texts()

    def take(self, step: StepSpan, words: Words) -> None:
        """One more of them."""
        self._agents.add(step.agent)
        self._turns.add((step.agent, step.kind))
        if words.failed:
            self._failed.add((step.agent, step.kind, step.intent))
        self._answers |= words.answers - {""}
        self._asked |= words.asked
        self._facts.add(words.facts)
        self._quotes.add(words.quotes())

    def is_used_by(self, later: StepSpan, words: Words) -> bool:
        """Whether a step behind them used any of it."""
        if (later.agent, later.kind, later.intent) in self._failed:
            return True  # trying again
        if later.parent is None and not later.is_model_call and (later.agent, later.kind) in self._turns:
            return True  # one agent's turns at the top: its memory between them is not in the log
        if not self._asked.isdisjoint(words.tools):
            return True
        if not self._answers.isdisjoint(words.conversation) or self._facts.hold(words.facts_read):
            return True
        senders = self._handed.get(later.agent, {})
        if any(seq < later.seq and sender in self._agents for sender, seq in senders.items()):
            return True
        read = words.input_text()
        return any(_names(fact, read) for fact in self._facts.within(read)) or any(self._quotes.within(read))


class _Texts:
    """Short texts that are looked for in a longer one."""

    def __init__(self) -> None:
        self._of_length: defaultdict[int, set[str]] = defaultdict(set)

    def add(self, texts: Iterable[str]) -> None:
        for one in texts:
            self._of_length[len(one)].add(one)

    def hold(self, texts: Iterable[str]) -> bool:
        return any(one in self._of_length.get(len(one), ()) for one in texts)

    def within(self, read: str) -> Iterator[str]:
        """Those that are in it: each looked for, or where they are many, each place looked up."""
        for length, texts in self._of_length.items():
            if len(texts) <= _FEW:
                yield from (one for one in texts if one in read)
            else:
                yield from {read[at : at + length] for at in range(len(read) - length + 1)} & texts


class Words:
    """Of one step: texts in and out, facts made and read, messages answered and seen, tools asked for, and
    those in whose bodies it is."""

    def __init__(self) -> None:
        self.facts: set[str] = set()
        self.facts_read: set[str] = set()
        self.answers: set[str] = set()
        self.conversation: set[str] = set()
        self.asked: set[str] = set()
        self.tools: set[str] = set()
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
                self.asked.update(names_of_calls(data))
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
