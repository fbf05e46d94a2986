"""Rows of what clients asked on the wire: completions of a text, answers that were begun for the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

import lctl
from lctl.testing import ModelServer, Reply
from lctl.training import samples


def exported(log: Path, format: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows and the manifest."""
    out = log.with_suffix(".jsonl")
    made = lctl.export_training(log, out, format)
    return [orjson.loads(line) for line in out.read_bytes().splitlines()], made


def test_g16_a_completion_has_its_prompt(tmp_path: Path) -> None:
    """It is a text and what followed; no conversation, which forms of conversations say."""
    openai = pytest.importorskip("openai")
    log = tmp_path / "run.lctl.json"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log),
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):
        server.script([" world", " b"])
        client.completions.create(model="m", prompt="Hello")
        client.completions.create(model="m", prompt=[1, 2])
    rows, _ = exported(log, "calls")
    assert [row["prompt"] for row in rows] == ["Hello", [1, 2]]
    rows, made = exported(log, "hf")
    assert rows == [{"prompt": "Hello", "completion": " world"}]
    assert (made["kinds"], made["skipped"]) == ({"text": 1}, {"refused": 1})
    for format in ("openai", "axolotl", "sharegpt"):
        rows, made = exported(log, format)
        assert (rows, made["trained"], made["skipped"]) == ([], 0, {"refused": 2}), format
        assert made["refused"][0]["problems"] == ["a completion of a text is no conversation"]
    lctl.export_training(log, tmp_path / "page.md", "markdown")
    assert "### prompt\n\n```text\nHello\n```" in (tmp_path / "page.md").read_text()


def test_g16_an_answer_that_was_begun_for_the_model(tmp_path: Path) -> None:
    """Anthropic's models go on with an assistant's message: one message, of which a part is the model's."""
    anthropic = pytest.importorskip("anthropic")
    log = tmp_path / "run.lctl.json"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log),
        anthropic.Anthropic(base_url=server.anthropic_url, api_key="t") as client,
    ):
        server.script(['"a": 1}', "done", Reply("one, ", finish_reason="pause_turn"), "two"])

        def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
            answer = client.messages.create(model="claude-sonnet-4-6", max_tokens=9, messages=messages)
            return {
                "role": "assistant",
                "content": [part.model_dump(exclude_none=True) for part in answer.content],
            }

        begun: list[dict[str, Any]] = [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "{"},
        ]
        begun.append(ask(begun))
        ask([*begun, {"role": "user", "content": "and?"}])
        paused: list[dict[str, Any]] = [{"role": "user", "content": "count"}]
        paused.append(ask(paused))
        ask(paused)
    rows, made = exported(log, "calls")
    assert [row["loss_mask"] for row in rows] == [[0, 0, 1, 0, 1], [0, 1, 1]]
    assert [call.get("continues") for row in rows for call in row["calls"]] == [True, None, None, True]
    assert made["trained"] == 4
    rows, made = exported(log, "openai")
    said = [[(message["content"], message.get("weight")) for message in row["messages"]] for row in rows]
    assert said == [
        [("q", None), ('{"a": 1}', 0), ("and?", None), ("done", 1)],
        [("count", None), ("one, two", 1)],
    ]
    assert (made["trained"], made["skipped"], made["lost"]) == (
        3,
        {"refused": 1},
        {"answer that is the model's in part": 1},
    )
    rows, made = exported(log, "hf")
    assert [len(row["prompt"]) if "prompt" in row else "whole" for row in rows] == [3, "whole"]
    assert made["trained"] == 3


def test_g16_no_prompt_of_trl_ends_with_the_assistant(tmp_path: Path) -> None:
    """It would take what separates the two messages for the model's."""
    openai = pytest.importorskip("openai")
    log = tmp_path / "run.lctl.json"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log) as session,
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):
        server.reply("two")
        said: list[Any] = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "one"}]
        client.chat.completions.create(model="m", messages=said)
        session.add_fact("F1", "good", about=session.tree.leaves[0].id, value=1.0)
    for format in ("hf", "kto"):
        rows, made = exported(log, format)
        assert rows == []
        assert made["refused"][0]["problems"] == [
            "a prompt that ends with the assistant's message: TRL takes it for the beginning of the answer"
        ]
    assert exported(log, "openai")[1]["trained"] == 1


