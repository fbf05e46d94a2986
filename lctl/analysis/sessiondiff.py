"""Two sessions compared message by message: where they part, and what differs from there on."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TextIO

import orjson

from lctl.analysis.align import align
from lctl.analysis.wording import plain
from lctl.codec.lines import encode_value
from lctl.conversation.hydrated import Hydrated
from lctl.conversation.measures import Totals, Usage, usage_of
from lctl.state.messages import text_of, tool_calls_of, tool_results_of

Kind = Literal["changed", "reordered", "moved", "added", "removed"]
Data = Mapping[str, Any]


class MessageChange(NamedTuple):
    """One message that is not the same in both, or only in one.

    Attributes:
        kind: "reordered": the same tool calls in another order; "moved": the same message at another place.
        left, right: its number in either; None on the side that has none.
        text: what it says in either, where that differs.
        tools: its tool calls in either, where these differ: [{name, arguments}].
        usage: what the model call behind it used in either, where that differs.
    """

    kind: Kind
    left: int | None
    right: int | None
    role: str
    text: tuple[str, str] | None = None
    tools: tuple[list[dict[str, Any]], list[dict[str, Any]]] | None = None
    usage: tuple[Usage | None, Usage | None] | None = None


class SessionDiff:
    """The comparison of two sessions; false when they say the same.

    Attributes:
        common: number of the last message up to which both say the same; 0 where they share nothing.
        forked_at: the message at which the right one was forked from the left one; None where it was not.
        changes: what differs, in order.
    """

    def __init__(self, left: Hydrated, right: Hydrated) -> None:
        self.left = left
        self.right = right
        self.forked_at = _forked_at(left, right)
        one, other = _messages(left), _messages(right)
        self.common = 0
        while self.common < min(len(one), len(other)) and one[self.common] == other[self.common]:
            self.common += 1
        self.changes = list(_changes(left, right, one, other, self.forked_at or 0))

    @property
    def first_divergence(self) -> MessageChange | None:
        """The earliest message that is not the same in both."""
        return min(self.changes, key=lambda one: min(one.left or _FAR, one.right or _FAR), default=None)

    @property
    def totals(self) -> tuple[Totals, Totals]:
        """What the two used after they parted, if the right one was forked from the left one; else in all."""
        if self.forked_at is None or self.right.forked_from is None:
            return self.left.totals, self.right.totals
        before = self.right.inherited
        mine = self.left.totals.plus(self.left.inherited)
        return mine.less(before), self.right.totals

    def __bool__(self) -> bool:
        return bool(self.changes)

    def lines(self) -> list[str]:
        """For people to read."""
        if not self.changes:
            return [f"The same {self.common} messages in {self.left.id} and {self.right.id}."]
        parts = [f"forked at message {self.forked_at}"] if self.forked_at is not None else []
        first = self.first_divergence
        assert first is not None
        parts.append(f"the first difference is message {first.left or first.right}")
        found = [f"{self.left.id} and {self.right.id}: {', '.join(parts)}"]
        for change in self.changes:
            found += _shown(change)
        one, other = self.totals
        if one != other:
            found.append(f"  used: {_sums(one)} and {_sums(other)}")
        return found

    def show(self, file: TextIO | None = None) -> None:
        """Print it."""
        (file or sys.stdout).write("\n".join(self.lines()) + "\n")

    def __repr__(self) -> str:
        return f"<SessionDiff {self.left.id}, {self.right.id}: {len(self.changes)} changes>"


_FAR = 1 << 62


def _forked_at(left: Hydrated, right: Hydrated) -> int | None:
    source = right.forked_from
    if source is None or source.get("session_id") != left.id:
        return None
    number = source.get("message_number")
    return number if isinstance(number, int) else None


def _messages(session: Hydrated) -> list[dict[str, Any]]:
    """Seeds and messages as the model reads them, each at the index before its number."""
    return [
        {key: value for key, value in message.items() if key in _COMPARED and value not in (None, [], {})}
        for message in session.between()
    ]


_COMPARED = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "reasoning", "function_call"})


def _changes(
    left: Hydrated, right: Hydrated, one: list[Any], other: list[Any], shared: int
) -> Iterator[MessageChange]:
    mine, theirs = _usages(left), _usages(right)
    pairs = align([_key(message) for message in one], [_key(message) for message in other])
    moved = _moved(one, other, pairs)
    taken = {m for m in pairs if m >= 0}
    alone = [m for m in range(len(other)) if m not in taken and m not in moved.values()]
    for n, message in enumerate(one):
        m = pairs[n]
        if m >= 0:
            used = _differ(mine.get(n + 1), theirs.get(m + 1))
            if used is not None and n >= shared:
                yield MessageChange("changed", n + 1, m + 1, _role(message), usage=used)
            continue
        if n in moved:
            yield MessageChange("moved", n + 1, moved[n] + 1, _role(message))
            continue
        match = next((m for m in alone if _role(other[m]) == _role(message) and _near(pairs, n, m)), None)
        if match is None:
            yield MessageChange("removed", n + 1, None, _role(message), (text_of(message), ""))
            continue
        alone.remove(match)
        yield _changed(n, match, message, other[match], _differ(mine.get(n + 1), theirs.get(match + 1)))
    for m in alone:
        yield MessageChange("added", None, m + 1, _role(other[m]), ("", text_of(other[m])))


def _changed(n: int, m: int, one: Data, other: Data, usage: Any) -> MessageChange:
    texts, calls = (_text(one), _text(other)), (_calls(one), _calls(other))
    said = texts if texts[0] != texts[1] else None
    asked = calls if calls[0] != calls[1] else None
    same = asked is not None and sorted(map(_dumped, calls[0])) == sorted(map(_dumped, calls[1]))
    kind: Kind = "reordered" if same and said is None else "changed"
    return MessageChange(kind, n + 1, m + 1, _role(one), said, asked, usage)


def _near(pairs: list[int], n: int, m: int) -> bool:
    """Whether both stand between the same pairs of equal messages."""
    before = max((pair for pair in pairs[:n] if pair >= 0), default=-1)
    after = min((pair for pair in pairs[n + 1 :] if pair >= 0), default=_FAR)
    return before < m < after


def _moved(one: list[Any], other: list[Any], pairs: list[int]) -> dict[int, int]:
    taken = {m for m in pairs if m >= 0}
    places: dict[Hashable, list[int]] = {}
    for m, message in enumerate(other):
        if m not in taken:
            places.setdefault(_key(message), []).append(m)
    found: dict[int, int] = {}
    for n, message in enumerate(one):
        there = places.get(_key(message)) if pairs[n] < 0 else None
        if there:
            found[n] = there.pop(0)
    return found


def _usages(session: Hydrated) -> dict[int, Usage]:
    """Per message of the assistant: what its own call, else the step it ends, says it used."""
    found: dict[int, Usage] = {}
    roles: dict[int, str] = {}
    for number, node in session.numbered():
        roles[number] = node.role
        call = node.data.get("call")
        if isinstance(call, Mapping) and isinstance(call.get("usage"), Mapping):
            found[number] = usage_of({"usage": call["usage"], **_cost(call)})
    before = 0
    for data in session.turn_ends():
        to = data.get("to_message_number")
        if not isinstance(to, int):
            continue
        said = [n for n, role in roles.items() if before < n <= to and role == "assistant"]
        used = usage_of(data)
        if said and said[-1] not in found and used != Usage():
            found[said[-1]] = used
        before = to
    return found


def _cost(call: Data) -> dict[str, Any]:
    return {"cost": call["cost"]} if "cost" in call else {}


def _differ(one: Usage | None, other: Usage | None) -> tuple[Usage | None, Usage | None] | None:
    return None if one == other else (one, other)


def _key(message: Data) -> bytes:
    return _dumped({"role": _role(message), "text": _text(message), "calls": _calls(message)})


def _text(message: Data) -> str:
    results = tool_results_of(message)
    return text_of(message) or "".join(str(result["output"]) for result in results)


def _calls(message: Data) -> list[dict[str, Any]]:
    """Without their ids, which every call has anew."""
    return [{"name": call["name"], "arguments": call["arguments"]} for call in tool_calls_of(message)]


def _dumped(value: Any) -> bytes:
    return encode_value(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _role(message: Data) -> str:
    return str(message.get("role") or "")


def _sums(totals: Totals) -> str:
    cost = "" if totals.cost is None else f", cost {totals.cost:g}"
    return f"{totals.turns} turns, {totals.input} tokens in, {totals.output} out{cost}"


def _shown(change: MessageChange) -> list[str]:
    signs = {"added": "+", "removed": "-", "changed": "~", "reordered": "~", "moved": "~"}
    number = change.left or change.right
    more = f", {change.kind}" if change.kind in ("reordered", "moved") else ""
    found = [f"{signs[change.kind]} message {number} ({change.role}{more})"]
    if change.text is not None:
        found += [
            f"    {sign} {plain(text, 100)}" for sign, text in zip("-+", change.text, strict=True) if text
        ]
    if change.tools is not None:
        for sign, calls in zip("-+", change.tools, strict=True):
            found += [f"    {sign} {call['name']}({plain(call['arguments'], 80)})" for call in calls]
    if change.usage is not None:
        told = [_used(one) for one in change.usage]
        found.append(f"    used {told[0]}, now {told[1]}")
    return found


def _used(usage: Usage | None) -> str:
    if usage is None or usage.tokens is None:
        return "nothing that is known"
    return f"{usage.tokens[0]} tokens in, {usage.tokens[1]} out"
