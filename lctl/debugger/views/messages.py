"""A message as parts to be shown: words, thoughts, tool calls, results, images, in the order it has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import orjson

from lctl.analysis.log import text
from lctl.analysis.wording import compact
from lctl.codec.lines import encode_value
from lctl.conversation.node import Node
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.conversation import Message, MessageCall, Part
from lctl.debugger.views.images import Images
from lctl.state.messages import reasoning_of, text_of, tool_calls_of, tool_results_of, written_calls_of

#: Characters of a part that are given; more are in the event.
_LONGEST = 200_000
#: Events of which it is kept in mind who recorded them.
_TOLD = 20_000


def message(run: Opened, node: Node, call: MessageCall | None) -> Message:
    """A node of a tree, as of the tree's seq. One that stands there at many calls, with the same beside it,
    is the same object each time."""
    parent = node.parent
    # Conversations that begin beside each other are no alternatives to one another.
    siblings = node.siblings if parent is not None else node.versions
    forest = node.tree.forest
    if call is not None or node.number in forest.texts or node.number in forest.statuses:
        return _message(run, node, call, parent, siblings)
    known: dict[Any, Message] = run.kept("messages as they stood", dict)
    place = (
        node.number, node.role, node.sampled, parent and parent.id, len(node.versions),
        *[one.id for one in siblings], None, *[one.id for one in node.nested],
    )  # fmt: skip
    found = known.get(place)
    if found is None:
        found = _message(run, node, None, parent, siblings)
        if len(known) >= _TOLD:
            known.clear()
        known[place] = found
    return found


def _message(
    run: Opened, node: Node, call: MessageCall | None, parent: Node | None, siblings: list[Node]
) -> Message:
    data = node.data
    agent, timestamp = _told(run, node.seq)
    return Message(
        id=node.id,
        seq=node.seq,
        role=node.role,
        agent=agent,
        timestamp=timestamp,
        ms=run.ms(timestamp),
        status=node.status,
        sampled=node.sampled,
        conversation=node.conversation,
        parent=parent.id if parent is not None else None,
        parts=[_named(part, node) for part in parts(run, node.seq, data)],
        siblings=[one.id for one in siblings],
        index=next((n for n, one in enumerate(siblings) if one.number == node.number), 0),
        edits=max(0, len(node.versions) - 1),
        nested=[one.id for one in node.nested],
        call=call,
        size=len(text_of(data)),
    )


#: Messages before a result among which its call is looked for: those of the other calls of one turn.
_NEAR = 64


def _named(part: Part, node: Node) -> Part:
    """A tool's result says which tool it is of, as the call does that it answers."""
    if part.kind != "tool_result" or part.name or not part.call_id:
        return part
    before = node.parent
    for _ in range(_NEAR):
        if before is None:
            break
        for call in tool_calls_of(before.data):
            if text(call.get("id")) == part.call_id:
                return msgspec.structs.replace(part, name=text(call.get("name")))
        before = before.parent
    return part


def _told(run: Opened, seq: int) -> tuple[str, str]:
    """Who recorded an event, and when: asked of many messages that one event made, and on many paths."""
    known: dict[int, tuple[str, str]] = run.kept("who and when", dict)
    told = known.get(seq)
    if told is None:
        told = next(((one.agent, text(one.timestamp)) for one in run.log.events(seq, seq + 1)), ("", ""))
        if len(known) >= _TOLD:
            known.clear()
        known[seq] = told
    return told


def parts(run: Opened, seq: int, data: Mapping[str, Any]) -> Iterator[Part]:
    """What a message says, part by part."""
    images = Images(run, seq)
    if data.get("role") in ("tool", "function"):
        yield from _results(data)
        yield from images.of(data)
        return
    content, google = data.get("content"), data.get("parts")
    lists = [one for one in (content, google) if isinstance(one, list)]
    if not lists:
        yield from _said(data, images)
        return
    above = {key: value for key, value in data.items() if key not in ("content", "parts", "tool_calls")}
    if reasoning := reasoning_of({"content": "", **above}):
        yield _cut(Part(kind="reasoning", text=reasoning))
    for one in lists:
        for part in one:
            yield from _part(part, images)
    rest = {"role": data.get("role"), "content": "", **{key: data[key] for key in _CALLS if key in data}}
    yield from _calls(rest)
    if isinstance(refusal := data.get("refusal"), str) and refusal:
        yield _cut(Part(kind="text", text=refusal))


_CALLS = ("tool_calls", "function_call")


def _part(part: Any, images: Images) -> Iterator[Part]:
    found = list(_said({"role": "", "content": [part]}, images))
    if found:
        yield from found
    elif part not in ("", None):
        kind = text(part.get("type")) if isinstance(part, Mapping) else ""
        if kind in ("text", "output_text", "input_text", "reasoning", "thought"):
            return  # an empty one
        yield _bounded(Part(kind="other", type=kind, value=part))


def _said(data: Mapping[str, Any], images: Images) -> Iterator[Part]:
    if reasoning := reasoning_of(data):
        yield _cut(Part(kind="reasoning", text=reasoning))
    results = tool_results_of(data)
    if (words := text_of(data)) and not results:
        yield _cut(Part(kind="text", text=words))
    yield from _calls(data)
    yield from _results(data)
    yield from images.of(data)


def _calls(data: Mapping[str, Any]) -> Iterator[Part]:
    for call, said in zip(tool_calls_of(data), written_calls_of(data), strict=True):
        written = said.get("arguments")
        yield _bounded(
            Part(
                kind="tool_call",
                call_id=text(call.get("id")),
                name=text(call.get("name")) or "?",
                arguments=call.get("arguments"),
                text=written if isinstance(written, str) and written else None,
            )
        )


def _results(data: Mapping[str, Any]) -> Iterator[Part]:
    for result in tool_results_of(data):
        output = result.get("output")
        words = output if isinstance(output, str) else text_of({"content": output}) or compact(output)
        yield _bounded(
            Part(
                kind="tool_result",
                call_id=text(result.get("call_id")),
                name=text(data.get("name")),
                output=None if isinstance(output, str) else output,
                text=words,
                error=bool(result.get("is_error")),
            )
        )


def _cut(part: Part) -> Part:
    if part.text is None or len(part.text) <= _LONGEST:
        return part
    return Part(kind=part.kind, text=part.text[:_LONGEST], truncated=len(part.text))


def _bounded(part: Part) -> Part:
    """The part, or the beginning of what it says as text, where it is very large."""
    value = next((one for one in (part.arguments, part.output, part.value) if one is not None), None)
    words = part.text or ""
    if value is not None and not isinstance(value, int | float | bool):
        size = len(value) if isinstance(value, str) else len(_dump(value))
    else:
        size = len(words)
    if max(size, len(words)) <= _LONGEST:
        return part
    shown = (words or (value if isinstance(value, str) else _dump(value)))[:_LONGEST]
    return Part(
        kind=part.kind,
        text=shown,
        call_id=part.call_id,
        name=part.name,
        error=part.error,
        type=part.type,
        truncated=size,
    )


def _dump(value: Any) -> str:
    return encode_value(value, option=orjson.OPT_NON_STR_KEYS, default=str).decode()
