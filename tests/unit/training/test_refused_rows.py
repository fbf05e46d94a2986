"""Forms of samples: what their readers would refuse, and pages (row G16)."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lctl.training.constraints import CHECKS, problems, together
from lctl.training.exporting import FORMATS, PAGES, Export, export_training
from tests.unit.training.exported import ROWS, Messages, call, exported
from tests.unit.training.fixtures import Talk, start
from tests.unit.training.histories import History
from tests.unit.training.talks import DIALECTS, talk_of

# -- constraints -----------------------------------------------------------------------------


def test_g16_openai_ends_with_what_it_trains() -> None:
    """A failed answer at the end is not sent."""
    [row], _ = exported(start().tell("u3", "a2").a("a3", "u3", status="aborted"), "openai")
    assert [message["content"] for message in row["messages"]] == ["s1", "u1", "a1", "u2", "a2"]


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([{"role": "assistant", "content": ""}], "an answer that says nothing"),
        ([{"role": "user", "content": "u"}, {"role": "tool", "tool_call_id": "x", "content": "r"},
          {"role": "assistant", "content": "a"}], "a tool message that answers no call before it"),
        ([{"role": "assistant", "content": "a", "tool_calls": [call("c1", "{}")]},
          {"role": "user", "content": "u"}, {"role": "assistant", "content": "b"}],
         "a tool call that is not answered before the conversation goes on"),
        ([{"role": "assistant", "content": "a", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "no spaces", "arguments": "{}"}}]}],
         "a function's name that is not letters, digits, - and _"),
    ],
)  # fmt: skip
def test_g16_refused_rows_are_said(messages: list[dict[str, Any]], why: str) -> None:
    """A row that would be refused is not written; the manifest says which, and why."""
    rows, made = exported(talk_of(messages), "openai")
    assert rows == []
    assert why in made["refused"][0]["problems"]
    assert made["trained"] == 0
    assert made["skipped"]["refused"] == made["calls"]
    assert made["merge_ratio"] == made["calls"]


def test_g16_arguments_cut_off() -> None:
    """Arguments that are no JSON are text for OpenAI, and refused by Axolotl, which decodes them."""
    cut: Messages = [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": None, "tool_calls": [call("c", '{"q')]},
    ]
    [row], _ = exported(talk_of(cut), "openai")
    assert row["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"q'
    assert exported(talk_of(cut), "axolotl")[1]["refused"][0]["problems"] == ["arguments that are no JSON"]


def test_g16_together() -> None:
    """It wants strict alternation: how many rows would fail there is said."""
    rows, made = exported(start(), "openai")
    assert (made["together"], together(rows[0])) == ({}, [])
    talk = start().tell("u3", "a2").tell("u4", "u3").a("a4", "u4")
    assert exported(talk, "openai")[1]["together"] == {"user and assistant do not alternate": 1}
    talk = Talk().tell("s1", None).a("a1", "s1")
    why = "the first message after the system prompt is not the user's"
    assert exported(talk, "openai")[1]["together"] == {why: 1}


def test_g16_hf_prompts_end_with_a_question() -> None:
    """TRL asks for a generation after people and tools alone; as a whole conversation it takes any."""
    talk = Talk().tell("u1", None).a("a1", "u1").tell("s1", "a1").a("a2", "s1", model="n")
    rows, made = exported(talk, "hf")
    assert [list(row) for row in rows] == [["messages"]]
    assert made["refused"][0]["problems"] == ["a prompt that ends with the system's message"]
    assert exported(talk, "openai")[1]["refused"] == []


def test_g16_an_answer_to_nothing_has_no_prompt() -> None:
    talk = talk_of([{"role": "assistant", "content": "a"}, {"role": "user", "content": "u"}])
    assert exported(talk, "hf")[1]["refused"] == []
    talk = Talk().a("a1", None).tell("u1", "a1").a("a2", "u1", model="n")
    assert exported(talk, "hf")[1]["rows"] == 2


@pytest.mark.parametrize("format", CHECKS)
def test_g16_checks_can_fail(format: str) -> None:
    """Every form's check finds something in a row that is nothing."""
    empty: dict[str, Any] = {"messages": [], "loss_mask": [1], "completion": [], "prompt": []}
    assert problems(format, empty)


@pytest.mark.parametrize("format", ROWS)
def test_g16_random_histories(format: str) -> None:
    """Every answer is trained once over all rows of the form, or in a row that was refused."""
    for seed in range(60):
        history = History(random.Random(seed), 25)
        rows, made = exported(history.talk, format)
        assert all(problems(format, row) == [] for row in rows)
        if format not in ("sharegpt", "hf"):
            assert made["refused"] == [], seed
        trained = sum(_trained(format, row) for row in rows)
        lost = made["lost"].get("weight 0", 0)
        assert trained == made["trained"] or (lost and trained > made["trained"]), seed
        assert made["calls"] == len(history.asked) == made["trained"] + sum(made["skipped"].values()), seed


def _trained(format: str, row: dict[str, Any]) -> int:
    if format == "calls":
        return sum(row["loss_mask"])
    if format == "axolotl":
        return sum(message["train"] for message in row["messages"])
    if format == "openai":
        return sum(message.get("weight", 0) for message in row["messages"])
    if format == "sharegpt":
        return sum(turn["from"] == "gpt" for turn in row["conversations"])
    return Counter(message["role"] for message in row.get("messages") or row["completion"])["assistant"]


# -- pages -----------------------------------------------------------------------------------


def test_g16_html_is_one_page_and_escapes_everything() -> None:
    """No scripts, nothing from elsewhere; what the log says is text, whatever it says."""
    evil = "</pre><script>alert(1)</script>\"'&\x00\x1b[31m\ud800"
    messages = [{"role": "user", "content": evil}, {"role": "assistant", "content": evil, "reasoning": evil}]
    talk = talk_of(messages)
    talk.events[0]["data"]["message_id"] = evil
    talk.events[1]["data"]["parent_id"] = evil
    page = b"".join(Export(talk.tree, "html").pieces()).decode()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in page
    assert "\\x1b[31m" in page
    assert "default-src 'none'" in page
    assert page.count("<div") == page.count("</div>") == 4
    assert "http" not in page.replace("http-equiv", "")


def test_g16_markdown() -> None:
    talk = talk_of(DIALECTS["chat"][0], DIALECTS["chat"][1])
    page = b"".join(Export(talk.tree, "markdown").pieces()).decode()
    assert "### assistant m5 **(trained)**" in page
    assert 'call of grep:\n\n```text\n{"q": "a"}\n```' in page
    fenced = talk_of([{"role": "user", "content": "```\n# x"}, {"role": "assistant", "content": "a"}])
    assert "````text\n```\n# x\n````" in b"".join(Export(fenced.tree, "markdown").pieces()).decode()


@pytest.mark.parametrize("format", FORMATS)
def test_g16_an_empty_log(format: str, tmp_path: Path) -> None:
    made = export_training(Talk().tree, tmp_path / "out", format)
    text = (tmp_path / "out").read_bytes()
    assert made["rows"] == 0
    assert bool(text) == (format in PAGES)
