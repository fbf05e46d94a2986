"""Samples: what merges, what is trained, why rows break (rows G13, G14)."""

from __future__ import annotations

import pytest

from lctl.conversation.tree import Tree
from lctl.errors import UsageError
from lctl.training import samples
from lctl.training.breaks import REASONS
from lctl.training.planning import Plan
from tests.unit.training import fixtures
from tests.unit.training.fixtures import BREAKS, CALL, Talk, said, shape, start


def test_g13_consecutive_calls_are_one_row() -> None:
    """The next prompt holds the last prompt and completion: one row, both trained."""
    assert shape(start().rows()) == [("s1 u1 a1 u2 a2", "00101", None)]


def test_g13_interleaved_agents_are_a_row_each() -> None:
    """A1, B1, A2, B2, ...: two rows, each with all of its own calls, whatever was called in between."""
    talk = Talk().tell("uA0", None).tell("uB0", None, conversation_id="b")
    last = {"A": "uA0", "B": "uB0"}
    for n in range(50):
        for who, place in (("A", {}), ("B", {"conversation_id": "b"})):
            talk.a(f"a{who}{n}", last[who], **place).tell(f"u{who}{n + 1}", f"a{who}{n}", **place)
            last[who] = f"u{who}{n + 1}"
    rows = talk.rows()
    assert [row.trained for row in rows] == [50, 50]
    assert [row.break_reason for row in rows] == [None, None]


def test_g13_regenerate_and_n_choices_train_the_shared_prefix_once() -> None:
    """Three answers to one prompt: three rows, what they share is trained in the first."""
    talk = start().a("a2x", "u2").a("a2y", "u2")
    assert shape(talk.rows()) == [
        ("s1 u1 a1 u2 a2", "00101", None),
        ("s1 u1 a1 u2 a2x", "00001", "regenerate"),
        ("s1 u1 a1 u2 a2y", "00001", "regenerate"),
    ]
    every = talk.rows(shared="every")
    assert [row.weights for row in every] == [[0, 0, 1, 0, 1]] * 3


def test_g13_other_models_answers_are_context() -> None:
    """A1, B1, A2 in one conversation under two models: a row for each, each trains its own."""
    talk = Talk().tell("u1", None).a("a1", "u1").tell("u2", "a1").a("b2", "u2", model="n")
    talk.tell("u3", "b2").a("a3", "u3")
    assert shape(talk.rows()) == [
        ("u1 a1 u2 b2", "0001", None),
        ("u1 a1 u2 b2 u3 a3", "010001", "model_changed"),
    ]


def test_g13_an_edit_of_a_sampled_message_is_context() -> None:
    """What a person wrote in its place trains only if asked for, then also where nothing follows it."""
    talk = start().tell("x2", "u2", role="assistant", fork_of="a2")
    assert shape(talk.rows()) == [("s1 u1 a1 u2 a2", "00101", None)]
    assert shape(talk.rows(train_edited=True)) == [
        ("s1 u1 a1 u2 a2", "00101", None),
        ("s1 u1 a1 u2 x2", "00001", "edit"),
    ]
    talk.tell("u3", "x2").a("a3", "u3")
    assert shape(talk.rows())[1] == ("s1 u1 a1 u2 x2 u3 a3", "0000001", "edit")
    assert shape(talk.rows(train_edited=True))[1] == ("s1 u1 a1 u2 x2 u3 a3", "0000101", "edit")


def test_g13_copies_are_context_and_do_not_break_what_is_before_them() -> None:
    """An edit after the last answer gives no row of its own (row G4)."""
    talk = Talk().tell("u1", None).a("a1", "u1").tell("u2", "a1").tell("u3", "u2")
    talk.tell("u2x", "a1", fork_of="u2", carry=["u3", "u3"]).a("a2", "u2x+1")
    assert shape(talk.rows()) == [("u1 a1 u2x u2x+1 a2", "01001", None)]


def test_g13_five_edits_between_two_calls_are_one_row_more() -> None:
    """Edits coalesce: only paths that a call ended count (row G7)."""
    talk = start()
    tip = "a2"
    for n in range(5):
        talk.tell(f"e{n}", "s1", role="user", fork_of="u1", carry=["a1", "a2"])
        tip = f"e{n}+3"
    talk.tell("u3", tip).a("a3", "u3")
    rows = talk.rows()
    assert [(row.trained, row.break_reason) for row in rows] == [(2, None), (1, "edit")]


