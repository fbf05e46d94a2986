"""Samples: what is not trained, and why (row G14)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.testing import ModelServer, Reply
from lctl.training import samples
from lctl.training.contents import prompt_hash
from lctl.training.failing import SKIPS
from lctl.training.planning import Plan
from tests.unit.training.fixtures import Talk, said, shape, start


def why(talk: Talk, **options: object) -> dict[str, int]:
    plan = Plan(talk.tree, **options)  # type: ignore[arg-type]
    assert plan.calls == plan.trained + sum(plan.skipped.values())
    return dict(plan.skipped)


@pytest.mark.parametrize("status", ["aborted", "error"])
def test_g14_what_did_not_end_well_is_context(status: str) -> None:
    """Weight 0, with the reason; the row is there for what it trains besides."""
    talk = start().tell("u3", "a2").a("a3", "u3", status=status)
    [row] = talk.rows()
    assert shape([row]) == [("s1 u1 a1 u2 a2 u3 a3", "0010100", None)]
    assert row.skipped == {"a3": status}
    assert why(talk) == {status: 1}


def test_g14_a_stream_that_never_ended() -> None:
    talk = start()
    talk.add("stream_start", message_id="a3", parent_id="a2", role="assistant", sampled=True)
    talk.add("stream_chunk", message_id="a3", index=0, content="par")
    assert why(talk) == {"unfinished": 1}
    talk.add("stream_end", message_id="a3", status="complete")
    assert why(talk) == {}


def test_g14_cut_off_by_a_limit() -> None:
    talk = start().tell("u3", "a2").a("a3", "u3", call={"finish_reason": "length"})
    assert why(talk) == {"length": 1}
    assert why(talk, allow_length=True) == {}
    assert talk.rows(allow_length=True)[0].trained == 3


def test_g14_cut_off_by_a_filter() -> None:
    """The provider ended it, not the model: it is no answer to train, whatever a limit may do."""
    for reason in ("content_filter", "refusal", "SAFETY", "content_filtered"):
        talk = start().tell("u3", "a2").a("a3", "u3", call={"finish_reason": reason})
        assert why(talk, allow_length=True) == {"filtered": 1}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_g14_each_choice_has_an_end_of_its_own(tmp_path: Path, stream: bool) -> None:
    openai = pytest.importorskip("openai")
    log = tmp_path / "run.lctl.json"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log),
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):
        server.reply("whole", choices=[Reply("cut", finish_reason="length"), "too"])
        asked: list[Any] = [{"role": "user", "content": "go"}]
        answer = client.chat.completions.create(model="m", messages=asked, n=3, stream=stream)
        if stream:
            list(answer)
    rows = list(samples(lctl.load(log).tree, min_weight_tokens=0))
    said = [(row.messages[-1]["content"], row.trained, row.calls[0]["finish_reason"]) for row in rows]
    assert said == [("whole", 1, "stop"), ("cut", 0, "length"), ("too", 1, "stop")]


def test_g14_redacted() -> None:
    talk = start().tell("u3", "a2").a("a3", "u3", content="the key is [redacted:openai:1a2b]")
    talk.tell("u4", "a3").a("a4", "u4", redacted=True, content=None)
    assert why(talk) == {"redacted": 2}


def test_g14_the_prompt_is_not_what_was_sent() -> None:
    """By its hash, by the step's own word, or because tool results changed places later."""
    good = start()
    hash = prompt_hash(good.tree.transcript("a2"))
    assert why(good.tell("u3", "a2").a("a3", "u3", call={"prompt_hash": hash})) == {"prompt_changed": 1}
    good = start()
    now = [*good.tree.transcript("a2"), {"role": "user", "content": "u3"}]
    assert why(good.tell("u3", "a2").a("a3", "u3", call={"prompt_hash": prompt_hash(now)})) == {}

    step = start()
    step.add("step_start", kind="llm", model="m", prompt="u2")
    step.events.append({**said("a3", "a2"), "seq": 7, "step": 6})
    assert why(step) == {"prompt_changed": 1}

    calls = [{"id": id, "function": {"name": "f", "arguments": "{}"}} for id in ("c1", "c2")]
    moved = Talk().tell("u1", None).a("a1", "u1", tool_calls=calls)
    moved.tell("t1", "a1", tool_call_id="c1").tell("t2", "a1", tool_call_id="c2").a("a2", "t2")
    assert why(moved) == {}
    moved.say("t2", "a1", tool_call_id="c2", serial=1)
    assert why(moved) == {"prompt_changed": 1}


def test_g14_a_message_without_its_beginning() -> None:
    """What hangs on a message that is not in the log was answered in a context nobody knows."""
    assert why(start().a("a9", "nowhere")) == {"broken": 1}


def test_g14_an_answer_whose_prompt_was_not_traced() -> None:
    """An imported call that has an answer, and in place of its prompt nothing."""
    talk = Talk()
    talk.add("step_start", kind="llm", model="m")
    talk.add("message", message_id="a1", parent_id=None, role="assistant", content="a", sampled=True)
    talk.events[-1]["step"] = talk.events[-2]["seq"]
    talk.add("step_end", outcome="success", message="a1")
    talk.events[-1]["step"] = talk.events[-3]["seq"]
    assert (talk.rows(), why(talk)) == ([], {"broken": 1})


def test_g14_lengths() -> None:
    """Too long rows are dropped whole; what a shorter row shares with them is trained there."""
    talk = start().tell("u3", "a2").a("a3", "u3", call={"usage": {"input": 100, "output": 1}})
    talk.tell("u3x", "a2").a("a3x", "u3x", call={"usage": {"input": 20, "output": 1}})
    assert shape(talk.rows(max_len=30)) == [("s1 u1 a1 u2 a2 u3x a3x", "0010101", "fork")]
    assert why(talk, max_len=30) == {"max_len": 1}
    assert why(talk, min_weight_tokens=2) == {"min_weight_tokens": 1}
    assert why(talk, max_len=10) == {"max_len": 4}


def test_g14_rows_that_train_nothing_may_be_kept() -> None:
    talk = Talk().tell("u1", None).a("a1", "u1", status="aborted")
    assert talk.rows() == []
    assert shape(talk.rows(min_weight_tokens=0)) == [("u1 a1", "00", None)]


def test_g14_inherited_messages_are_the_other_chains() -> None:
    """Of a fork that holds its prefix: context, counted nowhere, and the break is the fork's."""
    talk = start().tell("u3", "a2").a("a3", "u3")
    plan = Plan(talk.tree, is_own=lambda number: number > 4)
    assert shape(talk.rows(inherited=5)) == [("s1 u1 a1 u2 a2 u3 a3", "0000001", "fork")]
    assert (plan.calls, plan.trained, dict(plan.skipped)) == (1, 1, {})


def test_g14_skips_have_words() -> None:
    assert {"aborted", "length", "redacted", "prompt_changed", "broken"} <= SKIPS.keys()