def test_g14_what_goes_on_from_another_program_is_not_trained(tmp_path: Path) -> None:
    """The model read a conversation that the provider keeps and the log does not hold."""
    openai = pytest.importorskip("openai")
    log = tmp_path / "run.lctl.json"
    with ModelServer() as server, openai.OpenAI(base_url=server.openai_url, api_key="t") as client:
        server.script(["one", "two", "three", "four"])
        before = client.responses.create(model="m", input="first").id
        with lctl.LCTLSession("a", path=log):
            before = client.responses.create(model="m", input="second", previous_response_id=before).id
            client.responses.create(model="m", input="third", previous_response_id=before)
            client.responses.create(model="m", input="hello", conversation="conv_1")
    rows, made = exported(log, "calls")
    assert [row["messages"][0]["content"] for row in rows] == ["hello"]
    assert (made["trained"], made["skipped"]) == (1, {"broken": 2})


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ([{"role": "system", "content": "Be strict."}], "edit"),
        ([], "delete"),
        ([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Today?"}], "insert"),
    ],
)
def test_g14_a_list_with_another_beginning_goes_on_from_no_row(
    tmp_path: Path, changed: list[dict[str, Any]], reason: str
) -> None:
    """On the wire the new list shares nothing with the old one; the answers in it say where it came from.
    Another conversation in which the same was answered to something else began by itself."""
    openai = pytest.importorskip("openai")
    log = tmp_path / "run.lctl.json"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log),
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):

        def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
            answer = client.chat.completions.create(model="m", messages=messages)
            return {"role": "assistant", "content": answer.choices[0].message.content}

        server.script(["4", "6", "8", "yes"])
        talk: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
        for question in ("2+2?", "3+3?"):
            talk.append({"role": "user", "content": question})
            talk.append(ask(talk))
        ask([*changed, *talk[1:], {"role": "user", "content": "4+4?"}])
        other = [{"role": "user", "content": "Half of eight?"}, {"role": "assistant", "content": "4"}]
        ask([*other, {"role": "user", "content": "Sure?"}])
    rows = list(samples(lctl.load(log).tree))
    assert [row.break_reason for row in rows] == [None, reason, None]


def test_g14_the_text_of_a_response_is_its_answer_without_reasoning(tmp_path: Path) -> None:
    """Most programs keep `output_text`; the API gave it as an item beside its reasoning."""
    openai = pytest.importorskip("openai")
    log = tmp_path / "run.lctl.json"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log),
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):
        server.script([Reply("4", reasoning="2 and 2 ..."), "6"])
        asked: list[dict[str, Any]] = [{"role": "user", "content": "2+2?"}]
        answer = client.responses.create(model="gpt-5", input=asked)
        asked += [{"role": "assistant", "content": answer.output_text}, {"role": "user", "content": "3+3?"}]
        client.responses.create(model="gpt-5", input=asked)
    tree = lctl.load(log).tree
    assert [row.break_reason for row in samples(tree)] == [None, "reasoning_stripped"]
    (row,) = samples(tree, reasoning="ignore")
    assert (row.weights, row.break_reason) == ([0, 1, 0, 1], None)


def test_g13_a_conversation_whose_system_prompt_changes_is_one_trajectory(tmp_path: Path) -> None:
    """The wire shows lists that share no message; who splits data by trajectories keeps them together."""
    openai = pytest.importorskip("openai")
    log = tmp_path / "run.lctl.json"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log),
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):
        server.script(["a1", "a2", "a3", "other"])

        def ask(clock: str, *words: str) -> None:
            roles = ("user", "assistant")
            said = [{"role": roles[n % 2], "content": word} for n, word in enumerate(words)]
            messages: list[Any] = [{"role": "system", "content": f"It is {clock}."}, *said]
            client.chat.completions.create(model="m", messages=messages)

        ask("ten", "q1")
        ask("eleven", "q1", "a1", "q2")
        ask("noon", "q1", "a1", "q2", "a2", "q3")
        ask("one", "q1")  # asked anew
    rows = list(samples(lctl.load(log).tree))
    assert [(row.trajectory_id, row.n_samples) for row in rows] == [(rows[0].trajectory_id, 3)] * 3 + [
        (rows[3].message_ids[0], 1)
    ]
    assert [row.break_reason for row in rows] == [None, "edit", "edit", None]


def test_g13_agents_that_hand_a_conversation_back_and_forth_are_one_trajectory(tmp_path: Path) -> None:
    """The one who began it goes on when the other has spoken: the other's row comes first."""
    openai = pytest.importorskip("openai")
    log = tmp_path / "run.lctl.json"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log),
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):
        server.script(["a1", "a2", "a3"])
        said: list[Any] = []
        for n, who in enumerate(("triage", "billing", "triage"), 1):
            said.append({"role": "user", "content": f"q{n}"})
            messages = [{"role": "system", "content": f"You are {who}."}, *said]
            answer = client.chat.completions.create(model="m", messages=messages)
            said.append({"role": "assistant", "content": answer.choices[0].message.content})
    rows = list(samples(lctl.load(log).tree))
    assert [row.weights for row in rows] == [[0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0, 1]]
    assert {(row.trajectory_id, row.n_samples) for row in rows} == {(rows[1].message_ids[0], 2)}


def test_g14_a_result_that_was_cleared_is_an_edit(tmp_path: Path) -> None:
    """It had been read, and the answer to it is still there; another result of the call is a retry."""
    openai = pytest.importorskip("openai")
    log = tmp_path / "run.lctl.json"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log),
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):
        server.reply(None, tool_calls=[("f", {})])
        server.script(["a", "b", "c"])

        def ask(*messages: Any) -> Any:
            return client.chat.completions.create(model="m", messages=list(messages)).choices[0].message

        question = {"role": "user", "content": "q"}
        asked = ask(question)
        result = {"role": "tool", "tool_call_id": asked.tool_calls[0].id, "content": "long"}
        answer = ask(question, asked, result)
        ask(question, asked, {**result, "content": "(cleared)"}, answer, {"role": "user", "content": "more"})
        ask(question, asked, {**result, "content": "again"})
    reasons = [row.break_reason for row in samples(lctl.load(log).tree)]
    assert reasons == [None, "edit", "tool_retry"]
