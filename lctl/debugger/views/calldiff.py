"""The context of two calls compared: what was put in, what fell out, what was changed, what was cut short."""

from __future__ import annotations

import difflib
import hashlib
from typing import Any

import orjson

from lctl.analysis.align import align
from lctl.analysis.wording import compact
from lctl.codec.lines import encode_value
from lctl.conversation.node import LOG_KEYS, Node
from lctl.debugger.asking import OfRun
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.conversation import CallDiff, ContextPart, Param, ToolChanges
from lctl.debugger.views.calls import Heard, Read, params_of, read_of, tools_of
from lctl.state.messages import text_of, tool_calls_of, tool_results_of

_LINES = 400  # of a unified difference
_LONG = 20_000  # characters that are compared line by line
#: A text that keeps so much of another one's beginning or end is that one, cut short.
_KEPT = 0.98


class CallDiffAsked(OfRun, kw_only=True):
    left: int
    right: int


def call_diff(run: Opened, asked: CallDiffAsked) -> CallDiff:
    """From the context of one call to that of another."""
    return diff_of(run, read_of(run, asked.left), read_of(run, asked.right))


def diff_of(run: Opened, left: Read, right: Read) -> CallDiff:
    one, other = left.start, right.start
    found = _compared(run, left.prompt, right.prompt)
    counts: dict[str, int] = dict.fromkeys(("injected", "dropped", "changed", "truncated"), 0)
    for part in found:
        if part.kind != "same":
            counts[part.kind] += 1
    before, after = ({tool.name for tool in tools_of(run, start)} for start in (one, other))
    return CallDiff(
        left=left.call,
        right=right.call,
        parts=found,
        same=sum(part.kind == "same" for part in found),
        counts=counts,
        tools=ToolChanges(added=sorted(after - before), removed=sorted(before - after)),
        params=_params(one, other),
    )


def _compared(run: Opened, left: list[Heard], right: list[Heard]) -> list[ContextPart]:
    known: dict[int, bytes] = run.kept("what messages say", dict)
    mine, theirs = ([_key(known, one.node) for one in side] for side in (left, right))
    pairs = align(mine, theirs)
    found: list[ContextPart] = []
    at = 0
    gone: list[Heard] = []
    for n, m in enumerate(pairs):
        if m < 0:
            gone.append(left[n])
            continue
        found += _between(gone, right[at:m])
        gone = []
        found.append(_part("same", left[n], right[m]))
        at = m + 1
    found += _between(gone, right[at:])
    return found


def _key(known: dict[int, bytes], node: Node) -> bytes:
    """What a message says, whatever its id. `known`: by its number, of those that stay as they are."""
    found = known.get(node.number)
    if found is None:
        said = {key: value for key, value in node.data.items() if key not in LOG_KEYS}
        found = encode_value(said, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
        found = hashlib.blake2b(found, digest_size=16).digest()
        if node.number not in node.tree.forest.texts:
            known[node.number] = found
    return found


def _between(left: list[Heard], right: list[Heard]) -> list[ContextPart]:
    """Messages that are not the same: those of one role stand for each other, in order."""
    found: list[ContextPart] = []
    waiting = list(right)
    for heard in left:
        place = next((n for n, one in enumerate(waiting) if _alike(heard.node, one.node)), None)
        if place is None:
            found.append(_part("dropped", heard, None))
            continue
        found += [_part("injected", None, one) for one in waiting[:place]]
        found.append(_changed(heard, waiting[place]))
        waiting = waiting[place + 1 :]
    return found + [_part("injected", None, one) for one in waiting]


def _alike(left: Node, right: Node) -> bool:
    """One became the other: the same place in the conversation, or enough of the same words."""
    if left.role != right.role:
        return False
    mine, theirs = _ids(left), _ids(right)
    if mine or theirs:
        return mine == theirs
    one, other = _words(left), _words(right)
    if left.role in ("system", "developer") or _is_cut(one, other):
        return True
    matcher = difflib.SequenceMatcher(None, one[:2000], other[:2000], autojunk=False)
    return matcher.real_quick_ratio() > 0.5 and matcher.quick_ratio() > 0.5 and matcher.ratio() > 0.5


def _ids(node: Node) -> set[Any]:
    data = node.data
    return {result.get("call_id") for result in tool_results_of(data)} | {
        call.get("id") for call in tool_calls_of(data)
    }


def _changed(left: Heard, right: Heard) -> ContextPart:
    one, other = _words(left.node), _words(right.node)
    if _is_cut(one, other):
        return _part("truncated", left, right, one, other, lost=len(one) - len(other))
    return _part("changed", left, right, one, other)


def _is_cut(one: str, other: str) -> bool:
    """`other` is the beginning, the end, or both ends of `one`, perhaps with a mark where it was cut."""
    if len(other) >= len(one) or not other:
        return False
    begin = 0
    while begin < len(other) and one[begin] == other[begin]:
        begin += 1
    end = 0
    while end < len(other) - begin and one[-1 - end] == other[-1 - end]:
        end += 1
    kept = begin + end
    mark = len(other) - kept  # "... [truncated] ..."
    return kept > 0 and ((mark <= 80 and kept >= mark * 2) or kept >= _KEPT * len(other))


def _words(node: Node) -> str:
    """All a message says, as text."""
    data = node.data
    said = [text_of(data)]
    said += [f"{call.get('name')}({compact(call.get('arguments'))})" for call in tool_calls_of(data)]
    for result in tool_results_of(data):
        output = result.get("output")
        words = output if isinstance(output, str) else text_of({"content": output}) or compact(output)
        if words not in said:
            said.append(words)
    return "\n".join(one for one in said if one)


def _part(
    kind: str,
    left: Heard | None,
    right: Heard | None,
    one: str = "",
    other: str = "",
    lost: int = 0,
) -> ContextPart:
    unified: list[str] = []
    if one != other and max(len(one), len(other)) <= _LONG:
        lines = difflib.unified_diff(one.splitlines(), other.splitlines(), lineterm="", n=2)
        unified = [line for line in lines if not line.startswith(("---", "+++"))][:_LINES]
    return ContextPart(
        kind=kind,
        left=left.message if left is not None else None,
        right=right.message if right is not None else None,
        unified=unified,
        lost=lost,
    )


def _params(one: dict[str, Any], other: dict[str, Any]) -> list[Param]:
    before = {"model": one.get("model"), **params_of(one)}
    after = {"model": other.get("model"), **params_of(other)}
    return [
        Param(path=name, left=before.get(name), right=after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