def test_g13_a_summary_trains_where_it_was_sampled() -> None:
    """It is the model's in its own conversation and a user's words where it stands for what went before."""
    talk = start().tell("u3", "a2").a("sum", "u3", content="In short.")
    talk.tell("c1", "s1", role="user", content="In short.", fork_of="u1").tell("u4", "c1").a("a4", "u4")
    rows = talk.rows()
    assert [row.trained for row in rows] == [3, 1]
    assert rows[1].message_ids == ["s1", "c1", "u4", "a4"]


def test_g13_a_subagent_has_samples_of_its_own() -> None:
    rows = fixtures.subagent().rows()
    assert shape(rows) == [("sx ux ax", "001", "subagent"), ("u1 a1 t1 a2", "0101", None)]
    assert {(row.trajectory_id, row.n_samples) for row in rows} == {("u1", 2)}


def test_g13_the_prefix_is_the_prompt() -> None:
    """Messages of a row up to a trained one are what the model had read, as the provider's own dialect."""
    talk = start()
    [row] = talk.rows()
    assert row.messages[:4] == talk.tree.transcript("u2")
    assert "call" not in row.messages[2]
    assert "sampled" not in row.messages[2]


def test_g13_rows_are_the_callers_to_change() -> None:
    """Neither the next row nor the tree has what was done to one."""
    talk = start().a("a2x", "u2")
    talk.events[0]["data"]["content"] = [{"type": "text", "text": "s1"}]
    tree = talk.tree
    found = samples(tree)
    next(found).messages[0]["content"][0]["text"] = "changed"
    assert next(found).messages[0]["content"] == [{"type": "text", "text": "s1"}]
    assert tree["s1"].text == "s1"


def test_g13_as_of_a_seq() -> None:
    """`samples(tree.at(k))` is what a fold of the events up to k gives."""
    talk = fixtures.compaction()
    for seq in range(len(talk.events) + 1):
        cut = Tree.of(talk.events[:seq])
        assert list(samples(talk.tree.at(seq))) == list(samples(cut))


def test_g13_final_paths_and_chosen_ones() -> None:
    """Only the newest path of each conversation, or those with a leaf that is accepted; none twice."""
    talk = fixtures.edit()
    assert [row.message_ids[-1] for row in talk.rows(paths="final")] == ["a3"]
    assert shape(talk.rows(paths="final")) == [("s1 u1 a1 u2x u2x+1 u3 a3", "0010001", None)]
    assert [row.message_ids[-1] for row in talk.rows(paths=lambda leaf: leaf.id == "a2")] == ["a2"]
    assert Plan(talk.tree, paths="final").skipped == {"paths": 1}
    with pytest.raises(UsageError, match="paths is 'all', 'final' or a function"):
        talk.rows(paths="newest")


def test_g13_final_paths_of_agents_inside_agents() -> None:
    """A sub-agent's conversation has a newest path of its own, also under its host's id."""
    talk = fixtures.subagent()
    assert [row.message_ids[-1] for row in talk.rows(paths="final")] == ["ax", "a2"]
    for event in talk.events:
        event["data"].pop("conversation_id", None)
    assert [row.message_ids[-1] for row in talk.rows(paths="final")] == ["ax", "a2"]


@pytest.mark.parametrize("reason", REASONS)
def test_g14_every_break_reason(reason: str) -> None:
    """Each reason of the table is reached, by one row, and the others begin conversations."""
    rows = BREAKS[reason]().rows()
    assert [row.break_reason for row in rows if row.break_reason] == [reason]


@pytest.mark.parametrize("made", BREAKS.values(), ids=BREAKS.keys())
def test_g14_every_message_is_trained_once(made: type[Talk]) -> None:
    talk = made()
    trained = [
        id for row in talk.rows() for id, weight in zip(row.message_ids, row.weights, strict=True) if weight
    ]
    assert sorted(trained) == sorted(node.id for node in talk.tree if node.sampled)


def test_g14_reasons_without_the_logs_word() -> None:
    """A capture at the wire knows no `fork_of`: what the prompts say tells the same."""
    tail = [("u2", "user", "u2"), ("a2", "assistant", "a2"), ("u3", "user", "new")]

    def prompt(*head: tuple[str, str, str]) -> str | None:
        talk = start()
        parent = "s1"
        for n, (id, role, content) in enumerate((*head, *tail)):
            talk.tell(f"{id}-{n}", parent, role=role, content=content)
            parent = f"{id}-{n}"
        return talk.a("a3", parent).rows()[1].break_reason

    one, two = ("u1", "user", "u1"), ("a1", "assistant", "a1")
    assert prompt(("x", "user", "other"), two) == "edit"
    assert prompt(("x", "user", "added"), one, two) == "insert"
    assert prompt(two) == "delete"
    assert prompt(one) == "delete"
    assert prompt(("x", "user", "In short.")) == "compaction"


