"""Random histories against a list of contexts copied at every call (rows G13, G14)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from lctl.conversation.tree import Tree
from lctl.training import Sample, samples
from lctl.training.breaks import REASONS
from lctl.training.exporting import FORMATS, Export
from tests.seeds import seeds
from tests.unit.training.histories import Asked, History, absorbed


def check(seed: int) -> int:
    """Every sampled message is trained once, after the prompt it answered; rows are as few as can be."""
    r = random.Random(seed)
    history = History(r, r.randint(1, 40))
    tree = history.talk.tree
    assert tree.diagnostics == [], seed
    asked = {one.id: one for one in history.asked}
    rows = list(samples(tree))
    trained: list[str] = []
    for row in rows:
        trained += _checked(row, asked, seed)
    assert sorted(trained) == sorted(asked), seed
    assert {row.message_ids[-1] for row in rows} == asked.keys() - absorbed(history.asked), seed
    if seed % 10 == 0:
        _check_options(history, rows)
    return len(asked)


def _checked(row: Sample, asked: dict[str, Asked], seed: int) -> list[str]:
    trained = []
    assert row.break_reason is None or row.break_reason in REASONS
    for place, (id, weight) in enumerate(zip(row.message_ids, row.weights, strict=True)):
        if not weight:
            continue
        one = asked[id]
        assert row.messages[:place] == one.prompt, (seed, id)
        assert tuple(row.message_ids[:place]) == one.path, (seed, id)
        trained.append(id)
    assert [call["message_id"] for call in row.calls] == [id for id in row.message_ids if id in asked]
    return trained


def _check_options(history: History, rows: list[Sample]) -> None:
    """Rows are the same ones under `shared="every"`; of final paths each message is trained once."""
    tree = history.talk.tree
    every = list(samples(tree, shared="every"))
    assert [row.message_ids for row in every] == [row.message_ids for row in rows]
    for one, other in zip(rows, every, strict=True):
        assert all(a <= b for a, b in zip(one.weights, other.weights, strict=True))
    for options in ({"paths": "final"}, {"reasoning": "ignore"}, {"train_edited": True}):
        ids = [
            id
            for row in samples(tree, **options)
            for id, weight in zip(row.message_ids, row.weights, strict=True)
            if weight
        ]
        assert len(ids) == len(set(ids))
    cut = random.Random(len(history.talk.events)).randint(0, len(history.talk.events))
    earlier = [one for one in history.asked if one.id in tree.at(cut)]
    trained = sum(row.trained for row in samples(tree.at(cut)))
    assert trained == len(earlier)


def test_g13_random_histories() -> None:
    assert sum(check(seed) for seed in range(300)) > 1000


@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_g13_many_random_histories(part: int) -> None:
    for seed in seeds(1000 + part * 1000, 2000 + part * 1000):
        check(seed)


#: Values of no use where they are put.
ODD: list[Any] = [
    *(None, 0, 1, -1, 1.5, True, "", "x", "n1", "n2", "{", "\ud800", float("nan")),
    *([], [1], [None], [["a"]], [{"type": "text"}], [{"type": "tool_use"}], [{"functionCall": 1}]),
    *([{"type": "tool_result", "content": [3]}], [{"type": "image_url", "image_url": 3}]),
    *({}, {"a": 1}, {"function": 3}, {"id": [1]}, {"type": "image", "source": 4}),
]
KEYS = (
    *("message_id", "parent_id", "role", "content", "sampled", "call", "fork_of", "copy_of", "carry"),
    *("nested_in", "tool_calls", "tool_call_id", "serial", "message_number", "status", "reasoning", "name"),
    *("parts", "function_call", "audio", "conversation_id", "session_id"),
)
OF_CALLS = (
    *("model", "tools", "usage", "prompt_token_ids", "token_ids", "logprobs", "tokens_ref", "prompt_hash"),
    *("finish_reason", "tool_definitions"),
)


@pytest.mark.parametrize("format", FORMATS)
def test_g16_values_of_any_kind(format: str) -> None:
    """Whatever an event holds in place of what belongs there: rows and a manifest, and no exception."""
    for seed in range(150):
        r = random.Random(seed)
        events = History(r, r.randint(3, 15)).talk.events
        for event in r.choices(events, k=4) if events else ():
            data = event["data"] = {**event["data"], r.choice(KEYS): r.choice(ODD)}
            if isinstance(data.get("call"), dict):
                data["call"] = {**data["call"], r.choice(OF_CALLS): r.choice(ODD)}
        export = Export(Tree.of(events), format)
        size = sum(map(len, export.pieces()))
        made = export.manifest("x")
        assert bool(size) == bool(made["rows"]) or format in ("markdown", "html"), seed
