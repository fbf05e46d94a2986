"""Spans as the trees they are: which is inside which, which is told twice, and in what order they began."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lctl.spans import conventions as names
from lctl.spans import meaning
from lctl.spans.messages import messages_of
from lctl.spans.span import Mark, Span

Key = tuple[float, ...]
#: Work of these kinds parts a model's span from one inside it: they are two calls then.
_PARTS = frozenset({"tool", "agent", "chain", "workflow", "task"})


class SpanForest:
    """The spans of one import.

    Attributes:
        spans: each once.
        kinds: of each; a call told twice has "span" where it is not to count.
        parents: number of the span around each.
        roots: numbers of spans that stand for a whole chain of lctl's.
        tools: numbers of spans that are one tool's run, and nothing inside it.
        is_ours: lctl wrote all of them, of one log: they say which events they were.
        twice: numbers of model spans inside another that tells of the same call.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = list({(one.trace_id, one.span_id) if one.span_id else n: one
                           for n, one in enumerate(spans)}.values())  # fmt: skip
        for one in self.spans:
            if not _is_numbered(one):  # somebody else's, whatever it is called
                one.attributes.pop(names.SEQ, None)
        numbers = {(one.trace_id, one.span_id): n for n, one in enumerate(self.spans) if one.span_id}
        self.parents = [
            numbers.get((one.trace_id, one.parent_id)) if one.parent_id else None for one in self.spans
        ]
        self._break_circles()
        self.kinds = [meaning.kind_of(one) for one in self.spans]
        self.roots = {n for n, one in enumerate(self.spans) if one.attributes.get(names.SEQ) == 0}
        self.twice: set[int] = set()
        chains = {str(one.attributes.get(names.CHAIN)) for one in self.spans}
        self.is_ours = len(chains) == 1 and all(map(_is_numbered, self.spans))
        if not self.is_ours:  # a log of ours tells of no call twice
            self._count_once()
        holders = {parent for parent in self.parents if parent is not None}
        self.tools = {
            n
            for n, one in enumerate(self.spans)
            if self.kinds[n] == "tool"
            and (names.KIND not in one.attributes if names.SEQ in one.attributes else n not in holders)
        }
        self._around_models: set[int] = set()
        for n, kind in enumerate(self.kinds):
            above = self.parents[n] if kind in meaning.MODEL_KINDS else None
            while above is not None and above not in self._around_models:
                self._around_models.add(above)
                above = self.parents[above]
        self._depths: dict[int, int] = {}
        self._order = {} if all(one.start_ns and one.end_ns for one in self.spans) else self._visits()

    def agent(self, n: int) -> str:
        """Who did it: whom the span names, else the nearest one around it."""
        above: int | None = n
        while above is not None:
            named = meaning.agent_of(self.spans[above])
            if named or (above == n and names.SEQ in self.spans[n].attributes):
                return named
            above = self.parents[above]
        return ""

    def around(self, n: int) -> Iterator[int]:
        """The spans around one, the nearest first."""
        above = self.parents[n]
        while above is not None:
            yield above
            above = self.parents[above]

    def counts_tokens(self, n: int) -> bool:
        """Whether a span that is no model's tells of tokens that none inside it tells."""
        return n not in self._around_models

    def begin_key(self, n: int) -> Key:
        span = self.spans[n]
        if self.is_ours:
            return (span.attributes[names.SEQ],)
        if self._order:
            return (self._order[n][0],)
        start = span.start_ns
        above = self.parents[n]
        while above is not None:  # a clock of another machine may be behind
            start = max(start, self.spans[above].start_ns)
            above = self.parents[above]
        return (start, 1, self._depth(n), n)

    def end_key(self, n: int) -> Key:
        span = self.spans[n]
        if self.is_ours:
            return (span.attributes.get(names.END_SEQ, span.attributes[names.SEQ]),)
        if self._order:
            return (self._order[n][1],)
        begin = self.begin_key(n)[0]
        end = max(span.end_ns, begin)
        return (end, 0 if begin < end else 2, -self._depth(n), n)

    def mark_key(self, n: int, mark: Mark) -> Key:
        if self.is_ours:
            return (mark.attributes.get(names.SEQ, 0),)
        if self._order:
            return (self._order[n][1] - 0.5,)
        return (max(mark.at_ns, self.begin_key(n)[0]), 1, self._depth(n) + 0.5, n)

    def _depth(self, n: int) -> int:
        if n not in self._depths:
            above, depth = self.parents[n], 0
            while above is not None:
                above, depth = self.parents[above], depth + 1
            self._depths[n] = depth
        return self._depths[n]

    def _break_circles(self) -> None:
        for n in range(len(self.spans)):
            seen = {n}
            above = self.parents[n]
            while above is not None:
                if above in seen:
                    self.parents[n] = None
                    break
                seen.add(above)
                above = self.parents[above]

    def _count_once(self) -> None:
        """Of a model's span inside another that is the same call, one counts: that with the messages."""
        for n in range(len(self.spans)):
            if self.kinds[n] != "llm":
                continue
            above = self.parents[n]
            while above is not None and self.kinds[above] not in _PARTS and self.kinds[above] != "llm":
                above = self.parents[above]
            if above is None or self.kinds[above] != "llm":
                continue
            inner = not any(messages_of(self.spans[n])) or any(messages_of(self.spans[above]))
            self.kinds[n if inner else above] = "span"
            self.twice.add(n if inner else above)

    def _visits(self) -> dict[int, tuple[int, int]]:
        """Begin and end of each in the order of a walk, for spans that say no times."""
        children: dict[int | None, list[int]] = {}
        for n, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(n)
        places: dict[int, tuple[int, int]] = {}
        begun: dict[int, int] = {}
        clock = 0
        stack = [(n, False) for n in reversed(children.get(None, []))]
        while stack:
            n, is_over = stack.pop()
            clock += 1
            if is_over:
                places[n] = (begun[n], clock)
                continue
            begun[n] = clock
            stack.append((n, True))
            stack += [(child, False) for child in reversed(children.get(n, []))]
        return places


def _is_numbered(span: Span) -> bool:
    """Whether a span of lctl's says which event it was, and all in it do."""
    seqs = [span.attributes.get(names.SEQ), span.attributes.get(names.END_SEQ, 1)]
    seqs += [mark.attributes.get(names.SEQ) for mark in span.marks if mark.name.startswith("lctl.")]
    return all(type(seq) is int for seq in seqs)
