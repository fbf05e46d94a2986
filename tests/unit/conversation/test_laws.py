"""Folding is pure, and old logs fold as ever (rows X1 and X3)."""

from __future__ import annotations

import io
import json
import pickle
import random
from copy import deepcopy
from typing import Any

import orjson
import pytest

from lctl.chain import Chain
from lctl.codec import open_log, write_log
from lctl.codec.conversion import Format
from lctl.conversation.tree import Tree
from lctl.events import CORE_TYPES, Event
from lctl.state.reducer import apply, fold
from lctl.state.summary import state_from_dict, state_to_dict
from tests.unit.codec.samples import SPEC_EVENTS
from tests.unit.conversation.events import Events, history


def _cuts(r: random.Random, events: Events) -> list[int]:
    return sorted({0, len(events), *(r.randint(0, len(events)) for _ in range(5))})


def _seen(tree: Tree) -> tuple[Any, ...]:
    notes = [(note.seq, note.code, note.text) for note in tree.diagnostics]
    return (
        tree.state_hash(),
        notes,
        [n.id for n in tree.orphans],
        [n.id for n in tree.leaves],
        tree.conversations,
    )


@pytest.mark.parametrize("r", [random.Random(seed) for seed in range(25)])
def test_x1_a_fold_in_two_parts_is_the_fold(r: random.Random) -> None:
    """Cut anywhere, in the middle of a stream or before a parent came: the second part goes on from the
    first, from a copy of it, and from what was saved of it; the first part stays what it was."""
    events = history(r)
    whole = _seen(Tree.of(events))
    for cut in _cuts(r, events):
        first = Tree.of(events[:cut])
        before = _seen(first)
        saved = pickle.dumps(first)
        copied = deepcopy(first)
        for event in events[cut:]:
            copied.append(event)
        assert _seen(copied) == whole
        assert _seen(first) == before
        restored = pickle.loads(saved)
        for event in events[cut:]:
            restored.append(event)
        assert _seen(restored) == whole


@pytest.mark.parametrize("r", [random.Random(seed) for seed in range(25)])
def test_x1_states_of_conversations_fold_in_two_parts(r: random.Random) -> None:
    """The same law for the state, event by event, and from what a checkpoint would hold."""
    events = [Event.from_dict(event) for event in history(r)]
    whole = fold(events)
    for cut in {0, len(events), r.randint(0, len(events)), r.randint(0, len(events))}:
        first = fold(events[:cut])
        assert fold(events[cut:], start=first) == whole
        kept = json.loads(json.dumps(state_to_dict(first)))
        assert state_to_dict(fold(events[cut:], start=state_from_dict(kept))) == state_to_dict(whole)
    state = fold(events[:0])
    for event in events:
        assert apply(state, event) == apply(state, event)
        state = apply(state, event)
    assert state == whole


@pytest.mark.parametrize("r", [random.Random(seed) for seed in range(10)])
def test_x1_folding_reads_nothing_else_and_changes_no_event(
    r: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No clock, no chance, no environment: without them the tree is the same."""
    import os
    import time

    events = history(r)
    before = deepcopy(events)
    expected = _seen(Tree.of(events))

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a fold reads nothing but its events")

    with monkeypatch.context() as patched:
        for module, names in (
            (time, ("time", "time_ns", "monotonic", "perf_counter")),
            (os, ("urandom", "getenv")),
        ):
            for name in names:
                patched.setattr(module, name, refuse)
        patched.setattr(random, "random", refuse)
        found = _seen(Tree.of(events))
    assert found == expected
    assert events == before


def test_x3_the_protocols_own_example_folds_as_ever() -> None:
    """Its seven types make no messages, and what they make does not change by messages beside them."""
    plain = [Event.from_dict(dict(event)) for event in SPEC_EVENTS if event["type"] in CORE_TYPES]
    assert plain
    chain = Chain("c", plain)
    assert len(chain.tree) == 0 and chain.tree.diagnostics == []
    talk = [
        {
            "seq": len(plain) + n,
            "type": "message",
            "agent": "a",
            "data": {"message_id": f"m{n}", "role": "user"},
        }
        for n in (1, 2)
    ]
    mixed = Chain("c", [*plain, *talk])
    assert len(mixed.tree) == 2
    one, other = chain.state, mixed.state
    assert (one.facts, one.errors, one.checkpoints) == (other.facts, other.errors, other.checkpoints)
    assert {seq: step.outcome for seq, step in one.steps.items()} == {
        seq: step.outcome for seq, step in other.steps.items()
    }
    assert (one.totals.tokens, one.totals.llm_calls) == (other.totals.tokens, other.totals.llm_calls)


def test_x3_unknown_types_are_passed_over_and_kept() -> None:
    """They leave the tree as it is, and are there, key for key, when the log is written again."""
    events: list[dict[str, Any]] = [
        {
            "seq": 1,
            "type": "message",
            "timestamp": "",
            "agent": "a",
            "data": {"message_id": "m", "role": "user"},
        },
        {
            "seq": 2,
            "type": "hologram",
            "timestamp": "",
            "agent": "a",
            "data": {"message_id": "m", "x": [1]},
            "why": 7,
        },
        {"seq": 3, "type": "message_hidden", "timestamp": "", "agent": "a", "data": {"message_id": "m"}},
    ]
    log = open_log(orjson.dumps({"lctl": "4.7", "chain": {"id": "c", "more": 1}, "events": events}))
    assert [node.id for node in Chain.of(log).tree] == ["m"]
    assert Tree.of(events[:1]).state_hash() == Tree.of(events).state_hash()
    forms: tuple[Format, ...] = ("json", "jsonl", "yaml")
    for form in forms:
        out = io.BytesIO()
        write_log(log, out, format=form)
        again = open_log(out.getvalue())
        assert [event.to_dict() for event in again.events()] == events
        assert again.chain == {"id": "c", "more": 1}


_IDS = ["m1", "m2", "m3"]
_KEYS = [
    "message_id",
    "parent_id",
    "role",
    "content",
    "status",
    "fork_of",
    "copy_of",
    "carry",
    "serial",
    "index",
]
_KEYS += ["conversation_id", "turn_id", "session_id", "message_number", "tool_call_id", "nested_in", "alias"]
_KEYS += ["view", "sampled", "total_chunks", "tool_calls", "call"]
_TYPES = ["message", "message", "message_alias", "stream_start", "stream_chunk", "stream_end", "view_select"]


@pytest.mark.parametrize("r", [random.Random(seed) for seed in range(60)])
def test_x3_events_with_anything_in_them_are_folded(r: random.Random) -> None:
    """Values of any kind under the keys of messages: nothing raises, and every cursor agrees with a fold."""
    values: list[Any] = [None, 1, -1, 2.5, True, *_IDS, [], _IDS[:2], {}, {"a": ["m1"]}, [[{}]]]
    events = [
        {"seq": seq, "type": r.choice(_TYPES), "agent": r.choice("ab"), "timestamp": "",
         "data": {key: r.choice(values) for key in r.sample(_KEYS, 8)}}
        for seq in range(1, 40)
    ]  # fmt: skip
    tree = Tree.of(events)
    for seq in r.sample(range(1, 40), 5):
        assert _seen(tree.at(seq)) == _seen(Tree.of(events[:seq]))
