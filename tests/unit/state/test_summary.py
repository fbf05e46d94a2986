"""States in JSON, summaries, and hashes that mean the same everywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from benchmarks.trace import Trace
from lctl import Chain, ReplayEngine
from lctl.codec import open_log
from lctl.errors import LogError
from lctl.events import Event
from lctl.state.hashing import state_hash
from lctl.state.reducer import apply, fold
from lctl.state.source import MemorySource
from lctl.state.summary import state_from_dict, state_to_dict, summary_of, tail_of
from lctl.state.timeline import Timeline
from tests.unit.state.logs import LinesSource, events

LINES = list(Trace().lines(400))

LOG = events(
    ("step_start", None, {"intent": "analyze"}, "code-analyzer"),
    (
        "fact_added",
        None,
        {"id": "F1", "text": "SQL", "confidence": 0.85, "source": "static-analysis"},
        "code-analyzer",
    ),
    ("step_start", 1, {"kind": "llm", "model": "m"}, "code-analyzer"),
    (
        "step_end",
        3,
        {"outcome": "success", "tokens": {"input": 5, "output": 2}, "duration_ms": 800},
        "code-analyzer",
    ),
    ("tool_call", 1, {"tool": "grep", "duration_ms": 50}, "code-analyzer"),
    ("step_end", 1, {"outcome": "success"}, "code-analyzer"),
)


def test_a_summary_in_numbers() -> None:
    """Enough to list a run, and to price it."""
    assert summary_of(fold(LOG)) == {
        "events": 6,
        "first_timestamp": "2026-01-01T00:00:01Z",
        "last_timestamp": "2026-01-01T00:00:06Z",
        "duration_ms": 5000.0,
        "agents": ["code-analyzer"],
        "models": {
            "m": {
                "calls": 1,
                "errors": 0,
                "wall_ms": 800.0,
                "tokens": {"input": 5, "output": 2, "cache_read": 0, "cache_write": 0, "reasoning": 0},
            }
        },
        "tools": {"grep": 1},
        "steps": 2,
        "open_steps": 0,
        "llm_calls": 1,
        "tool_calls": 1,
        "errors": 0,
        "messages": 0,
        "facts": 1,
        "tokens": {"input": 5, "output": 2, "cache_read": 0, "cache_write": 0, "reasoning": 0},
        "outcome": "success",
    }
    assert summary_of(fold(LOG[:3]))["outcome"] == "open"
    assert summary_of(fold([]))["outcome"] is None


def test_the_tail_of_a_log_from_any_source() -> None:
    """A log, its lines, or decoded events: the same tail, in the protocol's form."""
    source = LinesSource(LINES, {"id": "c"})
    tail = tail_of(iter(LINES), {"id": "c"})
    assert (
        tail
        == tail_of(source, {"id": "c"})
        == tail_of(MemorySource(source.events(), {"id": "c"}), {"id": "c"})
    )
    assert tail["state"]["checkpoint_seq"] == 400
    assert tail["state"]["facts"]["F1"]["confidence"] == fold(source.events()).facts["F1"].confidence
    assert orjson.loads(orjson.dumps(tail)) == tail


def test_a_state_that_is_none_is_refused() -> None:
    """With what is wrong and what to do."""
    raw = state_to_dict(fold(LOG))
    assert state_from_dict(raw) == fold(LOG)
    with pytest.raises(LogError, match="not a state of this version"):
        state_from_dict({**raw, "steps": 5})


def test_equal_states_hash_equal_however_they_came_to_be() -> None:
    """Folded at once, event by event, by random access, restored from JSON."""
    source = LinesSource(LINES, {"id": "c"})
    at_once = fold(source.events())
    one_by_one = fold([])
    for event in source.events():
        one_by_one = apply(one_by_one, event)
    ways = [at_once, one_by_one, Timeline(source).at(400), state_from_dict(state_to_dict(at_once))]
    assert len({state_hash(state) for state in ways}) == 1


def test_states_that_differ_hash_differently() -> None:
    """In what they say: one word of a fact is enough, the id of the chain and the books are not."""
    assert state_hash(fold(LOG)) != state_hash(fold(LOG[:5]))
    changed = [*LOG[:1], Event(**{**LOG[1].to_dict(), "data": {**LOG[1].data, "text": "sql"}}), *LOG[2:]]
    assert state_hash(fold(LOG)) != state_hash(fold(changed))
    assert state_hash(Chain("one", LOG).state) == state_hash(Chain("two", LOG).state) == state_hash(fold(LOG))


def test_the_hash_is_the_same_in_every_process() -> None:
    """Whatever PYTHONHASHSEED is."""
    program = (
        "import sys; from benchmarks.trace import Trace; from lctl.state.hashing import state_hash\n"
        "from lctl.state.reducer import fold; from lctl.events import Event; import orjson\n"
        "print(state_hash(fold(Event.from_dict(orjson.loads(line)) for line in Trace().lines(400))))"
    )
    root = Path(__file__).parents[3]
    hashes = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert hashes == {state_hash(fold(LinesSource(LINES).events()))}


@pytest.mark.parametrize("name", ["c.lctl.json", "c.lctl.jsonl"])
def test_a_chain_is_saved_and_loaded(tmp_path: Path, name: str) -> None:
    """In either form, with its events as they were."""
    chain = Chain("c1", LOG)
    chain.save(tmp_path / name)
    again = Chain.load(tmp_path / name)
    assert (again.id, again.events, again.to_dict()) == ("c1", tuple(LOG), chain.to_dict())
    assert Chain.from_dict(chain.to_dict()).state == chain.state
    if name.endswith(".json"):
        tail = open_log(tmp_path / name).tail
        assert tail is not None
        assert tail["summary"] == summary_of(chain.state)
    assert repr(again) == "<Chain c1: 6 events>"
    assert len(again) == 6


def test_the_replay_engine() -> None:
    """The names people have code with."""
    engine = ReplayEngine(Chain("c1", LOG))
    assert engine.replay_to(3).open_steps == (1, 3)
    assert engine.replay_all() == engine.chain.state
    assert [event.seq for event in engine.get_trace()] == [1, 3, 4, 6]
    assert engine.get_metrics() == {"total_duration": 5000.0, "total_tokens": 7, "error_count": 0}
    assert engine.get_confidence_timeline() == {"F1": [{"seq": 2, "confidence": 0.85, "reason": None}]}
    assert [step.seq for step in engine.find_bottlenecks()] == [1, 3]
    assert not engine.diff(Chain("c2", LOG))
    assert engine.diff(ReplayEngine(Chain("c3", LOG[:4])))
