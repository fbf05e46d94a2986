"""Rows of training data: an instruction and its output (Alpaca), a prompt and its completion, or a prompt and
two answers of which one was preferred (TRL, OpenAI). Each row is a conversation, its answers alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from lctl.importing.draft import Draft
from lctl.importing.rowshapes import Place, Reader, conversation_name, read_rows
from lctl.importing.source import Row, Source
from lctl.importing.trained import JUDGED, judge, mark, tools_of, trains
from lctl.importing.values import dicts, items, mapping, text, without

Messages = list[dict[str, Any]]
#: Keys of a row's answers, the better one first.
_ANSWERS = (
    ("output",),
    ("completion",),
    ("response",),
    ("chosen", "rejected"),
    ("preferred_output", "non_preferred_output"),
)


class _Sample(NamedTuple):
    """What a row says.

    Attributes:
        answers: by the key that held them, the better one first.
        tools: that its answers could call.
        judged: what it says its answers are worth.
        about: all else.
    """

    prompt: Messages
    answers: dict[str, Messages]
    tools: list[Any] | None
    judged: dict[str, Any]
    about: dict[str, Any]


def sees(source: Source) -> str:
    found = next((row for row in source.rows if _sample(row.value) is not None), None)
    if found is None:
        return ""
    named = ("instruction", "prompt", "input", *(key for keys in _ANSWERS for key in keys))
    return "rows of " + ", ".join(key for key in named if key in found.value)


def read(source: Source, draft: Draft) -> None:
    missing = "row without a prompt and an answer"
    read_rows(source, draft, "trainingrows", missing, "no rows of a prompt and its answers")


def reader(row: Row) -> Reader | None:
    """What reads a row of a prompt and its answers; None of any other."""
    sample = _sample(row.value)
    return None if sample is None else lambda draft, place: _conversation(draft, sample, place, row.where)


def _conversation(draft: Draft, sample: _Sample, place: Place, where: str) -> None:
    name = conversation_name(draft, place, "")
    prefix = "" if name is None else f"{name}/"
    details: dict[str, Any] = {"conversation": sample.about} if sample.about else {}
    ends: dict[str, str] = {}
    for kind, answer in {"": sample.prompt, **sample.answers}.items():
        parent = ends.get("")
        trained = trains(answer, {}, every=bool(kind))
        for n, message in enumerate(answer, 1):
            id = f"{prefix}{kind or 'm'}{n}"
            said = draft.add(id, message, parent, conversation=name, details=details, where=where)
            details, parent = {}, id
            if kind and trained[n - 1]:
                mark(draft, said, sample.tools)
        if parent is not None:
            ends[kind] = parent
    _judge(draft, sample, ends, prefix)
    if len(sample.answers) > 1:
        best = ends.get(next(iter(sample.answers)))
        if best is not None:
            draft.select(best, name or "main")


def _judge(draft: Draft, sample: _Sample, ends: dict[str, str], prefix: str) -> None:
    """What the row says of its answers. Of two, the first message of each is what they are told apart by."""
    if len(sample.answers) == 1:
        judge(draft, ends[next(iter(sample.answers))], sample.judged)
        return
    for place, kind in enumerate(sample.answers):
        id = f"{prefix}{kind}1"
        judge(draft, id, sample.judged, f"_{kind}")
        draft.fact(f"preferred:{id}", kind.replace("_", " "), id, value="bad" if place else "good")


def _sample(row: dict[str, Any]) -> _Sample | None:
    """What a row says; None of one that is no such row."""
    keys = next((keys for keys in _ANSWERS if all(key in row for key in keys)), None)
    prompt = list(_prompt(row)) if keys is not None else []
    if keys is None or "messages" in row or (not prompt and "prompt" in row):
        return None
    answers = {key: _said(row[key], "assistant") for key in keys}
    if not all(answers.values()) or not (prompt or len(keys) > 1):
        return None
    if not prompt:  # TRL: the prompt may be in both
        prompt, answers = _apart(answers)
    told = ("instruction", "context", "prompt", "system", "history")
    judging = [key + suffix for key in JUDGED for suffix in ("", *(f"_{kind}" for kind in keys))]
    judged = {key: row[key] for key in judging if isinstance(row.get(key), bool | int | float | str)}
    given = mapping(row.get("input"))  # OpenAI's preferences: messages, and what was asked with them
    about = {**without(row, *keys, *told, *judged, "input"), **without(given, "messages")}
    return _Sample(prompt, answers, tools_of(row) or tools_of(given), judged, about)


def _prompt(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if text(row.get("system")):
        yield {"role": "system", "content": row["system"]}
    for pair in items(row.get("history")):
        if isinstance(pair, list) and len(pair) == 2:
            yield {"role": "user", "content": pair[0]}
            yield {"role": "assistant", "content": pair[1]}
    if isinstance(row.get("instruction"), str):
        words = [row["instruction"], text(row.get("input")) or text(row.get("context"))]
        yield {"role": "user", "content": "\n\n".join(word for word in words if word)}
    elif "prompt" in row:
        yield from _said(row["prompt"], "user")
    elif "preferred_output" in row:
        yield from _said(mapping(row.get("input")).get("messages"), "user")


def _said(value: Any, role: str) -> Messages:
    """Messages as they are; a text as one of that role."""
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    found = dicts(value)
    return found if all(isinstance(one.get("role"), str) for one in found) else []


def _apart(answers: dict[str, Messages]) -> tuple[Messages, dict[str, Messages]]:
    """What two conversations begin with, and what is left of each."""
    one, other = answers.values()
    shared = 0
    while shared < min(len(one), len(other)) - 1 and one[shared] == other[shared]:
        shared += 1
    return one[:shared], {key: messages[shared:] for key, messages in answers.items()}