def test_g14_another_question_under_one_system_prompt_broke_nothing() -> None:
    talk = start().tell("v1", "s1", role="user").a("b1", "v1")
    assert [row.break_reason for row in talk.rows()] == [None, None]


def test_g14_reasoning_may_be_ignored() -> None:
    """Turns sent back without their reasoning are trained as they were sent back."""
    talk = fixtures.reasoning_stripped()
    [row] = talk.rows(reasoning="ignore")
    assert shape([row]) == [("u1 a1x u2 a2", "0101", None)]
    assert row.messages[1] == {"role": "assistant", "content": "4"}
    assert [call["message_id"] for call in row.calls] == ["a1", "a2"]


def test_g14_reasoning_stripped_from_a_whole_turn_of_tools() -> None:
    """The tool result under a stripped answer is the one under the answer itself."""
    asked = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    talk = Talk().tell("u1", None).a("a1", "u1", tool_calls=asked, reasoning_content="hm")
    talk.tell("t1", "a1", tool_call_id="c1", content="r").a("a2", "t1", content="x", reasoning_content="so")
    talk.tell("b1", "u1", role="assistant", content="a1", tool_calls=asked)
    talk.tell("t1b", "b1", role="tool", tool_call_id="c1", content="r")
    talk.tell("b2", "t1b", role="assistant", content="x").tell("u2", "b2").a("a3", "u2")
    assert [row.break_reason for row in talk.rows()] == [None, "reasoning_stripped"]
    assert shape(talk.rows(reasoning="ignore")) == [("u1 b1 t1b b2 u2 a3", "010101", None)]


# -- what a row says -------------------------------------------------------------------------


def test_g13_calls_and_tools_of_a_captured_log() -> None:
    """Model, parameters, tools and usage come from the call's step; the model is the one that answered."""
    talk = Talk().tell("u1", None)
    tools = [{"type": "function", "function": {"name": "f"}}]
    talk.add("step_start", kind="llm", model="m", tools="h", tool_definitions=tools, params={"top_p": 1})
    talk.events[-1]["data"]["prompt"] = "u1"
    talk.events.append({**said("a1", "u1"), "seq": 3, "step": 2})
    end = {"outcome": "success", "message": "a1", "model": "m-1", "finish_reason": "stop"}
    talk.add("step_end", **end, tokens={"input": 7, "output": 2})
    talk.events[-1]["step"] = 2
    [row] = talk.rows()
    assert (row.model, row.tools) == ("m-1", tools)
    assert (row.input_tokens, row.trained_tokens) == (7, 2)
    assert row.calls == [
        {
            "message_index": 1,
            "message_id": "a1",
            "seq": 3,
            "model": "m-1",
            "params": {"top_p": 1},
            "usage": {"input": 7, "output": 2},
            "finish_reason": "stop",
        }
    ]
    assert next(samples(talk.tree.at(3))).model == "m"


def test_g13_rewards() -> None:
    """The nearest fact gives the row's reward, undivided; a message's own value is with its call."""
    talk = fixtures.regenerate()
    talk.add("fact_added", id="F1", about="main", value=0.25)
    talk.add("fact_added", id="F2", about="a2x", value=True)
    talk.add("fact_added", id="F3", about="a1", value="down")
    rows = talk.rows()
    assert [(row.reward, row.n_samples) for row in rows] == [(0.25, 2), (1.0, 2)]
    assert [call.get("value") for call in rows[0].calls] == ["down", None]
    talk.add("fact_modified", id="F1", value=0.75)
    assert talk.rows()[0].reward == 0.75
    assert next(samples(talk.tree.at(6))).reward is None


def test_g13_an_alias_is_its_message() -> None:
    talk = start().add("message_alias", alias="ext-1", message_id="a2")
    talk.add("fact_added", id="F1", about="ext-1", value=0.5)
    [row] = samples(talk.tree)
    assert row.reward == 0.5


def test_g13_an_empty_log() -> None:
    assert Talk().rows() == []
    assert Talk().tell("u1", None).rows() == []
    assert Plan(Talk().tree).calls == 0


def test_g13_options_are_checked() -> None:
    with pytest.raises(UsageError, match="shared is 'first' or 'every', not 'last'"):
        start().rows(shared="last")
    with pytest.raises(UsageError, match=r"samples\('run.lctl.json'\): it takes a tree"):
        samples("run.lctl.json")  # type: ignore[arg-type]


def test_g13_ids_name_the_chain() -> None:
    [row] = start().rows(chain="run-1")
    assert (row.id, row.trajectory_id) == ("run-1:a2", "run-1:s1")
    assert repr(row) == "<Sample run-1:a2: messages 5, trained 2>"
    assert CALL["model"] == row.model
